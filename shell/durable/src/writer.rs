//! The thread that writes: takes all commits that wait, makes them durable together, and says so.

use std::path::PathBuf;
use std::sync::Arc;

use flyball_storage::Revision;
use tokio::sync::{mpsc, watch};

use crate::files::{self, Kind};
use crate::fold::Folding;
use crate::frame::{BODY_MAX, HEAD};
use crate::log_file::LogFile;
use crate::record::{commit_length, put_commit};
use crate::{Commit, Durable, LogError};

/// How many bytes are written before the disk is waited for, unless one commit alone has more.
const GROUP_BYTES: usize = 8 << 20;

/// Everything the thread owns.
pub(crate) struct Writer {
    pub(crate) folder: PathBuf,
    pub(crate) log: LogFile,
    pub(crate) log_bytes: u64,
    pub(crate) queue: mpsc::Receiver<Commit>,
    pub(crate) durable: watch::Sender<Durable>,
    pub(crate) folding: Folding,
}

impl Writer {
    /// Writes until nobody can commit any more, or until the disk fails.
    pub(crate) fn run(mut self) {
        let mut buffer = Vec::new();
        // How long the log was when another could not be begun; it may grow as much again.
        let mut postponed = 0;
        while let Some(first) = self.queue.blocking_recv() {
            if let Err(error) = self.write_group(first, &mut buffer) {
                tracing::error!(%error, "the log takes no more commits");
                // The failure is published before the queue is closed, so that whoever finds it
                // closed finds the reason as well.
                self.durable
                    .send_modify(|durable| durable.failure = Some(error));
                self.queue.close();
                break;
            }
            let grown = self.log.length().saturating_sub(postponed);
            let enough = self.log_bytes.max(self.folding.snapshot_bytes());
            if grown >= enough && !self.folding.is_busy() {
                postponed = match self.rotate() {
                    true => 0,
                    false => self.log.length(),
                };
            }
        }
        self.finish_log();
    }

    fn finish_log(&self) {
        if let Err(error) = self.log.finish() {
            let path = self.log.path().display();
            tracing::warn!(%path, %error, "could not give back unneeded room");
        }
    }

    /// Writes one commit and all that wait behind it.
    fn write_group(&mut self, first: Commit, buffer: &mut Vec<u8>) -> Result<(), LogError> {
        buffer.clear();
        buffer.shrink_to(2 * GROUP_BYTES);
        buffer.resize(HEAD, 0);
        let mut last = self.durable.borrow().revision;
        let mut next = Some(first);
        let mut refused = None;
        while let Some(commit) = next {
            if let Err(error) = check(&commit, last) {
                refused = Some(error);
                break;
            }
            put_commit(buffer, &commit);
            last = commit.revision;
            next = match buffer.len() < GROUP_BYTES {
                true => self.queue.try_recv().ok(),
                false => None,
            };
        }
        // What came before a commit that is refused is still written.
        if buffer.len() > HEAD {
            let durable = self.durable.borrow().revision;
            let written = self.log.append(buffer);
            written.map_err(|source| LogError::WriteFailed {
                path: self.log.path().to_owned(),
                durable,
                source: Arc::new(source),
            })?;
            self.durable.send_modify(|durable| durable.revision = last);
        }
        refused.map_or(Ok(()), Err)
    }

    /// Begins another log and lets the present one be folded. Says whether it could.
    fn rotate(&mut self) -> bool {
        let revision = self.durable.borrow().revision;
        match LogFile::create(&self.folder, revision) {
            Ok(log) => {
                self.finish_log();
                self.log = log;
                self.folding.fold(revision);
                true
            }
            Err(error) => {
                // The present log is as good as ever, only longer. What may be there of the other
                // one is empty, and opening would pass over it.
                let path = Kind::Log.path(&self.folder, revision);
                drop(std::fs::remove_file(files::unfinished(&path)));
                drop(std::fs::remove_file(&path));
                let folder = self.folder.display();
                tracing::warn!(%folder, %error, "could not begin another log");
                false
            }
        }
    }
}

fn check(commit: &Commit, last: Revision) -> Result<(), LogError> {
    let expected = last.next();
    if commit.revision != expected {
        let given = commit.revision;
        return Err(LogError::OutOfOrder { expected, given });
    }
    let bytes = commit_length(commit);
    // What is before it in its group is smaller than a group.
    let limit = BODY_MAX - GROUP_BYTES;
    if bytes > limit {
        let revision = commit.revision;
        return Err(LogError::TooLarge {
            revision,
            bytes,
            limit,
        });
    }
    Ok(())
}
