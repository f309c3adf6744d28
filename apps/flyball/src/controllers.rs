//! The table of built controllers.

use flyball_plan::{Descriptor, Driver, Engine};
use flyball_workloads::{
    DeploymentController, DeploymentSettings, ReplicaSetController, ReplicasSettings,
    ReplicationControllerController,
};
use flyball_workqueue::Options as QueueOptions;

use crate::options::{Options, Tuning};

/// A controller that can be run.
pub struct Entry {
    /// Its names and needs.
    pub descriptor: Descriptor,
    /// Makes it, ready to be driven.
    pub make: fn(&Options, QueueOptions, usize) -> Box<dyn Driver>,
}

/// Feature gates that change what a built controller does.
pub const GATES: &[&str] = &["DeploymentReplicaSetTerminatingReplicas", "PodDeletionCost"];

/// Every controller there is.
pub fn built() -> Vec<Entry> {
    use flyball_plan::Controller;
    vec![
        Entry {
            descriptor: DeploymentController::DESCRIPTOR,
            make: |options, queue, workers| {
                let gates = &options.generic.feature_gates;
                let settings = DeploymentSettings {
                    terminating_replicas: gates.enabled("DeploymentReplicaSetTerminatingReplicas"),
                };
                Box::new(Engine::with(
                    DeploymentController::new(settings),
                    workers,
                    queue,
                ))
            },
        },
        Entry {
            descriptor: ReplicaSetController::DESCRIPTOR,
            make: |options, queue, workers| {
                let controller = ReplicaSetController::new(replicas(options));
                Box::new(Engine::with(controller, workers, queue))
            },
        },
        Entry {
            descriptor: ReplicationControllerController::DESCRIPTOR,
            make: |options, queue, workers| {
                let controller = ReplicationControllerController::new(replicas(options));
                Box::new(Engine::with(controller, workers, queue))
            },
        },
    ]
}

fn replicas(options: &Options) -> ReplicasSettings {
    let gates = &options.generic.feature_gates;
    ReplicasSettings {
        terminating_replicas: gates.enabled("DeploymentReplicaSetTerminatingReplicas"),
        deletion_cost: gates.enabled("PodDeletionCost"),
    }
}

/// How a controller's queue paces itself: configured, else as its descriptor says.
pub fn queue(descriptor: &Descriptor, tuning: Option<&Tuning>) -> (QueueOptions, usize) {
    let defaults = QueueOptions {
        max_retries: descriptor.retries_max,
        ..QueueOptions::default()
    };
    let Some(tuning) = tuning else {
        return (defaults, descriptor.workers);
    };
    let options = QueueOptions {
        base_delay: tuning.delay_base,
        max_delay: tuning.delay_max,
        max_retries: tuning.retries_max.or(descriptor.retries_max),
        ..defaults
    };
    (
        options,
        usize::try_from(tuning.workers).unwrap_or(descriptor.workers),
    )
}
