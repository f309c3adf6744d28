//! A kubelet without containers: pods become Running and Ready, deletions finish.
//!
//! One watch of all pods, one small view per event, and per pod one status patch and one delete (plus one binding
//! when asked for): the API server and the managers are what is measured, not this. What a pod does can be asked for
//! with annotations, see [`BEHAVIOUR`].

mod decide;
mod view;
mod write;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use futures::{AsyncBufReadExt as _, StreamExt as _};
use http::Request;
use kube::Client;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::cluster::Cluster;
use decide::{Job, Reported, decide};
use view::Event;

pub use decide::{BEHAVIOUR, READY_DELAY_MS, TERMINATION};

/// The node that pods are bound to.
pub const NODE: &str = "harness-node";

/// How the kubelet behaves.
#[derive(Debug, Clone, Copy)]
pub struct KubeletOptions {
    /// Bind each pod to [`NODE`] before it runs, one request more per pod. Without it, the server deletes pods at
    /// once instead of marking them terminating, because it believes that no node has seen them.
    pub bind: bool,
    /// Report only phase, start and readiness, which is all that controllers read. A full status costs the server
    /// about twice as much to merge and to keep field owners for.
    pub lean: bool,
    /// Requests in flight at most.
    pub concurrency: usize,
}

impl KubeletOptions {
    /// For benches: the fewest and smallest requests, one lean status patch per pod, deletions at once.
    #[must_use]
    pub fn lean() -> Self {
        Self {
            bind: false,
            lean: true,
            concurrency: 32,
        }
    }
}

impl Default for KubeletOptions {
    fn default() -> Self {
        Self {
            bind: true,
            lean: false,
            concurrency: 32,
        }
    }
}

/// A running kubelet. Dropping it stops it.
pub struct Kubelet {
    tasks: Vec<JoinHandle<()>>,
    tally: Arc<Tally>,
}

#[derive(Default)]
struct Tally {
    started: AtomicUsize,
    finished: AtomicUsize,
    failures: Mutex<Vec<String>>,
}

impl Tally {
    fn fail(&self, error: &anyhow::Error) {
        const FAILURES_MAX: usize = 100;
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() < FAILURES_MAX {
            failures.push(format!("{error:#}"));
        }
    }
}

impl Kubelet {
    /// Starts the kubelet for all pods of the cluster. Its requests are the administrator's and in no audit log.
    ///
    /// # Errors
    /// When no client can be made.
    pub async fn start(cluster: &Cluster, options: KubeletOptions) -> Result<Self> {
        // A client of its own: the harness's other requests must not queue behind pods.
        let client = cluster.admin().client().await?;
        let tally = Arc::new(Tally::default());
        let (sender, receiver) = mpsc::unbounded_channel();
        let tasks = vec![
            tokio::spawn(watch_pods(
                client.clone(),
                options.bind,
                sender,
                Arc::clone(&tally),
            )),
            tokio::spawn(work(client, options, receiver, Arc::clone(&tally))),
        ];
        Ok(Self { tasks, tally })
    }

    /// How many first status patches have been made.
    #[must_use]
    pub fn pods_started(&self) -> usize {
        self.tally.started.load(Ordering::Relaxed)
    }

    /// How many deletions have been finished.
    #[must_use]
    pub fn pods_finished(&self) -> usize {
        self.tally.finished.load(Ordering::Relaxed)
    }

    /// What went wrong, at most the first hundred. A pod that disappears under the kubelet's hands is not wrong.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        self.tally
            .failures
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Reads the watch for ever. The queue behind it is unbounded because a reader that waits for its writers looks to
/// the server like a slow watcher, which it cuts off.
async fn watch_pods(
    client: Client,
    bind: bool,
    jobs: mpsc::UnboundedSender<Job>,
    tally: Arc<Tally>,
) {
    let mut reported = HashMap::new();
    loop {
        if let Err(error) = follow(&client, bind, &jobs, &mut reported).await {
            tally.fail(&error);
            // A server that is down is asked again soon, but not in a spin.
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        if jobs.is_closed() {
            return;
        }
    }
}

async fn follow(
    client: &Client,
    bind: bool,
    jobs: &mpsc::UnboundedSender<Job>,
    reported: &mut HashMap<String, Reported>,
) -> Result<()> {
    let request = Request::get(
        "/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true\
         &resourceVersionMatch=NotOlderThan&timeoutSeconds=3600",
    )
    .body(Vec::new())?;
    let mut stream = client
        .request_stream(request)
        .await
        .context("kubelet's watch")?;
    let mut line = Vec::with_capacity(16 * 1024);
    while stream
        .read_until(b'\n', &mut line)
        .await
        .context("kubelet's watch")?
        > 0
    {
        let event: Event = serde_json::from_slice(&line).context("kubelet's watch event")?;
        match event.kind.as_ref() {
            "ADDED" | "MODIFIED" => {
                let known = reported.get(event.object.metadata.uid.as_ref()).copied();
                if let Some(job) = decide(&event.object, bind, known) {
                    reported.insert(job.uid.clone(), job.reports());
                    dispatch(job, jobs);
                }
            }
            "DELETED" => {
                reported.remove(event.object.metadata.uid.as_ref());
            }
            "BOOKMARK" => {}
            // ERROR: most likely an expired resourceVersion. A new watch starts from the present state.
            _ => return Ok(()),
        }
        line.clear();
    }
    Ok(())
}

fn dispatch(job: Job, jobs: &mpsc::UnboundedSender<Job>) {
    if job.delay.is_zero() {
        // A closed queue means that the kubelet is being dropped.
        let _ = jobs.send(job);
    } else {
        let jobs = jobs.clone();
        tokio::spawn(async move {
            tokio::time::sleep(job.delay).await;
            let _ = jobs.send(job);
        });
    }
}

async fn work(
    client: Client,
    options: KubeletOptions,
    mut jobs: mpsc::UnboundedReceiver<Job>,
    tally: Arc<Tally>,
) {
    let numbers = AtomicUsize::new(0);
    futures::stream::poll_fn(move |context| jobs.poll_recv(context))
        .for_each_concurrent(options.concurrency, |job| {
            let number = numbers.fetch_add(1, Ordering::Relaxed);
            let (client, tally) = (&client, &tally);
            async move {
                match write::carry_out(client, &job, options.lean, number).await {
                    Ok(()) if job.is_finish() => tally.finished.fetch_add(1, Ordering::Relaxed),
                    Ok(()) => tally.started.fetch_add(1, Ordering::Relaxed),
                    Err(error) => {
                        tally.fail(&error);
                        0
                    }
                };
            }
        })
        .await;
}
