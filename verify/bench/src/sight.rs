//! What the harness sees of the objects that managers work on: one watch, so that seeing costs the server next to
//! nothing.
//!
//! On a busy machine a server gives up a watch that reads too slowly. Then another one is opened, and what was seen
//! is exchanged as soon as all there is has been told again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use flyball_conformance::Cluster;
use futures::{AsyncBufReadExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// How often a watch may be opened again: more often means that the harness cannot keep up.
const WATCHES_MAX: usize = 100;

/// What is remembered of the objects that were seen.
pub(crate) trait Seen: Default + Send + 'static {
    /// The path of the collection.
    const PATH: &'static str;
    /// In which shape objects are asked for.
    const ACCEPT: &'static str = "application/json";

    /// Takes in an object as it is by now.
    fn put(&mut self, object: &RawValue) -> Result<()>;

    /// Takes in that an object is gone.
    fn remove(&mut self, object: &RawValue) -> Result<()>;
}

/// A watch and what it has seen. Dropping it ends the watch.
pub(crate) struct Sight<S> {
    shared: Arc<Shared<S>>,
    task: JoinHandle<()>,
}

struct Shared<S> {
    seen: Mutex<S>,
    /// Why the watch ended, which it should not.
    failure: Mutex<Option<String>>,
    changed: Notify,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    object: &'a RawValue,
}

impl<S: Seen> Sight<S> {
    pub(crate) async fn open(cluster: &Cluster) -> Result<Self> {
        // A client of its own: what is measured must not queue behind the harness's writes.
        let client = cluster.admin().client().await?;
        let shared = Arc::new(Shared {
            seen: Mutex::new(S::default()),
            failure: Mutex::new(None),
            changed: Notify::new(),
        });
        let watching = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            let mut ended = Ok(());
            for _ in 0..WATCHES_MAX {
                ended = watching.follow(&client).await;
                if ended.is_err() {
                    break;
                }
            }
            let why = match ended {
                Ok(()) => "the server closed it too often".to_owned(),
                Err(error) => format!("{error:#}"),
            };
            *watching
                .failure
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(why);
            watching.changed.notify_waiters();
        });
        Ok(Self { shared, task })
    }

    /// Waits until what was seen is as wanted.
    pub(crate) async fn until(&self, limit: Duration, done: impl Fn(&S) -> bool) -> Result<()> {
        let waiting = async {
            loop {
                let changed = self.shared.changed.notified();
                let is_done = {
                    let seen = &self.shared.seen;
                    done(&seen.lock().unwrap_or_else(PoisonError::into_inner))
                };
                if is_done {
                    return Ok(());
                }
                let failure = &self.shared.failure;
                let failed = failure
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                if let Some(failed) = failed {
                    bail!("the harness's watch of {} ended: {failed}", S::PATH);
                }
                changed.await;
            }
        };
        let waited = tokio::time::timeout(limit, waiting).await;
        waited.with_context(|| format!("not within {} s", limit.as_secs()))?
    }
}

impl<S> Drop for Sight<S> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A server that is behind says when to ask again.
async fn wait_as_told(status: &RawValue) -> Result<()> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Details {
        retry_after_seconds: u64,
    }
    #[derive(Deserialize)]
    struct Status {
        details: Details,
    }
    let told: Status = serde_json::from_str(status.get())
        .with_context(|| format!("a watch event of type ERROR: {status}"))?;
    tokio::time::sleep(Duration::from_secs(told.details.retry_after_seconds)).await;
    Ok(())
}

impl<S: Seen> Shared<S> {
    /// Follows one watch until the server closes it.
    async fn follow(&self, client: &kube::Client) -> Result<()> {
        let path = format!(
            "{}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true\
             &resourceVersionMatch=NotOlderThan&timeoutSeconds=7200",
            S::PATH
        );
        let request = http::Request::get(path)
            .header(http::header::ACCEPT, S::ACCEPT)
            .body(Vec::new())?;
        let stream = client.request_stream(request).await?;
        let mut lines = stream.lines();
        // What there is, until all of it was told.
        let mut beginning = Some(S::default());
        while let Some(line) = lines.next().await {
            let line = line?;
            let Event { kind, object } = serde_json::from_str(&line)?;
            if kind == "ERROR" {
                return wait_as_told(object).await;
            }
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            match (kind, beginning.as_mut().unwrap_or(&mut seen)) {
                ("ADDED" | "MODIFIED", seen) => seen.put(object)?,
                ("DELETED", seen) => seen.remove(object)?,
                ("BOOKMARK", _) => {
                    // The first bookmark is the one that ends the beginning.
                    if let Some(all) = beginning.take() {
                        *seen = all;
                    }
                }
                _ => bail!("a watch event of type {kind}: {object}"),
            }
            drop(seen);
            self.changed.notify_waiters();
        }
        Ok(())
    }
}
