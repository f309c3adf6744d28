//! Opening a folder: the newest snapshot, and every commit after it.

use std::fmt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use flyball_storage::{Item, Limits, ReplayError, RestoreError, Revision, Store};

use crate::files::{self, Found, Kind};
use crate::frames::{Frames, Next};
use crate::log_file::LogFile;
use crate::record::Reader;
use crate::snapshot::SnapshotReader;
use crate::{Commit, OpenError, Write};

/// What was found in a folder.
///
/// It is a snapshot and what was committed since, rather than only the outcome, so that a store
/// made of it has a history: watches can go on across a restart.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// The revision of the snapshot.
    pub snapshot: Revision,
    /// The items at that revision, by key.
    pub items: Vec<Item<Bytes>>,
    /// What was committed after it, in order and without gaps.
    pub commits: Vec<Commit>,
    /// The end of the newest log that was dropped, if there was one.
    pub cut: Option<Cut>,
}

/// The unfinished end of a log, which was dropped.
///
/// A crash in the middle of a write leaves one. So does a file that was truncated by hand, and then
/// everything is lost that was committed after the last revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The log.
    pub path: PathBuf,
    /// Where it ends now.
    pub byte: u64,
    /// The last revision before that.
    pub revision: Revision,
}

impl fmt::Display for Cut {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, byte, revision) = (self.path.display(), self.byte, self.revision);
        write!(
            out,
            "{path} ended in the middle of a record and was cut off at byte {byte}; the last revision is {revision}"
        )
    }
}

/// Why what was found does not make a store.
#[derive(Debug, thiserror::Error)]
pub enum IntoStoreError<E> {
    /// A value could not be read.
    #[error("reading the value of {key}: {source}")]
    ValueUnreadable {
        /// Its key.
        key: String,
        /// What the reader said.
        source: E,
    },
    /// The items contradict each other.
    #[error(transparent)]
    RestoreFailed(RestoreError),
    /// The commits contradict each other.
    #[error(transparent)]
    ReplayFailed(ReplayError),
}

impl Recovered {
    /// What an empty folder holds.
    pub(crate) fn nothing() -> Self {
        Recovered {
            snapshot: Revision::FIRST,
            items: Vec::new(),
            commits: Vec::new(),
            cut: None,
        }
    }

    /// The revision of the last commit.
    pub fn revision(&self) -> Revision {
        let last = self.commits.last().map(|commit| commit.revision);
        last.unwrap_or(self.snapshot)
    }

    /// The store that was kept, its history beginning at the snapshot. `read` makes a value of the
    /// bytes under a key.
    pub fn into_store<V: Clone, E>(
        self,
        limits: Limits<V>,
        mut read: impl FnMut(&str, Bytes) -> Result<V, E>,
    ) -> Result<Store<V>, IntoStoreError<E>> {
        let mut read = |key: &str, bytes| {
            read(key, bytes).map_err(|source| IntoStoreError::ValueUnreadable {
                key: key.to_owned(),
                source,
            })
        };
        let mut items = Vec::with_capacity(self.items.len());
        for item in self.items {
            items.push(Item {
                value: read(&item.key, item.value)?,
                key: item.key,
                created: item.created,
                modified: item.modified,
                version: item.version,
            });
        }
        let mut store =
            Store::restore(self.snapshot, items, limits).map_err(IntoStoreError::RestoreFailed)?;
        for commit in self.commits {
            let mut writes = Vec::with_capacity(commit.writes.len());
            for write in commit.writes {
                writes.push(match write {
                    Write::Put { key, bytes, .. } => {
                        let value = read(&key, bytes)?;
                        (key, flyball_storage::Write::Put(value))
                    }
                    Write::Delete { key } => (key, flyball_storage::Write::Delete),
                });
            }
            store
                .replay(commit.revision, writes)
                .map_err(IntoStoreError::ReplayFailed)?;
        }
        Ok(store)
    }
}

/// What the threads of a log need to go on.
pub(crate) struct Opened {
    pub(crate) recovered: Recovered,
    /// The log to append to.
    pub(crate) log: LogFile,
    /// Logs that are finished but not folded yet, in order, then the newest one.
    pub(crate) logs: Vec<Revision>,
    /// The size of the snapshot in bytes.
    pub(crate) snapshot_bytes: u64,
}

/// Reads a folder that is held.
pub(crate) fn recover(folder: &Path) -> Result<Opened, OpenError> {
    let Found {
        mut logs,
        mut snapshots,
    } = files::survey(folder)?;
    let mut recovered = Recovered::nothing();
    let mut snapshot_bytes = 0;
    if let Some(newest) = snapshots.pop() {
        let mut reader = SnapshotReader::open(folder, newest)?;
        recovered.snapshot = newest;
        snapshot_bytes = reader.length();
        while let Some(item) = reader.next()? {
            recovered.items.push(item);
        }
    }
    remove_folded(folder, &mut logs, snapshots, recovered.snapshot)?;
    let mut whole = None;
    let mut used = Vec::with_capacity(logs.len());
    for (place, log) in logs.iter().enumerate() {
        let expected = recovered.revision();
        if *log < expected && is_empty(folder, *log)? {
            // It was begun, given up, and the log before it written on.
            continue;
        }
        if *log != expected {
            let path = Kind::Log.path(folder, *log);
            let problem = format!("it begins after revision {log}, and {expected} comes before it");
            return Err(OpenError::damaged(&path, 0, problem));
        }
        let read = read_log(folder, *log, &mut recovered.commits)?;
        if read.is_torn {
            drop_torn(folder, *log, read.whole, &logs[place + 1..])?;
            let cut = Cut {
                path: Kind::Log.path(folder, *log),
                byte: read.whole,
                revision: recovered.revision(),
            };
            tracing::warn!("{cut}");
            recovered.cut = Some(cut);
        }
        whole = Some(read.whole);
        used.push(*log);
    }
    let mut log = match (used.last(), whole) {
        (Some(last), Some(length)) => {
            let path = Kind::Log.path(folder, *last);
            LogFile::resume(folder, *last, length).map_err(OpenError::access("opening", &path))?
        }
        _ => {
            // Beside a snapshot there is always a log: it is begun before the snapshot is.
            if recovered.snapshot > Revision::FIRST {
                let path = Kind::Log.path(folder, recovered.snapshot);
                return Err(OpenError::damaged(&path, 0, "the file is missing"));
            }
            let path = Kind::Log.path(folder, Revision::FIRST);
            used.push(Revision::FIRST);
            LogFile::create(folder, Revision::FIRST).map_err(OpenError::access("making", &path))?
        }
    };
    if let Err(error) = log.make_room() {
        return Err(OpenError::access("writing", log.path())(error));
    }
    files::sync_folder(folder).map_err(OpenError::access("writing", folder))?;
    Ok(Opened {
        recovered,
        log,
        logs: used,
        snapshot_bytes,
    })
}

/// Whether a log holds no commit.
fn is_empty(folder: &Path, log: Revision) -> Result<bool, OpenError> {
    let mut frames = Frames::open(folder, Kind::Log, log)?;
    Ok(matches!(frames.next()?, Next::End))
}

/// Removes what a snapshot made superfluous, if the process stopped before it could.
fn remove_folded(
    folder: &Path,
    logs: &mut Vec<Revision>,
    snapshots: Vec<Revision>,
    newest: Revision,
) -> Result<(), OpenError> {
    let old_logs = logs.iter().filter(|log| **log < newest);
    let old_logs = old_logs.map(|log| Kind::Log.path(folder, *log));
    let old_snapshots = snapshots.iter();
    let old_snapshots = old_snapshots.map(|snapshot| Kind::Snapshot.path(folder, *snapshot));
    for path in old_logs.chain(old_snapshots) {
        std::fs::remove_file(&path).map_err(OpenError::access("removing", &path))?;
    }
    logs.retain(|log| *log >= newest);
    Ok(())
}

/// How far a log could be read.
struct ReadLog {
    /// How many of its bytes are whole.
    whole: u64,
    /// Whether more follows: the beginning of a write that did not come to its end.
    is_torn: bool,
}

/// Cuts the torn end of a log off. Only where nothing was written later can a write have been
/// under way.
fn drop_torn(
    folder: &Path,
    log: Revision,
    whole: u64,
    later: &[Revision],
) -> Result<(), OpenError> {
    let path = Kind::Log.path(folder, log);
    for other in later {
        if !is_empty(folder, *other)? {
            let problem = "it ends in the middle of a record, and another log follows";
            return Err(OpenError::damaged(&path, whole, problem));
        }
    }
    let cut = LogFile::resume(folder, log, whole);
    cut.map(drop).map_err(OpenError::access("writing", &path))
}

/// Reads the commits of a log.
fn read_log(folder: &Path, log: Revision, commits: &mut Vec<Commit>) -> Result<ReadLog, OpenError> {
    let mut frames = Frames::open(folder, Kind::Log, log)?;
    loop {
        let whole = frames.offset();
        let body = match frames.next()? {
            Next::Frame { body, .. } => body,
            Next::End => {
                let is_torn = false;
                return Ok(ReadLog { whole, is_torn });
            }
            Next::Torn => {
                let is_torn = true;
                return Ok(ReadLog { whole, is_torn });
            }
        };
        let mut reader = Reader::new(body);
        while !reader.is_at_end() {
            let expected = commits.last().map_or(log, |commit| commit.revision).next();
            let problem = match reader.commit() {
                Some(commit) if commit.revision == expected => {
                    commits.push(commit);
                    continue;
                }
                Some(commit) => {
                    format!("commit {} stands where {expected} should", commit.revision)
                }
                None => "a record cannot be understood".to_owned(),
            };
            return Err(OpenError::damaged(frames.path(), whole, problem));
        }
    }
}
