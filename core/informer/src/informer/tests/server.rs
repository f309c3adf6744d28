//! A model of the API server, honest about versions and unkind in every permitted way.

use std::collections::{BTreeMap, VecDeque};

use flyball_api::{ApiError, Status};

use crate::testing::Thing;
use crate::{ListRequest, WatchRequest};

pub(super) type State = BTreeMap<String, Thing>;

/// All that ever happened to one kind, in the present history.
#[derive(Default)]
pub(super) struct Server {
    pub(super) version: u64,
    /// Watches from before this version are refused, and so are pages of lists as old.
    pub(super) compacted: u64,
    /// Whether lists can be streamed.
    streams: bool,
    /// How many versions behind the answer to a list that is not consistent may be.
    pub(super) lag: u64,
    /// How often the server was restored from a backup.
    pub(super) restores: u64,
    history: Vec<(u64, &'static str, Thing)>,
}

/// A watch that was accepted.
pub(super) struct Stream {
    /// What is to be sent before anything else.
    pub(super) lines: VecDeque<String>,
    /// Everything up to this version has been sent, or is in `lines`.
    pub(super) sent: u64,
}

impl Server {
    pub(super) fn new(streams: bool) -> Self {
        Self {
            version: 1,
            streams,
            ..Self::default()
        }
    }

    pub(super) fn state(&self) -> State {
        self.state_at(self.version)
    }

    pub(super) fn state_at(&self, version: u64) -> State {
        let mut state = State::new();
        for (at, kind, thing) in self.history.iter().take_while(|event| event.0 <= version) {
            assert!(*at <= version);
            match *kind {
                "DELETED" => state.remove(&thing.name),
                _ => state.insert(thing.name.clone(), thing.clone()),
            };
        }
        state
    }

    /// Goes back to an older version. What happened since then did not happen.
    pub(super) fn restore(&mut self, versions_back: u64) {
        self.version = self.version.saturating_sub(versions_back).max(1);
        self.history.retain(|(at, ..)| *at <= self.version);
        self.compacted = self.compacted.min(self.version);
        self.restores += 1;
    }

    pub(super) fn put(&mut self, name: &str) {
        self.version += 1;
        let (kind, uid) = match self.state().get(name) {
            Some(known) => ("MODIFIED", known.uid.to_string()),
            None => (
                "ADDED",
                format!("{name}-{}-{}", self.version, self.restores),
            ),
        };
        // Another history has another state at the same version.
        let owner = ["x", "y"][(self.version + self.restores) as usize % 2];
        let thing = Thing::new("n", name)
            .uid(&uid)
            .at(self.version)
            .owned_by(&[owner]);
        self.history.push((self.version, kind, thing));
    }

    pub(super) fn delete(&mut self, name: &str) {
        if let Some(known) = self.state().remove(name) {
            self.version += 1;
            self.history
                .push((self.version, "DELETED", known.at(self.version)));
        }
    }

    /// The next thing to send on a stream.
    pub(super) fn next_line(&self, stream: &mut Stream) -> Option<String> {
        if let Some(line) = stream.lines.pop_front() {
            return Some(line);
        }
        let (version, kind, thing) = self.history.iter().find(|event| event.0 > stream.sent)?;
        stream.sent = *version;
        Some(thing.event(kind))
    }

    pub(super) fn watch(&self, request: &WatchRequest) -> Result<Stream, ApiError> {
        if !request.send_initial_events {
            let from = self.check(&request.resource_version)?;
            return Ok(Stream {
                lines: VecDeque::new(),
                sent: from,
            });
        }
        if !self.streams {
            return Err(error(422, "Invalid", "sendInitialEvents is forbidden"));
        }
        let at_least = match request.resource_version.as_str() {
            "" => self.version,
            version => self.check_not_ahead(version)?,
        };
        let version = self.version.saturating_sub(self.lag).max(at_least).max(1);
        let things = self.state_at(version);
        let mut lines: VecDeque<_> = things.values().map(|thing| thing.event("ADDED")).collect();
        lines.push_back(bookmark(
            version,
            r#","annotations":{"k8s.io/initial-events-end":"true"}"#,
        ));
        Ok(Stream {
            lines,
            sent: version,
        })
    }

    pub(super) fn list(&self, request: &ListRequest) -> Result<String, ApiError> {
        let token = request
            .continue_token
            .as_deref()
            .and_then(|token| token.split_once(':'));
        let any_state = request.resource_version.as_deref() == Some("0");
        assert!(!any_state, "a list that any state would satisfy");
        let (version, from) = match (token, request.resource_version.as_deref()) {
            (Some((version, from)), _) => (self.check(version)?, from.parse().unwrap()),
            (None, None) => (self.version, 0),
            (None, Some(version)) => {
                let at_least = self.check_not_ahead(version)?;
                (
                    self.version.saturating_sub(self.lag).max(at_least).max(1),
                    0,
                )
            }
        };
        let state = self.state_at(version);
        let things: Vec<_> = state.values().map(Thing::json).collect();
        let to = match request.limit {
            Some(_) => (from + 2).min(things.len()),
            None => things.len(),
        };
        // The token may be from another history.
        let from = to.min(from);
        let more = if to < things.len() {
            format!("{version}:{to}")
        } else {
            String::new()
        };
        let items = things[from..to].join(",");
        Ok(format!(
            r#"{{"kind":"ThingList","metadata":{{"resourceVersion":"{version}","continue":"{more}"}},"items":[{items}]}}"#
        ))
    }

    fn check(&self, version: &str) -> Result<u64, ApiError> {
        let version = self.check_not_ahead(version)?;
        if version < self.compacted {
            return Err(error(410, "Expired", "too old resource version"));
        }
        Ok(version)
    }

    fn check_not_ahead(&self, version: &str) -> Result<u64, ApiError> {
        let version = version.parse().unwrap();
        if version > self.version {
            return Err(error(504, "Timeout", "Too large resource version"));
        }
        Ok(version)
    }
}

pub(super) fn bookmark(version: u64, more: &str) -> String {
    format!(
        r#"{{"type":"BOOKMARK","object":{{"kind":"Thing","metadata":{{"resourceVersion":"{version}"{more}}}}}}}"#
    )
}

pub(super) fn error(code: u16, reason: &str, message: &str) -> ApiError {
    ApiError::from_status(Status::failure(code, reason, message))
}

/// The event by which a server gives a watch up.
pub(super) fn error_line(error: &ApiError) -> String {
    let (code, reason, message) = (error.code(), error.reason(), error.message());
    format!(
        r#"{{"type":"ERROR","object":{{"kind":"Status","code":{code},"reason":"{reason}","message":"{message}"}}}}"#
    )
}
