//! What can go wrong with a folder, and with writing to it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flyball_storage::Revision;

/// Why a folder could not be opened. It says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error(
        "the data folder {folder} is in use by another process{holder}; stop that process, or choose another folder"
    )]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// Who holds it, if it said so: ` (pid 12)`.
        holder: String,
    },
    /// There are files in it, but not those of a data folder.
    #[error(
        "{folder} holds other files (such as {example}) and is no data folder; choose an empty one"
    )]
    NotADataFolder {
        /// The folder.
        folder: PathBuf,
        /// One of the files.
        example: String,
    },
    /// It was written by a program that does things otherwise.
    #[error(
        "{path} says {found:?}, and this version understands {understood:?} only; use the version that wrote it, or choose another folder"
    )]
    FormatUnknown {
        /// The file that says so.
        path: PathBuf,
        /// What it says.
        found: String,
        /// What was expected.
        understood: &'static str,
    },
    /// The operating system refused something.
    #[error(
        "{action} {path}: {source}; check that the folder exists, is writable and has space left"
    )]
    AccessFailed {
        /// What was being done, as in `reading`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file does not hold what was written to it.
    #[error(
        "{path} is damaged at byte {offset}: {problem}; restore the folder from a copy, or move it away to begin with an empty one"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the first damaged part begins.
        offset: u64,
        /// What is wrong there.
        problem: String,
    },
}

impl OpenError {
    /// Wraps what the operating system said.
    pub(crate) fn access(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| OpenError::AccessFailed {
            action,
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn damaged(path: &Path, offset: u64, problem: impl Into<String>) -> Self {
        OpenError::Damaged {
            path: path.to_owned(),
            offset,
            problem: problem.into(),
        }
    }
}

/// Why commits are not acknowledged any more. All are final: the process has to be restarted.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LogError {
    /// The disk is full or broken.
    #[error(
        "writing {path}: {source}; nothing after revision {durable} is durable, and nothing more is written until the disk is repaired and the process restarted"
    )]
    WriteFailed {
        /// The file.
        path: PathBuf,
        /// The last revision that is durable.
        durable: Revision,
        /// What the operating system said.
        source: Arc<io::Error>,
    },
    /// A commit came whose revision is not the next one: the caller does not keep the order.
    #[error("commit {given} came where {expected} comes next")]
    OutOfOrder {
        /// The revision that comes next.
        expected: Revision,
        /// The revision that came.
        given: Revision,
    },
    /// A commit is larger than a record can be.
    #[error("commit {revision} takes {bytes} bytes, more than {limit}")]
    TooLarge {
        /// The commit.
        revision: Revision,
        /// Its size.
        bytes: usize,
        /// How large it may be.
        limit: usize,
    },
    /// The log has been closed.
    #[error("the log is closed")]
    Closed,
}
