//! The life of the process: caches and queues up, run, and down again in order.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flyball_client::Client;
use flyball_election::{BadSettings, Candidate as Machine};
use flyball_plan::{Driver, Record, Sight};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use crate::caches::Caches;
use crate::clock::Clock;
use crate::decisions::Decisions;
use crate::discovery::{Discovered, Discoverer};
use crate::election::{Candidate, ElectionOptions};
use crate::events::EventSink;
use crate::executor::{Executor, REQUESTS_MAX};
use crate::feed::Feed;
use crate::health::Health;
use crate::loops::Loops;
use crate::metrics::Metrics;
use crate::recent::{Recent, RecentLists};
use crate::stop::Stopper;
use crate::term::{Term, TermPermit};

/// How often to ask whether a queue was too full to take a key.
const OVERFLOW_CHECK: Duration = Duration::from_secs(10);

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
    /// How long a stop may take before what still runs is cut off.
    pub shutdown_timeout: Duration,
    /// After this time everything cached is looked at once more.
    pub resync_period: Duration,
    /// Where decisions are told.
    pub decisions: Decisions,
}

/// A running runtime.
pub struct Running {
    health: Health,
    shutdown_timeout: Duration,
    stop_loops: Stopper,
    stop_events: Stopper,
    stop_election: Stopper,
    loops: JoinSet<()>,
    feeds: JoinSet<()>,
    events: JoinSet<()>,
    election: JoinSet<()>,
    farewell: Option<(EventSink, Record)>,
}

/// Starts everything. Informers fill and queues take keys at once, also while another process
/// leads; syncs start with the term.
pub fn start(setup: Setup, metrics: &mut Metrics) -> Result<Running, BadSettings> {
    let clock = Clock::start();
    let term = Arc::new(match setup.election {
        Some(_) => Term::default(),
        None => Term::forever(),
    });
    let (stop_loops, loops_stop) = Stopper::new();
    let (stop_events, events_stop) = Stopper::new();
    let (stop_election, election_stop) = Stopper::new();
    let mut events = JoinSet::new();
    let mut election = JoinSet::new();

    let permit = Arc::new(TermPermit {
        term: term.clone(),
        clock,
    });
    let descriptors: Vec<_> = setup
        .controllers
        .iter()
        .map(|c| c.driver.descriptor())
        .collect();
    let sights = setup.controllers.iter().map(|c| c.driver.sight());
    let sight = sights.max().unwrap_or_default();
    let watches = descriptors.iter().flat_map(|d| d.watches);
    let caches = Arc::new(Caches::new(watches, sight == Sight::Everything));
    let mut engines = Vec::new();
    for Controlled { driver, client } in setup.controllers {
        let component = driver.descriptor().component;
        let client = client.permitted(permit.clone());
        let (sink, teller) = EventSink::new(component, client.clone(), term.clone(), clock);
        events.spawn(teller.run(events_stop.clone()));
        let term = term.clone();
        // Each has its own: one that waits for its rate limit must not hold up the others.
        let requests = Arc::new(Semaphore::new(REQUESTS_MAX));
        engines.push((
            driver,
            Executor {
                client,
                events: sink,
                term,
                clock,
                requests,
                recent_discovery: Recent::default(),
                recent_lists: RecentLists::default(),
            },
        ));
    }
    let all_loops = Arc::new(Loops::new(engines, &setup.decisions, clock));
    let discovered: Arc<Mutex<Discovered>> = Arc::default();
    let lease = setup
        .election
        .as_ref()
        .map(|(options, _)| options.name.clone());
    metrics.watch(
        all_loops.clone(),
        caches.clone(),
        term.clone(),
        lease.unwrap_or_default(),
        discovered.clone(),
    );

    let mut farewell = None;
    if let Some((options, client)) = setup.election {
        let machine = Machine::new(&options.namespace, &options.name, options.settings.clone())?;
        let component = options.name.clone();
        let (sink, teller) = EventSink::new(&component, client.clone(), term.clone(), clock);
        events.spawn(teller.run(events_stop.clone()));
        farewell = Some((sink.clone(), options.record("stopped leading")));
        let term = term.clone();
        let candidate = Candidate {
            options,
            machine,
            client,
            events: sink,
            term,
            clock,
        };
        election.spawn(candidate.run(election_stop));
    }

    let feed = Arc::new(Feed {
        caches: caches.clone(),
        loops: all_loops.clone(),
        client: setup.informers,
        clock,
        resources_moved: Arc::new(Notify::new()),
    });
    let mut feeds = JoinSet::new();
    for slot in caches.slots() {
        feeds.spawn(feed.clone().run(slot));
    }
    if sight != Sight::Named {
        let discoverer = Discoverer::new(feed.clone(), sight, Arc::clone(&discovered));
        feeds.spawn(discoverer.run());
    }
    feeds.spawn(resync(feed, term.clone(), setup.resync_period));
    let mut loops = JoinSet::new();
    for each in all_loops.iter() {
        loops.spawn(
            each.clone()
                .run(caches.clone(), term.clone(), clock, loops_stop.clone()),
        );
    }
    let health = Health {
        caches,
        discovered,
        loops: all_loops,
        term,
        clock,
    };
    Ok(Running {
        health,
        shutdown_timeout: setup.shutdown_timeout,
        stop_loops,
        stop_events,
        stop_election,
        loops,
        feeds,
        events,
        election,
        farewell,
    })
}

impl Running {
    /// Answers questions about health.
    pub fn health(&self) -> Health {
        self.health.clone()
    }

    /// Stops in order: intake ends and what runs comes to its end, then events are told, then the
    /// Lease is given up, so that nobody else begins before the last write was made. Should the
    /// time not suffice, what still runs may write no more and the Lease is not given up.
    pub async fn stop(mut self) {
        self.stop_loops.stop();
        // Zero means to wait for ever, as upstream's flag does.
        let patience = match self.shutdown_timeout {
            Duration::ZERO => Duration::MAX,
            patience => patience,
        };
        if within(patience, &mut self.loops).await.is_err() {
            tracing::warn!("shutdown timeout: cutting off what still runs; the lease is kept");
            // Nobody can tell when the last request will land: whoever comes next waits out the
            // Lease, which is not renewed any more.
            self.election.shutdown().await;
            self.health.term.end();
        }
        if let Some((events, stopped_leading)) = self.farewell.take()
            && *self.health.term.leading().borrow()
        {
            events.record(stopped_leading);
        }
        self.stop_events.stop();
        if within(Duration::from_secs(2), &mut self.events)
            .await
            .is_err()
        {
            tracing::warn!("some events were not told");
        }
        self.stop_election.stop();
        if within(Duration::from_secs(5), &mut self.election)
            .await
            .is_err()
        {
            tracing::warn!("the lease was not released in time");
        }
        self.feeds.abort_all();
    }
}

async fn within(patience: Duration, tasks: &mut JoinSet<()>) -> Result<(), ()> {
    let all = async { while tasks.join_next().await.is_some() {} };
    let in_time = match patience {
        Duration::MAX => {
            all.await;
            true
        }
        patience => timeout(patience, all).await.is_ok(),
    };
    tasks.abort_all();
    in_time.then_some(()).ok_or(())
}

/// Looks at everything once more when a term begins, since another leader may have left things
/// half-done, after each resync period, and soon after a queue was too full to take a key.
async fn resync(feed: Arc<Feed>, term: Arc<Term>, period: Duration) {
    let mut leading = term.leading();
    // Between one and two periods, as upstream spreads them.
    let pause = || period.mul_f64(1.0 + crate::clock::jitter());
    let mut due = Instant::now() + pause();
    loop {
        tokio::select! {
            changed = leading.changed() => {
                if changed.is_err() {
                    return;
                }
            }
            () = sleep_until(due.min(Instant::now() + OVERFLOW_CHECK)) => {
                if Instant::now() < due && !feed.loops.take_overflow() {
                    continue;
                }
            }
        }
        if *leading.borrow_and_update() {
            due = Instant::now() + pause();
            feed.resync();
        }
    }
}
