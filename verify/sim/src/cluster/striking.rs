//! Strikes: what each fault does to the cluster, and how it ends.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use flyball_api::ApiError;
use flyball_api::request::Method;
use flyball_kubelets::annotations::LOST;
use flyball_plan::Sight;
use flyball_process::CacheId;
use serde_json::json;

use super::{Cluster, Line, Listener};
use crate::faults::{Fault, Meddling, Mishap};
use crate::plan::When;
use crate::server::{Asked, Backup};
use crate::step::{Life, Step};
use crate::workload::CUSTOM_GROUP;

/// How long nobody is told anything in the last trial.
const UNSEEN: Duration = Duration::from_secs(5);

/// How long users take to do again what a restore has lost.
const REDO: Duration = Duration::from_secs(5);

/// Faults that last: until when, or for how many more.
#[derive(Debug, Default)]
pub(super) struct Effects {
    struck: BTreeSet<usize>,
    mishaps: Vec<Ongoing>,
    slow: Option<(Duration, Duration)>,
    slowed: BTreeSet<u64>,
    bookmarks_held_until: Duration,
    stale: Vec<(usize, u64, u32)>,
    group_away_until: Duration,
    group_omitted_until: Duration,
    pub(super) down_until: Duration,
    /// Until when users are busy doing again what a restored server has lost.
    pub(super) redo_until: Duration,
    stalled: Vec<(usize, Duration)>,
    /// The states that faults will restore, by their place in the plan.
    pub(super) backups: BTreeMap<usize, Backup>,
    /// How many writes of controllers find another object under the name.
    pub(super) replacements: u32,
}

#[derive(Debug)]
struct Ongoing {
    mishap: Mishap,
    controller: &'static str,
    kind: &'static str,
    left: u32,
}

impl Effects {
    /// When a request that the storage holds up is handled; each is held up once.
    pub(super) fn slow_until(&mut self, flight: u64, now: Duration) -> Option<Duration> {
        let (until, delay) = self.slow?;
        (now < until && self.slowed.insert(flight)).then(|| now + delay)
    }

    pub(super) fn holds_bookmarks(&self, now: Duration) -> bool {
        now < self.bookmarks_held_until
    }

    /// Whether the server of the custom resources cannot be reached.
    pub(super) fn group_is_away(&self, now: Duration) -> bool {
        now < self.group_away_until
    }

    /// Whether discovery leaves out the group of the custom resources.
    pub(super) fn group_is_omitted(&self, now: Duration) -> bool {
        now < self.group_omitted_until
    }

    /// Whether the server cannot be reached.
    pub(super) fn is_down(&self, now: Duration) -> bool {
        now < self.down_until
    }

    /// When a connection that a replica opens is ready.
    pub(super) fn connected_at(&self, replica: usize, earliest: Duration) -> Duration {
        let of = self.stalled.iter().filter(|(whose, _)| *whose == replica);
        of.map(|(_, until)| *until).fold(earliest, Duration::max)
    }

    /// By how much the next list of a replica is behind, if it is.
    pub(super) fn staleness(&mut self, replica: usize) -> Option<u64> {
        let at = self
            .stale
            .iter()
            .position(|(whose, ..)| *whose == replica)?;
        let (_, behind, left) = &mut self.stale[at];
        let behind = *behind;
        *left -= 1;
        if *left == 0 {
            self.stale.remove(at);
        }
        Some(behind)
    }
}

impl Cluster {
    /// The faults that are due at something that is counted, each once.
    pub(super) fn due_faults(&mut self, is_due: impl Fn(When) -> bool) -> Vec<usize> {
        let mut due = Vec::new();
        for (at, fault) in self.plan.faults.iter().enumerate() {
            if !matches!(fault.when, When::At(_))
                && is_due(fault.when)
                && self.effects.struck.insert(at)
            {
                due.push(at);
            }
        }
        due
    }

    /// What becomes of a request of this controller.
    pub(super) fn mishap_for(&mut self, controller: &'static str, asked: &Asked) -> Option<Mishap> {
        let fits = |one: &Ongoing| {
            let only_writes = !matches!(
                one.mishap,
                Mishap::LostBefore | Mishap::LostAfter | Mishap::Busy | Mishap::Broken
            );
            one.controller == controller && (asked.is_write() || !only_writes)
        };
        let at = self.effects.mishaps.iter().position(fits)?;
        // Not always the first that comes: that would be the first of a sync, and no other ever.
        if self.mishaps.u32(0..3) > 0 {
            return None;
        }
        let one = &mut self.effects.mishaps[at];
        let (mishap, kind) = (one.mishap, one.kind);
        one.left -= 1;
        if one.left == 0 {
            self.effects.mishaps.remove(at);
        }
        self.tally.hit(kind, controller);
        self.trace
            .tell(self.now, || format!("*** {kind} for {controller}"));
        Some(mishap)
    }

    pub(super) fn strike(&mut self, at: usize) {
        if !self.rages {
            return;
        }
        let fault = self.plan.faults[at].what.clone();
        let kind = fault.kind();
        self.tally.fault(kind);
        let number = self.plan.faults[at].number;
        self.trace
            .tell(self.now, || format!("*** fault {number}: {fault:?}"));
        match fault {
            Fault::Crash { replica, down } => self.crash(kind, replica, down),
            Fault::Pause { replica, lasts } => {
                self.hit_replica(kind, replica);
                let until = self.replicas[replica].paused_until.max(self.now + lasts);
                self.replicas[replica].paused_until = until;
                self.agenda.add(until, Step::Resume(replica));
            }
            Fault::ClockJump { replica, by_ms } => {
                self.hit_replica(kind, replica);
                self.replicas[replica].skew_ms += by_ms;
            }
            Fault::Requests {
                mishap,
                controller,
                count,
            } => {
                let names = self.controller_names();
                if let Some(controller) = names.get(controller).copied() {
                    self.effects.mishaps.push(Ongoing {
                        mishap,
                        controller,
                        kind,
                        left: count,
                    });
                }
            }
            Fault::SlowStorage { delay, lasts } => {
                self.hit_all(kind);
                self.effects.slow = Some((self.now + lasts, delay));
            }
            Fault::DropWatch { replica, cache } => self.drop_watch(kind, replica, cache),
            Fault::HoldWatch {
                replica,
                cache,
                lasts,
            } => {
                self.hit_watchers(kind, replica, cache);
                let until = self.now + lasts;
                let id = self.cache_at(replica, cache);
                for line in self.lines.values_mut() {
                    if is_of(line.life, line.target, replica, id) {
                        line.held_until = line.held_until.max(until);
                    }
                }
            }
            // These are for one event or write, and struck where that is delivered or made.
            Fault::HideEvent { .. } | Fault::CrashWriter { .. } => {}
            Fault::Compact => {
                self.hit_all(kind);
                self.forget_the_past();
            }
            Fault::NoBookmarks { lasts } => {
                self.hit_all(kind);
                let held = &mut self.effects.bookmarks_held_until;
                *held = (*held).max(self.now + lasts);
            }
            Fault::StaleLists {
                replica,
                behind,
                count,
            } => self.effects.stale.push((replica, behind, count)),
            Fault::Hand {
                meddling: Meddling::Replace,
                ..
            } => self.effects.replacements += 1,
            Fault::Hand { meddling, pick } => self.meddle(kind, meddling, pick),
            Fault::LoseNode { node, lasts } => {
                self.lose_node(node, true);
                self.hit_watchers_of(kind, "nodes");
                self.agenda.add(self.now + lasts, Step::Recover(at));
            }
            Fault::GroupAway { lasts } => self.lose_group(kind, lasts),
            Fault::GroupOmitted { lasts } => {
                let omitted = &mut self.effects.group_omitted_until;
                *omitted = (*omitted).max(self.now + lasts);
                for name in self.followers() {
                    self.tally.hit(kind, name);
                }
            }
            Fault::StallConnects { replica, lasts } => {
                self.hit_replica(kind, replica);
                self.effects.stalled.push((replica, self.now + lasts));
            }
            Fault::Stop { replica, down } => {
                self.hit_replica(kind, replica);
                self.stop_cleanly(replica);
                self.agenda.add(self.now + down, Step::Start(replica));
            }
            Fault::Outage { lasts } => {
                self.hit_all(kind);
                self.bring_down(lasts);
            }
            Fault::Restore { behind, outage } => {
                self.hit_all(kind);
                self.bring_down(outage);
                // What was wanted last must be wanted again before faults stop.
                let back = self.now + outage;
                if back + REDO < self.plan.rage {
                    self.restore(at);
                    self.redo_edits(self.now.saturating_sub(behind), back);
                }
            }
        }
    }

    /// The server of the custom resources goes away, and all watches of them break.
    fn lose_group(&mut self, kind: &'static str, lasts: Duration) {
        let away = &mut self.effects.group_away_until;
        *away = (*away).max(self.now + lasts);
        let is_of = |line: &Line| line.prefix.contains(CUSTOM_GROUP);
        let of = self.lines.iter().filter(|(_, line)| is_of(line));
        let dropped: Vec<u64> = of.map(|(number, _)| *number).collect();
        for number in dropped {
            self.drop_line(number);
        }
        let names: Vec<&'static str> = self.followers();
        for name in names {
            self.tally.hit(kind, name);
        }
    }

    /// The controllers that follow which resources there are.
    fn followers(&self) -> Vec<&'static str> {
        let makes = self.replicas.iter().flat_map(|one| &one.part.controllers);
        let all = makes.map(|make| make());
        all.filter(|driver| driver.sight() != Sight::Named)
            .map(|driver| driver.descriptor().name)
            .collect()
    }

    pub(super) fn drop_line(&mut self, number: u64) {
        if let Some(line) = self.lines.remove(&number) {
            let error = ApiError::transport("connection reset by peer");
            self.hear_end(line.life, line.target, Some(error));
        }
    }

    /// Strikes what the plan has for right after this write.
    pub(super) fn strike_after_write(&mut self, writer: usize) {
        let after = self.writes;
        for at in self.due_faults(|when| when == When::AfterWrite(after)) {
            let fault = self.plan.faults[at].what.clone();
            let Fault::CrashWriter { down, behind } = fault else {
                self.strike(at);
                continue;
            };
            self.tally.fault(fault.kind());
            self.trace
                .tell(self.now, || format!("*** after write {after}: {fault:?}"));
            if behind > 0 {
                let caches = self.replicas[writer].running.as_ref();
                let count = caches.map_or(0, |running| running.feeds.len());
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                self.effects.stale.push((writer, behind, count.max(1)));
            }
            self.crash("crash", writer, down);
        }
    }

    /// What a fault did for a while is over.
    pub(super) fn recover(&mut self, at: usize) {
        if let Fault::LoseNode { node, .. } = self.plan.faults[at].what {
            self.lose_node(node, false);
        }
    }

    /// Ends whatever still lasts.
    pub(super) fn end_faults(&mut self) {
        self.effects = Effects {
            struck: std::mem::take(&mut self.effects.struck),
            backups: BTreeMap::new(),
            ..Effects::default()
        };
        for node in 0..crate::parts::NODES {
            self.lose_node(node, false);
        }
        let held: Vec<u64> = self.lines.keys().copied().collect();
        for number in held {
            if let Some(line) = self.lines.get_mut(&number) {
                line.held_until = Duration::ZERO;
                line.due = None;
            }
            self.plan_delivery(number, self.now);
        }
        for at in 0..self.replicas.len() {
            self.end_pause(at);
            self.replicas[at].skew_ms = 0;
            self.agenda.add(self.now, Step::Start(at));
        }
    }

    fn end_pause(&mut self, replica: usize) {
        self.replicas[replica].paused_until = Duration::ZERO;
        self.agenda.add(self.now, Step::Resume(replica));
    }

    fn crash(&mut self, kind: &'static str, replica: usize, down: Duration) {
        self.hit_replica(kind, replica);
        self.replicas[replica].running = None;
        self.end_pause(replica);
        self.lines.retain(|_, line| line.life.replica != replica);
        self.agenda.add(self.now + down, Step::Start(replica));
    }

    fn drop_watch(&mut self, kind: &'static str, replica: usize, cache: usize) {
        self.hit_watchers(kind, replica, cache);
        let id = self.cache_at(replica, cache);
        let of = self.lines.iter();
        let of = of.filter(|(_, line)| is_of(line.life, line.target, replica, id));
        let dropped: Vec<u64> = of.map(|(number, _)| *number).collect();
        for number in dropped {
            self.drop_line(number);
        }
    }

    /// The cache at a place among those of a replica.
    fn cache_at(&self, replica: usize, cache: usize) -> Option<CacheId> {
        let running = self.replicas[replica].running.as_ref()?;
        running.feeds.keys().nth(cache).copied()
    }

    /// Cuts a node off, or lets it come back.
    fn lose_node(&mut self, node: usize, is_lost: bool) {
        let path = format!("/api/v1/nodes/node-{node}");
        let lost = is_lost.then_some("true");
        let patch = json!({"metadata": {"annotations": {LOST: lost}}});
        self.by_hand(Method::MergePatch, &path, Some(&patch));
    }

    /// Notes that a list was behind.
    pub(super) fn note_stale(&mut self, replica: usize) {
        self.hit_replica("stale list", replica);
    }

    /// One last trial once everything has settled and nothing goes wrong any more: while no watch
    /// tells anything, hands meddle with a bit of everything, and the server forgets what they
    /// did. Whoever relied on being told of each change, or on a new term to look at everything
    /// once more, does not notice.
    pub(crate) fn meddle_unseen(&mut self, pick: u64) {
        let until = self.now + UNSEEN;
        for line in self.lines.values_mut() {
            if matches!(line.target, Listener::Cache { .. }) {
                line.held_until = until;
            }
        }
        for meddling in [
            Meddling::EditCertificate,
            Meddling::DeleteAccount,
            Meddling::EditRole,
            Meddling::EditStatus,
            Meddling::DeleteSet,
            Meddling::TakePod,
        ] {
            self.meddle("edited by hand", meddling, pick);
        }
        self.forget_the_past();
    }

    fn forget_the_past(&mut self) {
        self.keep_up();
        let revision = self.server.registry().revision();
        // The present is never too old, nor yet to come.
        let _ = self.server.registry_mut().compact(revision);
    }

    /// Counts a fault as one of every controller of a replica.
    fn hit_replica(&mut self, kind: &'static str, replica: usize) {
        for make in &self.replicas[replica].part.controllers {
            self.tally.hit(kind, make().descriptor().name);
        }
    }

    fn hit_all(&mut self, kind: &'static str) {
        for name in self.controller_names() {
            self.tally.hit(kind, name);
        }
    }

    /// Counts a fault as one of the controllers that watch a kind of a replica.
    fn hit_watchers(&mut self, kind: &'static str, replica: usize, cache: usize) {
        let Some(running) = &self.replicas[replica].running else {
            return;
        };
        let Some(id) = running.feeds.keys().nth(cache) else {
            return;
        };
        let Some((cached, _)) = running.core.cache_kind(*id) else {
            return;
        };
        for (at, each) in running.loops.iter().enumerate() {
            let sight = running.core.sight(at);
            if sight.hears_of(each.descriptor.watches, cached) {
                self.tally.hit(kind, each.descriptor.name);
            }
        }
    }

    /// Counts a fault as one of all controllers that watch a resource.
    pub(super) fn hit_watchers_of(&mut self, kind: &'static str, plural: &str) {
        for replica in &self.replicas {
            for make in &replica.part.controllers {
                let driver = make();
                let descriptor = driver.descriptor();
                let mut watches = descriptor.watches.iter();
                let is_named = watches.any(|watch| watch.kind().plural == plural);
                if is_named || driver.sight() == Sight::Everything {
                    self.tally.hit(kind, descriptor.name);
                }
            }
        }
    }
}

fn is_of(life: Life, target: Listener, replica: usize, cache: Option<CacheId>) -> bool {
    life.replica == replica && matches!(target, Listener::Cache { id, .. } if Some(id) == cache)
}
