//! The log that is being written: frames of commits, appended and synced.
//!
//! Room is made ahead, as zeros. A sync then has only the data to write, and not each time the
//! file's new length as well, which costs a file system a second round to the disk.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use flyball_storage::Revision;

use crate::files::{self, FILE_HEAD, Kind};
use crate::frame::{self, HEAD};

/// How much room is made at a time: as much again as is in use, within these bounds. Writing the
/// most takes a disk some hundredths of a second.
const ROOM_MIN: u64 = 1 << 16;
const ROOM_MAX: u64 = 4 << 20;

/// The newest log of a folder.
pub(crate) struct LogFile {
    path: PathBuf,
    file: File,
    revision: Revision,
    /// How many bytes are written and durable.
    length: u64,
    /// How many bytes the file has; those beyond the length are zeros.
    room: u64,
}

impl LogFile {
    /// Begins a log: what it will hold comes after `revision`.
    pub(crate) fn create(folder: &Path, revision: Revision) -> io::Result<Self> {
        let path = Kind::Log.path(folder, revision);
        let file = files::create(&path, &Kind::Log.head(revision))?;
        Ok(LogFile::of(path, file, revision, FILE_HEAD as u64))
    }

    /// Goes on with a log of which `length` bytes are whole. What follows them is cut off.
    ///
    /// The process before may have stopped between a write and its sync, so what was read may be
    /// in the memory of the operating system only. It counts as durable from here on.
    pub(crate) fn resume(folder: &Path, revision: Revision, length: u64) -> io::Result<Self> {
        let path = Kind::Log.path(folder, revision);
        let file = File::options().write(true).open(&path)?;
        if file.metadata()?.len() != length {
            file.set_len(length)?;
        }
        file.sync_all()?;
        Ok(LogFile::of(path, file, revision, length))
    }

    /// Makes room for the first commits, so that a disk without any is noticed before one of them.
    pub(crate) fn make_room(&mut self) -> io::Result<()> {
        let made = (self.file.write_all_at(&[0; ROOM_MIN as usize], self.length))
            .and_then(|()| self.file.sync_all());
        if let Err(error) = made {
            // What there is of it is zeros, which mean nothing.
            drop(self.file.set_len(self.length));
            return Err(error);
        }
        self.room = self.length + ROOM_MIN;
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn at(path: &Path, revision: Revision) -> io::Result<Self> {
        let file = File::options().write(true).open(path)?;
        Ok(LogFile::of(path.into(), file, revision, FILE_HEAD as u64))
    }

    fn of(path: PathBuf, file: File, revision: Revision, length: u64) -> Self {
        LogFile {
            path,
            file,
            revision,
            length,
            room: length,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Appends one frame and waits for the disk. The first [`HEAD`] bytes of the buffer are free.
    pub(crate) fn append(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        debug_assert!(buffer.len() > HEAD);
        frame::seal(buffer, self.length, self.revision.0);
        if let Err(error) = self.write(buffer) {
            // Nothing of it was acknowledged. If it cannot even be cut off, opening judges it.
            drop(self.file.set_len(self.length));
            return Err(error);
        }
        self.length += buffer.len() as u64;
        Ok(())
    }

    fn write(&mut self, frame: &[u8]) -> io::Result<()> {
        let end = self.length + frame.len() as u64;
        if end > self.room {
            // A frame that does not fit makes its own room, and some for those after it.
            let room = end.clamp(ROOM_MIN, ROOM_MAX);
            self.file.write_all_at(&vec![0; room as usize], end)?;
            self.room = end + room;
        }
        self.file.write_all_at(frame, self.length)?;
        self.file.sync_data()
    }

    /// Gives back the room that was not needed.
    pub(crate) fn finish(&self) -> io::Result<()> {
        self.file.set_len(self.length)
    }
}
