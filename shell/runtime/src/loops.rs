//! Runs controllers: changes in, syncs out, as many at once as each allows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flyball_informer::{Change, Snapshot};
use flyball_plan::{Descriptor, Driver, EngineStats, Finished, Next, Outcome, Sight, Work};
use tokio::sync::Notify;
use tokio::time::sleep_until;

use crate::caches::Caches;
use crate::clock::{Clock, lock};
use crate::decisions::{Decisions, Deed, deeds};
use crate::executor::Executor;
use crate::metrics::Tallies;
use crate::stop::Stop;
use crate::term::Term;

/// One controller as it runs.
pub(crate) struct Loop {
    pub(crate) descriptor: Descriptor,
    sight: Sight,
    driver: Mutex<Box<dyn Driver>>,
    wake: Notify,
    executor: Executor,
    decisions: Decisions,
    tallies: Tallies,
    /// Whether it has seen enough to begin; so it stays.
    begun: AtomicBool,
}

/// All controllers of the process.
pub(crate) struct Loops {
    all: Vec<Arc<Loop>>,
    tallies: Tallies,
    clock: Clock,
}

impl Loops {
    pub(crate) fn new(
        all: Vec<(Box<dyn Driver>, Executor)>,
        decisions: &Decisions,
        clock: Clock,
    ) -> Self {
        let tallies = Tallies::default();
        let all = all
            .into_iter()
            .map(|(driver, executor)| {
                Arc::new(Loop {
                    descriptor: driver.descriptor(),
                    sight: driver.sight(),
                    driver: Mutex::new(driver),
                    wake: Notify::new(),
                    executor,
                    decisions: decisions.clone(),
                    tallies: tallies.clone(),
                    begun: AtomicBool::new(false),
                })
            })
            .collect();
        Self {
            all,
            tallies,
            clock,
        }
    }

    /// What the controllers count for themselves.
    pub(crate) fn tallies(&self) -> Tallies {
        self.tallies.clone()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Loop>> {
        self.all.iter()
    }

    /// Routes changes to every controller that watches their kind. Nothing is buffered: routing
    /// is a few lookups, and what it yields is deduplicated by each controller's queue.
    pub(crate) fn changed(&self, changes: &[Change], store: &Snapshot) {
        let now = self.clock.now();
        for each in &self.all {
            let watches = each.descriptor.watches;
            let mut watched = changes
                .iter()
                .filter(|change| each.sight.hears_of(watches, change.kind))
                .peekable();
            if watched.peek().is_none() {
                continue;
            }
            let mut driver = lock(&each.driver);
            for change in watched {
                driver.changed(change, store, now);
            }
            drop(driver);
            each.wake.notify_one();
        }
    }

    /// Wakes whoever has not begun yet: what was listed just now may have been the last it waits
    /// for, and where there are no objects, no change says so.
    pub(crate) fn listed(&self) {
        for each in self.all.iter().filter(|each| !each.has_begun()) {
            each.wake.notify_one();
        }
    }

    /// Whether a queue was too full to take a key since this was last asked.
    pub(crate) fn take_overflow(&self) -> bool {
        let overflows = self
            .all
            .iter()
            .map(|each| lock(&each.driver).take_overflow());
        // All are asked, not only up to the first.
        overflows.fold(false, |any, one| any | one)
    }

    /// Per event component, how many records were dropped because too many were waiting.
    pub(crate) fn records_dropped(&self) -> Vec<(&'static str, u64)> {
        let of = |each: &Arc<Loop>| (each.descriptor.component, each.executor.events.dropped());
        self.all.iter().map(of).collect()
    }

    /// How each controller fares.
    pub(crate) fn stats(&self) -> Vec<(Descriptor, EngineStats)> {
        let now = self.clock.now();
        self.all
            .iter()
            .map(|each| (each.descriptor, lock(&each.driver).stats(now)))
            .collect()
    }
}

impl Loop {
    /// Whether it has seen enough to begin. Once filled, a cache keeps serving.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Acquire)
    }

    /// Syncs keys while this process leads, until told to stop; then ends intake, lets what runs
    /// come to an end and returns.
    pub(crate) async fn run(
        self: Arc<Self>,
        caches: Arc<Caches>,
        term: Arc<Term>,
        clock: Clock,
        mut stop: Stop,
    ) {
        let mut leading = term.leading();
        loop {
            let synced = self.has_begun() || self.is_synced(&caches, clock);
            self.begun.store(synced, Ordering::Release);
            // The term may be over by the clock before anybody has said so: a sync that may not
            // write comes back at once, and would do so again and again.
            let leads = *leading.borrow_and_update() && term.may_write(clock.monotonic());
            let idle_until = if leads && synced {
                self.start_syncs(&caches, clock)
            } else {
                None
            };
            // Without anything due, a second look now and then keeps a missed wake-up harmless.
            let at = idle_until.unwrap_or_else(|| clock.monotonic() + Duration::from_secs(1));
            tokio::select! {
                () = self.wake.notified() => {}
                () = sleep_until(clock.instant(at)) => {}
                _ = leading.changed() => {}
                () = stop.asked() => break,
            }
        }
        lock(&self.driver).shut_down();
        while lock(&self.driver).stats(clock.now()).syncs_running > 0 {
            self.wake.notified().await;
        }
    }

    /// Whether the caches have what this controller needs.
    fn is_synced(&self, caches: &Caches, clock: Clock) -> bool {
        let readiness = caches.readiness(clock.monotonic());
        let watches = self.descriptor.watches;
        self.sight
            .may_begin(watches, &caches.snapshot(), &readiness)
    }

    /// Starts all syncs that may start now; returns when to look again.
    fn start_syncs(self: &Arc<Self>, caches: &Arc<Caches>, clock: Clock) -> Option<Duration> {
        loop {
            let store = caches.snapshot();
            let next = lock(&self.driver).next(&store, clock.now());
            match next {
                Next::Work(work) => {
                    tokio::spawn(self.clone().sync(work, clock));
                }
                Next::Finished(finished) => self.tell(Vec::new(), &finished, Duration::ZERO),
                Next::Idle(at) => return at,
            }
        }
    }

    /// Carries one sync to its rest.
    async fn sync(self: Arc<Self>, mut work: Work, clock: Clock) {
        let begun = clock.monotonic();
        let mut done: Vec<Deed> = Vec::new();
        loop {
            let answered = self.executor.run(&work.actions).await;
            if self.decisions.followed() {
                let (Ok(answers) | Err(answers)) = &answered;
                done.extend(deeds(&work.actions, answers));
            }
            let next = match answered {
                Ok(answers) => lock(&self.driver).answered(work.id, answers, clock.now()),
                Err(answers) => {
                    tracing::info!(
                        controller = self.descriptor.name,
                        key = work.key,
                        "sync abandoned: the lease is no longer held"
                    );
                    lock(&self.driver).abandon(work.id, &answers, clock.now());
                    None
                }
            };
            match next {
                Some(Next::Work(more)) => work = more,
                Some(Next::Finished(finished)) => {
                    let took = clock.monotonic().saturating_sub(begun);
                    self.tell(done, &finished, took);
                    break;
                }
                Some(Next::Idle(_)) | None => break,
            }
        }
        self.wake.notify_one();
    }

    fn tell(&self, done: Vec<Deed>, finished: &Finished, took: Duration) {
        self.tallies.add(&finished.report.tallies, took);
        self.decisions.tell(self.descriptor.name, done, finished);
        let (controller, key) = (self.descriptor.name, finished.key.as_str());
        match &finished.outcome {
            Outcome::Retries { error, after } => {
                tracing::warn!(
                    controller,
                    key,
                    err = error,
                    ?after,
                    "sync failed, will retry"
                );
            }
            Outcome::GaveUp { error, failures } => {
                tracing::error!(controller, key, err = error, failures, "sync given up");
            }
            Outcome::Gated(waiting) => {
                let (resource, what) = (waiting.kind, &waiting.what);
                tracing::debug!(controller, key, %resource, what, "cache is behind own writes");
            }
            outcome => {
                tracing::debug!(controller, key, ?outcome, report = %finished.report, "synced");
            }
        }
    }
}
