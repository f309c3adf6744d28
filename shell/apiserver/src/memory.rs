//! Bytes of bodies and answers that are in memory: so many for one connection, so many for all.
//!
//! A request reserves some before it is looked at, and waits a moment where there are none left. When
//! all connections together hold too much, those go whose clients do not take what is held for them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::activity::{Activity, InProgress, Waiting};
use crate::connections::Connections;

/// How long a request waits for memory that other connections hold.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often a connection is looked for that has to go.
const LOOK: Duration = Duration::from_millis(20);

/// The memory of all connections.
#[derive(Debug)]
pub(crate) struct Memory {
    max: usize,
    connection_max: usize,
    held: AtomicUsize,
    freed: Notify,
    connections: Weak<Connections>,
}

/// Bytes that are held for a client, until this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    bytes: usize,
    activity: Arc<Activity>,
    memory: Arc<Memory>,
}

/// There is no memory left.
#[derive(Debug)]
pub(crate) struct Exhausted;

impl Memory {
    pub(crate) fn new(
        (max, connection_max): (usize, usize),
        connections: &Arc<Connections>,
    ) -> Arc<Self> {
        Arc::new(Self {
            max,
            connection_max,
            held: AtomicUsize::new(0),
            freed: Notify::new(),
            connections: Arc::downgrade(connections),
        })
    }

    /// Bytes that are held for all clients.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }

    /// Takes bytes for a client, as soon as there are so many.
    pub(crate) async fn reserve(
        self: &Arc<Self>,
        activity: &Arc<Activity>,
        bytes: usize,
    ) -> Result<Held, Exhausted> {
        let mut held = self.nothing(activity);
        held.grow(bytes).await?;
        Ok(held)
    }

    /// Nothing yet, for a client.
    pub(crate) fn nothing(self: &Arc<Self>, activity: &Arc<Activity>) -> Held {
        Held {
            bytes: 0,
            activity: activity.clone(),
            memory: self.clone(),
        }
    }

    /// What is larger than half of a bound counts as half, so that it finds room at all.
    fn has_room(&self, bytes: usize) -> bool {
        self.held() + bytes.min(self.max / 2) <= self.max
    }

    fn has_room_for(&self, activity: &Activity, bytes: usize) -> bool {
        activity.held() + bytes.min(self.connection_max / 2) <= self.connection_max
    }
}

impl Held {
    /// Holds so many bytes in all, as soon as there are so many.
    pub(crate) async fn grow(&mut self, bytes: usize) -> Result<(), Exhausted> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let freed = self.memory.freed.notified();
            if !self.memory.has_room_for(&self.activity, more) {
                // It is for this client to take what it asked for.
                return Err(Exhausted);
            }
            if self.memory.has_room(more) {
                break;
            }
            if Instant::now() >= until {
                return Err(Exhausted);
            }
            if let Some(connections) = self.memory.connections.upgrade() {
                connections.free_memory();
            }
            let _ = timeout(LOOK, freed).await;
        }
        self.set(bytes);
        Ok(())
    }

    /// Holds so many bytes in all, whether there are so many or not.
    pub(crate) fn set(&mut self, bytes: usize) {
        let before = std::mem::replace(&mut self.bytes, bytes);
        if bytes >= before {
            self.activity.hold(bytes - before);
            self.memory.held.fetch_add(bytes - before, Ordering::SeqCst);
        } else {
            self.activity.release(before - bytes);
            self.memory.held.fetch_sub(before - bytes, Ordering::SeqCst);
            self.memory.freed.notify_waiters();
        }
    }

    /// Lets go of connections that hoard if all together hold too much.
    pub(crate) fn settle(&self) {
        if !self.memory.has_room(0)
            && let Some(connections) = self.memory.connections.upgrade()
        {
            connections.free_memory();
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// Bytes of an answer with what ends when the last of them is sent.
struct Sent {
    bytes: Bytes,
    _held: Option<Held>,
    _in_progress: Option<InProgress>,
    _waiting: Option<Waiting>,
}

impl AsRef<[u8]> for Sent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The same bytes, which are held and in progress until the last copy of them is dropped.
pub(crate) fn counted(
    bytes: Bytes,
    held: Option<Held>,
    in_progress: Option<InProgress>,
    waiting: Option<Waiting>,
) -> Bytes {
    Bytes::from_owner(Sent {
        bytes,
        _held: held,
        _in_progress: in_progress,
        _waiting: waiting,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn memory_is_bounded_for_one_connection_and_for_all() {
        let connections = Arc::new(Connections::default());
        let memory = Memory::new((100, 60), &connections);
        let (one, other) = (Activity::new(), Activity::new());
        let first = memory.reserve(&one, 50).await.unwrap();
        memory.reserve(&one, 30).await.unwrap_err();
        let second = memory.reserve(&other, 50).await.unwrap();
        assert_eq!((memory.held(), one.held(), other.held()), (100, 50, 50));
        memory.reserve(&Activity::new(), 1).await.unwrap_err();
        let bytes = counted(Bytes::from_static(b"abc"), Some(first), None, None);
        let part = bytes.slice(1..);
        drop(bytes);
        assert_eq!(one.held(), 50, "a part of it is not sent yet");
        drop((part, second));
        assert_eq!((memory.held(), one.held()), (0, 0));
        // What is larger than the bounds finds room when there is some.
        let large = memory.reserve(&one, 1_000).await.unwrap();
        memory.reserve(&other, 1).await.unwrap_err();
        drop(large);
        memory.reserve(&other, 1).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_gets_what_another_gives_back() {
        let connections = Arc::new(Connections::default());
        let memory = Memory::new((100, 100), &connections);
        let (one, other) = (Activity::new(), Activity::new());
        let first = memory.reserve(&one, 90).await.unwrap();
        let waits = memory.reserve(&other, 40);
        let gives_back = async {
            tokio::task::yield_now().await;
            drop(first);
        };
        let (second, ()) = tokio::join!(waits, gives_back);
        second.unwrap();
    }
}
