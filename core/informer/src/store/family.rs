//! Who belongs to whom: objects by their own UID and by the UIDs of their owners.
//!
//! Kept only where somebody asks, because it costs two pointers per object and owner.

use std::cmp::Ordering;
use std::sync::Arc;

use flyball_api::{Object, Text, Uid};

use super::index::Indexed;
use super::sorted::Sorted;

/// The objects of one kind by UID and by owner.
pub(crate) struct Family<T> {
    by_uid: Sorted<Arc<T>>,
    by_owner: Indexed<T>,
}

impl<T> Default for Family<T> {
    fn default() -> Self {
        Self {
            by_uid: Sorted::default(),
            by_owner: Indexed::default(),
        }
    }
}

impl<T> Clone for Family<T> {
    fn clone(&self) -> Self {
        Self {
            by_uid: self.by_uid.clone(),
            by_owner: self.by_owner.clone(),
        }
    }
}

impl<T: Object> Family<T> {
    /// The object of this identity.
    pub(crate) fn find(&self, uid: &Uid) -> Option<&Arc<T>> {
        self.by_uid.get(|object| object.uid().cmp(uid))
    }

    /// The objects that name this identity, in its compact form, as an owner, by namespace and
    /// name.
    pub(crate) fn dependents<'a>(
        &'a self,
        owner: &str,
    ) -> impl Iterator<Item = &'a Arc<T>> + use<'a, T> {
        self.by_owner.find(owner)
    }

    /// Whether any object has an owner: those of most kinds have none.
    pub(crate) fn has_dependents(&self) -> bool {
        !self.by_owner.is_empty()
    }

    /// Brings it from an object's former state to its present one.
    pub(crate) fn update(&mut self, old: Option<&Arc<T>>, new: Option<&Arc<T>>) {
        if let Some(old) = old
            && new.is_none_or(|new| new.uid() != old.uid())
        {
            // Another object may have come to the same identity, if only by mistake.
            let by = at(old);
            if self
                .by_uid
                .get(&by)
                .is_some_and(|known| same_name(known, old))
            {
                self.by_uid.remove(by);
            }
        }
        if let Some(new) = new {
            self.by_uid.insert(new.clone(), at(new));
        }
        self.by_owner.update(owners, old, new);
    }
}

fn at<T: Object>(object: &Arc<T>) -> impl Fn(&Arc<T>) -> Ordering {
    let object = object.clone();
    move |other| other.uid().cmp(object.uid())
}

fn same_name<T: Object>(one: &Arc<T>, other: &Arc<T>) -> bool {
    one.namespace() == other.namespace() && one.name() == other.name()
}

fn owners<T: Object>(object: &T, values: &mut Vec<Text>) {
    values.extend(
        object
            .lineage()
            .owners
            .iter()
            .map(|owner| owner.uid.compact()),
    );
}

#[cfg(test)]
mod tests {
    use flyball_api::views::Partial;

    use super::*;

    fn object(name: &str, uid: &str, owners: &[&str]) -> Arc<Partial> {
        let owner = |uid: &&str| {
            format!(r#"{{"apiVersion":"v1","kind":"Thing","name":"x","uid":"{uid}"}}"#)
        };
        let owners: Vec<String> = owners.iter().map(owner).collect();
        let json = format!(
            r#"{{"metadata":{{"name":"{name}","uid":"{uid}","ownerReferences":[{}]}}}}"#,
            owners.join(",")
        );
        Arc::new(Partial::decode(json.as_bytes()).unwrap())
    }

    fn names(family: &Family<Partial>, owner: &str) -> Vec<String> {
        let dependents = family.dependents(&Uid::new(owner).compact());
        dependents.map(|it| it.name().to_owned()).collect()
    }

    #[test]
    fn follows_objects_as_they_come_change_hands_and_go() {
        let mut family = Family::default();
        let a = object("a", "1", &["x", "y", "x"]);
        let b = object("b", "2", &["y"]);
        family.update(None, Some(&a));
        family.update(None, Some(&b));
        assert_eq!(names(&family, "y"), ["a", "b"]);
        assert_eq!(names(&family, "x"), ["a"]);
        let freed = object("a", "1", &["x"]);
        family.update(Some(&a), Some(&freed));
        assert_eq!(names(&family, "y"), ["b"]);
        assert_eq!(family.find(&"1".into()).unwrap().lineage().owners.len(), 1);
        family.update(Some(&freed), None);
        assert!(names(&family, "x").is_empty() && family.find(&"1".into()).is_none());
    }

    #[test]
    fn an_object_made_anew_takes_the_place_of_the_old_one() {
        let mut family = Family::default();
        let (old, new) = (object("a", "1", &["x"]), object("a", "2", &[]));
        family.update(None, Some(&old));
        family.update(Some(&old), Some(&new));
        assert!(family.find(&"1".into()).is_none() && family.find(&"2".into()).is_some());
        assert!(names(&family, "x").is_empty());
    }
}
