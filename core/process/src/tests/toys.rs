//! A process with one small controller, and a server that answers as tests say.

use std::time::Duration;

use flyball_api::discovery::{Discovery, Resource, Verbs};
use flyball_api::views::Pod;
use flyball_api::{ApiError, Kind, ObjectName, Timestamp};
use flyball_election::{Candidate, Settings as ElectionSettings};
use flyball_informer::{Change, Command, Input, Snapshot, Watch};
use flyball_plan::{
    Actions, Answers, Body, Controller, Descriptor, Engine, Keys, Next, Now, Report, Rule, Sight,
    Step, Write,
};

use crate::{CacheId, Effect, Elect, Moment, Process, Settings};

/// Creates one pod for each pod that is there, once.
pub(super) struct Twins;

impl Controller for Twins {
    type Key = ObjectName;
    type Observation = ();
    type Memory = ();
    const DESCRIPTOR: Descriptor = Descriptor {
        name: "twins",
        aliases: &[],
        client: "twins",
        component: "twins",
        queue: "twins",
        watches: &[Watch::PODS],
        workers: 1,
        retries_max: None,
        ..Descriptor::BASE
    };
    const SIGHT: Sight = Sight::Named;

    fn route(&self, change: &Change, _: &Snapshot) -> Keys<ObjectName> {
        vec![change.name.clone()]
    }
    fn observe(&self, key: &ObjectName, store: &Snapshot, _: &()) -> Option<()> {
        store.get::<Pod>(&key.namespace, &key.name).map(|_| ())
    }
    fn step(&self, (): &(), answers: &Answers, _: Now) -> Step {
        if answers.stage("twin").is_some() {
            return Step::rest(Report::new(Rule::new("HasTwin", "it has its twin")));
        }
        let create = Write::create(Pod::KIND, "n", Body::of(&"twin"));
        Step::Do(Actions::in_order("twin", vec![create.into()]))
    }
}

/// Sees everything and does nothing.
pub(super) struct Looker;

impl Controller for Looker {
    type Key = ObjectName;
    type Observation = ();
    type Memory = ();
    const DESCRIPTOR: Descriptor = Descriptor {
        name: "looker",
        watches: &[],
        ..Twins::DESCRIPTOR
    };
    const SIGHT: Sight = Sight::Everything;

    fn route(&self, _: &Change, _: &Snapshot) -> Keys<ObjectName> {
        Keys::new()
    }
    fn observe(&self, _: &ObjectName, _: &Snapshot, _: &()) -> Option<()> {
        None
    }
    fn step(&self, (): &(), _: &Answers, _: Now) -> Step {
        Step::rest(Report::default())
    }
}

pub(super) fn settings() -> Settings {
    Settings {
        resync_period: Duration::from_secs(3600),
        shutdown_timeout: Duration::from_secs(10),
        release_on_exit: true,
    }
}

pub(super) const LEASE: &str = "leader";

/// A process, its clock, and the requests of its caches.
pub(super) struct Bench {
    pub(super) core: Process,
    pub(super) now: Duration,
    pub(super) effects: Vec<Effect>,
}

impl Bench {
    pub(super) fn of<C: Controller>(controller: C, elects: bool) -> Self {
        let timing = ElectionSettings {
            identity: "me".into(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        };
        let candidate = elects.then(|| Candidate::new("kube-system", LEASE, timing).unwrap());
        let drivers: Vec<Box<dyn flyball_plan::Driver>> = vec![Box::new(Engine::new(controller))];
        let mut bench = Self {
            core: Process::new(drivers, candidate, settings()).unwrap(),
            now: Duration::from_secs(100),
            effects: Vec::new(),
        };
        bench.decide(|core, moment| core.start(moment));
        bench
    }

    pub(super) fn clocks(&self) -> Now {
        Now {
            monotonic: self.now,
            wall: Timestamp::UNIX_EPOCH.saturating_add(self.now),
        }
    }

    pub(super) fn decide<T>(
        &mut self,
        decide: impl FnOnce(&mut Process, &mut Moment<'_>) -> T,
    ) -> T {
        let now = self.clocks();
        let mut chance = || 0.5;
        let mut moment = Moment {
            now,
            chance: &mut chance,
        };
        let decided = decide(&mut self.core, &mut moment);
        self.effects.extend(self.core.take_effects());
        decided
    }

    pub(super) fn later(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
    }

    /// The cache of a kind in a version.
    pub(super) fn cache(&self, kind: Kind) -> CacheId {
        let mut all = self.core.caches(self.now).into_iter();
        all.find(|one| one.kind == kind).map(|one| one.id).unwrap()
    }

    pub(super) fn feed(&mut self, id: CacheId, input: Input<'_>) -> Option<Command> {
        self.decide(|core, moment| core.feed(id, input, moment))
            .command
    }

    pub(super) fn publish(&mut self, id: CacheId) {
        self.decide(|core, moment| core.publish(id, moment));
    }

    /// Answers a streamed list with objects and a version.
    pub(super) fn list(&mut self, id: CacheId, version: u64, names: &[&str]) {
        self.feed(id, Input::WatchStarted);
        for name in names {
            let line = event("ADDED", name, version);
            self.feed(id, Input::Event(line.as_bytes()));
        }
        let end = format!(
            r#"{{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{version}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}}"#
        );
        self.feed(id, Input::Event(end.as_bytes()));
    }

    pub(super) fn listed(&mut self, id: CacheId, version: u64, names: &[&str]) {
        self.list(id, version, names);
        self.publish(id);
    }

    pub(super) fn next(&mut self) -> Next {
        self.decide(|core, moment| core.next(0, moment))
    }

    pub(super) fn has_work(&mut self) -> bool {
        matches!(self.next(), Next::Work(_))
    }

    /// Answers the election's next request, which must be one.
    pub(super) fn answer_election(&mut self, answer: Result<&str, &ApiError>) {
        match self.decide(|core, moment| core.elect(moment)) {
            Elect::Send(..) => {}
            Elect::Wait(at) => panic!("waits until {at:?}"),
        }
        let answer = answer.map(str::as_bytes);
        self.decide(|core, moment| core.election_answered(answer, moment));
    }

    /// Wins or renews the Lease: it is read if need be, and written.
    pub(super) fn lead(&mut self, version: u64) {
        let lease = lease("me", version, 0, self.now);
        for _ in 0..3 {
            self.answer_election(Ok(&lease));
            if self.core.is_announced_leader() {
                return;
            }
        }
        panic!("does not lead");
    }

    /// The commands that were wanted for a cache since this was last asked.
    pub(super) fn carried(&mut self, id: CacheId) -> Vec<Command> {
        let mut carried = Vec::new();
        self.effects.retain(|effect| match effect {
            Effect::Carry(of, command) if *of == id => {
                carried.push(command.clone());
                false
            }
            _ => true,
        });
        carried
    }
}

pub(super) fn event(kind: &str, name: &str, version: u64) -> String {
    format!(
        r#"{{"type":"{kind}","object":{{"kind":"Pod","apiVersion":"v1","metadata":{{"namespace":"n","name":"{name}","uid":"{name}","resourceVersion":"{version}"}}}}}}"#
    )
}

pub(super) fn lease(holder: &str, version: u64, transitions: i32, renewed: Duration) -> String {
    let renewed = Timestamp::UNIX_EPOCH.saturating_add(renewed);
    let renewed = serde_json::to_string(&flyball_api::MicroTime(renewed)).unwrap();
    format!(
        r#"{{"metadata":{{"name":"{LEASE}","namespace":"kube-system","uid":"lease","resourceVersion":"{version}"}},"spec":{{"holderIdentity":"{holder}","leaseDurationSeconds":15,"leaseTransitions":{transitions},"renewTime":{renewed}}}}}"#
    )
}

pub(super) fn discovery(kinds: &[Kind]) -> std::sync::Arc<Discovery> {
    let resources = kinds.iter().map(|kind| Resource {
        kind: *kind,
        verbs: Verbs::named(["list", "watch", "delete"]),
        preferred: true,
    });
    std::sync::Arc::new(Discovery::of(resources, []))
}
