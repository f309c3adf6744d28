//! The life of a runtime: from a setup to running tasks, and down again in order.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use flyball_client::{Client, Request};
use flyball_election::{BadSettings, Candidate};
use flyball_plan::Driver;
use flyball_process::{Process, Settings, ViewConflict};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until, timeout};

use crate::clock::Clock;
use crate::coalesced_reads::CoalescedReads;
use crate::decisions::Decisions;
use crate::discovery::follow_discovery;
use crate::election::{ElectionOptions, ElectionTask};
use crate::events::{EventTask, Events, Sent};
use crate::executor::{REQUESTS_MAX, Tools};
use crate::health::Health;
use crate::lease_watch::watch_lease;
use crate::loops::Loop;
use crate::metrics::{Metrics, Tallies};
use crate::news::NewsDesk;
use crate::permission::WritePermit;
use crate::shared::Shared;
use crate::stop::stop;

/// A controller to be run.
pub struct Controlled {
    /// What decides.
    pub driver: Box<dyn Driver>,
    /// What its writes are sent with.
    pub client: Client,
}

/// What a runtime needs.
pub struct Setup {
    /// The controllers.
    pub controllers: Vec<Controlled>,
    /// What lists and watches are made with.
    pub informers: Client,
    /// The election to take part in; `None` to lead without one.
    pub election: Option<(ElectionOptions, Client)>,
    /// How long a stop may take before what still runs is cut off; zero for as long as it takes.
    pub shutdown_timeout: Duration,
    /// After this time everything cached is looked at once more.
    pub resync_period: Duration,
    /// Where decisions can be followed.
    pub decisions: Decisions,
}

/// A running runtime. Dropping it ends its tasks without the order of [`Running::stop`].
pub struct Running {
    pub(crate) shared: Arc<Shared>,
    events: Vec<Arc<Events>>,
    tasks: JoinSet<()>,
}

/// Why a runtime does not start.
#[derive(Debug)]
pub enum StartFailed {
    /// The times of the election do not go together.
    Election(BadSettings),
    /// Two controllers want one kind cached as different types.
    Views(Box<ViewConflict>),
}

impl fmt::Display for StartFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Election(bad) => write!(f, "leader election: {bad}"),
            Self::Views(conflict) => conflict.fmt(f),
        }
    }
}

impl std::error::Error for StartFailed {}

/// Starts everything. Caches fill and queues take keys at once, also while another process leads;
/// syncs start with the term.
pub fn start(setup: Setup, metrics: &mut Metrics) -> Result<Running, StartFailed> {
    let clock = Clock::start();
    let (options, election) = setup.election.unzip();
    let elects = options.is_some();
    let candidate = options.as_ref().map(candidate).transpose();
    let candidate = candidate.map_err(StartFailed::Election)?;
    let settings = Settings {
        resync_period: setup.resync_period,
        shutdown_timeout: setup.shutdown_timeout,
        release_on_exit: options.as_ref().is_none_or(|one| one.release_on_exit),
    };
    let lease = options.map(|options| {
        let events = Events::new(&options.name);
        (options, events)
    });
    let lease_events = lease.as_ref().map(|(_, events)| events.clone());
    let controllers = setup.controllers.into_iter();
    let (drivers, clients): (Vec<_>, Vec<_>) =
        controllers.map(|one| (one.driver, one.client)).unzip();
    let process = Process::new(drivers, candidate, settings).map_err(StartFailed::Views)?;
    let descriptors: Vec<_> = process.descriptors().collect();
    let lease_path = process.lease_path();
    let follows_discovery = process.discovery().is_some();
    let shared = Arc::new(Shared::new(
        process,
        setup.informers,
        clock,
        NewsDesk::new(lease),
    ));

    let mut running = Running {
        shared: shared.clone(),
        events: Vec::new(),
        tasks: JoinSet::new(),
    };
    let tallies = Tallies::default();
    for (at, (descriptor, client)) in descriptors.into_iter().zip(clients).enumerate() {
        let events = Events::new(descriptor.component);
        running.send_events(events.clone(), client.clone(), Sent::Leading);
        let one = Loop {
            at,
            descriptor,
            tools: Tools {
                shared: shared.clone(),
                client,
                events,
                // Each has its own: one that waits for its rate limit must not hold up the others.
                requests: Arc::new(Semaphore::new(REQUESTS_MAX)),
                reads: CoalescedReads::new(shared.clone(), at),
            },
            decisions: setup.decisions.clone(),
            tallies: tallies.clone(),
        };
        running.tasks.spawn(Arc::new(one).run());
    }
    metrics.watch(shared.clone(), running.events.clone(), tallies);
    if let (Some(client), Some(events), Some(path)) = (election, lease_events, lease_path) {
        running.send_events(events, client.clone(), Sent::Always);
        running.take_part(client, path);
    }
    if follows_discovery {
        running.tasks.spawn(follow_discovery(shared.clone()));
    }
    running.tasks.spawn(resync(shared.clone()));
    running.tasks.spawn(reopen_suspect(shared.clone()));
    if !elects && shared.informers.has_connections() {
        running.tasks.spawn(heartbeat(shared.informers.clone()));
    }
    shared.act(|process, moment| process.start(moment));
    Ok(running)
}

fn candidate(options: &ElectionOptions) -> Result<Candidate, BadSettings> {
    Candidate::new(&options.namespace, &options.name, options.settings.clone())
}

impl Running {
    /// Answers questions about health.
    pub fn health(&self) -> Health {
        Health {
            shared: self.shared.clone(),
        }
    }

    /// Stops in order: syncs come to their end, Events are sent, and only then is the Lease given
    /// up. Should the time not suffice, nothing more is written and the Lease is kept.
    pub async fn stop(mut self) {
        stop(&self.shared, &self.events).await;
        self.tasks.abort_all();
    }

    fn send_events(&mut self, events: Arc<Events>, client: Client, sent: Sent) {
        let shared = self.shared.clone();
        let client = match sent {
            Sent::Always => client,
            Sent::Leading => client.permitted(Arc::new(WritePermit {
                shared: shared.clone(),
                round: None,
            })),
        };
        let task = EventTask {
            events: events.clone(),
            client,
            sent,
            shared,
        };
        self.events.push(events);
        self.tasks.spawn(task.run());
    }

    fn take_part(&mut self, client: Client, lease: String) {
        let shared = self.shared.clone();
        self.tasks
            .spawn(watch_lease(shared.clone(), client.clone(), lease));
        self.tasks.spawn(ElectionTask { shared, client }.run());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.close_feeds();
    }
}

/// Asks for a resync whenever one may be due.
async fn resync(shared: Arc<Shared>) {
    loop {
        let due = shared.look(|process, now| process.resync_due(now.monotonic));
        sleep_until(shared.clock.instant(due)).await;
        shared.act(|process, moment| process.resync_if_due(moment));
    }
}

/// How often a process without a Lease asks the server whether it is there, and how long it waits.
const HEARTBEAT: Duration = Duration::from_secs(10);
const HEARTBEAT_MAX: Duration = Duration::from_secs(5);

/// Asks the server now and then whether it is there, as the renewal of a Lease does. A connection
/// that brings no answer is how dead ones are found: see [`Client::connections_suspect`].
async fn heartbeat(client: Client) {
    let request = Request::get("/version");
    loop {
        sleep(HEARTBEAT).await;
        // What it answers does not matter, only that it does.
        drop(timeout(HEARTBEAT_MAX, client.send_once(&request)).await);
    }
}

/// Opens watches again when connections that were opened earlier are suspect.
async fn reopen_suspect(shared: Arc<Shared>) {
    let mut suspect = shared.informers.connections_suspect();
    while suspect.changed().await.is_ok() {
        tracing::info!("older connections bring no answers: watches are opened again");
        shared.act(|process, moment| process.reopen(moment));
    }
}
