//! Takes part in an election: carries out what the state machine asks and watches the Lease.

use std::sync::Arc;
use std::time::Duration;

use flyball_api::views::{Lease, ObjectReference};
use flyball_api::{ApiError, Class};
use flyball_client::Client;
use flyball_election::{Candidate as Machine, Command, Election, Heard, Role, Settings, told};
use flyball_plan::{Record, RecordKind};
use tokio::sync::mpsc;
use tokio::time::{sleep, sleep_until, timeout};

use crate::clock::{Clock, jitter, wall};
use crate::events::EventSink;
use crate::stop::Stop;
use crate::term::Term;

/// Which Lease, and how patient everybody is.
#[derive(Clone, Debug)]
pub struct ElectionOptions {
    /// The namespace of the Lease.
    pub namespace: String,
    /// The name of the Lease.
    pub name: String,
    /// Identity and timing.
    pub settings: Settings,
    /// Whether a clean stop gives the Lease up at once.
    pub release_on_exit: bool,
}

impl ElectionOptions {
    /// What to tell people about our part in the election.
    pub(crate) fn record(&self, what: &str) -> Record {
        Record {
            about: ObjectReference {
                kind: "Lease".into(),
                namespace: self.namespace.as_str().into(),
                name: self.name.as_str().into(),
                api_version: "coordination.k8s.io/v1".into(),
                ..ObjectReference::default()
            },
            kind: RecordKind::Normal,
            reason: "LeaderElection",
            message: format!("{} {what}", self.settings.identity),
        }
    }
}

/// A candidate on one Lease.
pub(crate) struct Candidate {
    pub(crate) options: ElectionOptions,
    pub(crate) machine: Machine,
    pub(crate) client: Client,
    pub(crate) events: EventSink,
    pub(crate) term: Arc<Term>,
    pub(crate) clock: Clock,
}

impl Candidate {
    /// Takes part until told to stop, then gives the Lease up if it was held. `stop` must come
    /// only after all writing has ended.
    pub(crate) async fn run(mut self, mut stop: Stop) {
        let (tell, mut news) = mpsc::channel(1);
        let watcher = tokio::spawn(watch_lease(self.client.clone(), self.machine.path(), tell));
        loop {
            let command = self.machine.next(self.clock.monotonic(), wall());
            let heard = match command {
                Command::WaitUntil(at) => {
                    // The term may end before anything else happens; say so when it does.
                    let at = self.machine.look_again_at(at, self.clock.monotonic());
                    tokio::select! {
                        () = sleep_until(self.clock.instant(at)) => None,
                        Some(lease) = news.recv() => Some(Heard::Told(lease)),
                        () = stop.asked() => break,
                    }
                }
                command => tokio::select! {
                    heard = self.carry_out_in_term(command) => Some(heard),
                    () = stop.asked() => break,
                },
            };
            let was = self.election().holder().map(str::to_owned);
            if let Some(heard) = heard {
                self.hear(heard);
            }
            self.announce(was.as_deref());
        }
        watcher.abort();
        self.term.end();
        if self.options.release_on_exit {
            self.release().await;
        }
    }

    fn election(&self) -> &Election {
        self.machine.election()
    }

    fn hear(&mut self, heard: Heard) {
        self.machine.hear(heard, self.clock.monotonic(), jitter());
    }

    /// Carries out one request; should the term end meanwhile, that is said when it does.
    async fn carry_out_in_term(&self, command: Command) -> Heard {
        let mut request = std::pin::pin!(self.carry_out(command));
        if let Some(until) = self.election().leads_until() {
            tokio::select! {
                heard = &mut request => return heard,
                () = sleep_until(self.clock.instant(until)) => {
                    self.announce(self.election().holder());
                }
            }
        }
        request.await
    }

    /// Grants or ends the term as the election has it, and tells about changes.
    fn announce(&self, holder_was: Option<&str>) {
        let now = self.clock.monotonic();
        let was_leading = *self.term.leading().borrow();
        match (self.election().role(now), self.election().leads_until()) {
            (Role::Leader, Some(until)) => self.term.extend(until),
            _ => self.term.end(),
        }
        let leads = *self.term.leading().borrow();
        let holder = self.election().holder();
        if holder != holder_was {
            tracing::info!(leader = holder.unwrap_or("nobody"), "new leader elected");
        }
        if leads != was_leading {
            let (identity, lease) = (&self.options.settings.identity, &self.options.name);
            if leads {
                tracing::info!(%identity, lease, "became leader");
                self.events.record(self.options.record("became leader"));
            } else {
                tracing::error!(%identity, lease, "leaderelection lost: writing has stopped");
            }
        }
    }

    /// Carries out one request; each may take half the renew deadline, as upstream's.
    async fn carry_out(&self, command: Command) -> Heard {
        let patience = self.options.settings.renew_deadline / 2;
        let sent_at = self.clock.monotonic();
        let request = self.machine.request(&command);
        let answer = timeout(patience, self.client.send(&request))
            .await
            .unwrap_or_else(|_| {
                Err(ApiError::timeout(format!(
                    "no answer within {} s",
                    patience.as_secs_f32()
                )))
            });
        let heard = Machine::heard_of(&command, sent_at, answer.as_deref());
        // Losing a race is part of the game; everything else is worth knowing.
        let is_race =
            |error: &ApiError| matches!(error.class(), Class::Conflict | Class::AlreadyExists);
        if matches!(heard, Heard::Failed) && !answer.as_ref().is_err_and(is_race) {
            let why = answer.map_or_else(|error| error.to_string(), |_| "no Lease".to_owned());
            let lease = &self.options.name;
            tracing::warn!(lease, err = why, "leader election request failed");
        }
        heard
    }

    /// Gives the Lease up. A renewal that was under way when the stop came may have changed its
    /// version, so that the first try fails: then it is read and tried once more.
    async fn release(&mut self) {
        let lease = self.options.name.clone();
        for again in [true, false] {
            let Some(command) = self.machine.release(wall()) else {
                return;
            };
            if let Heard::Written(..) = self.carry_out(command).await {
                tracing::info!(lease, "lease released");
                return;
            }
            if again {
                let heard = self.carry_out(Command::Read).await;
                self.hear(heard);
            }
        }
        tracing::warn!(lease, "lease could not be released");
    }
}

/// Tells of every change of the Lease as it happens, so that a standby need not wait for its next
/// try. Only a convenience: when it fails, the election goes on by polling.
async fn watch_lease(client: Client, path: String, tell: mpsc::Sender<Lease>) {
    let (collection, name) = path.rsplit_once('/').unwrap_or((path.as_str(), ""));
    let path = format!("{collection}?watch=true&fieldSelector=metadata.name%3D{name}");
    loop {
        if let Ok(mut stream) = client.watch(&path).await {
            while let Ok(Some(line)) = stream.next().await {
                let Some(lease) = told(&line) else { break };
                if tell.send(lease).await.is_err() {
                    return;
                }
            }
        }
        sleep(Duration::from_secs(1).mul_f64(1.0 + jitter())).await;
    }
}
