//! Requests under way: they leave, are handled, and are answered, unless something comes between.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flyball_api::{ApiError, Uid};
use flyball_informer::Snapshot;
use flyball_plan::SyncId;
use flyball_process::CacheId;
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
    Feed { id: CacheId, asked: u64 },
    /// An action of a plan.
    Action {
        controller: usize,
        sync: SyncId,
        action: usize,
        /// Which incarnation the plan meant.
        judged: Option<Uid>,
        /// The round in which it was handed out.
        round: u64,
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
    /// The kinds that its controller declares.
    pub(crate) watches: &'static [flyball_informer::Watch],
    /// The last complete view of each resource that its process has published.
    pub(crate) shown: Snapshot,
    pub(crate) key: String,
    /// Under which name the sender takes part in an election, if it does.
    pub(super) holder: Option<String>,
    /// Whether the sender was being stopped when the request was handed over, or since.
    pub(super) is_stopping: bool,
    /// Whether the sender has given it up; what the server has already is done all the same.
    pub(super) is_given_up: bool,
    /// Whether the sender knows what became of it.
    pub(super) is_told: bool,
    /// Whether it waits for a connection.
    pub(super) is_unsent: bool,
    /// Whether the server was killed before it handled the request.
    pub(super) is_lost: bool,
    tries: u32,
    got: Option<Got>,
}

impl Flight {
    /// Whether it is an action of a holder that stopped in order and gave its Lease up.
    pub(crate) fn is_after_stop(&self, released: &BTreeSet<String>) -> bool {
        let is_action = matches!(self.purpose, Purpose::Action { .. });
        let holder = self.holder.as_ref();
        is_action && self.is_stopping && holder.is_some_and(|holder| released.contains(holder))
    }

    /// The action that it is for, if it is for one.
    pub(super) fn deed(&self) -> Option<Deed> {
        let Purpose::Action {
            controller,
            sync,
            action,
            ..
        } = self.purpose
        else {
            return None;
        };
        Some(Deed {
            life: self.life,
            controller,
            sync,
            action,
        })
    }
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
                let running = self.running(life);
                running.map(|running| running.loops[*controller].descriptor.name)
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
            watches: &[],
            shown: Snapshot::default(),
            key: String::new(),
            holder: None,
            is_stopping: false,
            is_given_up: false,
            is_told: false,
            is_unsent: false,
            is_lost: false,
            tries: 0,
            got: None,
        };
        let number = self.flights_sent;
        let is_write = matches!(flight.purpose, Purpose::Action { .. }) && flight.asked.is_write();
        let is_election = flight.purpose == Purpose::Election;
        self.flights.insert(number, flight);
        match is_write {
            true => self.connect(number, life),
            false => {
                let delay = self.delay(life.replica, 20);
                let sent = self.now + delay + self.list_delay(number);
                let opened = match is_election {
                    true => self.effects.connected_at(life.replica, sent),
                    false => sent,
                };
                self.agenda.add(opened, Step::Handle(number));
            }
        }
        number
    }

    /// The server handles a request, unless it never arrives.
    pub(super) fn handle(&mut self, number: u64) {
        let Some(mut flight) = self.flights.remove(&number) else {
            return;
        };
        if self.effects.is_down(self.now) || flight.is_lost {
            flight.got = Some(Got::Failed(lost()));
            let after = self.delay(flight.life.replica, 20);
            self.flights.insert(number, flight);
            self.agenda.add(self.now + after, Step::Answer(number));
            return;
        }
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

    /// All answers under way are lost.
    pub(super) fn lose_answers(&mut self) {
        for flight in self.flights.values_mut() {
            match flight.got.is_some() {
                true => flight.got = Some(Got::Failed(lost())),
                false => flight.is_lost = !flight.is_unsent,
            }
        }
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
            *body = without_group(body, true);
        }
        if let (Got::Body(body), true) = (&mut got, asked.path == "/apis")
            && self.effects.group_is_omitted(self.now)
        {
            *body = without_group(body, false);
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
        if self.running(life).is_none() || flight.is_told {
            return;
        }
        // Lists, watches and the Lease see each refusal; all else waits as the server asks.
        let waits = !matches!(
            flight.purpose,
            Purpose::Feed { .. } | Purpose::Election | Purpose::Lease
        );
        if let (Got::Failed(error), true) = (&got, waits && flight.tries < RETRIES_MAX)
            && (error.code() == 429 || error.code() >= 500)
            && let Some(wait) = error.retry_after()
        {
            flight.tries += 1;
            let again = self.now + wait.min(RETRY_AFTER_MAX);
            let is_write = flight.deed().is_some() && flight.asked.is_write();
            self.flights.insert(number, flight);
            // Whether it may still be written is asked once more.
            let step = match is_write {
                true => Step::Hand(number),
                false => Step::Handle(number),
            };
            return self.agenda.add(again, step);
        }
        self.answered(number, &flight, got);
    }

    fn answered(&mut self, number: u64, flight: &Flight, got: Got) {
        let life = flight.life;
        match &flight.purpose {
            Purpose::Feed { id, asked } => self.fed(life, *id, *asked, got),
            Purpose::Action { .. } => {
                if let Some(deed) = flight.deed() {
                    self.action_answered(deed, got);
                }
            }
            Purpose::Discovery { number, .. } => self.discovery_answered(life, *number, got),
            Purpose::Election => self.election_answered(life, number, &got),
            Purpose::Lease => match got {
                Got::Watch(watch) => {
                    let prefix = "/registry/leases.coordination.k8s.io/".to_owned();
                    self.open(life, Listener::Lease, watch, prefix);
                }
                _ => self.hear_end(life, Listener::Lease, None),
            },
            Purpose::Event { controller } => self.event_answered(life, *controller, &got),
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

/// What a server tells of its resources that cannot ask for those of one group; one that admits
/// it says that they are stale, another leaves the group out.
fn without_group(document: &[u8], admits: bool) -> Bytes {
    let mut document: Value = serde_json::from_slice(document).unwrap_or_default();
    if !admits && let Some(groups) = document["items"].as_array_mut() {
        groups.retain(|group| group["metadata"]["name"] != CUSTOM_GROUP);
    }
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

pub(super) fn lost() -> ApiError {
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
