//! What a simulated cluster is made of: the production controllers, the scheduler and the nodes.
//!
//! Each part runs in replicas of its own, with caches, clocks and a view of the Lease of its own.

use std::sync::Arc;
use std::time::Duration;

use flyball_controllers::{CONTROLLERS, Defaults};
use flyball_kubelets::{NodeController, PodController, Settings as NodeSettings};
use flyball_plan::{Controller, Driver, Engine, Settings};
use flyball_rbac::{AUTHENTICATED, MASTERS, User};
use flyball_scheduler::{Scheduler, SchedulerSettings};

/// The certificate that the publisher publishes.
pub(crate) const ROOT_CA: &str = "-----BEGIN CERTIFICATE-----\nsim\n-----END CERTIFICATE-----\n";

/// How many nodes a cluster has.
pub(crate) const NODES: usize = 3;

/// Makes a controller, ready to be driven.
pub(crate) type Make = Arc<dyn Fn() -> Box<dyn Driver> + Send + Sync>;

/// As whom requests are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The manager's own user for watches and the Lease, a service account for each controller.
    Manager,
    /// The scheduler's own user.
    Scheduler,
    /// Somebody who may do anything: all nodes at once, or a controller of somebody else's.
    Anybody,
}

/// A program with some controllers, of which there may be several replicas.
#[derive(Clone)]
pub struct Part {
    pub(crate) name: String,
    pub(crate) controllers: Vec<Make>,
    pub(crate) replicas: usize,
    pub(crate) elects: bool,
    pub(crate) identity: Identity,
}

impl Part {
    /// The controllers of the manager, in so many replicas of which one leads.
    pub fn controllers(replicas: usize) -> Self {
        Self {
            name: "manager".to_owned(),
            controllers: CONTROLLERS
                .iter()
                .map(|entry| -> Make { Arc::new(|| entry.with(&Few)) })
                .collect(),
            replicas,
            elects: true,
            identity: Identity::Manager,
        }
    }

    /// The scheduler.
    pub fn scheduler() -> Self {
        Self {
            name: "scheduler".to_owned(),
            controllers: vec![make(|| Scheduler::new(SchedulerSettings::default()))],
            replicas: 1,
            elects: false,
            identity: Identity::Scheduler,
        }
    }

    /// The simulated nodes, all in one replica.
    pub fn nodes() -> Self {
        let settings = Arc::new(NodeSettings {
            count: NODES,
            // Heartbeats are not what is looked at here: few of them will do.
            lease_duration_seconds: 600,
            renew_every: Duration::from_secs(180),
            heartbeat_every: Duration::from_secs(900),
            ..NodeSettings::default()
        });
        let pods = settings.clone();
        Self {
            name: "nodes".to_owned(),
            controllers: vec![
                make(move || NodeController::new(settings.clone())),
                make(move || PodController::new(pods.clone())),
            ],
            replicas: 1,
            elects: false,
            identity: Identity::Anybody,
        }
    }

    /// A program with one controller of your own, in so many replicas of which one leads.
    pub fn custom<C: Controller>(
        replicas: usize,
        controller: impl Fn() -> C + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: C::DESCRIPTOR.name.to_owned(),
            controllers: vec![make(controller)],
            replicas,
            elects: true,
            identity: Identity::Anybody,
        }
    }

    /// What Kubernetes is made of here: two managers, a scheduler, three nodes.
    pub fn kubernetes() -> Vec<Self> {
        vec![Self::controllers(2), Self::scheduler(), Self::nodes()]
    }
}

fn make<C: Controller>(controller: impl Fn() -> C + Send + Sync + 'static) -> Make {
    Arc::new(move || Box::new(Engine::new(controller())))
}

/// Upstream's defaults, but for what would never be reached in a small cluster.
struct Few;

const DEFAULTS: Defaults<'static> = Defaults { root_ca: ROOT_CA };

impl Settings for Few {
    fn gate(&self, name: &str) -> bool {
        DEFAULTS.gate(name)
    }
    fn number(&self, flag: &str) -> Option<i64> {
        match flag {
            // Few pods have terminated here: with upstream's thousands none would be deleted.
            "terminated-pod-gc-threshold" => Some(1),
            _ => DEFAULTS.number(flag),
        }
    }
    fn root_ca(&self) -> &str {
        ROOT_CA
    }
}

impl Identity {
    /// Who watches and holds the Lease. Everybody may do anything: what roles allow is for others
    /// to show, and a cluster without its hundred roles is half the work.
    pub(crate) fn own(self) -> User {
        let name = match self {
            Self::Manager => "system:kube-controller-manager",
            Self::Scheduler => "system:kube-scheduler",
            Self::Anybody => "sim",
        };
        User::of_groups(name, &[MASTERS, AUTHENTICATED])
    }

    /// Who a controller writes as.
    pub(crate) fn writer(self, client: &str) -> User {
        match self {
            Self::Manager => User {
                groups: self.own().groups,
                ..User::service_account("kube-system", client, "")
            },
            Self::Scheduler | Self::Anybody => self.own(),
        }
    }
}
