//! Pods that were created beyond what their ReplicaSet wanted at that moment.
//!
//! Two watches record every version of the pods and ReplicaSets of a namespace. Versions of one server are in one
//! order, so afterwards each pod can be held against the `spec.replicas` that its ReplicaSet had when it was created.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Result, bail};
use serde::Deserialize;

use crate::cluster::Cluster;
use crate::following::{Followed, Following, Owner, Told};

/// As much of a pod or a ReplicaSet as matters here.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default)]
struct Item {
    metadata: Metadata,
    spec: Spec,
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    name: String,
    uid: String,
    resource_version: String,
    deletion_timestamp: Option<String>,
    owner_references: Vec<Owner>,
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default)]
struct Spec {
    replicas: Option<usize>,
}

impl Followed for Item {
    fn version(&self) -> &str {
        &self.metadata.resource_version
    }
}

#[derive(Debug, Clone)]
enum Event {
    /// A ReplicaSet wants so many.
    Wants { set: String, replicas: usize },
    /// A pod of a ReplicaSet is there and not terminating.
    Lives {
        set: String,
        pod: String,
        name: String,
    },
    /// A pod of a ReplicaSet is terminating or gone.
    Ends { set: String, pod: String },
}

#[derive(Default)]
struct Book {
    events: Vec<(u64, Event)>,
    failure: Option<String>,
}

/// A running record. Dropping it ends it.
pub(super) struct ReplicaHistory {
    book: Arc<Mutex<Book>>,
    _followings: [Following; 2],
}

impl ReplicaHistory {
    pub(super) async fn start(cluster: &Cluster, namespace: &str) -> Result<Self> {
        let book = Arc::new(Mutex::new(Book::default()));
        let sets = format!("/apis/apps/v1/namespaces/{namespace}/replicasets");
        let pods = format!("/api/v1/namespaces/{namespace}/pods");
        let followings = [
            follow(cluster, &sets, Arc::clone(&book), set_event).await?,
            follow(cluster, &pods, Arc::clone(&book), pod_event).await?,
        ];
        Ok(Self {
            book,
            _followings: followings,
        })
    }

    /// The pods that came when their ReplicaSet had as many as it wanted.
    pub(super) fn excess(&self) -> Result<Vec<String>> {
        let book = lock(&self.book);
        if let Some(why) = &book.failure {
            bail!("the record of replicas failed: {why}");
        }
        Ok(excess(&book.events))
    }
}

async fn follow(
    cluster: &Cluster,
    path: &str,
    book: Arc<Mutex<Book>>,
    event: fn(Item, bool) -> Option<Event>,
) -> Result<Following> {
    let enter = move |item: Item, is_gone: bool| {
        let version = item.version().parse().unwrap_or_default();
        if let Some(event) = event(item, is_gone) {
            lock(&book).events.push((version, event));
        }
        Arc::clone(&book)
    };
    Following::start(cluster, path, move |told: Told<Item>| match told {
        Told::Is(item) => drop(enter(item, false)),
        Told::Gone(item) => drop(enter(item, true)),
        Told::Lost(why) => lock(&enter(Item::default(), true)).failure = Some(why),
    })
    .await
}

fn set_event(item: Item, is_gone: bool) -> Option<Event> {
    let replicas = item.spec.replicas.filter(|_| !is_gone)?;
    Some(Event::Wants {
        set: item.metadata.uid,
        replicas,
    })
}

fn pod_event(item: Item, is_gone: bool) -> Option<Event> {
    let pod = item.metadata;
    let set = pod.owner_references.into_iter().next()?.uid;
    if is_gone || pod.deletion_timestamp.is_some() {
        return Some(Event::Ends { set, pod: pod.uid });
    }
    Some(Event::Lives {
        set,
        pod: pod.uid,
        name: pod.name,
    })
}

fn excess(events: &[(u64, Event)]) -> Vec<String> {
    let mut ordered: Vec<&(u64, Event)> = events.iter().collect();
    ordered.sort_by_key(|(version, _)| *version);
    let mut wanted: HashMap<&str, usize> = HashMap::new();
    let mut living: HashMap<&str, HashSet<&str>> = HashMap::new();
    let mut found = Vec::new();
    for (_, event) in ordered {
        match event {
            Event::Wants { set, replicas } => {
                wanted.insert(set, *replicas);
            }
            Event::Lives { set, pod, name } => {
                let there = living.entry(set).or_default();
                let is_new = there.insert(pod);
                let wanted = wanted.get(set.as_str()).copied();
                if let Some(wanted) = wanted.filter(|wanted| is_new && there.len() > *wanted) {
                    found.push(format!(
                        "{name}, one of {} with {wanted} wanted",
                        there.len()
                    ));
                }
            }
            Event::Ends { set, pod } => {
                living.entry(set).or_default().remove(pod.as_str());
            }
        }
    }
    found
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lives(pod: &str) -> Event {
        Event::Lives {
            set: "s".to_owned(),
            pod: pod.to_owned(),
            name: pod.to_owned(),
        }
    }

    fn wants(replicas: usize) -> Event {
        Event::Wants {
            set: "s".to_owned(),
            replicas,
        }
    }

    #[test]
    fn a_pod_is_too_many_when_it_comes_not_when_fewer_are_wanted_later() {
        let events = vec![
            (1, wants(2)),
            (2, lives("a")),
            (4, wants(1)),
            (3, lives("b")),
        ];
        assert!(excess(&events).is_empty());
        let events = vec![
            (1, wants(1)),
            (2, lives("a")),
            (4, wants(2)),
            (3, lives("b")),
        ];
        assert_eq!(excess(&events), ["b, one of 2 with 1 wanted"]);
    }

    #[test]
    fn a_terminating_pod_makes_room() {
        let ends = Event::Ends {
            set: "s".to_owned(),
            pod: "a".to_owned(),
        };
        let events = vec![(1, wants(1)), (2, lives("a")), (3, ends), (4, lives("b"))];
        assert!(excess(&events).is_empty());
    }
}
