//! A revisioned store of values with a bounded history: what etcd is to kube-apiserver.
//!
//! It owns the arrow `transact` of the embedded plane:
//! `registry ─transaction→ store ─event→ watches`. The [`Store`] is a plain value, generic over
//! what it stores, and promises, whatever the order of calls:
//!
//! - **one revision**: it starts at 1 for the empty store; a transaction that changes something
//!   raises it by one, and all its writes share it; any other transaction leaves it alone;
//! - **all or nothing**: a [`Transaction`] is applied if every expectation holds, else nothing of
//!   it, and the answer says which key was not as expected and what is there;
//! - **exact reads of the past**: within the kept history a [`Query`] at an older revision answers
//!   what it would have answered then. Before it the answer is [`ReadError::Compacted`], after the
//!   present [`ReadError::Future`], never something near the truth;
//! - **no gaps**: [`Store::events`] answers every event with a prefix after a revision, in order,
//!   or says that it cannot;
//! - **bounds**: the history is as long as its [`Limits`] allow, and forgets whole revisions,
//!   oldest first;
//! - **small**: an item costs its key, its value and 65 to 120 bytes, as the tree is packed.
//!
//! Values are cloned when they are superseded: store an `Arc`, and a version that is still present
//! somewhere costs a pointer.
//!
//! ```
//! use flyball_storage::{Expect, Limits, Query, Store, Transaction};
//!
//! let mut store = Store::new(Limits::default());
//! let web = "/registry/pods/default/web";
//! let made = store.commit(Transaction::new().given(web, Expect::Absent).put(web, "1"))?;
//! let then = made.revision;
//! store.commit(Transaction::new().given(web, Expect::ModifiedAt(then)).put(web, "2"))?;
//!
//! let pods = Query::prefix("/registry/pods/");
//! assert_eq!(store.range(&pods)?.items[0].value, "2");
//! assert_eq!(store.range(&pods.at(then))?.items[0].value, "1");
//! assert_eq!(store.events(then, "/registry/pods/", 100)?.events.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Reading on
//!
//! `store` ties the parts together; `transaction` is what it is asked and answers; `history` keeps
//! what happened, with `lanes` to find what concerns a prefix; `range` reads the present, and the
//! past as the present with the history undone.

mod error;
mod event;
mod history;
mod item;
mod lanes;
mod limits;
mod range;
mod revision;
mod store;
mod transaction;

pub use error::{CommitError, ReadError, ReplayError, RestoreError};
pub use event::{Event, Events};
pub use item::{Item, Key};
pub use limits::Limits;
pub use range::{Page, Query};
pub use revision::Revision;
pub use store::Store;
pub use transaction::{Committed, Expect, Transaction, Write};
