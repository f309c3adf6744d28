//! The table of controllers: one row each, which the manager, the plane and the simulator read.
//!
//! A row is made from the controller's own descriptor and its own reading of the settings, so that a
//! controller is its folder and a line in [`CONTROLLERS`].

use flyball_access::ClusterRoleAggregationController;
use flyball_accounts::{RootCaPublisher, ServiceAccountController};
use flyball_cleanup::{NamespaceController, PodGarbageCollector, TtlAfterFinishedController};
use flyball_ownership::GarbageCollector;
use flyball_plan::{Configure, Descriptor, Driver, Engine, FeatureGate, Settings};
use flyball_workloads::{
    DeploymentController, ReplicaSetController, ReplicationControllerController,
};
use flyball_workqueue::Options as QueueOptions;

/// Every controller there is, in upstream's order of starting them.
pub const CONTROLLERS: &[Entry] = &[
    Entry::of::<ReplicationControllerController>(),
    Entry::of::<PodGarbageCollector>(),
    Entry::of::<NamespaceController>(),
    Entry::of::<ServiceAccountController>(),
    Entry::of::<GarbageCollector>(),
    Entry::of::<DeploymentController>(),
    Entry::of::<ReplicaSetController>(),
    Entry::of::<ClusterRoleAggregationController>(),
    Entry::of::<TtlAfterFinishedController>(),
    Entry::of::<RootCaPublisher>(),
];

/// A controller that can be run.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its names and needs.
    pub descriptor: Descriptor,
    make: fn(&dyn Settings, usize, QueueOptions) -> Box<dyn Driver>,
}

impl Entry {
    /// The row of a controller.
    const fn of<C: Configure>() -> Self {
        Self {
            descriptor: C::DESCRIPTOR,
            make: |settings, workers, queue| {
                Box::new(Engine::with(C::configure(settings), workers, queue))
            },
        }
    }

    /// Whether it goes by this name, an older one included.
    pub fn is(&self, name: &str) -> bool {
        self.descriptor.is(name)
    }

    /// The pacing that the controller asks for itself.
    pub fn pacing(&self) -> QueueOptions {
        QueueOptions {
            max_retries: self.descriptor.retries_max,
            max_delay: self.descriptor.delay_max,
            ..QueueOptions::default()
        }
    }

    /// Makes it, with a queue of its own pacing.
    pub fn with(&self, settings: &dyn Settings) -> Box<dyn Driver> {
        self.tuned(settings, self.descriptor.workers, self.pacing())
    }

    /// Makes it, with so many workers and a queue that is paced as configured.
    pub fn tuned(
        &self,
        settings: &dyn Settings,
        workers: usize,
        queue: QueueOptions,
    ) -> Box<dyn Driver> {
        (self.make)(settings, workers, queue)
    }

    /// Makes it as upstream's defaults have it, for a server with these certificates.
    pub fn with_defaults(&self, root_ca: &str) -> Box<dyn Driver> {
        self.with(&Defaults { root_ca })
    }
}

/// Upstream's defaults of all settings.
#[derive(Clone, Copy, Debug)]
pub struct Defaults<'a> {
    /// The certificates by which clients recognize the API server, in PEM.
    pub root_ca: &'a str,
}

impl Settings for Defaults<'_> {
    fn gate(&self, name: &str) -> bool {
        gates().any(|gate| gate.name == name && gate.default)
    }
    fn number(&self, _: &str) -> Option<i64> {
        None
    }
    fn root_ca(&self) -> &str {
        self.root_ca
    }
}

/// The feature gates that change what a controller of the table does.
pub fn gates() -> impl Iterator<Item = FeatureGate> {
    let all = CONTROLLERS.iter();
    all.flat_map(|entry| entry.descriptor.gates.iter().copied())
}

/// The controller whose writes are made as this client.
pub fn of_client(client: &str) -> Option<&'static Entry> {
    let mut all = CONTROLLERS.iter();
    all.find(|entry| entry.descriptor.client == client)
}

#[cfg(test)]
mod tests;
