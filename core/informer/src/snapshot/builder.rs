//! Snapshots without a server.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::Arc;

use flyball_api::Object;

use super::{AnyView, Snapshot};
use crate::Store;

/// Builds a snapshot from objects at hand: for tests, and for plans made from files. Its views are
/// complete.
#[derive(Default)]
pub struct SnapshotBuilder {
    stores: BTreeMap<TypeId, Box<dyn AnyStore>>,
}

impl SnapshotBuilder {
    /// A snapshot with no kinds yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the kind of `T`, so that it is known to have no objects.
    pub fn kind<T: Object>(mut self) -> Self {
        self.with_store::<T>(|_| ());
        self
    }

    /// Adds an object, in place of an earlier one of the same kind and name.
    #[expect(clippy::should_implement_trait, reason = "nothing here is summed up")]
    pub fn add<T: Object>(self, object: T) -> Self {
        self.add_shared(Arc::new(object))
    }

    /// Adds an object that is shared with others.
    pub fn add_shared<T: Object>(mut self, object: Arc<T>) -> Self {
        self.with_store(|store| {
            store.apply(object);
        });
        self
    }

    /// Adds several objects of one kind.
    pub fn add_all<T: Object>(self, objects: impl IntoIterator<Item = T>) -> Self {
        objects.into_iter().fold(self.kind::<T>(), Self::add)
    }

    /// Says up to which resourceVersion the cache of `T` is complete.
    pub fn seen<T: Object>(mut self, version: &str) -> Self {
        self.with_store::<T>(|store| store.advance(version));
        self
    }

    /// Makes the view of `T` incomplete, as before its first list. The snapshot waits for the kind
    /// only if [`Snapshot::waiting_for`] names it.
    pub fn incomplete<T: Object>(mut self) -> Self {
        self.with_store::<T>(|store| store.set_complete(false));
        self
    }

    /// The snapshot.
    pub fn build(self) -> Snapshot {
        Snapshot::new(self.stores.into_values().map(|store| store.any_view()))
    }

    fn with_store<T: Object>(&mut self, change: impl FnOnce(&mut Store<T>)) {
        let empty = || {
            let mut store = Store::<T>::new();
            store.mark_complete();
            Box::new(store) as Box<dyn AnyStore>
        };
        let any: &mut dyn Any = &mut **self.stores.entry(TypeId::of::<T>()).or_insert_with(empty);
        if let Some(store) = any.downcast_mut() {
            change(store);
        }
    }
}

trait AnyStore: Any {
    fn any_view(&self) -> AnyView;
}

impl<T: Object> AnyStore for Store<T> {
    fn any_view(&self) -> AnyView {
        self.view().clone().into()
    }
}
