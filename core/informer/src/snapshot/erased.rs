//! A view whose type is known only to those who ask with the right one.

use std::any::Any;
use std::sync::Arc;

use flyball_api::{Kind, Object};

use super::Brief;
use crate::StoreView;

/// A state of the cache of one kind, whatever the type of its objects.
#[derive(Clone)]
pub struct AnyView(Arc<dyn Erased>);

/// What can be asked of a view without knowing the type of its objects.
trait Erased: Any + Send + Sync {
    fn kind(&self) -> Kind;
    fn len(&self) -> usize;
    fn seen(&self) -> &str;
    fn brief(&self, namespace: &str, name: &str) -> Option<Brief<'_>>;
}

impl<T: Object> Erased for StoreView<T> {
    fn kind(&self) -> Kind {
        T::kind()
    }
    fn len(&self) -> usize {
        StoreView::len(self)
    }
    fn seen(&self) -> &str {
        StoreView::seen(self)
    }
    fn brief(&self, namespace: &str, name: &str) -> Option<Brief<'_>> {
        let object = self.get(namespace, name)?;
        Some(Brief {
            uid: object.uid(),
            resource_version: object.resource_version(),
            deleting: object.is_deleting(),
        })
    }
}

impl<T: Object> From<Arc<StoreView<T>>> for AnyView {
    fn from(view: Arc<StoreView<T>>) -> Self {
        Self(view)
    }
}

impl AnyView {
    /// The kind that is cached.
    pub fn kind(&self) -> Kind {
        self.0.kind()
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The newest resourceVersion up to which the state is complete; empty before the first list.
    pub fn seen(&self) -> &str {
        self.0.seen()
    }

    /// What is known of one object.
    pub fn brief(&self, namespace: &str, name: &str) -> Option<Brief<'_>> {
        self.0.brief(namespace, name)
    }

    /// The typed view, if `T` is the type of its objects.
    pub fn of<T: Object>(&self) -> Option<&StoreView<T>> {
        let any: &dyn Any = &*self.0;
        any.downcast_ref()
    }
}
