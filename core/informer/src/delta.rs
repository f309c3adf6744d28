//! The delta queue: what consumers have yet to be told.
//!
//! The store is always as new as the watch; consumers take changes at their own pace. Between the
//! two stands this queue, with at most one entry per key: the state that consumers were last told
//! of. When the entry is popped it is paired with what the store holds at that moment. So the
//! newest state wins, any number of deltas of one key become one change, a deletion followed by a
//! creation still shows both UIDs, and memory is bounded by the number of objects, however slow a
//! consumer may be. Keys are popped in the order in which they entered the queue.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use flyball_api::Object;

use crate::store::objects::name_order;
use crate::store::sorted::Sorted;
use crate::{Change, StoreView};

#[cfg(test)]
mod tests;

/// How a delta became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The server said so.
    Seen,
    /// A list left the object out: it must have been deleted while nobody watched.
    Missed,
    /// Nothing happened; the cached state is to be delivered again.
    Sync,
}

/// Keys whose state differs from what consumers were told, in order of arrival.
pub(crate) struct DeltaQueue<T: Object> {
    pending: Sorted<Pending<T>>,
    // Any state of the object whose turn it is; only the name is read from it.
    order: VecDeque<Arc<T>>,
}

struct Pending<T> {
    /// The newest state known, the final one if the object is gone; also the key.
    last: Arc<T>,
    /// The state that was last delivered.
    told: Option<Arc<T>>,
    origin: Origin,
}

impl<T> Clone for Pending<T> {
    fn clone(&self) -> Self {
        Self {
            last: self.last.clone(),
            told: self.told.clone(),
            origin: self.origin,
        }
    }
}

impl<T: Object> Default for DeltaQueue<T> {
    fn default() -> Self {
        Self {
            pending: Sorted::default(),
            order: VecDeque::new(),
        }
    }
}

impl<T: Object> DeltaQueue<T> {
    /// An empty queue.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// How many keys wait.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Notes that the store has gone from `before` to `after` for one key; with both `None` there
    /// is nothing to note. A state that has only been reported, such as the final one of a deleted
    /// object, is given as `reported`.
    pub(crate) fn record(
        &mut self,
        before: Option<&Arc<T>>,
        after: Option<&Arc<T>>,
        reported: Option<&Arc<T>>,
        origin: Origin,
    ) {
        let Some(last) = after.or(reported).or(before) else {
            return;
        };
        let entry = match self.pending.get(at(last)) {
            None => {
                self.order.push_back(last.clone());
                Pending {
                    last: last.clone(),
                    told: before.cloned(),
                    origin,
                }
            }
            // Something real is waiting already, and says more than a resync.
            Some(_) if origin == Origin::Sync => return,
            Some(waiting) => Pending {
                last: last.clone(),
                told: waiting.told.clone(),
                origin,
            },
        };
        self.pending.insert(entry, at(last));
    }

    /// Queues every cached object that does not wait already, to be delivered once more.
    pub(crate) fn sync(&mut self, cached: &StoreView<T>) {
        for object in cached.list("") {
            self.record(Some(object), Some(object), None, Origin::Sync);
        }
    }

    /// Takes the key that waits longest and says what became of it, given the present cache.
    pub(crate) fn pop(&mut self, cached: &StoreView<T>) -> Option<Change> {
        let turn = self.order.pop_front()?;
        if self.order.is_empty() {
            // A long list fills the queue once; its room is not needed again.
            self.order.shrink_to(1024);
        }
        let Pending { last, told, origin } = self.pending.remove(at(&turn))?;
        let new = cached.get(last.namespace(), last.name()).cloned();
        let change = match (told, new) {
            (None, Some(new)) => Change::added(new),
            (Some(object), Some(_)) if origin == Origin::Sync => Change::resynced(object),
            (Some(old), Some(new)) => Change::updated(old, new),
            (told, None) => {
                let mut gone = Change::deleted(told.unwrap_or(last));
                gone.tombstone = origin == Origin::Missed;
                gone
            }
        };
        Some(change.of_kind(cached.kind()))
    }
}

/// Finds the entry of the same name as `object`.
fn at<T: Object>(object: &Arc<T>) -> impl Fn(&Pending<T>) -> Ordering {
    let object = object.clone();
    move |entry| name_order(&*entry.last, object.namespace(), object.name())
}
