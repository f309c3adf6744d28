//! What happened to an object, as consumers learn it.
//!
//! Changes are levels, not edges: of everything that happened to an object since it was last
//! delivered, a consumer learns the state it was told then and the state there is now.

use std::any::Any;
use std::sync::Arc;

use flyball_api::{Kind, Object, ObjectName};

use crate::Brief;

/// A change of one object.
///
/// Promised: per object, `old` is the `new` of the change delivered before it, so that nothing
/// falls between two changes, and no deletion is missed. Not promised: that every state is
/// delivered (only the newest is), or any order between objects.
///
/// Worth knowing:
/// - A deletion and a creation under the same name may arrive as one change, whose `old` and `new`
///   have different UIDs; [`ChangeOf::is_recreation`] tells.
/// - An object that came and went between two deliveries arrives as a deletion, with its final
///   state as `old`, although that state was never delivered as `new`.
/// - A deletion that went unnoticed while there was no watch arrives as one with
///   [`Change::tombstone`] set; what happened before it, after the last known state, is lost.
#[derive(Clone)]
pub struct Change {
    /// The kind of the object.
    pub kind: Kind,
    /// The name of the object.
    pub name: ObjectName,
    /// Nothing happened: the cached state is delivered once more because a resync was asked for.
    pub resync: bool,
    /// The object is gone, but its deletion was inferred from a list, not observed.
    pub tombstone: bool,
    states: Arc<dyn Erased>,
}

struct States<T> {
    old: Option<Arc<T>>,
    new: Option<Arc<T>>,
}

/// What can be asked of states without knowing their type.
trait Erased: Any + Send + Sync {
    fn before(&self) -> Option<Brief<'_>>;
    fn after(&self) -> Option<Brief<'_>>;
}

impl<T: Object> Erased for States<T> {
    fn before(&self) -> Option<Brief<'_>> {
        self.old.as_deref().map(Brief::of)
    }
    fn after(&self) -> Option<Brief<'_>> {
        self.new.as_deref().map(Brief::of)
    }
}

/// The states before and after a change.
pub struct ChangeOf<'a, T> {
    /// The state last delivered; `None` for an object that was not there.
    pub old: Option<&'a Arc<T>>,
    /// The newest state; `None` for an object that is gone.
    pub new: Option<&'a Arc<T>>,
}

impl Change {
    /// An object came.
    pub fn added<T: Object>(new: Arc<T>) -> Self {
        let name = new.object_name();
        Self::between(name, None, Some(new))
    }

    /// An object changed.
    pub fn updated<T: Object>(old: Arc<T>, new: Arc<T>) -> Self {
        let name = new.object_name();
        Self::between(name, Some(old), Some(new))
    }

    /// An object went.
    pub fn deleted<T: Object>(old: Arc<T>) -> Self {
        let name = old.object_name();
        Self::between(name, Some(old), None)
    }

    /// Nothing happened to an object, but it is to be looked at again.
    pub fn resynced<T: Object>(object: Arc<T>) -> Self {
        let name = object.object_name();
        let same = Self::between(name, Some(object.clone()), Some(object));
        Self {
            resync: true,
            ..same
        }
    }

    fn between<T: Object>(name: ObjectName, old: Option<Arc<T>>, new: Option<Arc<T>>) -> Self {
        let states = Arc::new(States { old, new });
        Self {
            kind: T::kind(),
            name,
            resync: false,
            tombstone: false,
            states,
        }
    }

    /// The same change of an object of a kind known only at run time.
    pub fn of_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// What is known of the state last delivered, whatever its type.
    pub fn before(&self) -> Option<Brief<'_>> {
        self.states.before()
    }

    /// What is known of the newest state, whatever its type.
    pub fn after(&self) -> Option<Brief<'_>> {
        self.states.after()
    }

    /// The states, if `T` is the type of the object.
    pub fn of<T: Object>(&self) -> Option<ChangeOf<'_, T>> {
        let any: &dyn Any = &*self.states;
        let states: &States<T> = any.downcast_ref()?;
        Some(ChangeOf {
            old: states.old.as_ref(),
            new: states.new.as_ref(),
        })
    }
}

impl<'a, T: Object> ChangeOf<'a, T> {
    /// The newest state there is: after the change, or before it if the object is gone.
    pub fn latest(&self) -> Option<&'a Arc<T>> {
        self.new.or(self.old)
    }

    /// Both states, old first: for routing a change to whoever either state concerns.
    pub fn states(&self) -> impl Iterator<Item = &'a Arc<T>> + use<'a, T> {
        self.old.into_iter().chain(self.new)
    }

    /// Whether `old` went and `new`, another object, came under its name.
    pub fn is_recreation(&self) -> bool {
        matches!((self.old, self.new), (Some(old), Some(new)) if old.uid() != new.uid())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Thing;

    #[test]
    fn a_deletion_and_a_creation_in_one_are_told_by_their_uids() {
        let old = Arc::new(Thing::new("ns", "a").uid("1"));
        let new = Arc::new(Thing::new("ns", "a").uid("2"));
        let change = Change::updated(old.clone(), new);
        assert!(change.of::<Thing>().unwrap().is_recreation());
        assert!(!Change::resynced(old).of::<Thing>().unwrap().is_recreation());
    }

    #[test]
    fn the_latest_state_of_a_deleted_object_is_its_last() {
        let change = Change::deleted(Arc::new(Thing::new("ns", "a").at(5)));
        let seen = change.of::<Thing>().unwrap();
        assert_eq!(seen.latest().unwrap().version, "5");
        assert_eq!(seen.states().count(), 1);
        assert_eq!(change.name.to_string(), "ns/a");
    }
}
