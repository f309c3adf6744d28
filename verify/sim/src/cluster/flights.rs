//! Requests under way: they leave, are handled, and are answered, unless something comes between.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flyball_api::{ApiError, Uid};
use flyball_informer::Snapshot;
use flyball_plan::SyncId;
use flyball_rbac::User;
use serde_json::{Value, json};

use super::{Cluster, Listener};
use crate::faults::Mishap;
use crate::invariants::Happened;
use crate::server::{Asked, Got};
use crate::step::{Deed, Life, Step};
use crate::workload::CUSTOM_GROUP;

/// How often a request is sent again because the server said when, as `shell/client` does.
const RETRIES_MAX: u32 = 10;

/// The longest wait a server may ask for, as `shell/client` has it.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);

/// After this time a request counts as lost, as `shell/client` has it.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A list or a watch of an informer.
    Feed { at: usize, asked: u64 },
    /// An action of a plan.
    Action {
        controller: usize,
        sync: SyncId,
        action: usize,
        /// Which incarnation the plan meant.
        judged: Option<Uid>,
        /// When it was sent, on the clock of the replica.
        sent_at: Duration,
    },
    /// Part of the question which resources the server has.
    Discovery {
        number: u64,
        controller: Option<usize>,
    },
    /// What a candidate asked for.
    Election,
    /// The watch of a candidate's Lease.
    Lease,
    /// An event of a component.
    Event { controller: usize },
}

/// A request under way.
pub(crate) struct Flight {
    pub(crate) life: Life,
    pub(crate) purpose: Purpose,
    /// The controller that it is of, if it is of one.
    pub(crate) controller: Option<&'static str>,
    pub(crate) asked: Asked,
    pub(crate) user: Arc<User>,
    pub(crate) agent: &'static str,
    /// What it was decided by, and the key it is about, if it is an action.
    pub(crate) seen: Option<Snapshot>,
    pub(crate) key: String,
    tries: u32,
    got: Option<Got>,
}

impl Cluster {
    /// Sends a request; it reaches the server a moment later.
    pub(super) fn send(
        &mut self,
        life: Life,
        purpose: Purpose,
        asked: Asked,
        user: Arc<User>,
        agent: &'static str,
    ) -> u64 {
        self.flights_sent += 1;
        let controller = match &purpose {
            Purpose::Action { controller, .. }
            | Purpose::Event { controller }
            | Purpose::Discovery {
                controller: Some(controller),
                ..
            } => {
                let process = self.process(life);
                process.map(|process| process.loops[*controller].descriptor.name)
            }
            Purpose::Feed { .. }
            | Purpose::Discovery { .. }
            | Purpose::Election
            | Purpose::Lease => None,
        };
        let flight = Flight {
            life,
            controller,
            purpose,
            asked,
            user,
            agent,
            seen: None,
            key: String::new(),
            tries: 0,
            got: None,
        };
        self.flights.insert(self.flights_sent, flight);
        let delay = self.delay(life.replica, 20);
        self.agenda
            .add(self.now + delay, Step::Handle(self.flights_sent));
        self.flights_sent
    }

    /// The server handles a request, unless it never arrives.
    pub(super) fn handle(&mut self, number: u64) {
        let Some(mut flight) = self.flights.remove(&number) else {
            return;
        };
        if let Some(later) = self.effects.slow_until(number, self.now) {
            self.flights.insert(number, flight);
            self.agenda.add(later, Step::Handle(number));
            return;
        }
        let controller = flight.controller;
        let is_action = matches!(
            flight.purpose,
            Purpose::Action { .. } | Purpose::Discovery { .. }
        );
        let mishap = controller
            .filter(|_| is_action)
            .and_then(|name| self.mishap_for(name, &flight.asked));
        self.tally.requests += 1;
        if let Some(name) = controller.filter(|_| is_action) {
            let happened = Happened::Requested {
                life: flight.life,
                controller: name,
            };
            self.check(&happened);
        }
        if let Some(name) = controller.filter(|_| mishap.is_none()) {
            self.replace_before(&flight, name);
        }
        let got = match mishap {
            Some(Mishap::LostBefore) => Got::Failed(lost()),
            Some(Mishap::Conflict) => refusal(409, "Conflict", "the object has been modified"),
            Some(Mishap::Busy) => busy(),
            Some(Mishap::Broken) => refusal(500, "InternalError", "etcdserver: leader changed"),
            Some(Mishap::Webhook) => refusal(
                500,
                "InternalError",
                "Internal error occurred: failed calling webhook \"sim\": connection refused",
            ),
            Some(Mishap::Quota) => refusal(
                403,
                "Forbidden",
                "pods \"\" is forbidden: exceeded quota: sim, requested: pods=1, used: pods=1, \
                 limited: pods=1",
            ),
            Some(Mishap::Twice) => {
                drop(self.serve(&flight));
                self.serve(&flight)
            }
            Some(Mishap::LostAfter) => {
                drop(self.serve(&flight));
                Got::Failed(lost())
            }
            Some(Mishap::Late) => {
                drop(self.serve(&flight));
                refusal(504, "Timeout", "request timed out")
            }
            None => self.serve(&flight),
        };
        // What is lost is noticed at once, or only when nothing comes.
        let is_lost = matches!(&got, Got::Failed(error) if error.code() == 0);
        let replica = flight.life.replica;
        let after = match is_lost && self.jitter(replica) < 0.3 {
            true => REQUEST_TIMEOUT,
            false => self.delay(replica, 20),
        };
        flight.got = Some(got);
        self.flights.insert(number, flight);
        self.agenda.add(self.now + after, Step::Answer(number));
    }

    /// Lets the server do what a request asks for, and everybody know what it changed.
    fn serve(&mut self, flight: &Flight) -> Got {
        let stale = self.staled(flight);
        let asked = stale.as_ref().unwrap_or(&flight.asked);
        self.trace.add(asked.path.as_bytes());
        self.trace.add(&asked.body);
        let refusal = self
            .refuses_streaming(asked)
            .or_else(|| self.is_away(asked));
        let mut got = match refusal {
            Some(error) => Got::Failed(error),
            None => self
                .server
                .handle(asked, &flight.user, flight.agent, self.now),
        };
        if let (Got::Body(body), true) = (&mut got, asked.path == "/apis")
            && self.effects.group_is_away(self.now)
        {
            if let Some(name) = flight.controller {
                self.tally.hit("group away", name);
            }
            *body = without_group(body);
        }
        match &got {
            Got::Body(body) => self.trace.add(body),
            Got::Failed(error) => self.trace.add(&error.code().to_le_bytes()),
            Got::Watch(_) => {}
        }
        let wrote = self.settle(Some(flight));
        if wrote && matches!(flight.purpose, Purpose::Action { .. }) {
            self.writes += 1;
            self.strike_after_write(flight.life.replica);
        }
        got
    }

    /// A server that does not stream lists says so.
    fn refuses_streaming(&self, asked: &Asked) -> Option<ApiError> {
        let streamed = asked
            .query
            .iter()
            .any(|(key, _)| key == "sendInitialEvents");
        let message = "sendInitialEvents is forbidden for watch unless the WatchList feature \
                       gate is enabled";
        (streamed && !self.plan.streams_lists).then(|| failure(422, "Invalid", message))
    }

    /// A server in front of another that cannot be reached says so.
    fn is_away(&self, asked: &Asked) -> Option<ApiError> {
        let is_of = asked.path.strip_prefix("/apis/");
        let is_of = is_of.is_some_and(|rest| rest.starts_with(CUSTOM_GROUP));
        let message = "the server is currently unable to handle the request";
        (is_of && self.effects.group_is_away(self.now))
            .then(|| failure(503, "ServiceUnavailable", message))
    }

    /// The list that another server, which is behind, would answer this one with.
    fn staled(&mut self, flight: &Flight) -> Option<Asked> {
        let Purpose::Feed { .. } = flight.purpose else {
            return None;
        };
        let query = &flight.asked.query;
        let find = |wanted: &str| query.iter().find(|(key, _)| key == wanted);
        if find("watch").is_some() || find("continue").is_some() {
            return None;
        }
        // Only a list that takes any state, or one not older than some, may be behind.
        let least: u64 = find("resourceVersion")?.1.parse().ok()?;
        let behind = self.effects.staleness(flight.life.replica)?;
        let registry = self.server.registry();
        let version = registry.revision().0.saturating_sub(behind);
        let version = version.max(least).max(registry.oldest().0);
        let mut asked = flight.asked.clone();
        asked.query.retain(|(key, _)| key != "resourceVersion");
        let exactly = [
            ("resourceVersion", version.to_string()),
            ("resourceVersionMatch", "Exact".to_owned()),
        ];
        asked
            .query
            .extend(exactly.map(|(key, value)| (key.to_owned(), value)));
        self.note_stale(flight.life.replica);
        Some(asked)
    }

    /// Takes in what was committed; whether anything was.
    pub(super) fn settle(&mut self, flight: Option<&Flight>) -> bool {
        let mut wrote = false;
        while let Some(committed) = self.server.committed() {
            for event in &committed.events {
                let changed = self.truth.take(event);
                wrote = true;
                self.trace.tell(self.now, || told(&changed));
                let happened = Happened::Committed {
                    by: flight.map(|flight| (flight, flight.controller)),
                    changed: &changed,
                };
                self.check(&happened);
                self.wake_watches(event.key());
            }
        }
        wrote
    }

    /// The answer reaches whoever asked.
    pub(super) fn answer(&mut self, number: u64) {
        let Some(mut flight) = self.flights.remove(&number) else {
            return;
        };
        let Some(got) = flight.got.take() else {
            return;
        };
        let life = flight.life;
        if self.process(life).is_none() {
            return;
        }
        if let (Got::Failed(error), true) = (&got, flight.tries < RETRIES_MAX)
            && (error.code() == 429 || error.code() >= 500)
            && let Some(wait) = error.retry_after()
        {
            flight.tries += 1;
            let wait = wait.min(RETRY_AFTER_MAX);
            // Whether it may still be written is asked anew.
            let may_write = self.may_write_at(life, self.now + wait);
            if may_write || !flight.asked.is_write() || flight.purpose == Purpose::Election {
                self.flights.insert(number, flight);
                self.agenda.add(self.now + wait, Step::Handle(number));
                return;
            }
            let error = ApiError::terminal("not sent: this process may no longer write");
            return self.answered(number, &flight, Got::Failed(error));
        }
        self.answered(number, &flight, got);
    }

    fn answered(&mut self, number: u64, flight: &Flight, got: Got) {
        let life = flight.life;
        match &flight.purpose {
            Purpose::Feed { at, asked } => self.fed(life, *at, *asked, got),
            Purpose::Action {
                controller,
                sync,
                action,
                sent_at,
                ..
            } => {
                let deed = Deed {
                    life,
                    controller: *controller,
                    sync: *sync,
                    action: *action,
                };
                self.action_answered(deed, *sent_at, got);
            }
            Purpose::Discovery { number, .. } => self.discovery_answered(life, *number, got),
            Purpose::Election => self.election_answered(life, number, got),
            Purpose::Lease => match got {
                Got::Watch(watch) => {
                    let prefix = "/registry/leases.coordination.k8s.io/".to_owned();
                    self.open(life, Listener::Lease, watch, prefix);
                }
                _ => self.hear_end(life, Listener::Lease, None),
            },
            Purpose::Event { controller } => self.event_answered(life, *controller, got),
        }
    }
}

fn told(changed: &crate::truth::Changed) -> String {
    let what = match (&changed.before, &changed.after) {
        (None, _) => "is made",
        (Some(_), None) => "is gone",
        (Some(_), Some(_)) if changed.is_deletion() => "is to go",
        (Some(_), Some(_)) => "changes",
    };
    format!("    {} {} {what}", changed.resource, changed.name)
}

/// What a server tells of its resources that cannot ask for those of one group.
fn without_group(document: &[u8]) -> Bytes {
    let mut document: Value = serde_json::from_slice(document).unwrap_or_default();
    for group in document["items"].as_array_mut().into_iter().flatten() {
        if group["metadata"]["name"] == CUSTOM_GROUP {
            for version in group["versions"].as_array_mut().into_iter().flatten() {
                version["resources"] = json!([]);
                version["freshness"] = "Stale".into();
            }
        }
    }
    document.to_string().into()
}

fn lost() -> ApiError {
    ApiError::transport("connection reset by peer")
}

fn failure(code: u16, reason: &str, message: &str) -> ApiError {
    ApiError::from_status(flyball_api::Status::failure(code, reason, message))
}

fn refusal(code: u16, reason: &str, message: &str) -> Got {
    Got::Failed(failure(code, reason, message))
}

/// The server is busy and says for how long.
fn busy() -> Got {
    let body = br#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too many requests","reason":"TooManyRequests","code":429}"#;
    Got::Failed(ApiError::from_response(429, Some("1"), body))
}
