//! Keeps a store on disk: what was acknowledged is there after a crash.
//!
//! It owns the arrow `store ─commit→ disk` of the embedded plane. The store in memory decides; what
//! it has committed goes into a [`Log`], in order. A thread of the log takes all commits that wait,
//! writes them in one go, waits for the disk once, and publishes the revision up to which
//! everything is durable. Whoever answers a request waits for the revision that the answer shows:
//!
//! ```
//! use flyball_durable::{Commit, Log, OpenError, Options};
//! use flyball_storage::{Limits, Transaction};
//!
//! # let folder = std::env::temp_dir().join(format!("flyball-durable-doc-{}", std::process::id()));
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let (log, recovered) = Log::open(&folder, Options::default())?;
//! let mut store = recovered.into_store(Limits::default(), |_, bytes| Ok::<_, OpenError>(bytes))?;
//!
//! let place = log.reserve().await?;
//! let committed = store.commit(Transaction::create("/registry/pods/default/web", "{}".into()))?;
//! place.append(Commit::of(&committed, |bytes| bytes.clone()));
//! log.wait(committed.revision).await?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is promised
//!
//! - **Acknowledged means durable**: a revision is published after `fdatasync` has returned.
//! - **All or nothing**: of a transaction that was cut off by a crash nothing is left.
//! - **Nothing is dropped in silence**: only the end of the newest log may be unfinished, because
//!   only there can a write have been under way. [`Recovered::cut`] names the file and the byte where
//!   it was dropped. Damage anywhere else is an error that names the file and the place.
//! - **One process**: a folder is locked while it is open. The lock dies with the process.
//! - **Bounds**: a fixed number of commits waits; the folder takes at most about four times the
//!   data it holds, and 128 MiB.
//!
//! # When the disk fails
//!
//! The first failed write or `fdatasync` is final: after a failed sync nobody knows what the disk
//! holds, so writing on could acknowledge what is not there. The log takes no more commits, every
//! waiting and later one fails with [`LogError::WriteFailed`], and the published revision stays
//! where it is. Reads at that revision go on. The store in memory is ahead of the disk by what was
//! never acknowledged; a restart, with the disk repaired, begins again at what is durable. A
//! commit that was not acknowledged may be there then, or not, as after any crash.
//!
//! # The folder
//!
//! `FORMAT` says which version of this layout it is; `LOCK` holds the lock. `snapshot-N` has all
//! items at revision N, sorted by key; `log-N` has what was committed after N. When a log has grown
//! large, a new one is begun, and a thread folds the snapshot and the finished log into a new
//! snapshot, reading from disk only: neither the store nor the writer waits for it.
//!
//! # Reading on
//!
//! `log` is the handle, `writer` its thread, `fold` the other one; `recover` opens a folder.
//! Below them: `files` (names, lock, format), `frame` and `frames` (what is whole, torn or damaged),
//! `record` (commits and items as bytes), `log_file`, `snapshot`.

mod checksum;
mod commit;
mod error;
mod files;
mod fold;
mod frame;
mod frames;
mod held;
mod log;
mod log_file;
mod options;
mod record;
mod recover;
mod snapshot;
mod writer;

#[cfg(test)]
mod tests;

pub use commit::{Commit, Write};
pub use error::{LogError, OpenError};
pub use files::{make_folder, write_file};
pub use held::Held;
pub use log::{Durable, Log, Place};
pub use options::Options;
pub use recover::{Cut, IntoStoreError, Recovered};
