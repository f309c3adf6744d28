//! The cluster: a server, replicas, requests and watches under way, moved on one step at a time.
//!
//! ```text
//! Work ─plan→ Send ─request→ Handle ─answer→ Answer ─→ (next stage, or rest)
//!                              └─commit→ Deliver ─change→ Work
//! ```
//!
//! One thread, no clock: everything that takes time is a step later on the agenda.

mod discovering;
mod editing;
mod electing;
mod feeding;
mod flights;
mod meddling;
mod striking;
mod telling;
mod working;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use flyball_election::BadSettings;
use flyball_informer::Snapshot;
use flyball_plan::{Actions, Sight};
use flyball_registry::Watch;

use crate::agenda::Agenda;
use crate::bugs::Bug;
use crate::chance::Seed;
use crate::faults::Cast;
use crate::invariants::{Happened, Invariants, Violation};
use crate::parts::Part;
use crate::plan::{Plan, When};
use crate::replica::{Process, Replica};
use crate::server::Server;
use crate::step::{Life, Step};
use crate::tally::Tally;
use crate::trace::Trace;
use crate::truth::Truth;

use discovering::Discoveries;
pub(crate) use flights::{Flight, Purpose};
use striking::Effects;

/// A simulated cluster.
pub(crate) struct Cluster {
    pub(crate) plan: Plan,
    pub(crate) now: Duration,
    pub(crate) server: Server,
    pub(crate) truth: Truth,
    pub(crate) replicas: Vec<Replica>,
    pub(crate) trace: Trace,
    pub(crate) tally: Tally,
    pub(crate) invariants: Invariants,
    pub(crate) violation: Option<Violation>,
    bug: Option<Bug>,
    agenda: Agenda,
    flights: BTreeMap<u64, Flight>,
    flights_sent: u64,
    lines: BTreeMap<u64, Line>,
    lines_opened: u64,
    effects: Effects,
    discoveries: Discoveries,
    delays: Vec<Rng>,
    jitters: Vec<Rng>,
    mishaps: Rng,
    /// Whether faults may strike.
    rages: bool,
    writes: u64,
    commits: u64,
    deliveries: u64,
}

/// A watch that is open.
struct Line {
    life: Life,
    target: Listener,
    watch: Box<Watch>,
    /// What its keys begin with.
    prefix: String,
    ends: Duration,
    bookmark_at: Duration,
    /// When it will be looked at next.
    due: Option<Duration>,
    /// Until when it tells nothing.
    held_until: Duration,
    /// Whether something happened that it has yet to tell.
    is_behind: bool,
}

/// Who listens to a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listener {
    /// An informer, as of this request.
    Cache { at: usize, asked: u64 },
    /// A candidate.
    Lease,
}

/// How often a watch gets a bookmark, as `shell/apiserver` has it.
const BOOKMARK_PERIOD: Duration = Duration::from_secs(60);

impl Cluster {
    /// A cluster at the beginning of its plan.
    pub(crate) fn new(
        plan: Plan,
        parts: &[Part],
        invariants: Invariants,
        bug: Option<Bug>,
        trace: Trace,
    ) -> Result<Self, BadSettings> {
        let seed = Seed(plan.seed);
        let replicas = replicas(parts);
        let child = |what: &str, replica: &Replica| seed.child(&format!("{what}/{}", replica.name));
        let mut cluster = Self {
            now: Duration::ZERO,
            server: Server::new(seed, plan.events_max),
            truth: Truth::default(),
            trace,
            tally: Tally::default(),
            invariants,
            violation: None,
            bug,
            agenda: Agenda::default(),
            flights: BTreeMap::new(),
            flights_sent: 0,
            lines: BTreeMap::new(),
            lines_opened: 0,
            effects: Effects::default(),
            discoveries: Discoveries::default(),
            delays: replicas.iter().map(|one| child("delays", one)).collect(),
            jitters: replicas.iter().map(|one| child("jitter", one)).collect(),
            mishaps: seed.child("mishaps"),
            replicas,
            rages: true,
            writes: 0,
            commits: 0,
            deliveries: 0,
            plan,
        };
        for at in 0..cluster.replicas.len() {
            cluster.start(at)?;
        }
        cluster.schedule_plan();
        Ok(cluster)
    }

    fn schedule_plan(&mut self) {
        for (at, edit) in self.plan.edits.iter().enumerate() {
            if let When::At(time) = edit.when {
                self.agenda.add(time, Step::Edit(at));
            }
        }
        for (at, fault) in self.plan.faults.iter().enumerate() {
            if let When::At(time) = fault.when {
                self.agenda.add(time, Step::Strike(at));
            }
        }
    }

    /// Makes steps up to a moment, or until something is wrong.
    pub(crate) fn run(&mut self, until: Duration) {
        while self.violation.is_none() {
            let Some((at, step)) = self.agenda.take(until) else {
                break;
            };
            self.now = self.now.max(at);
            self.trace.step(self.now);
            self.make(step);
        }
        if self.violation.is_none() {
            self.now = self.now.max(until);
        }
    }

    fn make(&mut self, step: Step) {
        if let Some(replica) = self.standing_still(step) {
            let resumes = self.replicas[replica].paused_until;
            self.agenda.add(resumes, step);
            return;
        }
        match step {
            Step::Edit(at) => self.edit(at),
            Step::Strike(at) => self.strike(at),
            Step::Recover(at) => self.recover(at),
            Step::Start(replica) => {
                // Settings are constants that the first start has checked.
                drop(self.start(replica));
            }
            Step::Handle(flight) => self.handle(flight),
            Step::Answer(flight) => self.answer(flight),
            Step::Deliver(line) => self.deliver(line),
            Step::Elapse(life, at) => self.elapse(life, at),
            Step::Work(life, at) => self.work(life, at),
            Step::Send(deed) => self.send_action(deed),
            Step::Discover(life) => self.look(life),
            Step::Elect(life) => self.elect(life),
            Step::WatchLease(life) => self.watch_lease(life),
            Step::Tell(life, at) => self.tell_next(life, at),
        }
    }

    /// The replica that would make this step, if it stands still.
    fn standing_still(&self, step: Step) -> Option<usize> {
        let replica = match step {
            Step::Answer(flight) => self.flights.get(&flight)?.life.replica,
            Step::Deliver(line) => self.lines.get(&line)?.life.replica,
            Step::Elapse(life, _) | Step::Work(life, _) | Step::Tell(life, _) => life.replica,
            Step::Elect(life) | Step::WatchLease(life) | Step::Discover(life) => life.replica,
            Step::Send(deed) => deed.life.replica,
            _ => return None,
        };
        (self.replicas.get(replica)?.paused_until > self.now).then_some(replica)
    }

    /// Starts a replica, unless it runs.
    fn start(&mut self, at: usize) -> Result<(), BadSettings> {
        let now = self.now;
        let replica = &mut self.replicas[at];
        if replica.process.is_some() {
            return Ok(());
        }
        replica.start(now)?;
        let name = replica.name.clone();
        let life = Life {
            replica: at,
            number: replica.lives,
        };
        self.trace.tell(now, || format!("{name} starts"));
        let caches = self.process(life).map_or(0, |process| process.caches.len());
        for cache in 0..caches {
            self.begin_feed(life, cache);
        }
        self.plan_look(life, now);
        if self.replicas[at].part.elects {
            self.plan_election(life, now);
            self.agenda.add(now, Step::WatchLease(life));
        }
        Ok(())
    }

    /// The process of a life, if it is still that life.
    fn process(&mut self, life: Life) -> Option<&mut Process> {
        let replica = self.replicas.get_mut(life.replica)?;
        let process = replica.process.as_mut();
        process.filter(|process| process.number == life.number)
    }

    /// The clocks of a life.
    fn clocks(&self, life: Life) -> flyball_plan::Now {
        self.replicas[life.replica].clocks(self.now)
    }

    /// A short time that a replica, or the way to it, takes for something.
    fn delay(&mut self, replica: usize, millis_max: u64) -> Duration {
        let micros = self.delays[replica].u64(50..millis_max * 1000);
        Duration::from_micros(micros)
    }

    fn jitter(&mut self, replica: usize) -> f64 {
        self.jitters[replica].f64()
    }

    /// Lets every invariant look at what happened.
    fn check(&mut self, happened: &Happened<'_>) {
        if self.violation.is_some() {
            return;
        }
        let found = self.invariants.check(happened, &self.truth, self.now);
        if let Some(violation) = found {
            let line = format!("VIOLATION of {}: {}", violation.invariant, violation.what);
            self.trace.tell(self.now, || line);
            self.violation = Some(violation);
        }
    }

    /// Who is who, for faults.
    pub(crate) fn cast(parts: &[Part]) -> Cast {
        let mut cast = Cast {
            caches: Vec::new(),
            controllers: 0,
        };
        for part in parts {
            let mut kinds = Vec::new();
            let mut sight = Sight::Named;
            for make in &part.controllers {
                let driver = make();
                sight = sight.max(driver.sight());
                let watches = driver.descriptor().watches.iter();
                kinds.extend(watches.map(|watch| watch.kind()));
            }
            kinds.sort_unstable();
            kinds.dedup();
            let discovered = match sight {
                Sight::Named => 0,
                Sight::Discovery => 1,
                Sight::Everything => discovering::ABOUT_AS_MANY,
            };
            let caches = kinds.len() + discovered;
            cast.caches.extend(vec![caches; part.replicas]);
            cast.controllers += part.controllers.len();
        }
        cast
    }

    /// How many writes of controllers the server has taken, and events delivered.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.writes, self.deliveries)
    }

    /// Ends all faults: what is down starts, what stands still goes on, what is held is let go.
    pub(crate) fn calm(&mut self) {
        self.rages = false;
        self.end_faults();
    }

    /// From now on nothing may be written.
    pub(crate) fn watch_for_writes(&mut self) {
        self.invariants.be_quiet();
    }

    /// The name of the controller at a place among all, for reports.
    pub(crate) fn controller_names(&self) -> Vec<&'static str> {
        controller_names(self.replicas.iter().map(|replica| &*replica.part))
    }
}

/// The names of all controllers, each once, in the order of the parts.
pub(crate) fn controller_names<'a>(parts: impl Iterator<Item = &'a Part>) -> Vec<&'static str> {
    let mut names = Vec::new();
    for part in parts {
        for make in &part.controllers {
            let name = make().descriptor().name;
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

fn replicas(parts: &[Part]) -> Vec<Replica> {
    let mut replicas = Vec::new();
    for part in parts {
        let shared = Arc::new(part.clone());
        for number in 0..part.replicas {
            replicas.push(Replica {
                name: format!("{}-{number}", part.name),
                part: shared.clone(),
                lives: 0,
                process: None,
                paused_until: Duration::ZERO,
                skew_ms: 0,
                user: Arc::new(part.identity.own()),
            });
        }
    }
    replicas
}

/// What a sync decided, for invariants.
pub(crate) struct Decided<'a> {
    pub(crate) life: Life,
    pub(crate) controller: &'static str,
    pub(crate) key: &'a str,
    pub(crate) seen: &'a Snapshot,
    pub(crate) actions: &'a Actions,
}
