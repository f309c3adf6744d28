//! A folder that this process holds, before anything in it is read.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::{Log, OpenError, Options, Recovered, files};

/// A locked folder. The lock lasts until this, or the [`Log`] that it becomes, is dropped.
///
/// Files that belong to the store, such as the keys of an API server, are read and written between
/// [`Held::take`] and [`Held::open`]: no other process does the same meanwhile.
#[derive(Debug)]
pub struct Held {
    folder: PathBuf,
    lock: File,
}

impl Held {
    /// Locks a folder, which is made if it does not exist.
    pub fn take(folder: &Path) -> Result<Self, OpenError> {
        Ok(Self {
            folder: folder.to_owned(),
            lock: files::lock(folder)?,
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether nothing was ever stored in the folder.
    pub fn is_new(&self) -> bool {
        !files::has_format(&self.folder)
    }

    /// Reads what the folder holds.
    pub fn open(self, options: Options) -> Result<(Log, Recovered), OpenError> {
        Log::of(&self.folder, self.lock, options)
    }
}
