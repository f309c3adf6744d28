//! Runs controllers: work out, answers in, as many syncs at once as the process hands out.

use std::sync::Arc;
use std::time::Duration;

use flyball_plan::{Answer, Descriptor, Finished, Next, Outcome, Work};
use flyball_process::ControllerId;
use tokio::time::sleep_until;

use crate::decisions::{Decisions, Deed, deeds};
use crate::executor::{Executor, Tools};
use crate::metrics::Tallies;
use crate::shared::Shared;

/// The task that asks for the work of one controller, and the syncs that it starts.
pub(crate) struct Loop {
    pub(crate) at: ControllerId,
    pub(crate) descriptor: Descriptor,
    pub(crate) tools: Tools,
    pub(crate) decisions: Decisions,
    pub(crate) tallies: Tallies,
}

impl Loop {
    /// Starts syncs whenever there is work, until the task is aborted.
    pub(crate) async fn run(self: Arc<Self>) {
        let shared = self.shared();
        let mut executor = Arc::new(Executor::new(&self.tools, 0));
        loop {
            let idle_until = self.start_syncs(&mut executor);
            // Without anything due, a look each second keeps a missed wake-up harmless.
            let second_look = || shared.clock.monotonic() + Duration::from_secs(1);
            let at = idle_until.unwrap_or_else(second_look);
            tokio::select! {
                () = shared.wakeups.controllers[self.at].notified() => {}
                () = sleep_until(shared.clock.instant(at)) => {}
            }
        }
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.tools.shared
    }

    /// Starts all syncs that may start now; returns when to look again.
    fn start_syncs(self: &Arc<Self>, executor: &mut Arc<Executor>) -> Option<Duration> {
        loop {
            // Of one moment: the permission that the work is sent by belongs to this round.
            let (next, round) = self
                .shared()
                .act(|process, moment| (process.next(self.at, moment), process.round()));
            match next {
                Next::Work(work) => {
                    if executor.round != round {
                        *executor = Arc::new(Executor::new(&self.tools, round));
                    }
                    tokio::spawn(self.clone().sync(work, executor.clone()));
                }
                Next::Finished(finished) => self.report(Vec::new(), &finished, Duration::ZERO),
                Next::Idle(at) => return at,
            }
        }
    }

    /// Carries one sync to its rest.
    async fn sync(self: Arc<Self>, mut work: Work, executor: Arc<Executor>) {
        let shared = self.shared();
        let begun = shared.clock.monotonic();
        let mut done: Vec<Deed> = Vec::new();
        loop {
            let answered = executor.run(&work.actions).await;
            if self.decisions.followed() {
                let (Ok(answers) | Err(answers)) = &answered;
                done.extend(deeds(&work.actions, answers));
            }
            let next = match answered {
                Ok(answers) => shared.act(|process, moment| {
                    process.answered(self.at, work.id, &work.actions, answers, moment)
                }),
                Err(answers) => {
                    self.abandon(&work, &answers);
                    None
                }
            };
            match next {
                Some(Next::Work(more)) => work = more,
                Some(Next::Finished(finished)) => {
                    let took = shared.clock.monotonic().saturating_sub(begun);
                    self.report(done, &finished, took);
                    break;
                }
                Some(Next::Idle(_)) | None => break,
            }
        }
        shared.wakeups.controllers[self.at].notify_one();
        shared.wakeups.stop.notify_one();
    }

    /// Ends a sync whose writes may no longer be sent.
    fn abandon(&self, work: &Work, answers: &[Answer]) {
        let leads = self.shared().act(|process, moment| {
            process.abandon(self.at, work.id, answers, moment.now);
            process.leads(moment.now.monotonic)
        });
        let (controller, key) = (self.descriptor.name, work.key.as_str());
        match leads {
            true => {
                tracing::debug!(controller, key, "sync abandoned: its caches are in doubt");
            }
            false => {
                tracing::info!(
                    controller,
                    key,
                    "sync abandoned: the lease is no longer held"
                );
            }
        }
    }

    fn report(&self, done: Vec<Deed>, finished: &Finished, took: Duration) {
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
            Outcome::Permanent { error } => {
                let (message, report) = (
                    "sync refused for good, waits for a change",
                    &finished.report,
                );
                tracing::error!(controller, key, err = error, %report, message);
            }
            Outcome::GaveUp { error, failures } => {
                let report = &finished.report;
                tracing::error!(controller, key, err = error, failures, %report, "sync given up");
            }
            Outcome::Gated(waiting) => {
                let resource = waiting.kind();
                tracing::debug!(controller, key, %resource, what = %waiting, "cache is behind own writes");
            }
            outcome => {
                tracing::debug!(controller, key, ?outcome, report = %finished.report, "synced");
            }
        }
    }
}
