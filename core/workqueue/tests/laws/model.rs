//! The queue's contract in the most naive form: flat lists searched from the front.
//!
//! Slow and wasteful on purpose. It shares no code and no data structure with the queue; the token
//! bucket counts credit instead of remembering a moment.

use std::collections::BTreeMap;
use std::time::Duration;

use flyball_workqueue::{Added, Options, Priority, Retry};

pub(crate) type Key = u8;

struct Waiting {
    key: Key,
    namespace: String,
    priority: Priority,
    added: Duration,
    entered: Duration,
}

struct Running {
    started: Duration,
    dirty: Option<(Priority, Duration)>,
}

struct Planned {
    key: Key,
    at: Duration,
    is_retry: bool,
}

struct Failures {
    count: u32,
    not_before: Duration,
}

pub(crate) struct Model {
    options: Options,
    now: Duration,
    waiting: Vec<Waiting>,
    running: BTreeMap<Key, Running>,
    planned: Vec<Planned>,
    failures: BTreeMap<Key, Failures>,
    namespaces: BTreeMap<Key, String>,
    rotation: BTreeMap<Priority, Vec<String>>,
    served: Vec<Priority>,
    bucket_credit: i128,
    bucket_seen: Duration,
    closed: bool,
    pub(crate) adds: u64,
    pub(crate) retries: u64,
    pub(crate) overflows: u64,
    pub(crate) waits: Vec<Duration>,
    pub(crate) works: Vec<Duration>,
}

impl Model {
    pub(crate) fn new(options: Options) -> Self {
        Model {
            bucket_credit: i128::from(options.burst) * interval(&options),
            options,
            now: Duration::ZERO,
            waiting: Vec::new(),
            running: BTreeMap::new(),
            planned: Vec::new(),
            failures: BTreeMap::new(),
            namespaces: BTreeMap::new(),
            rotation: BTreeMap::new(),
            served: Vec::new(),
            bucket_seen: Duration::ZERO,
            closed: false,
            adds: 0,
            retries: 0,
            overflows: 0,
            waits: Vec::new(),
            works: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, key: Key, namespace: &str, priority: Priority) -> Added {
        match self.refusal(key) {
            Some(refusal) => refusal,
            None => {
                self.namespaces
                    .entry(key)
                    .or_insert_with(|| namespace.to_owned());
                self.enqueue(key, priority, self.now)
            }
        }
    }

    pub(crate) fn add_after(&mut self, key: Key, namespace: &str, delay: Duration) -> Added {
        if let Some(refusal) = self.refusal(key) {
            return refusal;
        }
        self.namespaces
            .entry(key)
            .or_insert_with(|| namespace.to_owned());
        self.retries += 1;
        if delay.is_zero() {
            return self.enqueue(key, Priority::Normal, self.now);
        }
        let at = self.now + delay;
        if self
            .planned
            .iter()
            .any(|plan| plan.key == key && !plan.is_retry && plan.at <= at)
        {
            return Added::Merged;
        }
        self.planned.retain(|plan| plan.key != key || plan.is_retry);
        self.planned.push(Planned {
            key,
            at,
            is_retry: false,
        });
        Added::Queued
    }

    pub(crate) fn next(&mut self) -> Option<Key> {
        let priority = self.priority_in_turn()?;
        let rotation = self.rotation.get_mut(&priority)?;
        let namespace = rotation.remove(0);
        let in_lane = |it: &Waiting| it.priority == priority && it.namespace == namespace;
        let at = self.waiting.iter().position(in_lane)?;
        let chosen = self.waiting.remove(at);
        if self
            .waiting
            .iter()
            .any(|it| it.priority == priority && it.namespace == namespace)
        {
            rotation.push(namespace);
        }
        self.served.push(priority);
        self.waits.push(self.now - chosen.added);
        let before = self.running.insert(
            chosen.key,
            Running {
                started: self.now,
                dirty: None,
            },
        );
        assert!(before.is_none(), "processed twice at once");
        self.planned
            .retain(|plan| plan.key != chosen.key || !plan.is_retry);
        Some(chosen.key)
    }

    pub(crate) fn done(&mut self, key: Key) {
        let Some(run) = self.running.remove(&key) else {
            return;
        };
        self.works.push(self.now - run.started);
        if let Some((priority, added)) = run.dirty {
            self.push(key, priority, added, self.now);
        }
        self.sweep(key);
    }

    pub(crate) fn retry(&mut self, key: Key) -> Retry {
        let Some(run) = self.running.get(&key) else {
            return Retry::Refused;
        };
        if self.closed {
            return Retry::Refused;
        }
        let count = match self.failures.get(&key) {
            None => 1,
            Some(known) if run.started >= known.not_before => known.count + 1,
            Some(known) => known.count,
        };
        if self
            .options
            .max_retries
            .is_some_and(|ceiling| count > ceiling)
        {
            self.failures.remove(&key);
            return Retry::Exhausted { failures: count };
        }
        let mut delay = self.options.base_delay;
        for _ in 1..count {
            delay = (delay * 2).min(self.options.max_delay);
        }
        let delay = delay.min(self.options.max_delay).max(self.token());
        self.failures.insert(
            key,
            Failures {
                count,
                not_before: self.now + delay,
            },
        );
        self.planned
            .retain(|plan| plan.key != key || !plan.is_retry);
        self.planned.push(Planned {
            key,
            at: self.now + delay,
            is_retry: true,
        });
        self.retries += 1;
        Retry::After(delay)
    }

    pub(crate) fn forget(&mut self, key: Key) {
        self.failures.remove(&key);
    }

    pub(crate) fn shut_down(&mut self) {
        self.closed = true;
        self.planned.clear();
        for key in self.namespaces.keys().copied().collect::<Vec<_>>() {
            self.sweep(key);
        }
    }

    /// Lets time pass and adds what falls due, earliest first.
    pub(crate) fn advance(&mut self, now: Duration) {
        self.now = now;
        self.planned.sort_by_key(|plan| plan.at);
        while self.planned.first().is_some_and(|plan| plan.at <= self.now) {
            let plan = self.planned.remove(0);
            self.enqueue(plan.key, Priority::Normal, plan.at);
        }
    }

    pub(crate) fn failures(&self, key: Key) -> u32 {
        self.failures.get(&key).map_or(0, |known| known.count)
    }

    pub(crate) fn wake_at(&self) -> Option<Duration> {
        self.planned.iter().map(|plan| plan.at).min()
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn depth(&self) -> usize {
        self.waiting.len()
            + self
                .running
                .values()
                .filter(|run| run.dirty.is_some())
                .count()
    }

    pub(crate) fn running_for(&self) -> Vec<Duration> {
        self.running
            .values()
            .map(|run| self.now - run.started)
            .collect()
    }

    pub(crate) fn is_running(&self, key: Key) -> bool {
        self.running.contains_key(&key)
    }

    pub(crate) fn planned(&self) -> usize {
        self.planned.len()
    }

    pub(crate) fn tracked(&self) -> usize {
        self.namespaces.len()
    }

    fn refusal(&mut self, key: Key) -> Option<Added> {
        if self.closed {
            return Some(Added::Closed);
        }
        let full = self.namespaces.len() >= self.options.capacity;
        if full && !self.namespaces.contains_key(&key) {
            self.overflows += 1;
            return Some(Added::Overflow);
        }
        None
    }

    fn enqueue(&mut self, key: Key, priority: Priority, at: Duration) -> Added {
        if let Some(run) = self.running.get_mut(&key) {
            match &mut run.dirty {
                Some((known, _)) => {
                    *known = (*known).max(priority);
                    return Added::Merged;
                }
                None => run.dirty = Some((priority, at)),
            }
            self.adds += 1;
            return Added::Queued;
        }
        if let Some(index) = self.waiting.iter().position(|it| it.key == key) {
            if priority > self.waiting[index].priority {
                let raised = self.waiting.remove(index);
                self.push(key, priority, raised.added, at);
                self.prune_rotation();
            }
            return Added::Merged;
        }
        self.push(key, priority, at, at);
        self.adds += 1;
        Added::Queued
    }

    fn push(&mut self, key: Key, priority: Priority, added: Duration, entered: Duration) {
        let namespace = self.namespaces[&key].clone();
        let rotation = self.rotation.entry(priority).or_default();
        if !rotation.contains(&namespace) {
            rotation.push(namespace.clone());
        }
        self.waiting.push(Waiting {
            key,
            namespace,
            priority,
            added,
            entered,
        });
    }

    /// A namespace without waiting keys loses its turn.
    fn prune_rotation(&mut self) {
        for (priority, rotation) in &mut self.rotation {
            rotation.retain(|name| {
                self.waiting
                    .iter()
                    .any(|it| it.priority == *priority && it.namespace == *name)
            });
        }
    }

    fn priority_in_turn(&self) -> Option<Priority> {
        let highest = self.waiting.iter().map(|it| it.priority).max()?;
        let aged = |it: &&Waiting| self.now - it.entered >= self.options.aging;
        let mut entitled: Vec<Priority> = self
            .waiting
            .iter()
            .filter(aged)
            .map(|it| it.priority)
            .collect();
        entitled.push(highest);
        entitled.sort();
        entitled.reverse();
        let last_turn = |priority: &Priority| self.served.iter().rposition(|it| it == priority);
        entitled
            .into_iter()
            .min_by_key(|priority| last_turn(priority))
    }

    fn token(&mut self) -> Duration {
        let interval = interval(&self.options);
        let full = i128::from(self.options.burst) * interval;
        let earned = (self.now - self.bucket_seen).as_nanos() as i128;
        self.bucket_seen = self.now;
        self.bucket_credit = (self.bucket_credit + earned).min(full) - interval;
        Duration::from_nanos((-self.bucket_credit).max(0) as u64)
    }

    fn sweep(&mut self, key: Key) {
        let wanted = self.running.contains_key(&key)
            || self.waiting.iter().any(|it| it.key == key)
            || self.planned.iter().any(|plan| plan.key == key);
        if !wanted {
            self.namespaces.remove(&key);
            self.failures.remove(&key);
        }
    }
}

/// Nanoseconds per token.
fn interval(options: &Options) -> i128 {
    (1e9 / options.rate_per_second) as i128
}
