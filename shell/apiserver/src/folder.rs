//! The data folder of an API server: the store, and beside it the keys that belong to it.
//!
//! Of two processes that start at once one takes the lock before it reads or makes a key, so the keys
//! on disk are always those of the process that serves.

use std::io;
use std::path::{Path, PathBuf};

use flyball_durable::{Held, Log, OpenError, Options, Recovered, write_file};

use crate::authority::AuthorityError;

/// A data folder that this process has locked.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    store: Held,
}

impl DataFolder {
    /// Locks a folder, which is made if it does not exist.
    pub fn lock(path: &Path) -> Result<Self, OpenError> {
        Ok(Self {
            path: path.to_owned(),
            store: Held::take(&path.join("store"))?,
        })
    }

    /// Reads the store.
    pub(crate) fn open(self) -> Result<(Log, Recovered), OpenError> {
        self.store.open(Options::default())
    }

    /// A file beside the store.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The text of a file beside the store; `None` if there is no such file.
    pub(crate) fn read(&self, name: &str) -> Result<Option<String>, AuthorityError> {
        let path = self.file(name);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(AuthorityError::File { path, source }),
        }
    }

    /// Writes a file beside the store, durably and for its owner only.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), AuthorityError> {
        let path = self.file(name);
        let written = write_file(&path, text.as_bytes());
        written.map_err(|source| AuthorityError::File { path, source })
    }

    /// Refuses to make a key where a cluster is stored that was served with another one.
    pub(crate) fn check_may_make(&self, name: &str) -> Result<(), AuthorityError> {
        match self.store.is_new() {
            true => Ok(()),
            false => Err(AuthorityError::Missing {
                path: self.file(name),
                store: self.store.folder().to_owned(),
            }),
        }
    }
}
