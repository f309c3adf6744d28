//! Snapshots: all items at a revision, sorted by key.
//!
//! A snapshot has its name only once it is complete and durable. A last frame says how many items
//! there are, so that a copy that lost its end is not taken for a whole.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use flyball_storage::{Item, Revision};

use crate::OpenError;
use crate::files::{self, FILE_HEAD, Kind};
use crate::frame::{self, HEAD};
use crate::frames::{Frames, Next};
use crate::record::{Reader, put_item, put_u64};

const ITEMS: u8 = 1;
const COUNT: u8 = 2;

/// About how large a frame of items is.
const FRAME_BYTES: usize = 1 << 18;

/// After so many bytes the disk is waited for. Were all left to the end, a sync of the log could
/// have to wait for all of them.
const SYNC_BYTES: u64 = 4 << 20;

/// A snapshot that is being written.
pub(crate) struct SnapshotWriter {
    path: PathBuf,
    file: File,
    revision: Revision,
    length: u64,
    synced: u64,
    items: u64,
    buffer: Vec<u8>,
}

impl SnapshotWriter {
    /// Begins a snapshot, under a name that is not yet its own.
    pub(crate) fn create(folder: &Path, revision: Revision) -> io::Result<Self> {
        let path = Kind::Snapshot.path(folder, revision);
        let mut file = files::begin(&path)?;
        file.write_all(&Kind::Snapshot.head(revision))?;
        let mut writer = SnapshotWriter {
            path,
            file,
            revision,
            length: FILE_HEAD as u64,
            synced: 0,
            items: 0,
            buffer: Vec::new(),
        };
        writer.begin(ITEMS);
        Ok(writer)
    }

    /// Adds an item; they come in the order of their keys.
    pub(crate) fn put(&mut self, item: &Item<impl AsRef<[u8]>>) -> io::Result<()> {
        put_item(&mut self.buffer, item);
        self.items += 1;
        if self.buffer.len() >= FRAME_BYTES {
            self.flush()?;
            self.begin(ITEMS);
        }
        Ok(())
    }

    /// Completes the snapshot and gives it its name. Answers its size.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.flush()?;
        self.begin(COUNT);
        put_u64(&mut self.buffer, self.items);
        self.flush()?;
        files::publish(&self.file, &self.path)?;
        Ok(self.length)
    }

    fn begin(&mut self, kind: u8) {
        self.buffer.clear();
        self.buffer.resize(HEAD, 0);
        self.buffer.push(kind);
    }

    fn flush(&mut self) -> io::Result<()> {
        frame::seal(&mut self.buffer, self.length, self.revision.0);
        self.file.write_all(&self.buffer)?;
        self.length += self.buffer.len() as u64;
        if self.length - self.synced >= SYNC_BYTES {
            self.file.sync_data()?;
            self.synced = self.length;
        }
        Ok(())
    }
}

/// A snapshot that is being read, item by item.
pub(crate) struct SnapshotReader {
    frames: Frames,
    /// What is left of the frame that was read last, in order.
    ahead: std::vec::IntoIter<Item<Bytes>>,
    read: u64,
    last: Option<flyball_storage::Key>,
    is_done: bool,
}

impl SnapshotReader {
    /// Opens the snapshot of a revision.
    pub(crate) fn open(folder: &Path, revision: Revision) -> Result<Self, OpenError> {
        Ok(SnapshotReader {
            frames: Frames::open(folder, Kind::Snapshot, revision)?,
            ahead: Vec::new().into_iter(),
            read: 0,
            last: None,
            is_done: false,
        })
    }

    /// How many bytes the file has.
    pub(crate) fn length(&self) -> u64 {
        self.frames.length()
    }

    /// The next item; `None` after the last, once it is known that none is missing.
    pub(crate) fn next(&mut self) -> Result<Option<Item<Bytes>>, OpenError> {
        loop {
            if let Some(item) = self.ahead.next() {
                if self.last.as_ref().is_some_and(|last| *last >= item.key) {
                    return Err(self.frames.nonsense("the items are not in order"));
                }
                self.last = Some(item.key.clone());
                self.read += 1;
                return Ok(Some(item));
            }
            if self.is_done {
                return Ok(None);
            }
            self.read_frame()?;
        }
    }

    fn read_frame(&mut self) -> Result<(), OpenError> {
        let body = match self.frames.next()? {
            Next::Frame { body, .. } => body,
            Next::End | Next::Torn => return Err(self.frames.nonsense("the end is missing")),
        };
        let mut items = Vec::new();
        let mut counted = None;
        let is_sound = match body.split_first() {
            Some((&ITEMS, rest)) => {
                let mut reader = Reader::new(rest);
                while let Some(item) = (!reader.is_at_end()).then(|| reader.item()).flatten() {
                    items.push(item);
                }
                reader.is_at_end()
            }
            Some((&COUNT, rest)) => {
                counted = Reader::new(rest).u64();
                counted == Some(self.read)
            }
            _ => false,
        };
        if !is_sound {
            return Err(self.frames.nonsense("a record cannot be understood"));
        }
        self.is_done = counted.is_some();
        self.ahead = items.into_iter();
        Ok(())
    }
}
