//! Asks which resources the server has: for the process itself, and on behalf of plans.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use flyball_api::ApiError;
use flyball_api::discovery::{Discovery, Reading};
use flyball_api::request::Request;
use flyball_plan::Answer;
use flyball_process::Question;

use super::Cluster;
use super::flights::Purpose;
use crate::server::Got;
use crate::step::{Deed, Life, Step};

/// About how many kinds a replica that sees everything watches because they were discovered; a
/// fault that would strike one beyond strikes nothing.
pub(super) const ABOUT_AS_MANY: usize = 20;

/// Where a server tells of its resources.
const ROOTS: [&str; 2] = ["/api", "/apis"];

/// The groups whose resources matter here: those of which there are objects. A server with fewer
/// resources is as good a server, and a namespace is emptied with fewer requests.
const GROUPS: [&str; 7] = [
    "",
    "apps",
    "batch",
    "coordination.k8s.io",
    "rbac.authorization.k8s.io",
    "apiextensions.k8s.io",
    crate::workload::CUSTOM_GROUP,
];

/// Questions under way, and what the last answers were read as.
#[derive(Default)]
pub(super) struct Discoveries {
    open: BTreeMap<u64, Asking>,
    asked: u64,
    read: Option<([Bytes; 2], Arc<Discovery>)>,
}

/// A question under way: the roots are asked one after the other.
struct Asking {
    life: Life,
    /// The action that it is asked for; none if it is to be followed.
    deed: Option<Deed>,
    bodies: Vec<Bytes>,
}

impl Cluster {
    /// Lets a replica ask when its process wants it, unless it will earlier anyway.
    pub(super) fn plan_look(&mut self, life: Life) {
        let now = self.now;
        let Some(running) = self.running(life) else {
            return;
        };
        let Some(due) = running.core.discovery_due() else {
            return;
        };
        let at = (running.started + due).max(now);
        if running.discover_at.is_none_or(|planned| at < planned) {
            running.discover_at = Some(at);
            self.agenda.add(at, Step::Discover(life));
        }
    }

    pub(super) fn look(&mut self, life: Life) {
        let now = self.now;
        let Some(running) = self.running(life) else {
            return;
        };
        // It was looked at meanwhile: what was planned then counts.
        if running.discover_at.is_none_or(|planned| planned > now) {
            return;
        }
        running.discover_at = None;
        let is_due = running.core.discovery_due();
        if is_due.is_some_and(|due| running.started + due <= now) {
            running.core.discovery_asked();
            self.ask(life, None);
        } else {
            self.plan_look(life);
        }
    }

    /// Asks on behalf of an action.
    pub(super) fn discover_for(&mut self, deed: Deed) {
        self.ask(deed.life, Some(deed));
    }

    fn ask(&mut self, life: Life, deed: Option<Deed>) {
        self.discoveries.asked += 1;
        let number = self.discoveries.asked;
        let asking = Asking {
            life,
            deed,
            bodies: Vec::new(),
        };
        self.discoveries.open.insert(number, asking);
        self.ask_root(number);
    }

    /// Asks at the next root; once all have answered, reads what they said.
    fn ask_root(&mut self, number: u64) {
        let Some(asking) = self.discoveries.open.get(&number) else {
            return;
        };
        let (life, deed) = (asking.life, asking.deed);
        let Some(root) = ROOTS.get(asking.bodies.len()) else {
            return self.read(number);
        };
        let controller = deed.map(|deed| deed.controller);
        let Some(running) = self.running(life) else {
            self.discoveries.open.remove(&number);
            return;
        };
        let (user, agent) = match controller {
            None => (self.replicas[life.replica].user.clone(), "informers"),
            Some(at) => {
                let each = &running.loops[at];
                (each.user.clone(), each.descriptor.client)
            }
        };
        let request = Request::get(*root).discovery();
        let purpose = Purpose::Discovery { number, controller };
        self.send(life, purpose, request.into(), user, agent);
    }

    pub(super) fn discovery_answered(&mut self, life: Life, number: u64, got: Got) {
        match got {
            Got::Body(body) => {
                if let Some(asking) = self.discoveries.open.get_mut(&number) {
                    asking.bodies.push(body);
                }
                self.ask_root(number);
            }
            Got::Failed(error) => {
                if let Some(asking) = self.discoveries.open.remove(&number) {
                    self.discovered(&asking, Err(error));
                }
            }
            Got::Watch(_) => drop(self.discoveries.open.remove(&number)),
        }
        // What a life that is over had asked for is nobody's any more.
        let is_over = |asking: &Asking| asking.life.replica == life.replica && asking.life != life;
        self.discoveries.open.retain(|_, asking| !is_over(asking));
    }

    fn read(&mut self, number: u64) {
        let Some(mut asking) = self.discoveries.open.remove(&number) else {
            return;
        };
        let Ok(bodies) = <[Bytes; 2]>::try_from(std::mem::take(&mut asking.bodies)) else {
            return;
        };
        let known = self.discoveries.read.as_ref();
        let found = match known.filter(|(read, _)| *read == bodies) {
            Some((_, found)) => Ok(found.clone()),
            None => read(&bodies).map(|found| {
                let found = Arc::new(found);
                self.discoveries.read = Some((bodies, found.clone()));
                found
            }),
        };
        self.discovered(&asking, found);
    }

    /// What the server has is known, or cannot be.
    fn discovered(&mut self, asking: &Asking, found: Result<Arc<Discovery>, ApiError>) {
        let life = asking.life;
        let Some(deed) = asking.deed else {
            let found = found.map_err(|error| error.to_string());
            self.decide(life, |core, moment| core.discovered(found, moment));
            return self.plan_look(life);
        };
        let answer = found.map_or_else(Answer::Failed, Answer::Discovered);
        let heard = self.read_answered(life, deed.controller, answer, Question::Discovery);
        if let Some(heard) = heard {
            self.hear_answer(deed, heard);
        }
    }
}

/// What the documents of both roots say. This server tells everything at once.
fn read(bodies: &[Bytes; 2]) -> Result<Discovery, ApiError> {
    let mut reading = Reading::new();
    for body in bodies {
        let parts = reading.root(body);
        let parts = parts.map_err(|error| ApiError::transport(error.to_string()))?;
        debug_assert!(parts.is_empty(), "the server tells everything at once");
    }
    let found = reading.finish();
    let matters = |group: &str| GROUPS.contains(&group);
    let resources = found.resources().iter();
    let resources = resources.filter(|resource| matters(resource.kind.group));
    let failures = found.failures().iter();
    let failures = failures.filter(|failure| matters(&failure.group));
    Ok(Discovery::of(resources.copied(), failures.cloned()))
}
