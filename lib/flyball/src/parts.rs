//! The parts of a plane beside its server: each a set of controllers with caches of its own.

use std::sync::Arc;
use std::time::Duration;

use flyball_accounts::ServiceAccountController;
use flyball_apiserver::{ApiServer, LocalService};
use flyball_client::Client;
use flyball_kubelets::{NodeController, PodController, Settings as NodeSettings};
use flyball_plan::{Controller, Driver, Engine};
use flyball_rbac::{AUTHENTICATED, MASTERS, User};
use flyball_runtime::{Controlled, Decisions, Metrics, Running, Setup, start};
use flyball_scheduler::{Scheduler, SchedulerSettings};
use tokio::runtime::Handle;

use crate::plane::PlaneFailed;
use flyball_controllers::CONTROLLERS;

/// The controller that gives every namespace its account.
const ACCOUNTS: &str = ServiceAccountController::DESCRIPTOR.name;

/// What the parts of one plane have in common.
pub(crate) struct Shared {
    pub(crate) server: Arc<ApiServer>,
    /// The runtime that the server lives in, if it is not that of the parts.
    pub(crate) home: Option<Handle>,
    pub(crate) nodes: Arc<NodeSettings>,
    /// The names of the controllers that are to run.
    pub(crate) wanted: Vec<&'static str>,
    pub(crate) decisions: Decisions,
    /// The certificate by which clients recognize the server.
    pub(crate) root_ca: String,
}

impl Shared {
    /// A client of the server in the same process.
    pub(crate) fn local(&self, user: User, agent: &str) -> Result<Client, PlaneFailed> {
        let service = LocalService::new(self.server.clone(), user, self.home.clone());
        Client::over(service, "in-process", agent)
            .map_err(|error| PlaneFailed::Client(error.to_string()))
    }
}

/// A part that can be switched on and off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The controllers of kube-controller-manager.
    Controllers,
    /// The scheduler.
    Scheduler,
    /// The simulated nodes.
    Nodes,
}

impl Part {
    /// All parts, in the order in which they are started.
    pub const ALL: [Self; 3] = [Self::Controllers, Self::Scheduler, Self::Nodes];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Controllers => "controllers",
            Self::Scheduler => "scheduler",
            Self::Nodes => "nodes",
        }
    }

    /// Who its lists and watches are made as.
    fn user(self) -> User {
        match self {
            Self::Controllers => user("system:kube-controller-manager", &[]),
            Self::Scheduler => user("system:kube-scheduler", &[]),
            // They play many nodes at once, which no role of upstream's allows.
            Self::Nodes => user("flyball:nodes", &[MASTERS]),
        }
    }

    /// Starts it; of the controllers of the table, those that are wanted.
    pub(crate) fn start(self, shared: &Shared) -> Result<Running, PlaneFailed> {
        // From here on every namespace gets its account, so pods can be asked for one.
        if self == Self::Controllers && shared.wanted.contains(&ACCOUNTS) {
            shared.server.require_accounts();
        }
        let setup = Setup {
            controllers: self.controllers(shared)?,
            informers: shared.local(self.user(), self.name())?,
            election: None,
            shutdown_timeout: Duration::from_secs(10),
            resync_period: Duration::from_secs(12 * 60 * 60),
            decisions: shared.decisions.clone(),
        };
        let started = start(setup, &mut Metrics::new());
        started.map_err(|error| PlaneFailed::Part {
            part: self,
            why: error.to_string(),
        })
    }

    fn controllers(self, shared: &Shared) -> Result<Vec<Controlled>, PlaneFailed> {
        let nodes = &shared.nodes;
        let account = |driver: Box<dyn Driver>| {
            let name = driver.descriptor().client;
            let user = User::service_account("kube-system", name, "");
            let client = shared.local(user, name)?;
            Ok(Controlled { driver, client })
        };
        let own = |driver: Box<dyn Driver>| {
            let client = shared.local(self.user(), driver.descriptor().client)?;
            Ok(Controlled { driver, client })
        };
        match self {
            Self::Controllers => CONTROLLERS
                .iter()
                .filter(|entry| shared.wanted.contains(&entry.descriptor.name))
                .map(|entry| account(entry.with_defaults(&shared.root_ca)))
                .collect(),
            Self::Scheduler => vec![own(engine(Scheduler::new(SchedulerSettings::default())))],
            Self::Nodes => vec![
                own(engine(NodeController::new(nodes.clone()))),
                own(engine(PodController::new(nodes.clone()))),
            ],
        }
        .into_iter()
        .collect()
    }
}

fn engine<C: Controller>(controller: C) -> Box<dyn Driver> {
    Box::new(Engine::new(controller))
}

fn user(name: &str, groups: &[&str]) -> User {
    let groups: Vec<&str> = groups.iter().copied().chain([AUTHENTICATED]).collect();
    User::of_groups(name, &groups)
}
