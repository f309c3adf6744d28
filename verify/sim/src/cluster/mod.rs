//! The cluster: a server, replicas, requests and watches under way, moved on one step at a time.
//!
//! ```text
//! Work ─plan→ Send ─request→ Handle ─answer→ Answer ─→ (next stage, or rest)
//!                              └─commit→ Deliver ─change→ Work
//! ```
//!
//! One thread, no clock: everything that takes time is a step later on the agenda.

mod carrying;
mod connecting;
mod discovering;
mod editing;
mod electing;
mod feeding;
mod flights;
mod meddling;
mod outages;
mod striking;
mod telling;
mod working;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use flyball_informer::Snapshot;
use flyball_plan::{Actions, Sight};
use flyball_process::CacheId;
use flyball_registry::Watch;

use crate::agenda::Agenda;
use crate::bugs::Bug;
use crate::chance::Seed;
use crate::faults::{Cast, Fault};
use crate::invariants::{Happened, Invariants, Violation};
use crate::parts::Part;
use crate::plan::{Plan, When};
use crate::replica::{Replica, Running, StartFailed};
use crate::server::Server;
use crate::step::{Life, Step};
use crate::tally::Tally;
use crate::trace::Trace;
use crate::truth::Truth;

use carrying::STOP_LOOK;
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
    /// When which edit was accepted.
    edited: Vec<(Duration, usize)>,
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
    Cache { id: CacheId, asked: u64 },
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
    ) -> Result<Self, StartFailed> {
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
            edited: Vec::new(),
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
                if let Fault::Restore { behind, .. } = fault.what {
                    self.agenda
                        .add(time.saturating_sub(behind), Step::Backup(at));
                }
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
            self.replicas[replica].postponed.push(step);
            return;
        }
        match step {
            Step::Resume(replica) => self.resume(replica),
            Step::Edit(at) => self.edit(at),
            Step::Redo(at) => self.make_edit(at),
            Step::Strike(at) => self.strike(at),
            Step::Recover(at) => self.recover(at),
            Step::Start(replica) => {
                let running = self.replicas[replica].running.as_ref();
                if running.is_some_and(|running| running.is_stopping) {
                    // It comes back once its stop has ended.
                    self.agenda.add(self.now + STOP_LOOK, step);
                    return;
                }
                // Settings are constants that the first start has checked.
                drop(self.start(replica));
            }
            Step::Handle(flight) => self.handle(flight),
            Step::Answer(flight) => self.answer(flight),
            Step::Deliver(line) => self.deliver(line),
            Step::Elapse(life, id) => self.elapse(life, id),
            Step::Publish(life, id) => self.publish(life, id),
            Step::Hand(flight) => self.hand(flight),
            Step::Stop(life) => self.stop(life),
            Step::Resync(life) => self.resync(life),
            Step::Backup(at) => self.back_up(at),
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
            Step::Elapse(life, _) | Step::Publish(life, _) => life.replica,
            Step::Work(life, _) | Step::Tell(life, _) => life.replica,
            Step::Elect(life) | Step::WatchLease(life) | Step::Discover(life) => life.replica,
            Step::Stop(life) | Step::Resync(life) => life.replica,
            Step::Hand(flight) => self.flights.get(&flight)?.life.replica,
            Step::Send(deed) => deed.life.replica,
            _ => return None,
        };
        (self.replicas.get(replica)?.paused_until > self.now).then_some(replica)
    }

    /// Lets a replica make the steps that fell due while it stood still, unless it still does.
    fn resume(&mut self, replica: usize) {
        let replica = &mut self.replicas[replica];
        if replica.paused_until <= self.now {
            for step in std::mem::take(&mut replica.postponed) {
                self.agenda.add(self.now, step);
            }
        }
    }

    /// Starts a replica, unless it runs.
    fn start(&mut self, at: usize) -> Result<(), StartFailed> {
        let (now, bug) = (self.now, self.bug);
        let replica = &mut self.replicas[at];
        if replica.running.is_some() {
            return Ok(());
        }
        replica.start(now, bug)?;
        let name = replica.name.clone();
        let life = Life {
            replica: at,
            number: replica.lives,
        };
        self.trace.tell(now, || format!("{name} starts"));
        self.decide(life, |core, moment| core.start(moment));
        if self.replicas[at].part.elects {
            self.plan_election(life, now);
            self.agenda.add(now, Step::WatchLease(life));
        }
        self.agenda.add(now, Step::Resync(life));
        Ok(())
    }

    /// The present life of a replica, if it lives.
    fn life(&self, replica: usize) -> Option<Life> {
        let running = self.replicas.get(replica)?.running.as_ref()?;
        let number = running.number;
        Some(Life { replica, number })
    }

    /// The process of a life, if it is still that life.
    fn running(&mut self, life: Life) -> Option<&mut Running> {
        let replica = self.replicas.get_mut(life.replica)?;
        let running = replica.running.as_mut();
        running.filter(|running| running.number == life.number)
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
            self.note_violation(violation);
        }
    }

    /// Something that must never be, was.
    fn violate(&mut self, invariant: &str, what: String) {
        if self.violation.is_none() {
            self.note_violation(Violation {
                invariant: invariant.to_owned(),
                what,
                at: self.now,
            });
        }
    }

    fn note_violation(&mut self, violation: Violation) {
        {
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
                running: None,
                paused_until: Duration::ZERO,
                postponed: Vec::new(),
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
    /// The kinds that the controller declares.
    pub(crate) watches: &'static [flyball_informer::Watch],
    /// Under which name it takes part in an election, if it needs one.
    pub(crate) holder: Option<String>,
    pub(crate) key: &'a str,
    pub(crate) seen: &'a Snapshot,
    pub(crate) actions: &'a Actions,
}
