//! An engine without its types, for whoever runs many of them.

use flyball_api::Kind;
use flyball_informer::{Change, Snapshot};

use crate::{Answer, Controller, Descriptor, Engine, EngineStats, Next, Now, Rule, Sight, SyncId};

/// An [`Engine`] whose controller is not known at compile time.
pub trait Driver: Send {
    /// The controller's descriptor.
    fn descriptor(&self) -> Descriptor;
    /// The rules that its reports name.
    fn rules(&self) -> &'static [Rule];
    /// What the controller sees besides the kinds it watches by name.
    fn sight(&self) -> Sight;
    /// See [`Engine::changed`].
    fn changed(&mut self, change: &Change, store: &Snapshot, now: Now);
    /// See [`Engine::begin`].
    fn begin(&mut self, now: Now);
    /// See [`Engine::forget_memory`].
    fn forget_memory(&mut self);
    /// See [`Engine::next`].
    fn next(&mut self, store: &Snapshot, now: Now) -> Next;
    /// See [`Engine::answered`].
    fn answered(&mut self, id: SyncId, answers: Vec<Answer>, now: Now) -> Option<Next>;
    /// See [`Engine::abandon`].
    fn abandon(&mut self, id: SyncId, answers: &[Answer], now: Now);
    /// See [`Engine::renew`].
    fn renew(&mut self);
    /// See [`Engine::void_syncs`].
    fn void_syncs(&mut self);
    /// See [`Engine::forget_kind`].
    fn forget_kind(&mut self, kind: Kind);
    /// See [`Engine::take_overflow`].
    fn take_overflow(&mut self) -> bool;
    /// See [`Engine::shut_down`].
    fn shut_down(&mut self);
    /// See [`Engine::is_drained`].
    fn is_drained(&self) -> bool;
    /// See [`Engine::stats`].
    fn stats(&self, now: Now) -> EngineStats;
}

impl<C: Controller> Driver for Engine<C> {
    fn descriptor(&self) -> Descriptor {
        C::DESCRIPTOR
    }
    fn rules(&self) -> &'static [Rule] {
        C::RULES
    }
    fn sight(&self) -> Sight {
        C::SIGHT
    }
    fn changed(&mut self, change: &Change, store: &Snapshot, now: Now) {
        Engine::changed(self, change, store, now);
    }
    fn begin(&mut self, now: Now) {
        Engine::begin(self, now);
    }
    fn forget_memory(&mut self) {
        Engine::forget_memory(self);
    }
    fn next(&mut self, store: &Snapshot, now: Now) -> Next {
        Engine::next(self, store, now)
    }
    fn answered(&mut self, id: SyncId, answers: Vec<Answer>, now: Now) -> Option<Next> {
        Engine::answered(self, id, answers, now)
    }
    fn abandon(&mut self, id: SyncId, answers: &[Answer], now: Now) {
        Engine::abandon(self, id, answers, now);
    }
    fn renew(&mut self) {
        Engine::renew(self);
    }
    fn void_syncs(&mut self) {
        Engine::void_syncs(self);
    }
    fn forget_kind(&mut self, kind: Kind) {
        Engine::forget_kind(self, kind);
    }
    fn take_overflow(&mut self) -> bool {
        Engine::take_overflow(self)
    }
    fn shut_down(&mut self) {
        Engine::shut_down(self);
    }
    fn is_drained(&self) -> bool {
        Engine::is_drained(self)
    }
    fn stats(&self, now: Now) -> EngineStats {
        Engine::stats(self, now)
    }
}
