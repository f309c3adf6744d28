//! The table of controllers: one line here, and the manager and the plane both run it.

use std::time::Duration;

use flyball_access::ClusterRoleAggregationController;
use flyball_accounts::{RootCaPublisher, ServiceAccountController};
use flyball_cleanup::{
    NamespaceController, PodGarbageCollector, PodGarbageSettings, TtlAfterFinishedController,
};
use flyball_ownership::GarbageCollector;
use flyball_plan::{Controller, Descriptor, Driver, Engine};
use flyball_workloads::{
    DeploymentController, DeploymentSettings, ReplicaSetController, ReplicasSettings,
    ReplicationControllerController,
};
use flyball_workqueue::Options as QueueOptions;

/// What a controller is made with.
pub struct Making<'a> {
    /// Whether a feature gate is on.
    pub gate: &'a dyn Fn(&str) -> bool,
    /// How its queue paces itself.
    pub queue: QueueOptions,
    /// How many keys it works on at once.
    pub workers: usize,
    /// The certificates by which clients recognize the server, in PEM.
    pub root_ca: &'a str,
    /// How many finished pods may stay.
    pub terminated_pod_threshold: i64,
}

/// A controller that can be run.
pub struct Entry {
    /// Its names and needs.
    pub descriptor: Descriptor,
    /// Makes it, ready to be driven.
    pub make: fn(&Making) -> Box<dyn Driver>,
}

/// Feature gates that change what a controller of the table does; all are on by default.
pub const GATES: &[&str] = &["DeploymentReplicaSetTerminatingReplicas", "PodDeletionCost"];

/// Every controller there is, in upstream's order of starting them.
pub const CONTROLLERS: &[Entry] = &[
    Entry {
        descriptor: ReplicationControllerController::DESCRIPTOR,
        make: |making| making.engine(ReplicationControllerController::new(making.replicas())),
    },
    Entry {
        descriptor: PodGarbageCollector::DESCRIPTOR,
        make: |making| {
            making.engine(PodGarbageCollector::new(PodGarbageSettings {
                terminated_threshold: making.terminated_pod_threshold,
            }))
        },
    },
    Entry {
        descriptor: NamespaceController::DESCRIPTOR,
        make: |making| making.engine(NamespaceController),
    },
    Entry {
        descriptor: ServiceAccountController::DESCRIPTOR,
        make: |making| making.engine(ServiceAccountController),
    },
    Entry {
        descriptor: GarbageCollector::DESCRIPTOR,
        make: |making| making.engine(GarbageCollector),
    },
    Entry {
        descriptor: DeploymentController::DESCRIPTOR,
        make: |making| {
            making.engine(DeploymentController::new(DeploymentSettings {
                terminating_replicas: (making.gate)("DeploymentReplicaSetTerminatingReplicas"),
            }))
        },
    },
    Entry {
        descriptor: ReplicaSetController::DESCRIPTOR,
        make: |making| making.engine(ReplicaSetController::new(making.replicas())),
    },
    Entry {
        descriptor: ClusterRoleAggregationController::DESCRIPTOR,
        make: |making| making.engine(ClusterRoleAggregationController),
    },
    Entry {
        descriptor: TtlAfterFinishedController::DESCRIPTOR,
        make: |making| making.engine(TtlAfterFinishedController),
    },
    Entry {
        descriptor: RootCaPublisher::DESCRIPTOR,
        make: |making| making.engine(RootCaPublisher::new(making.root_ca)),
    },
];

impl Making<'_> {
    fn engine<C: Controller>(&self, controller: C) -> Box<dyn Driver> {
        Box::new(Engine::with(controller, self.workers, self.queue.clone()))
    }

    fn replicas(&self) -> ReplicasSettings {
        ReplicasSettings {
            terminating_replicas: (self.gate)("DeploymentReplicaSetTerminatingReplicas"),
            deletion_cost: (self.gate)("PodDeletionCost"),
        }
    }
}

impl Entry {
    /// Whether it goes by this name, an older one included.
    pub fn is(&self, name: &str) -> bool {
        self.descriptor.name == name || self.descriptor.aliases.contains(&name)
    }

    /// The pacing that the controller asks for itself.
    pub fn pacing(&self) -> QueueOptions {
        QueueOptions {
            max_retries: self.descriptor.retries_max,
            max_delay: self.delay_max(),
            ..QueueOptions::default()
        }
    }

    /// The longest that failures put a key off, as upstream has it: namespaces are looked at once
    /// a minute at least.
    pub fn delay_max(&self) -> Duration {
        match self.descriptor.name {
            "namespace-controller" => Duration::from_secs(60),
            _ => QueueOptions::default().max_delay,
        }
    }

    /// Makes it as upstream's defaults have it, for a server with these certificates.
    pub fn with_defaults(&self, root_ca: &str) -> Box<dyn Driver> {
        (self.make)(&Making {
            gate: &|name| GATES.contains(&name),
            queue: self.pacing(),
            workers: self.descriptor.workers,
            root_ca,
            terminated_pod_threshold: PodGarbageSettings::default().terminated_threshold,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_means_two_controllers() {
        let names = CONTROLLERS.iter().flat_map(|entry| {
            let aliases = entry.descriptor.aliases.iter().copied();
            aliases.chain([entry.descriptor.name])
        });
        for name in names {
            let found = CONTROLLERS.iter().filter(|entry| entry.is(name));
            assert_eq!(found.count(), 1, "{name}");
        }
    }

    #[test]
    fn an_entry_makes_the_controller_that_it_names() {
        for entry in CONTROLLERS {
            let made = entry.with_defaults("").descriptor();
            assert_eq!(made.name, entry.descriptor.name);
        }
    }

    #[test]
    fn all_views_of_the_manager_are_in_one_place_and_there_is_one_per_kind() {
        let watches = CONTROLLERS.iter().flat_map(|one| one.descriptor.watches);
        for watch in watches {
            let name = watch.view().name;
            assert!(name.starts_with("flyball_api::views::"), "{name}");
        }
        let drivers = CONTROLLERS.iter().map(|one| one.with_defaults(""));
        let settings = flyball_process::Settings {
            resync_period: Duration::MAX,
            shutdown_timeout: Duration::ZERO,
            release_on_exit: true,
        };
        let process = flyball_process::Process::new(drivers.collect(), None, settings);
        if let Err(conflict) = process {
            panic!("{conflict}");
        }
    }
}
