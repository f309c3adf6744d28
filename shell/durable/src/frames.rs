//! Reading a file of frames from its beginning, one frame at a time.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use flyball_storage::Revision;

use crate::OpenError;
use crate::files::{FILE_HEAD, Kind};
use crate::frame::{self, HEAD, Read};

/// A file that is being read.
pub(crate) struct Frames {
    path: PathBuf,
    file: BufReader<File>,
    revision: Revision,
    offset: u64,
    length: u64,
    /// Head and body of the frame that was read last.
    buffer: Vec<u8>,
}

/// What comes next in a file.
pub(crate) enum Next<'a> {
    /// A frame.
    Frame {
        /// What is in it.
        body: &'a [u8],
        /// Where that stands in the file.
        body_at: u64,
    },
    /// Nothing more.
    End,
    /// A write that did not come to its end.
    Torn,
}

impl Frames {
    /// Opens the file of this kind and revision.
    pub(crate) fn open(folder: &Path, kind: Kind, revision: Revision) -> Result<Self, OpenError> {
        let path = kind.path(folder, revision);
        let reading = || OpenError::access("reading", &path);
        let file = File::open(&path).map_err(reading())?;
        let length = file.metadata().map_err(reading())?.len();
        let mut file = BufReader::with_capacity(1 << 18, file);
        let mut head = Vec::new();
        let mut start = file.by_ref().take(FILE_HEAD as u64);
        start.read_to_end(&mut head).map_err(reading())?;
        if head != kind.head(revision) {
            return Err(OpenError::damaged(
                &path,
                0,
                "the file does not begin as it should",
            ));
        }
        Ok(Frames {
            path,
            file,
            revision,
            offset: FILE_HEAD as u64,
            length,
            buffer: Vec::new(),
        })
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the next frame begins: all before it is whole.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// How many bytes the file has.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Reads on. After the end, or something torn, there is nothing more.
    pub(crate) fn next(&mut self) -> Result<Next<'_>, OpenError> {
        let (start, file) = (self.offset, self.revision.0);
        // All before the offset has been read, so the file stands there.
        self.buffer.clear();
        self.fill(HEAD)?;
        if let Some((length, _)) = frame::head(&self.buffer, start, file)
            && length as u64 <= self.length.saturating_sub(start + HEAD as u64)
        {
            self.fill(HEAD + length)?;
        }
        if !matches!(frame::read(&self.buffer, start, file), Read::Whole { .. }) {
            // What follows decides between torn and damaged.
            self.fill(usize::MAX)?;
        }
        match frame::read(&self.buffer, start, file) {
            Read::Whole { body, length } => {
                self.offset += length as u64;
                let body_at = start + HEAD as u64;
                Ok(Next::Frame { body, body_at })
            }
            Read::End => Ok(Next::End),
            Read::Torn => Ok(Next::Torn),
            Read::Damaged(problem) => Err(OpenError::damaged(&self.path, start, problem)),
        }
    }

    /// The error that a body is not what it should be, although its checksum holds.
    pub(crate) fn nonsense(&self, problem: impl Into<String>) -> OpenError {
        OpenError::damaged(&self.path, self.offset, problem)
    }

    /// Makes the buffer hold `wanted` bytes from the offset on, or as many as there are.
    fn fill(&mut self, wanted: usize) -> Result<(), OpenError> {
        let missing = wanted.saturating_sub(self.buffer.len());
        let mut rest = self.file.by_ref().take(missing as u64);
        match rest.read_to_end(&mut self.buffer) {
            Ok(_) => Ok(()),
            Err(source) => Err(OpenError::access("reading", &self.path)(source)),
        }
    }
}
