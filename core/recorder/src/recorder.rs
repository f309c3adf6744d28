//! From records to writes.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use flyball_api::views::{Event, EventSource};
use flyball_api::{LeanMeta, Text, Timestamp};
use flyball_plan::{Body, Now, Record, RecordKind};
use serde_json::json;

use crate::recent::Recent;

/// How many similar things each part remembers.
const REMEMBERED_MAX: usize = 4096;
/// From this many different messages on, similar events are told as one.
const MESSAGES_MAX: usize = 10;
/// Events further apart than this are not similar.
const SIMILAR_WITHIN: Duration = Duration::from_secs(600);
/// How many events about one object may be told at once …
const BURST: f64 = 25.0;
/// … and how long until one more.
const REFILL: Duration = Duration::from_secs(300);

/// The longest name a server takes.
const NAME_MAX: usize = 253;

/// A write that a record leads to.
#[derive(Clone, Debug)]
pub struct EventWrite {
    /// The namespace of the Event.
    pub namespace: Text,
    /// The Event to count up; `None` to create one.
    pub patch: Option<(Text, Body)>,
    /// The Event to create, also when the one to count up is gone.
    pub create: Body,
    key: u64,
}

/// Correlates the records of one component.
#[derive(Debug)]
pub struct Recorder {
    component: Text,
    groups: Recent<Group>,
    told: Recent<Told>,
    budgets: Recent<Budget>,
    recorded: i64,
}

/// Similar records: all but the message are the same.
#[derive(Debug, Default)]
struct Group {
    messages: HashSet<u64>,
    last: Option<Duration>,
}

/// An Event that was told.
#[derive(Clone, Debug)]
struct Told {
    name: Text,
    count: i32,
    first: Timestamp,
}

/// What may still be told about one object.
#[derive(Debug)]
struct Budget {
    tokens: f64,
    at: Duration,
}

impl Recorder {
    /// A recorder that speaks for `component`.
    pub fn new(component: &str) -> Self {
        Self {
            component: component.into(),
            groups: Recent::new(REMEMBERED_MAX),
            told: Recent::new(REMEMBERED_MAX),
            budgets: Recent::new(REMEMBERED_MAX),
            recorded: 0,
        }
    }

    /// What a record leads to; `None` if too much was said about that object already.
    pub fn record(&mut self, record: &Record, now: Now) -> Option<EventWrite> {
        let (message, key) = self.aggregate(record, now);
        // Event names must differ; upstream makes them from the time, and so do its tools expect.
        // The clock has no nanoseconds, so a counter stands in for them.
        self.recorded = (self.recorded + 1) % 1000;
        let nanos = now
            .wall
            .unix_micros()
            .saturating_mul(1000)
            .saturating_add(self.recorded);
        let name = event_name(&record.about.name, nanos);
        let told = self.told.get_or(key, || Told {
            name,
            count: 0,
            first: now.wall,
        });
        told.count = told.count.saturating_add(1);
        let told = told.clone();
        if !self.allow(record, now) {
            return None;
        }
        let event = self.event(record, message, &told, now);
        let patch = (told.count > 1).then(|| {
            let body = json!({
                "count": told.count,
                "lastTimestamp": event.last_timestamp,
                "message": event.message,
            });
            (told.name.clone(), Body::of(&body))
        });
        Some(EventWrite {
            namespace: event.metadata.namespace.clone(),
            patch,
            create: Body::of(&event),
            key,
        })
    }

    /// Tells under which name the server keeps the Event of a write.
    pub fn wrote(&mut self, write: &EventWrite, name: &str) {
        if let Some(told) = self.told.get(write.key) {
            told.name = name.into();
        }
    }

    /// How many Events are remembered, for metrics and tests.
    pub fn len(&self) -> usize {
        self.told.len()
    }

    /// Whether nothing was told lately.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Joins records that differ in nothing but their message once there are many of them.
    fn aggregate(&mut self, record: &Record, now: Now) -> (String, u64) {
        let group_key = self.key(record, &[record.reason]);
        let group = self.groups.get_or(group_key, Group::default);
        let stale = group
            .last
            .is_none_or(|last| now.monotonic > last + SIMILAR_WITHIN);
        if stale {
            group.messages.clear();
        }
        group.last = Some(now.monotonic);
        let message = hash(&record.message);
        if group.messages.len() + 1 < MESSAGES_MAX || group.messages.contains(&message) {
            group.messages.insert(message);
        }
        let many = group.messages.len() + 1 >= MESSAGES_MAX && !group.messages.contains(&message);
        if many {
            (
                format!("(combined from similar events): {}", record.message),
                group_key,
            )
        } else {
            (
                record.message.clone(),
                self.key(record, &[record.reason, &record.message]),
            )
        }
    }

    /// Takes from the object's budget.
    fn allow(&mut self, record: &Record, now: Now) -> bool {
        let key = self.key(record, &[]);
        let budget = self.budgets.get_or(key, || Budget {
            tokens: BURST,
            at: now.monotonic,
        });
        let elapsed = now.monotonic.saturating_sub(budget.at).as_secs_f64();
        budget.tokens = (budget.tokens + elapsed / REFILL.as_secs_f64()).min(BURST);
        budget.at = now.monotonic;
        if budget.tokens < 1.0 {
            return false;
        }
        budget.tokens -= 1.0;
        true
    }

    /// What makes records alike: source, object, type, and whatever is added.
    fn key(&self, record: &Record, more: &[&str]) -> u64 {
        let about = &record.about;
        hash(&(
            &self.component,
            (
                &about.kind,
                &about.namespace,
                &about.name,
                &about.uid,
                &about.api_version,
            ),
            record.kind,
            more,
        ))
    }

    fn event(&self, record: &Record, message: String, told: &Told, now: Now) -> Event {
        let namespace = match record.about.namespace.as_str() {
            "" => Text::const_new("default"),
            _ => record.about.namespace.clone(),
        };
        let metadata = LeanMeta {
            name: told.name.clone(),
            namespace,
            ..LeanMeta::default()
        };
        Event {
            metadata: metadata.into(),
            involved_object: record.about.clone(),
            reason: record.reason.into(),
            message,
            source: EventSource {
                component: self.component.clone(),
                host: Text::default(),
            },
            first_timestamp: Some(told.first),
            last_timestamp: Some(now.wall),
            count: told.count,
            kind: match record.kind {
                RecordKind::Normal => Text::const_new("Normal"),
                RecordKind::Warning => Text::const_new("Warning"),
            },
            reporting_component: self.component.clone(),
            reporting_instance: Text::default(),
        }
    }
}

/// The name of an Event about this object. Objects may have names as long as the server allows, so
/// that there is no room left for the time: then the name is cut.
fn event_name(object: &str, nanos: i64) -> Text {
    let time = format!(".{nanos:x}");
    let mut room = object.len().min(NAME_MAX.saturating_sub(time.len()));
    while !object.is_char_boundary(room) {
        room -= 1;
    }
    // What comes before a dot must end as a name does.
    let start = object[..room].trim_end_matches(['-', '.']);
    Text::from(format!("{start}{time}"))
}

/// The same in every run: the hasher starts from constants.
fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
