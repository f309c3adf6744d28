//! A view whose type is known only to those who ask with the right one.

use std::any::Any;
use std::sync::Arc;

use flyball_api::{Kind, Object, Uid};

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
    fn is_complete(&self) -> bool;
    fn brief(&self, namespace: &str, name: &str) -> Option<Brief<'_>>;
    fn find(&self, uid: &Uid) -> Option<Brief<'_>>;
    fn dependents<'a>(&'a self, owner: &str) -> Box<dyn Iterator<Item = Brief<'a>> + 'a>;
    fn has_dependents(&self) -> bool;
    fn all<'a>(&'a self) -> Box<dyn Iterator<Item = Brief<'a>> + 'a>;
}

impl<T: Object> Erased for StoreView<T> {
    fn kind(&self) -> Kind {
        StoreView::kind(self)
    }
    fn len(&self) -> usize {
        StoreView::len(self)
    }
    fn seen(&self) -> &str {
        StoreView::seen(self)
    }
    fn is_complete(&self) -> bool {
        StoreView::is_complete(self)
    }
    fn brief(&self, namespace: &str, name: &str) -> Option<Brief<'_>> {
        self.get(namespace, name).map(|object| Brief::of(&**object))
    }
    fn find(&self, uid: &Uid) -> Option<Brief<'_>> {
        StoreView::find(self, uid).map(|object| Brief::of(&**object))
    }
    fn has_dependents(&self) -> bool {
        StoreView::has_dependents(self)
    }
    fn dependents<'a>(&'a self, owner: &str) -> Box<dyn Iterator<Item = Brief<'a>> + 'a> {
        let dependents = StoreView::dependents(self, owner);
        Box::new(dependents.map(|object| Brief::of(&**object)))
    }
    fn all<'a>(&'a self) -> Box<dyn Iterator<Item = Brief<'a>> + 'a> {
        Box::new(self.list("").map(|object| Brief::of(&**object)))
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

    /// Whether a whole list has filled the cache: see [`StoreView::is_complete`].
    pub fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    /// What is known of one object.
    pub fn brief(&self, namespace: &str, name: &str) -> Option<Brief<'_>> {
        self.0.brief(namespace, name)
    }

    /// What is known of the object of this identity, if the cache tracks who belongs to whom.
    pub fn find(&self, uid: &Uid) -> Option<Brief<'_>> {
        self.0.find(uid)
    }

    /// The objects that name an identity, in its compact form, as an owner.
    pub(super) fn dependents<'a>(
        &'a self,
        owner: &str,
    ) -> impl Iterator<Item = Brief<'a>> + use<'a> {
        let some = self.0.has_dependents().then(|| self.0.dependents(owner));
        some.into_iter().flatten()
    }

    /// All objects, in order of namespace, then name.
    pub fn all(&self) -> impl Iterator<Item = Brief<'_>> {
        self.0.all()
    }

    /// The typed view, if `T` is the type of its objects.
    pub fn of<T: Object>(&self) -> Option<&StoreView<T>> {
        let any: &dyn Any = &*self.0;
        any.downcast_ref()
    }
}
