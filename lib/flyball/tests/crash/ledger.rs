//! What was answered, and what was under way: all that may be found after a crash.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use flyball::{Client, Request};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::Outcome;

/// Where the objects are.
pub(crate) const PATH: &str = "/api/v1/namespaces/default/configmaps";

/// The state of an object: how often it was written; `None` if it is not there.
pub(crate) type Version = Option<u64>;

#[derive(Clone, Copy, Debug, Default)]
struct Line {
    answered: Version,
    /// The revision of the last answered write that left an object.
    revision: u64,
    /// What a write that was not answered would have made of it.
    under_way: Option<Version>,
}

#[derive(Default)]
struct State {
    lines: BTreeMap<String, Line>,
    revisions: BTreeSet<u64>,
    answered: usize,
    /// No revision from before the last crash may come again.
    newest_before: u64,
}

/// What the writers know.
#[derive(Default)]
pub(crate) struct Ledger {
    state: Mutex<State>,
    news: Notify,
}

/// The body of an object in a version: large enough to be torn, and every part of it tells which
/// version it belongs to.
pub(crate) fn object(name: &str, version: u64, revision: Option<u64>) -> Value {
    let word = format!("{name} {version} ");
    let times = usize::try_from(version % 29).unwrap_or_default() + 1;
    let mut metadata = json!({"name": name, "labels": {"version": version.to_string()}});
    if let Some(revision) = revision {
        metadata["resourceVersion"] = revision.to_string().into();
    }
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata,
        "data": {"first": word.repeat(times), "second": word.repeat(30 - times)},
    })
}

/// The version and revision of an object that was found; an error if it is not of one piece.
fn found(item: &Value) -> Outcome<(String, u64, u64)> {
    let meta = &item["metadata"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = text(&meta["name"]);
    let version: u64 = text(&meta["labels"]["version"]).parse()?;
    let revision: u64 = text(&meta["resourceVersion"]).parse()?;
    if item["data"] != object(&name, version, None)["data"] {
        return Err(format!("{name} is not of one piece: {item}").into());
    }
    Ok((name, version, revision))
}

impl Ledger {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The object as it was last answered, with its revision.
    pub(crate) fn last(&self, name: &str) -> (Version, u64) {
        let line = self.state().lines.get(name).copied().unwrap_or_default();
        (line.answered, line.revision)
    }

    /// Notes that a write is about to be sent.
    pub(crate) fn sending(&self, name: &str, version: Version) {
        let mut state = self.state();
        state.lines.entry(name.to_owned()).or_default().under_way = Some(version);
    }

    /// Notes that a write was answered, with the revision if the answer shows one: that to a delete
    /// does not.
    pub(crate) fn answered_with(
        &self,
        name: &str,
        version: Version,
        revision: Option<u64>,
    ) -> Outcome<()> {
        let mut state = self.state();
        if let Some(revision) = revision {
            let before = state.newest_before;
            if revision <= before {
                return Err(format!("revision {revision} comes after {before}").into());
            }
            if !state.revisions.insert(revision) {
                return Err(format!("revision {revision} was given out twice").into());
            }
        }
        state.answered += 1;
        let line = state.lines.entry(name.to_owned()).or_default();
        *line = Line {
            answered: version,
            revision: revision.unwrap_or(line.revision),
            under_way: None,
        };
        drop(state);
        self.news.notify_one();
        Ok(())
    }

    pub(crate) fn answered(&self) -> usize {
        self.state().answered
    }

    /// The newest revision that an answer has shown.
    pub(crate) fn newest(&self) -> u64 {
        self.state().revisions.last().copied().unwrap_or_default()
    }

    /// The revisions of all answered writes that left an object.
    pub(crate) fn revisions(&self) -> BTreeSet<u64> {
        self.state().revisions.clone()
    }

    /// Comes back when so many writes have been answered.
    pub(crate) async fn until_answered(&self, count: usize) {
        while self.answered() < count {
            self.news.notified().await;
        }
    }

    /// Compares what a server that was just started has with what was answered, and takes what it
    /// has as the truth from now on.
    pub(crate) async fn compare(&self, client: &Client) -> Outcome<()> {
        let list = client.send(&Request::get(PATH)).await;
        let list = list.map_err(|error| format!("cannot list: {error}"))?;
        let list: Value = serde_json::from_slice(&list)?;
        let revision: u64 = list["metadata"]["resourceVersion"]
            .as_str()
            .unwrap_or_default()
            .parse()?;
        let mut there = BTreeMap::new();
        for item in list["items"].as_array().ok_or("a list without items")? {
            let (name, version, revision) = found(item)?;
            there.insert(name, (version, revision));
        }
        let mut state = self.state();
        let newest = state.revisions.last().copied().unwrap_or_default();
        if revision < newest {
            return Err(
                format!("revision {newest} was answered, and {revision} is the newest").into(),
            );
        }
        state.newest_before = revision;
        for (name, line) in &mut state.lines {
            let actual = there.remove(name);
            let version = actual.map(|(version, _)| version);
            let as_answered = version == line.answered
                && actual.is_none_or(|(_, revision)| revision == line.revision);
            let as_under_way = line.under_way == Some(version);
            if !as_answered && !as_under_way {
                return Err(format!("{name} is {actual:?} and was {line:?}").into());
            }
            *line = Line {
                answered: version,
                revision: actual.map_or(line.revision, |(_, revision)| revision),
                under_way: None,
            };
        }
        match there.pop_first() {
            Some((name, _)) => Err(format!("nobody wrote {name}").into()),
            None => Ok(()),
        }
    }
}
