//! What a decision asks for beyond its own answer.

use flyball_api::Kind;
use flyball_informer::Command;

use crate::cache::CacheId;
use crate::controllers::ControllerId;

/// Something to be carried out. Effects gather while decisions are made and are taken with
/// [`Process::take_effects`](crate::Process::take_effects).
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Carry out a command for a cache. Its request under way is dropped.
    Carry(CacheId, Command),
    /// A cache is gone. Its request under way is dropped.
    Drop(CacheId),
    /// A controller may have work.
    Wake(ControllerId),
    /// The permission to write may have begun or ended.
    Term,
    /// The election has something to do.
    Elect,
    /// Discovery is due, perhaps earlier than planned.
    Discover,
    /// Something that people should know.
    Tell(News),
}

/// What people should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// This process leads.
    BecameLeader,
    /// This process leads no more.
    LostLease,
    /// The Lease has another holder; empty if it is free.
    NewLeader(String),
    /// The server has another history than before. The text says how that was noticed.
    HistoryChanged(String),
    /// After a lost connection, writing waits for a sign that the history is the same.
    Doubt(String),
    /// The leader sees too little of the cluster and gives the Lease up.
    SteppedDown(String),
    /// A kind is watched from now on.
    KindAdded(Kind),
    /// A kind is watched no more, because the server does not have it.
    KindRemoved(Kind),
    /// A kind is watched in another version from now on.
    KindReplaced {
        /// The version until now.
        old: Kind,
        /// The version from now on.
        new: Kind,
    },
    /// The time for a stop ran out. The Lease is kept until it expires.
    StopTimedOut,
}
