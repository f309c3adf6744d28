//! The thread that folds: an old snapshot and finished logs become a new snapshot.
//!
//! It reads files and nothing else, so nobody waits for it. In memory it holds where the last
//! value of each key stands in the logs, not the values.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use flyball_storage::{Item, Key, Revision};

use crate::files::{self, Kind};
use crate::frames::{Frames, Next};
use crate::record::Reader;
use crate::snapshot::{SnapshotReader, SnapshotWriter};
use crate::{OpenError, Write};

/// What the two threads tell each other.
#[derive(Default)]
struct Shared {
    is_busy: AtomicBool,
    is_stopping: AtomicBool,
    snapshot_bytes: AtomicU64,
}

/// The writer's end: orders and looks. Dropping it stops the thread and waits for that.
pub(crate) struct Folding {
    shared: Arc<Shared>,
    orders: Option<Sender<Revision>>,
    thread: Option<JoinHandle<()>>,
}

impl Folding {
    /// Starts the thread. `snapshot` and `logs` are what the folder holds, the newest log last.
    pub(crate) fn start(
        folder: &Path,
        snapshot: Revision,
        snapshot_bytes: u64,
        logs: Vec<Revision>,
    ) -> Result<Self, OpenError> {
        let shared = Arc::new(Shared::default());
        shared
            .snapshot_bytes
            .store(snapshot_bytes, Ordering::Relaxed);
        // At most one order is under way: the writer looks whether the thread is busy.
        let (orders, received) = channel();
        let worker = Worker {
            folder: folder.to_owned(),
            shared: shared.clone(),
            snapshot,
            logs,
        };
        let thread = std::thread::Builder::new()
            .name("flyball-fold".to_owned())
            .spawn(move || worker.run(received))
            .map_err(OpenError::access("starting a thread for", folder))?;
        Ok(Folding {
            shared,
            orders: Some(orders),
            thread: Some(thread),
        })
    }

    /// Whether a fold is under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.shared.is_busy.load(Ordering::Acquire)
    }

    /// The size of the last snapshot.
    pub(crate) fn snapshot_bytes(&self) -> u64 {
        self.shared.snapshot_bytes.load(Ordering::Relaxed)
    }

    /// Asks for all logs to be folded but the one that has just been begun at `revision`.
    pub(crate) fn fold(&self, revision: Revision) {
        self.shared.is_busy.store(true, Ordering::Release);
        if let Some(orders) = &self.orders
            && orders.send(revision).is_err()
        {
            tracing::warn!("logs are not folded any more: the thread for it has ended");
        }
    }
}

impl Drop for Folding {
    fn drop(&mut self) {
        self.shared.is_stopping.store(true, Ordering::Relaxed);
        self.orders = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::warn!("folding logs ended in a panic");
        }
    }
}

struct Worker {
    folder: PathBuf,
    shared: Arc<Shared>,
    /// The newest snapshot; there is no file for the first revision.
    snapshot: Revision,
    /// The logs after it, in order, the one that is being written last.
    logs: Vec<Revision>,
}

impl Worker {
    fn run(mut self, orders: Receiver<Revision>) {
        for revision in orders {
            self.logs.push(revision);
            let finished = &self.logs[..self.logs.len() - 1];
            let folded = fold(
                &self.folder,
                self.snapshot,
                finished,
                revision,
                &self.shared,
            );
            if let Ok(Some(bytes)) = folded {
                self.shared.snapshot_bytes.store(bytes, Ordering::Relaxed);
                self.remove_folded(revision);
            } else {
                let path = Kind::Snapshot.path(&self.folder, revision);
                // It may not even exist; the next start would remove it as well.
                drop(fs::remove_file(files::unfinished(&path)));
            }
            if let Err(error) = folded {
                // The logs stay and are folded with the next one.
                tracing::warn!(%error, "could not fold the log into a snapshot");
            }
            self.shared.is_busy.store(false, Ordering::Release);
        }
    }

    /// Removes what the snapshot of `revision` made superfluous.
    fn remove_folded(&mut self, revision: Revision) {
        let old_logs = self.logs.drain(..self.logs.len() - 1);
        let mut paths: Vec<PathBuf> = old_logs
            .map(|log| Kind::Log.path(&self.folder, log))
            .collect();
        if self.snapshot > Revision::FIRST {
            paths.push(Kind::Snapshot.path(&self.folder, self.snapshot));
        }
        self.snapshot = revision;
        for path in paths {
            if let Err(error) = fs::remove_file(&path) {
                let path = path.display();
                tracing::warn!(%path, %error, "could not remove a file that is not needed");
            }
        }
    }
}

/// The last that the logs say about a key.
enum Last {
    Gone,
    Put(Place),
}

/// A value in a log, with the marks of its item.
struct Place {
    log: usize,
    at: u64,
    length: usize,
    created: Revision,
    modified: Revision,
    version: u64,
}

/// Writes the snapshot of `revision` and answers its size, or `None` if it was told to stop.
fn fold(
    folder: &Path,
    snapshot: Revision,
    logs: &[Revision],
    revision: Revision,
    shared: &Shared,
) -> Result<Option<u64>, OpenError> {
    let (index, opened) = index(folder, logs)?;
    let path = Kind::Snapshot.path(folder, revision);
    let writing = || OpenError::access("writing", &path);
    let mut base = match snapshot > Revision::FIRST {
        true => Some(SnapshotReader::open(folder, snapshot)?),
        false => None,
    };
    let mut from_base = || base.as_mut().map_or(Ok(None), SnapshotReader::next);
    let mut writer = SnapshotWriter::create(folder, revision).map_err(writing())?;
    let is_stopping = || shared.is_stopping.load(Ordering::Relaxed);

    let mut unchanged = from_base()?;
    let mut value = Vec::new();
    for (key, last) in &index {
        if is_stopping() {
            return Ok(None);
        }
        while let Some(item) = unchanged.take_if(|item| item.key < *key) {
            writer.put(&item).map_err(writing())?;
            unchanged = from_base()?;
        }
        if unchanged.take_if(|item| item.key == *key).is_some() {
            unchanged = from_base()?;
        }
        if let Last::Put(place) = last {
            value.resize(place.length, 0);
            let log = Kind::Log.path(folder, logs[place.log]);
            opened[place.log]
                .read_exact_at(&mut value, place.at)
                .map_err(OpenError::access("reading", &log))?;
            let item = Item {
                key: key.clone(),
                value: &value,
                created: place.created,
                modified: place.modified,
                version: place.version,
            };
            writer.put(&item).map_err(writing())?;
        }
    }
    while let Some(item) = unchanged {
        if is_stopping() {
            return Ok(None);
        }
        writer.put(&item).map_err(writing())?;
        unchanged = from_base()?;
    }
    writer.finish().map(Some).map_err(writing())
}

/// Where the last value of each key stands in finished logs.
fn index(folder: &Path, logs: &[Revision]) -> Result<(BTreeMap<Key, Last>, Vec<File>), OpenError> {
    let mut index = BTreeMap::new();
    let mut files = Vec::new();
    for (log, revision) in logs.iter().enumerate() {
        let path = Kind::Log.path(folder, *revision);
        files.push(File::open(&path).map_err(OpenError::access("reading", &path))?);
        let mut frames = Frames::open(folder, Kind::Log, *revision)?;
        loop {
            let before = frames.offset();
            match frames.next()? {
                Next::End => break,
                Next::Torn => {
                    let problem = "it ends in the middle of a record";
                    return Err(OpenError::damaged(&path, before, problem));
                }
                Next::Frame { body, body_at } => {
                    if index_frame(body, body_at, log, &mut index).is_none() {
                        let problem = "a record cannot be understood";
                        return Err(OpenError::damaged(&path, before, problem));
                    }
                }
            }
        }
    }
    Ok((index, files))
}

fn index_frame(
    body: &[u8],
    body_at: u64,
    log: usize,
    index: &mut BTreeMap<Key, Last>,
) -> Option<()> {
    let mut reader = Reader::new(body);
    while !reader.is_at_end() {
        let mut writes = Vec::new();
        let modified = reader.each_write(|write, value_at| writes.push((write, value_at)))?;
        for (write, value_at) in writes {
            let (key, last) = match write {
                Write::Delete { key } => (key, Last::Gone),
                Write::Put {
                    key,
                    created,
                    version,
                    bytes,
                } => {
                    let place = Place {
                        log,
                        at: body_at + value_at as u64,
                        length: bytes.len(),
                        created,
                        modified,
                        version,
                    };
                    (key, Last::Put(place))
                }
            };
            index.insert(key, last);
        }
    }
    Some(())
}
