//! Watches as the server and the wire have them: lines come late, one by one, or not at all.

use std::time::Duration;

use flyball_api::ApiError;
use flyball_informer::Input;
use flyball_process::CacheId;
use flyball_registry::{Polled, Watch};

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

impl Cluster {
    pub(super) fn elapse(&mut self, life: Life, id: CacheId) {
        let now = self.now;
        let Some(running) = self.running(life) else {
            return;
        };
        let (started, deadline) = (running.started, running.core.deadline(id));
        let Some(feed) = running.feeds.get_mut(&id) else {
            return;
        };
        feed.elapse_at = None;
        let Some(deadline) = deadline else {
            return;
        };
        let due = started + deadline;
        if due > now {
            feed.elapse_at = Some(due);
            self.agenda.add(due, Step::Elapse(life, id));
            return;
        }
        self.feed(life, id, Input::Elapsed);
    }

    /// The answer to a list or a watch has come.
    pub(super) fn fed(&mut self, life: Life, id: CacheId, asked: u64, got: Got) {
        if !self.is_heard(life, Listener::Cache { id, asked }) {
            return;
        }
        let kind = self.running(life).and_then(|one| one.core.cache_kind(id));
        let Some((kind, _)) = kind else {
            return;
        };
        match got {
            Got::Body(page) => self.feed(life, id, Input::Page(&page)),
            Got::Failed(error) => self.feed(life, id, Input::Failed(&error)),
            Got::Watch(watch) => {
                let prefix = registry_prefix(kind);
                self.open(life, Listener::Cache { id, asked }, watch, prefix);
                self.feed(life, id, Input::WatchStarted);
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
        self.running(life).is_some_and(|running| match target {
            Listener::Cache { id, asked } => {
                let feed = running.feeds.get(&id);
                feed.is_some_and(|feed| feed.asked == asked)
            }
            Listener::Lease => true,
        })
    }

    fn hear(&mut self, life: Life, target: Listener, line: &[u8]) {
        self.trace.add(line);
        match target {
            Listener::Lease => self.told_of_lease(life, line),
            Listener::Cache { id, .. } => {
                let is_bookmark = line.starts_with(br#"{"type":"BOOKMARK"#);
                self.deliveries += u64::from(!is_bookmark);
                if self.bug == Some(Bug::DropsDeletions) && line.starts_with(br#"{"type":"DELETED"#)
                {
                    return;
                }
                self.feed(life, id, Input::Event(line));
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
            (Listener::Cache { id, .. }, None) => self.feed(life, id, Input::WatchEnded),
            (Listener::Cache { id, .. }, Some(error)) => {
                self.feed(life, id, Input::Failed(&error));
            }
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
        let Listener::Cache { id, .. } = line.target else {
            return;
        };
        let kind = self
            .running(line.life)
            .and_then(|one| one.core.cache_kind(id));
        let Some((kind, _)) = kind else {
            return;
        };
        let path = kind.collection_path("");
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
