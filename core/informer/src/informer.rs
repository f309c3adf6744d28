//! An informer: reflector, store and delta queue of one kind.

use std::sync::Arc;
use std::time::Duration;

use flyball_api::views::Partial;
use flyball_api::{Kind, Object};

use crate::delta::{DeltaQueue, Origin};
use crate::reflector::{Delta, Reflector};
use crate::store::{is_older, is_same_state};
use crate::{AnyView, Change, Command, Input, Notice, Sign, Store, StoreView};

mod readiness;
#[cfg(test)]
mod tests;

use readiness::Health;
pub use readiness::Readiness;

/// Keeps the cache of one kind and knows what has changed in it.
///
/// The cache takes in whatever the server says the moment it is said, and a list in one step, so
/// [`Informer::view`] is always a state that the server had. Changes wait until they are asked for,
/// at most one per object.
pub struct Informer<T: Object> {
    reflector: Reflector<T>,
    store: Store<T>,
    queue: DeltaQueue<T>,
    health: Health,
}

/// What a step leads to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stepped {
    /// What to do next; `None` to go on with the request under way.
    pub command: Option<Command>,
    /// What went wrong, for logs.
    pub notice: Option<Notice>,
    /// A sign that the server's history is another one. It concerns all kinds, not only this one.
    pub sign: Option<Sign>,
    /// Whether a list became complete by this step and replaced the cache.
    pub listed: bool,
}

/// An informer of whatever kind: what the shell needs to run one.
///
/// To run it: give [`Input::Start`]; carry out each command; give back what it leads to; give
/// [`Input::Elapsed`] whenever the deadline comes; collect changes and views after steps.
pub trait AnyInformer: Send {
    /// The kind that is cached.
    fn kind(&self) -> Kind;
    /// Takes one input. `now` counts from any fixed instant; `jitter` is drawn from 0 to 1.
    fn step(&mut self, input: Input<'_>, now: Duration, jitter: f64) -> Stepped;
    /// When [`Input::Elapsed`] is due; read it again after every step. `None` before the start.
    fn deadline(&self) -> Option<Duration>;
    /// Appends up to `max` changes to `out`, those that wait longest first.
    fn changes(&mut self, out: &mut Vec<Change>, max: usize);
    /// How many objects have changes waiting.
    fn changes_pending(&self) -> usize;
    /// Lets every cached object be delivered once more as a change, without asking the server.
    fn resync(&mut self);
    /// The present state of the cache, to be put into a snapshot.
    fn view(&self) -> AnyView;
    /// How many objects are cached.
    fn len(&self) -> usize;
    /// Whether nothing is cached.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Whether a whole list has filled the cache. Once filled, it stays complete.
    fn is_complete(&self) -> bool;
    /// The newest version seen, up to which the cache is complete; empty before the first list.
    fn version(&self) -> &str;
    /// How the informer is.
    fn readiness(&self, now: Duration) -> Readiness;
    /// From now on the cache also knows who belongs to whom.
    fn track_family(&mut self);
    /// Whether no more than the metadata of objects is wanted.
    fn is_partial(&self) -> bool;
}

impl<T: Object> Default for Informer<T> {
    fn default() -> Self {
        Self {
            reflector: Reflector::default(),
            store: Store::new(),
            queue: DeltaQueue::new(),
            health: Health::default(),
        }
    }
}

impl<T: Object> Informer<T> {
    /// An informer that has not started.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Informer<Partial> {
    /// An informer of a kind known only at run time, of whose objects no more than the metadata is
    /// kept; it has not started.
    pub fn of(kind: Kind) -> Self {
        Self {
            reflector: Reflector::of(kind),
            store: Store::of(kind),
            ..Self::default()
        }
    }
}

impl<T: Object> Informer<T> {
    /// The present state of the cache.
    pub fn store(&self) -> &Arc<StoreView<T>> {
        self.store.view()
    }

    fn apply(&mut self, delta: Delta<T>) {
        let Self { store, queue, .. } = self;
        match delta {
            Delta::Put(new) => {
                let repeated = |known: &T| is_repeated(known, &*new);
                if let Some(old) = store.apply_unless(new.clone(), repeated) {
                    queue.record(old.as_ref(), Some(&new), None, Origin::Seen);
                }
            }
            Delta::Delete(last) => {
                let known = store.view().get(last.namespace(), last.name());
                if known.is_none_or(|known| is_former_incarnation(&**known, &*last)) {
                    return;
                }
                let old = store.remove(last.namespace(), last.name());
                queue.record(old.as_ref(), None, Some(&last), Origin::Seen);
            }
            Delta::Replace(listed) => store.replace_by(&listed, |old, new| {
                let origin = if new.is_some() {
                    Origin::Seen
                } else {
                    Origin::Missed
                };
                queue.record(old, new, None, origin);
            }),
        }
    }
}

/// Whether a state of an object is one that the cache has, or has left behind. No server says a
/// thing twice, but what stands between it and us may, and the cache must not go back in time.
fn is_repeated<T: Object>(known: &T, state: &T) -> bool {
    is_same_state(known, state) || is_older(state.resource_version(), known.resource_version())
}

/// Whether a deleted object is not the cached one but one that had its name before.
fn is_former_incarnation<T: Object>(known: &T, deleted: &T) -> bool {
    known.uid() != deleted.uid() && is_older(deleted.resource_version(), known.resource_version())
}

impl<T: Object> AnyInformer for Informer<T> {
    fn kind(&self) -> Kind {
        self.store.view().kind()
    }

    fn track_family(&mut self) {
        self.store.track_family();
    }

    fn is_partial(&self) -> bool {
        T::kind() == Partial::KIND
    }

    fn step(&mut self, input: Input<'_>, now: Duration, jitter: f64) -> Stepped {
        let was_complete = self.is_complete();
        let accepted = matches!(input, Input::WatchStarted) && was_complete;
        if matches!(input, Input::Start) && !was_complete {
            self.health.turn(now);
        }
        let outcome = self.reflector.step(input, now, jitter, self.store.view());
        let listed = matches!(outcome.delta, Some(Delta::Replace(_)));
        if let Some(delta) = outcome.delta {
            self.apply(delta);
        }
        if let Some(version) = &outcome.seen {
            self.store.advance(version);
        }
        match &outcome.notice {
            Some(notice) if !notice.problem.is_routine() => {
                let trouble = Some(notice.to_string());
                self.health.note(trouble, was_complete, now);
            }
            None if accepted || outcome.seen.is_some() => {
                self.health.note(None, was_complete, now);
            }
            _ => {}
        }
        if listed && !was_complete {
            self.health.turn(now);
        }
        Stepped {
            command: outcome.command,
            notice: outcome.notice,
            sign: outcome.sign,
            listed,
        }
    }

    fn deadline(&self) -> Option<Duration> {
        self.reflector.deadline()
    }

    fn changes(&mut self, out: &mut Vec<Change>, max: usize) {
        for _ in 0..max {
            match self.queue.pop(self.store.view()) {
                Some(change) => out.push(change),
                None => return,
            }
        }
    }

    fn changes_pending(&self) -> usize {
        self.queue.len()
    }

    fn resync(&mut self) {
        self.queue.sync(self.store.view());
    }

    fn view(&self) -> AnyView {
        self.store.view().clone().into()
    }

    fn len(&self) -> usize {
        self.store.view().len()
    }

    fn is_complete(&self) -> bool {
        self.store.view().is_complete()
    }

    fn version(&self) -> &str {
        self.store.view().seen()
    }

    fn readiness(&self, now: Duration) -> Readiness {
        let out_of_touch = self.reflector.out_of_touch(now);
        self.health.readiness(self.is_complete(), out_of_touch, now)
    }
}
