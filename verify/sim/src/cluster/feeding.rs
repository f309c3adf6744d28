//! Feeds informers: carries out what each asks of the server, and routes what it learns.
//!
//! The counterpart of `shell/runtime/src/feed.rs`, one step at a time.

use std::time::Duration;

use flyball_api::ApiError;
use flyball_api::request::Request;
use flyball_informer::{Change, Command, Input};
use flyball_plan::Following;
use flyball_registry::{Polled, Watch};

use super::flights::Purpose;
use super::{BOOKMARK_PERIOD, Cluster, Line, Listener};
use crate::bugs::Bug;
use crate::faults::Fault;
use crate::plan::When;
use crate::server::{Asked, Got, wall};
use crate::step::{Life, Step};

/// How long a watch lasts that did not say, as `shell/apiserver` has it.
const WATCH_MAX: Duration = Duration::from_secs(45 * 60);

/// After how many commits watches that nothing happened to are moved on.
const KEEP_UP_EVERY: u64 = 32;

/// How many changes are routed together.
const CHANGES_AT_ONCE: usize = 512;

impl Cluster {
    pub(super) fn begin_feed(&mut self, life: Life, at: usize) {
        self.feed(life, at, Input::Start);
    }

    /// Gives an informer one input, routes what it learned and does what it asks for.
    fn feed(&mut self, life: Life, at: usize, input: Input<'_>) {
        let monotonic = self.clocks(life).monotonic;
        let jitter = self.jitter(life.replica);
        let Some(process) = self.process(life) else {
            return;
        };
        let cache = &mut process.caches[at];
        if cache.is_removed {
            return;
        }
        let (kind, is_partial) = (cache.kind, cache.informer.is_partial());
        let (command, notice) = cache.informer.step(input, monotonic, jitter);
        if let Some(notice) = notice {
            let name = self.replicas[life.replica].name.clone();
            self.trace.tell(self.now, || format!("{name}: {notice}"));
        }
        self.route(life, at);
        let now = self.now;
        let Some(process) = self.process(life) else {
            return;
        };
        let started = process.started;
        let cache = &mut process.caches[at];
        // A command ends whatever is under way.
        let is_command = command.is_some();
        let request = || Request::get(kind.collection_path(""));
        let asked = match command {
            Some(Command::List(list)) if is_partial => {
                Some((request().metadata_list(), list.query()))
            }
            Some(Command::List(list)) => Some((request(), list.query())),
            Some(Command::Watch(watch)) if is_partial => {
                Some((request().metadata_only(), watch.query()))
            }
            Some(Command::Watch(watch)) => Some((request(), watch.query())),
            Some(Command::Wait(_)) | None => None,
        };
        if is_command {
            cache.asked += 1;
        }
        let number = cache.asked;
        // The deadline is looked at when it comes; if it has moved on by then, once more.
        if let Some(deadline) = cache.informer.deadline() {
            let due = (started + deadline).max(now);
            if cache.elapse_at.is_none_or(|planned| due < planned) {
                cache.elapse_at = Some(due);
                self.agenda.add(due, Step::Elapse(life, at));
            }
        }
        if let Some((request, query)) = asked {
            let asked = Asked::from(request).with_query(query);
            let user = self.replicas[life.replica].user.clone();
            self.send(
                life,
                Purpose::Feed { at, asked: number },
                asked,
                user,
                "informers",
            );
        }
    }

    pub(super) fn elapse(&mut self, life: Life, at: usize) {
        let now = self.now;
        let Some(process) = self.process(life) else {
            return;
        };
        let started = process.started;
        let cache = &mut process.caches[at];
        cache.elapse_at = None;
        let Some(deadline) = cache.informer.deadline().filter(|_| !cache.is_removed) else {
            return;
        };
        let due = started + deadline;
        if due > now {
            cache.elapse_at = Some(due);
            self.agenda.add(due, Step::Elapse(life, at));
            return;
        }
        self.feed(life, at, Input::Elapsed);
    }

    /// The answer to a list or a watch has come.
    pub(super) fn fed(&mut self, life: Life, at: usize, asked: u64, got: Got) {
        let Some(process) = self.process(life) else {
            return;
        };
        let cache = &process.caches[at];
        if cache.asked != asked {
            return;
        }
        let prefix = registry_prefix(cache.kind);
        match got {
            Got::Body(page) => self.feed(life, at, Input::Page(&page)),
            Got::Failed(error) => self.feed(life, at, Input::Failed(&error)),
            Got::Watch(watch) => {
                self.open(life, Listener::Cache { at, asked }, watch, prefix);
                self.feed(life, at, Input::WatchStarted);
            }
        }
    }

    pub(super) fn open(&mut self, life: Life, target: Listener, watch: Box<Watch>, prefix: String) {
        let lasts = watch.timeout_seconds.filter(|&seconds| seconds > 0);
        let lasts = lasts.map_or(WATCH_MAX, Duration::from_secs).min(WATCH_MAX);
        self.lines_opened += 1;
        let line = Line {
            life,
            target,
            watch,
            prefix,
            ends: self.now + lasts,
            bookmark_at: self.now + BOOKMARK_PERIOD,
            due: None,
            held_until: Duration::ZERO,
            is_behind: true,
        };
        self.lines.insert(self.lines_opened, line);
        let delay = self.delay(life.replica, 5);
        self.plan_delivery(self.lines_opened, self.now + delay);
    }

    /// Lets a watch be looked at, unless it will be earlier anyway.
    pub(super) fn plan_delivery(&mut self, number: u64, at: Duration) {
        let Some(line) = self.lines.get_mut(&number) else {
            return;
        };
        let at = at.max(line.held_until);
        if line.due.is_none_or(|due| at < due) {
            line.due = Some(at);
            self.agenda.add(at, Step::Deliver(number));
        }
    }

    /// Wakes the watches of what was committed.
    pub(super) fn wake_watches(&mut self, key: &str) {
        let mut woken: Vec<(u64, usize)> = Vec::new();
        for (number, line) in &mut self.lines {
            if key.starts_with(&line.prefix) {
                line.is_behind = true;
                woken.push((*number, line.life.replica));
            }
        }
        self.commits += 1;
        if self.commits.is_multiple_of(KEEP_UP_EVERY) {
            self.keep_up();
        }
        for (number, replica) in woken {
            let delay = self.delay(replica, 40);
            self.plan_delivery(number, self.now + delay);
        }
    }

    /// Moves watches on that nothing happened to, so that they are not forgotten with the past.
    pub(super) fn keep_up(&mut self) {
        let registry = self.server.registry();
        let (through, at) = (registry.revision(), wall(self.now));
        for line in self.lines.values_mut().filter(|line| !line.is_behind) {
            let mut nothing = Vec::new();
            registry.poll(&mut line.watch, through, at, &mut nothing, 1);
        }
    }

    pub(super) fn deliver(&mut self, number: u64) {
        let now = self.now;
        let Some(line) = self.lines.get_mut(&number) else {
            return;
        };
        // It was looked at meanwhile: what was planned then counts.
        if line.due.is_none_or(|due| due > now) {
            return;
        }
        if line.held_until > now {
            let until = line.held_until;
            line.due = Some(until);
            self.agenda.add(until, Step::Deliver(number));
            return;
        }
        line.due = None;
        let (life, target, is_behind) = (line.life, line.target, line.is_behind);
        if !self.is_heard(life, target) {
            self.lines.remove(&number);
            return;
        }
        if is_behind && self.strikes_before_delivery(number) {
            return self.plan_delivery(number, now);
        }
        let Some(line) = self.lines.get_mut(&number) else {
            return;
        };
        let registry = self.server.registry();
        let through = registry.revision();
        let mut out = Vec::new();
        let polled = registry.poll(&mut line.watch, through, wall(now), &mut out, 1);
        if out.is_empty() && polled == Polled::Idle && now >= line.bookmark_at {
            line.bookmark_at = now + BOOKMARK_PERIOD;
            if !self.effects.holds_bookmarks(now) {
                registry.bookmark(&mut line.watch, wall(now), &mut out);
            }
        }
        line.is_behind = polled == Polled::More;
        let is_over = now >= line.ends && out.is_empty();
        if self.bug == Some(Bug::SkipsWhatExpired) && polled == Polled::Ended {
            return self.go_on_from_now(number);
        }
        let next = match polled {
            Polled::More => Some(now),
            Polled::Idle => Some(line.bookmark_at.min(line.ends)),
            Polled::Ended => None,
        };
        match next.filter(|_| !is_over) {
            Some(at) if at <= now => {
                let delay = self.delay(life.replica, 3);
                self.plan_delivery(number, now + delay);
            }
            Some(at) => self.plan_delivery(number, at),
            None => drop(self.lines.remove(&number)),
        }
        for line in out.split_inclusive(|byte| *byte == b'\n') {
            // What one line leads to may be that nobody listens to the next.
            if self.is_heard(life, target) {
                self.hear(life, target, line);
            }
        }
        if out.is_empty() && (is_over || polled == Polled::Ended) {
            self.hear_end(life, target, None);
        }
    }

    /// Whether whoever listens to a watch still does.
    fn is_heard(&mut self, life: Life, target: Listener) -> bool {
        self.process(life).is_some_and(|process| match target {
            Listener::Cache { at, asked } => process.caches[at].asked == asked,
            Listener::Lease => true,
        })
    }

    fn hear(&mut self, life: Life, target: Listener, line: &[u8]) {
        self.trace.add(line);
        match target {
            Listener::Lease => self.told_of_lease(life, line),
            Listener::Cache { at, .. } => {
                let is_bookmark = line.starts_with(br#"{"type":"BOOKMARK"#);
                self.deliveries += u64::from(!is_bookmark);
                if self.bug == Some(Bug::DropsDeletions) && line.starts_with(br#"{"type":"DELETED"#)
                {
                    return;
                }
                self.feed(life, at, Input::Event(line));
            }
        }
    }

    /// A watch has come to an end: an orderly one, or with an error.
    pub(super) fn hear_end(&mut self, life: Life, target: Listener, error: Option<ApiError>) {
        match (target, error) {
            (Listener::Lease, _) => {
                let pause = Duration::from_secs(1).mul_f64(1.0 + self.jitter(life.replica));
                self.agenda.add(self.now + pause, Step::WatchLease(life));
            }
            (Listener::Cache { at, .. }, None) => self.feed(life, at, Input::WatchEnded),
            (Listener::Cache { at, .. }, Some(error)) => {
                self.feed(life, at, Input::Failed(&error));
            }
        }
    }

    /// Hands what is new to every controller that watches the kind.
    fn route(&mut self, life: Life, at: usize) {
        let clocks = self.clocks(life);
        let bug = self.bug;
        let mut woken = Vec::new();
        let mut seen = Vec::new();
        let Some(process) = self.process(life) else {
            return;
        };
        if process.caches[at].is_removed {
            return;
        }
        let mut changes: Vec<Change> = Vec::new();
        loop {
            let cache = &mut process.caches[at];
            cache.informer.changes(&mut changes, CHANGES_AT_ONCE);
            process.snapshot = process.snapshot.with(cache.informer.view());
            if changes.is_empty() {
                break;
            }
            for (number, each) in process.loops.iter_mut().enumerate() {
                let watches = each.descriptor.watches;
                for change in &changes {
                    let concerns = each.sight.hears_of(watches, change.kind);
                    if concerns && Bug::lets_pass(bug, each.descriptor.name, change) {
                        each.driver.changed(change, &process.snapshot, clocks);
                        woken.push(number);
                    }
                }
            }
            seen.append(&mut changes);
        }
        woken.dedup();
        let announces = Following::is_announced_by(process.caches[at].kind);
        if announces && seen.iter().any(|change| !change.resync) {
            self.plan_look(life, self.now + Following::SETTLING);
        }
        let name = &self.replicas[life.replica].name;
        for change in seen.iter().filter(|change| !change.resync) {
            let tells = || format!("{name} saw {} {}", change.kind, change.name);
            self.trace.tell(self.now, tells);
        }
        for number in woken {
            self.wake(life, number);
        }
    }

    /// Delivers every cached object once more, to be routed as if it had just been seen.
    pub(super) fn resync(&mut self, life: Life) {
        let caches = self.process(life).map_or(0, |process| process.caches.len());
        for at in 0..caches {
            if let Some(process) = self.process(life) {
                process.caches[at].informer.resync();
            }
            self.route(life, at);
        }
    }

    /// Strikes what the plan has for right before this delivery.
    fn strikes_before_delivery(&mut self, number: u64) -> bool {
        let next = self.deliveries + 1;
        let due = self.due_faults(|when| when == When::BeforeDelivery(next));
        for fault in &due {
            match self.plan.faults[*fault].what {
                Fault::HideEvent { lasts } => {
                    if let Some(line) = self.lines.get_mut(&number) {
                        line.held_until = self.now + lasts;
                    }
                }
                _ => self.strike(*fault),
            }
        }
        !due.is_empty()
    }

    /// A deliberate bug: goes on from the present as if nothing had been missed.
    fn go_on_from_now(&mut self, number: u64) {
        let Some(line) = self.lines.remove(&number) else {
            return;
        };
        let Listener::Cache { at, .. } = line.target else {
            return;
        };
        let Some(process) = self.process(line.life) else {
            return;
        };
        let path = process.caches[at].kind.collection_path("");
        let version = self.server.registry().revision().0.to_string();
        let query = vec![("watch", "true".to_owned()), ("resourceVersion", version)];
        let user = self.replicas[line.life.replica].user.clone();
        let asked = Asked::get(path, query);
        if let Got::Watch(watch) = self.server.handle(&asked, &user, "informers", self.now) {
            self.open(line.life, line.target, watch, line.prefix);
        }
    }
}

/// Where the server keeps the objects of a kind.
pub(super) fn registry_prefix(kind: flyball_api::Kind) -> String {
    match kind.group {
        "" => format!("/registry/{}/", kind.plural),
        group => format!("/registry/{}.{group}/", kind.plural),
    }
}
