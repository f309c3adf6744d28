//! Watching a collection: every change in order, from a version on.
//!
//! A [`Watch`] is a place in the history. Nothing is buffered for it: whoever serves it asks with
//! [`Registry::poll`] for what is next, when it has room to tell it. One that falls behind what is
//! kept is told so and ends.
//!
//! Upstream: `apiserver/pkg/storage/cacher`, `apiserver/pkg/endpoints/handlers/watch.go`.

use std::collections::VecDeque;
use std::sync::Arc;

use flyball_api::Timestamp;
use flyball_storage::{Event, Query as Range, Revision};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::list::{included, partial};
use crate::negotiation::Media;
use crate::object::{Meta, Object};
use crate::registry::{Call, Registry, prefix};
use crate::request::Representation;
use crate::selection::Selection;
use crate::served::Kind;
use crate::stored::{Stored, at_version, text, write_whole};
use crate::table::{IncludeObject, Table};
use crate::{depth, versions};

/// The annotation of the bookmark that ends the initial events.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// Whether an object is the bookmark that ends the initial events, or looks like it.
pub(crate) fn ends_initial(object: &Object) -> bool {
    object.meta()["annotations"][INITIAL_EVENTS_END] == "true"
}

/// A place in the history of a collection.
#[derive(Debug)]
pub struct Watch {
    resource: Arc<Kind>,
    prefix: Arc<str>,
    selection: Selection,
    representation: Representation,
    include: IncludeObject,
    /// What it is told in.
    pub(crate) media: Media,
    /// Whether a change came that cannot be told as asked for.
    failed: bool,
    /// Whether a table's columns have yet to be told.
    headers: bool,
    /// Everything up to here has been told.
    told: Revision,
    initial: VecDeque<Arc<Stored>>,
    marks_end_of_initial: bool,
    bookmarks: bool,
    /// What to tell whoever watches, beside the changes.
    pub warnings: Vec<String>,
    /// After so many seconds the server ends it; whoever serves it decides if there are none.
    pub timeout_seconds: Option<u64>,
}

/// How it goes on after a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// There may be more right away.
    More,
    /// Nothing more until something is committed.
    Idle,
    /// The last line said why it ended.
    Ended,
}

impl Registry {
    pub(crate) fn watch(&self, call: &Call<'_>) -> Result<Watch, Failure> {
        let selection = Selection::new(&call.resource, &call.query, &call.path.name)?;
        let asked = self.check_not_ahead(&call.query.version)?;
        let prefix = prefix(&call.resource, &call.path.namespace);
        // From the beginning means: the state first, then what changes.
        let from_state = asked.is_none_or(|version| version.0 == 0);
        let streamed = call.query.initial_events == Some(true);
        let state_first = match call.query.initial_events {
            Some(wanted) => wanted,
            None => from_state,
        };
        let mut initial = VecDeque::new();
        if state_first {
            let all = self.store().range(&Range::prefix(&prefix));
            let all = all.map_err(|error| Failure::expired(error.to_string()))?;
            let chosen = all.items.iter().filter(|item| selection.has(&item.value));
            initial.extend(chosen.map(|item| item.value.clone()));
        }
        let told = match asked {
            Some(version) if !state_first && version.0 > 0 => version,
            _ => self.revision(),
        };
        Ok(Watch {
            resource: call.resource.clone(),
            prefix: prefix.into(),
            selection,
            representation: call.representation,
            include: included(call)?,
            media: Media::Json,
            failed: false,
            headers: true,
            told,
            initial,
            marks_end_of_initial: streamed,
            bookmarks: call.query.bookmarks,
            warnings: call.resource.warnings(),
            timeout_seconds: call.query.timeout_seconds,
        })
    }

    /// Appends what comes next to `out`, one line per change, up to about `bytes_max` bytes and up
    /// to the revision `through`: what came later is not durable yet. They are in JSON, and to be sent as
    /// [`Watch::written`] writes them.
    pub fn poll(
        &self,
        watch: &mut Watch,
        through: Revision,
        now: Timestamp,
        out: &mut Vec<u8>,
        bytes_max: usize,
    ) -> Polled {
        let polled = self.poll_lines(watch, through, now, out, bytes_max);
        match watch.failed {
            true => Polled::Ended,
            false => polled,
        }
    }

    fn poll_lines(
        &self,
        watch: &mut Watch,
        through: Revision,
        now: Timestamp,
        out: &mut Vec<u8>,
        bytes_max: usize,
    ) -> Polled {
        let until = out.len() + bytes_max;
        while let Some(stored) = watch.initial.pop_front() {
            let bare = watch.resource.bare(&stored);
            watch.tell("ADDED", &bare, now, out);
            if out.len() >= until {
                return Polled::More;
            }
        }
        if std::mem::take(&mut watch.marks_end_of_initial) {
            watch.mark(true, now, out);
        }
        let prefix = watch.prefix.clone();
        let events = match self.store().events(watch.told, &prefix, EVENTS_AT_ONCE) {
            Ok(events) => events,
            Err(_) => {
                let message = format!(
                    "too old resource version: {} ({})",
                    watch.told.0,
                    self.revision().0
                );
                let status = Failure::expired(message).body();
                out.extend_from_slice(br#"{"type":"ERROR","object":"#);
                out.extend_from_slice(&status);
                out.extend_from_slice(b"}\n");
                return Polled::Ended;
            }
        };
        for event in &events.events {
            if event.revision > through {
                return Polled::Idle;
            }
            watch.change(event, now, out);
            watch.told = event.revision;
            if out.len() >= until {
                return Polled::More;
            }
        }
        watch.told = watch.told.max(events.through.min(through));
        if watch.told < through.min(self.revision()) {
            return Polled::More;
        }
        // Objects of a definition that changed or went look different now, or are not there any more:
        // whoever watches begins anew.
        if !self.served().has(&watch.resource) {
            return Polled::Ended;
        }
        Polled::Idle
    }

    /// Appends a bookmark, if the watch asked for them.
    pub fn bookmark(&self, watch: &mut Watch, now: Timestamp, out: &mut Vec<u8>) {
        if watch.bookmarks && watch.initial.is_empty() {
            watch.mark(false, now, out);
        }
    }
}

/// How many events are looked at in one go.
const EVENTS_AT_ONCE: usize = 256;

impl Watch {
    /// What the stream is written in, as its head tells.
    pub fn content_type(&self) -> &'static str {
        self.media.stream_name()
    }

    /// Lines of [`Registry::poll`] as they are sent. The registry is not needed for it, so that nobody waits for it.
    pub fn written(&self, lines: Vec<u8>) -> Vec<u8> {
        if self.media != Media::Protobuf {
            return lines;
        }
        let mut out = Vec::with_capacity(lines.len());
        for line in lines.split(|byte| *byte == b'\n') {
            if line.is_empty() {
                continue;
            }
            let event = Value::Object(depth::read_kept(line));
            let (kind, object) = (event["type"].as_str(), &event["object"]);
            let kind = kind.unwrap_or_default();
            if flyball_protobuf::encode_event(&mut out, kind, object).is_none() {
                let name = object["kind"].as_str().unwrap_or_default();
                let status = Failure::not_in_protobuf(name).body();
                let status = serde_json::from_slice(&status).unwrap_or_default();
                // A refusal can be told in every case.
                flyball_protobuf::encode_event(&mut out, "ERROR", &status);
            }
        }
        out
    }

    fn change(&mut self, event: &Event<Arc<Stored>>, now: Timestamp, out: &mut Vec<u8>) {
        let has = |stored: &Arc<Stored>| self.selection.has(stored);
        let before = event
            .previous
            .as_ref()
            .map(|item| &item.value)
            .filter(|one| has(one));
        let after = event.item.as_ref().map(|item| &item.value);
        match (before, after) {
            (None, Some(after)) if has(after) => {
                self.tell("ADDED", &self.resource.bare(after), now, out)
            }
            (Some(_), Some(after)) if has(after) => {
                self.tell("MODIFIED", &self.resource.bare(after), now, out)
            }
            // To this watch an object that is no longer meant is gone.
            (Some(before), Some(_)) => {
                let last = at_version(&self.resource.bare(before), event.revision.0);
                self.tell("DELETED", &last, now, out);
            }
            (Some(before), None) if self.resource.of_definition().is_some() => {
                let last = at_version(&self.resource.bare(before), event.revision.0);
                self.tell("DELETED", &last, now, out);
            }
            (Some(before), None) => self.tell("DELETED", &before.gone(event.revision.0), now, out),
            (None, _) => {}
        }
    }

    fn tell(&mut self, kind: &str, bare: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        // An object is no list, which upstream finds out when there is one.
        self.failed |= self.representation == Representation::MetadataList;
        if self.failed {
            return;
        }
        out.extend_from_slice(br#"{"type":""#);
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(br#"","object":"#);
        match self.representation {
            Representation::Whole | Representation::Discovery => {
                self.tell_whole(bare, out);
            }
            other => {
                let mut object = depth::read_kept(bare);
                let kept = versions::kept(&self.resource).unwrap_or(&self.resource);
                object.insert("kind".to_owned(), kept.kind.as_str().into());
                object.insert("apiVersion".to_owned(), kept.api_version().into());
                let shown = match other {
                    Representation::Table => {
                        let meta =
                            json!({"resourceVersion": object["metadata"]["resourceVersion"]});
                        let table = Table {
                            group: &kept.group,
                            kind: &kept.kind,
                            custom: self.resource.columns(),
                            include: self.include,
                            headers: std::mem::take(&mut self.headers),
                            now,
                        };
                        let mut shown = table.render([&object], meta);
                        // Cells are made of what is kept, rows carry what was asked for.
                        let version = versions::of(&self.resource);
                        let version = version.filter(|_| self.include == IncludeObject::Object);
                        if let Some(version) = version {
                            let mut told = version.as_told(object);
                            told.insert("kind".to_owned(), self.resource.kind.as_str().into());
                            shown["rows"][0]["object"] = Value::Object(told);
                        }
                        shown
                    }
                    _ => partial(&object),
                };
                out.extend_from_slice(shown.to_string().as_bytes());
            }
        }
        out.extend_from_slice(b"}\n");
    }

    /// Tells an object in the version of the watch.
    fn tell_whole(&self, bare: &[u8], out: &mut Vec<u8>) {
        let Some(version) = versions::of(&self.resource) else {
            write_whole(&self.resource, bare, out);
            return;
        };
        let object = depth::read_kept(bare);
        let mut object = version.as_told(object);
        object.insert("kind".to_owned(), self.resource.kind.as_str().into());
        out.extend_from_slice(&text(&object));
    }

    /// Tells how far everything has been told, in an object of the kind in which nothing is set.
    fn mark(&mut self, ends_initial: bool, now: Timestamp, out: &mut Vec<u8>) {
        let mut object = self.resource.blank();
        let meta = object.meta_mut();
        meta.insert("resourceVersion".to_owned(), self.told.0.to_string().into());
        if ends_initial {
            let annotations = meta.entry("annotations").or_insert_with(|| json!({}));
            annotations[INITIAL_EVENTS_END] = "true".into();
        }
        self.tell("BOOKMARK", &text(&object), now, out);
    }
}
