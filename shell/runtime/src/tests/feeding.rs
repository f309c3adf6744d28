//! Feeding caches: whatever the server does, the snapshot ends up right.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use flyball_api::views::ReplicaSet;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::api::{Answer, Api, Asked, pass, status};
use super::toys::{Onlooker, engine, leading};
use crate::run::Running;

/// A collection of ReplicaSets as a server keeps it.
#[derive(Default)]
struct Collection {
    sets: BTreeMap<&'static str, u64>,
    version: u64,
    watcher: Option<mpsc::UnboundedSender<io::Result<Bytes>>>,
    streams: bool,
    down: bool,
    /// The `Retry-After` in seconds that the next list is answered with.
    busy: Option<u32>,
}

fn set(name: &str, version: u64) -> Value {
    let version = version.to_string();
    json!({"kind": "ReplicaSet", "apiVersion": "apps/v1",
        "metadata": {"name": name, "namespace": "shop", "uid": name, "resourceVersion": version}})
}

fn line(kind: &str, object: &Value) -> io::Result<Bytes> {
    Ok(format!("{}\n", json!({"type": kind, "object": object})).into())
}

impl Collection {
    fn put(&mut self, name: &'static str) {
        self.version += 1;
        let kind = match self.sets.insert(name, self.version) {
            Some(_) => "MODIFIED",
            None => "ADDED",
        };
        self.tell(line(kind, &set(name, self.version)));
    }

    fn delete(&mut self, name: &str) {
        self.version += 1;
        self.sets.remove(name);
        self.tell(line("DELETED", &set(name, self.version)));
    }

    fn tell(&self, line: io::Result<Bytes>) {
        // There may be no watch.
        let _ = self.watcher.as_ref().map(|watcher| watcher.send(line));
    }

    fn serve(&mut self, asked: &Asked) -> Answer {
        if self.down {
            return Answer::Refused;
        }
        let query = |name: &str| {
            let pairs = asked.path.split_once('?')?.1.split('&');
            pairs
                .filter_map(|pair| pair.split_once('='))
                .find(|(key, _)| *key == name)
        };
        if query("watch").is_none() {
            if let Some(seconds) = self.busy.take() {
                return Answer::Busy(seconds);
            }
            return self.list(query("continue").is_some());
        }
        let initial = query("sendInitialEvents").is_some();
        if initial && !self.streams {
            return status(422, "Invalid");
        }
        let (sender, receiver) = mpsc::unbounded_channel();
        if initial {
            for (name, version) in &self.sets {
                sender.send(line("ADDED", &set(name, *version))).unwrap();
            }
            let end = json!({"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {
                "resourceVersion": self.version.to_string(),
                "annotations": {"k8s.io/initial-events-end": "true"}}});
            sender.send(line("BOOKMARK", &end)).unwrap();
        }
        self.watcher = Some(sender);
        Answer::Lines(receiver)
    }

    /// Two pages: the first object, then the others.
    fn list(&self, second: bool) -> Answer {
        let all: Vec<Value> = self
            .sets
            .iter()
            .map(|(name, version)| set(name, *version))
            .collect();
        let (first, rest) = all.split_at(all.len().min(1));
        let (items, more) = if second {
            (rest, "")
        } else {
            (first, "more+/")
        };
        let metadata = json!({"resourceVersion": self.version.to_string(), "continue": more});
        let page = json!({"kind": "ReplicaSetList", "apiVersion": "apps/v1", "metadata": metadata,
            "items": items});
        Answer::Is(200, page.to_string())
    }
}

struct Fed {
    server: Arc<Mutex<Collection>>,
    api: Api,
    running: Running,
}

impl Fed {
    /// A server with these sets, and a cache that is being fed from it.
    fn from(streams: bool, names: &[&'static str]) -> Self {
        let mut collection = Collection {
            streams,
            version: 10,
            ..Collection::default()
        };
        names.iter().for_each(|name| collection.put(name));
        let server = Arc::new(Mutex::new(collection));
        let api = Api::new({
            let server = server.clone();
            move |_, asked| server.lock().unwrap().serve(asked)
        });
        let running = leading(&api, vec![engine(Onlooker)]);
        Self {
            server,
            api,
            running,
        }
    }

    fn change(&self, change: impl FnOnce(&mut Collection)) {
        change(&mut self.server.lock().unwrap());
    }

    /// Comes back when the cache shows exactly what the server has, at the same versions.
    async fn agrees(&self) {
        let cached = || -> Vec<(String, String)> {
            let snapshot = self.running.health().snapshot();
            let sets = snapshot.list::<ReplicaSet>("");
            sets.map(|set| {
                (
                    set.metadata.name.to_string(),
                    set.metadata.resource_version.to_string(),
                )
            })
            .collect()
        };
        let kept = || -> Vec<(String, String)> {
            let server = self.server.lock().unwrap();
            server
                .sets
                .iter()
                .map(|(name, at)| (name.to_string(), at.to_string()))
                .collect()
        };
        let agreed = async {
            while cached() != kept() || !self.running.caches()[0].is_current {
                pass(Duration::from_millis(10)).await;
            }
        };
        let agreed = tokio::time::timeout(Duration::from_secs(300), agreed).await;
        assert!(
            agreed.is_ok(),
            "{:?} is not {:?}: {:#?}",
            cached(),
            kept(),
            self.api.lines()
        );
    }

    /// Comes back when a watch is under way.
    async fn watches(&self) {
        let open = |fed: &Self| fed.server.lock().unwrap().watcher.is_some();
        self.api.until(|_| open(self)).await;
    }

    fn requests_with(&self, part: &str) -> usize {
        self.api
            .lines()
            .iter()
            .filter(|line| line.contains(part))
            .count()
    }
}

#[tokio::test(start_paused = true)]
async fn a_streamed_list_and_what_follows_it() {
    let fed = Fed::from(true, &["a", "b"]);
    fed.agrees().await;
    fed.change(|server| {
        server.put("c");
        server.put("a");
        server.delete("b");
    });
    fed.agrees().await;
    assert_eq!(fed.api.lines().len(), 1, "{:?}", fed.api.lines());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_stream_is_listed_in_pages() {
    let fed = Fed::from(false, &["a", "b", "c"]);
    fed.agrees().await;
    assert_eq!(fed.requests_with("continue=more%2B%2F"), 1);
    fed.api
        .until(|asked| {
            asked.path.contains("watch=true&") && asked.path.contains("resourceVersion=13")
        })
        .await;
    fed.change(|server| server.put("d"));
    fed.agrees().await;
    assert_eq!(
        fed.requests_with("sendInitialEvents"),
        1,
        "it is not asked to stream again"
    );
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_expires_is_listed_anew_without_a_gap() {
    for streams in [true, false] {
        let fed = Fed::from(streams, &["a", "b"]);
        fed.agrees().await;
        fed.watches().await;
        fed.change(|server| {
            let gone = json!({"kind": "Status", "status": "Failure", "code": 410,
                "reason": "Expired", "message": "too old resource version"});
            server.tell(line("ERROR", &gone));
            // What happens from here on no watch has told.
            server.watcher = None;
            server.delete("a");
            server.put("c");
        });
        fed.agrees().await;
    }
}

#[tokio::test(start_paused = true)]
async fn garbage_half_lines_and_broken_connections_heal() {
    let bad: [fn() -> io::Result<Bytes>; 5] = [
        || Ok("not json at all\n".into()),
        || Ok("{\"type\":\"ADDED\",\"obj".into()),
        || Ok("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":7}}}\n".into()),
        || Ok("{\"type\":\"SURPRISE\",\"object\":{}}\n".into()),
        || Err(io::ErrorKind::ConnectionReset.into()),
    ];
    for bad in bad {
        let fed = Fed::from(true, &["a"]);
        fed.agrees().await;
        fed.change(|server| {
            server.tell(bad());
            server.watcher = None;
            server.delete("a");
            server.put("b");
        });
        fed.agrees().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_down_is_waited_for() {
    let fed = Fed::from(true, &["a"]);
    fed.change(|server| server.down = true);
    fed.api.until(|_| true).await;
    assert!(!fed.running.caches()[0].readiness.synced);
    pass(Duration::from_secs(600)).await;
    // Patient, not stubborn: the pauses grow to half a minute and more.
    assert!(fed.api.lines().len() < 60, "{}", fed.api.lines().len());
    fed.change(|server| server.down = false);
    fed.agrees().await;
}

/// The reflector has the last word about `Retry-After`: a request that the client sends again by
/// itself could neither be dropped nor be seen.
#[tokio::test(start_paused = true)]
async fn a_list_that_is_put_off_is_reported_and_asked_for_again_by_the_reflector() {
    let fed = Fed::from(false, &["a"]);
    fed.change(|server| server.busy = Some(5));
    let list = |asked: &Asked| asked.path.contains("limit=");
    let first = fed.api.until(list).await;
    pass(Duration::from_secs(1)).await;
    let error = fed.running.caches()[0].readiness.last_error.clone();
    assert!(error.is_some_and(|error| error.contains("list failed")));
    assert_eq!(fed.requests_with("limit="), 1);
    fed.agrees().await;
    let second = fed.api.asks().into_iter().filter(list).nth(1).unwrap();
    let waited = second.at - first.at;
    assert!(waited >= Duration::from_secs(5), "{waited:?}");
    assert!(waited <= Duration::from_secs(7), "{waited:?}");
}
