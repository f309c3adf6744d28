//! The handle of a log: what has been committed goes in, what is durable comes out.

use std::fs::File;
use std::path::Path;
use std::thread::JoinHandle;

use flyball_storage::Revision;
use tokio::sync::{mpsc, watch};

use crate::fold::Folding;
use crate::recover::{Opened, recover};
use crate::writer::Writer;
use crate::{Commit, Held, LogError, OpenError, Options, Recovered};

/// How far the disk has come.
#[derive(Clone, Debug)]
pub struct Durable {
    /// Everything up to here is durable.
    pub revision: Revision,
    /// Why nothing more will be. Once set it stays.
    pub failure: Option<LogError>,
}

/// Where commits are made durable. Dropping it writes what waits, ends the threads, and gives the
/// folder back; that takes as long as the disk takes for it.
pub struct Log {
    backend: Backend,
    durable: watch::Receiver<Durable>,
}

enum Backend {
    Disk {
        /// Taken when the log is dropped, which is what tells the writer.
        queue: Option<mpsc::Sender<Commit>>,
        writer: Option<JoinHandle<()>>,
        /// Given back after the threads have ended, and not before: also when the disk has failed.
        _lock: File,
    },
    Memory(watch::Sender<Durable>),
}

/// A place in the queue. It is taken before the store commits, so that what has been committed
/// never has to wait, or to be undone, for want of one.
#[must_use]
pub struct Place<'a>(Taken<'a>);

enum Taken<'a> {
    Queue(mpsc::Permit<'a, Commit>),
    Memory(&'a watch::Sender<Durable>),
}

impl Log {
    /// Opens a folder, which is made if it does not exist, and reads what it holds.
    pub fn open(folder: &Path, options: Options) -> Result<(Log, Recovered), OpenError> {
        Held::take(folder)?.open(options)
    }

    /// Reads what a folder holds whose lock is this file.
    pub(crate) fn of(
        folder: &Path,
        lock: File,
        options: Options,
    ) -> Result<(Log, Recovered), OpenError> {
        let Opened {
            recovered,
            log,
            logs,
            snapshot_bytes,
        } = recover(folder)?;
        let folding = Folding::start(folder, recovered.snapshot, snapshot_bytes, logs)?;
        let (publish, durable) = watch::channel(Durable {
            revision: recovered.revision(),
            failure: None,
        });
        let (queue, received) = mpsc::channel(options.queue_max.max(1));
        let writer = Writer {
            folder: folder.to_owned(),
            log,
            log_bytes: options.log_bytes,
            queue: received,
            durable: publish,
            folding,
        };
        let writer = std::thread::Builder::new()
            .name("flyball-log".to_owned())
            .spawn(move || writer.run())
            .map_err(OpenError::access("starting a thread for", folder))?;
        let backend = Backend::Disk {
            queue: Some(queue),
            writer: Some(writer),
            _lock: lock,
        };
        Ok((Log { backend, durable }, recovered))
    }

    /// A log in memory only: everything counts as durable at once, and ends with the process.
    pub fn ephemeral() -> (Log, Recovered) {
        let recovered = Recovered::nothing();
        let (publish, durable) = watch::channel(Durable {
            revision: recovered.revision(),
            failure: None,
        });
        let backend = Backend::Memory(publish);
        (Log { backend, durable }, recovered)
    }

    /// Waits for a place in the queue.
    pub async fn reserve(&self) -> Result<Place<'_>, LogError> {
        match &self.backend {
            Backend::Memory(publish) => match &self.durable.borrow().failure {
                Some(failure) => Err(failure.clone()),
                None => Ok(Place(Taken::Memory(publish))),
            },
            Backend::Disk { queue, .. } => {
                let Some(queue) = queue else {
                    return Err(LogError::Closed);
                };
                match queue.reserve().await {
                    Ok(permit) => Ok(Place(Taken::Queue(permit))),
                    Err(_) => Err(self.why_closed()),
                }
            }
        }
    }

    /// How far the disk has come, and news of it.
    pub fn durable(&self) -> watch::Receiver<Durable> {
        self.durable.clone()
    }

    /// Waits until a revision is durable. Whatever shows a state of the store waits for its
    /// revision, or it could show what a crash undoes.
    pub async fn wait(&self, revision: Revision) -> Result<(), LogError> {
        let is_decided =
            |durable: &Durable| durable.revision >= revision || durable.failure.is_some();
        let mut durable = self.durable.clone();
        let Ok(durable) = durable.wait_for(is_decided).await else {
            return Err(self.why_closed());
        };
        match &durable.failure {
            Some(failure) if durable.revision < revision => Err(failure.clone()),
            _ => Ok(()),
        }
    }

    fn why_closed(&self) -> LogError {
        let failure = self.durable.borrow().failure.clone();
        failure.unwrap_or(LogError::Closed)
    }
}

impl Place<'_> {
    /// Hands a commit over. Commits come in the order of their revisions, without gaps: call this
    /// under the same lock as the store's commit. One without writes changed nothing, has no
    /// revision of its own, and is passed over.
    pub fn append(self, commit: Commit) {
        if commit.writes.is_empty() {
            return;
        }
        match self.0 {
            Taken::Queue(permit) => permit.send(commit),
            Taken::Memory(publish) => publish.send_modify(|durable| {
                let (expected, given) = (durable.revision.next(), commit.revision);
                if given == expected {
                    durable.revision = given;
                } else if durable.failure.is_none() {
                    durable.failure = Some(LogError::OutOfOrder { expected, given });
                }
            }),
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if let Backend::Disk { queue, writer, .. } = &mut self.backend {
            *queue = None;
            if let Some(writer) = writer.take()
                && writer.join().is_err()
            {
                tracing::error!("writing the log ended in a panic");
            }
        }
    }
}
