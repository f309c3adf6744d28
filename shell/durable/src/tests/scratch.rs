//! Folders that are gone after the test, and a store that is kept in one.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use flyball_storage::{Item, Limits, Revision, Store, Transaction};

use crate::{Commit, Log, OpenError, Options};

/// A folder of one test.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("flyball-durable-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// The names of the files that hold data, sorted.
    pub(super) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names
            .filter(|name| name != "LOCK" && name != "FORMAT")
            .collect();
        names.sort();
        names
    }

    /// The only log, or the newest.
    pub(super) fn log(&self) -> PathBuf {
        let logs = self
            .files()
            .into_iter()
            .filter(|name| name.starts_with("log-"));
        self.0.join(logs.max().unwrap())
    }

    /// How long the newest log is without the room at its end.
    pub(super) fn log_length(&self) -> u64 {
        let bytes = std::fs::read(self.log()).unwrap();
        let last = bytes.iter().rposition(|byte| *byte != 0);
        last.unwrap() as u64 + 1
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// A store and the log under it.
pub(super) struct Kept {
    pub(super) store: Store<Bytes>,
    pub(super) log: Log,
}

impl Kept {
    pub(super) fn open(folder: &Path) -> Result<Self, OpenError> {
        Self::open_with(folder, Options::default())
    }

    pub(super) fn open_with(folder: &Path, options: Options) -> Result<Self, OpenError> {
        let (log, recovered) = Log::open(folder, options)?;
        let revision = recovered.revision();
        let store = recovered.into_store(Limits::default(), |_, bytes| Ok::<_, String>(bytes));
        let store = store.unwrap();
        assert_eq!(store.revision(), revision);
        assert_eq!(log.durable().borrow().revision, revision);
        Ok(Kept { store, log })
    }

    /// Commits and does not wait.
    pub(super) async fn start(&mut self, transaction: Transaction<Bytes>) -> Revision {
        let place = self.log.reserve().await.unwrap();
        let committed = self.store.commit(transaction).unwrap();
        place.append(Commit::of(&committed, Bytes::clone));
        committed.revision
    }

    /// Commits and waits until it is acknowledged.
    pub(super) async fn commit(&mut self, transaction: Transaction<Bytes>) -> Revision {
        let revision = self.start(transaction).await;
        self.log.wait(revision).await.unwrap();
        revision
    }

    pub(super) fn items(&self) -> Vec<Item<Bytes>> {
        self.store.iter().cloned().collect()
    }
}
