use flyball_api::{DecodeError, Kind, Lineage};

use super::*;
use crate::Store;
use crate::testing::Thing;

/// A second kind, cluster-scoped and without indexes.
struct Place {
    name: String,
    uid: Uid,
}

impl Object for Place {
    fn kind() -> Kind {
        Kind::cluster("test", "v1", "Place", "places")
    }
    fn namespace(&self) -> &str {
        ""
    }
    fn name(&self) -> &str {
        &self.name
    }
    fn uid(&self) -> &Uid {
        &self.uid
    }
    fn resource_version(&self) -> &str {
        "7"
    }
    fn is_deleting(&self) -> bool {
        true
    }
    fn lineage(&self) -> Lineage<'_> {
        Lineage::default()
    }
    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        let name: String = serde_json::from_slice(json).map_err(DecodeError::new)?;
        Ok(Self {
            name,
            uid: Uid::default(),
        })
    }
}

fn snapshot() -> Snapshot {
    SnapshotBuilder::new()
        .add(Thing::new("b", "two").owned_by(&["x"]))
        .add(Thing::new("a", "one").owned_by(&["x", "y"]).at(4))
        .add(Place {
            name: "here".into(),
            uid: "u".into(),
        })
        .seen::<Thing>("12")
        .build()
}

#[test]
fn finds_objects_by_name_namespace_and_index() {
    let snapshot = snapshot();
    assert_eq!(snapshot.get::<Thing>("a", "one").unwrap().version, "4");
    assert!(snapshot.get::<Thing>("b", "one").is_none());
    let names = |things: &mut dyn Iterator<Item = &Arc<Thing>>| -> Vec<String> {
        things.map(|thing| thing.name.clone()).collect()
    };
    assert_eq!(names(&mut snapshot.list("")), ["one", "two"]);
    assert_eq!(names(&mut snapshot.list("b")), ["two"]);
    assert_eq!(names(&mut snapshot.indexed("owner", "x")), ["one", "two"]);
    assert_eq!(names(&mut snapshot.indexed("owner", "y")), ["one"]);
}

#[test]
fn a_kind_that_is_not_there_is_empty_and_known_to_be_missing() {
    let snapshot = SnapshotBuilder::new().kind::<Place>().build();
    assert!(snapshot.has::<Place>() && !snapshot.has::<Thing>());
    assert_eq!(snapshot.list::<Thing>("").count(), 0);
    assert_eq!(snapshot.indexed::<Thing>("owner", "x").count(), 0);
    assert_eq!(snapshot.seen::<Thing>(), None);
    assert_eq!(snapshot.meta_of(Thing::KIND, "a", "one"), None);
}

#[test]
fn a_kind_known_only_at_run_time_can_be_asked_for() {
    let snapshot = snapshot();
    let brief = snapshot.meta_of(Place::kind(), "", "here").unwrap();
    assert_eq!(
        brief,
        Brief {
            namespace: "",
            name: "here",
            uid: &"u".into(),
            resource_version: "7",
            deleting: true,
            lineage: Lineage::default(),
        }
    );
    assert_eq!(snapshot.seen_kind(Thing::KIND), Some("12"));
    assert_eq!(snapshot.seen_kind(Place::kind()), None);
}

#[test]
fn exchanging_one_kind_leaves_the_others_and_the_former_snapshot() {
    let before = snapshot();
    let mut store = Store::new();
    store.apply(Arc::new(Thing::new("a", "three")));
    let after = before.with(store.view().clone().into());
    assert!(after.get::<Thing>("a", "three").is_some() && after.get::<Thing>("a", "one").is_none());
    assert!(before.get::<Thing>("a", "one").is_some());
    assert!(after.get::<Place>("", "here").is_some());
}

#[test]
fn a_kind_can_be_taken_out_again() {
    let before = snapshot();
    let after = before.without(Thing::KIND);
    assert!(!after.has::<Thing>() && after.has::<Place>() && before.has::<Thing>());
}

#[test]
fn what_was_discovered_stays_whatever_kinds_come_and_go() {
    let found = Arc::new(Discovery::default());
    let snapshot = snapshot().discovered(found.clone());
    let other = snapshot.without(Place::kind());
    let other = other.with(Store::<Place>::new().view().clone().into());
    assert!(Arc::ptr_eq(other.discovery().unwrap(), &found));
}

#[test]
fn a_resource_is_found_in_whatever_version_it_is_cached() {
    let snapshot = snapshot();
    let older = Kind {
        version: "v0",
        ..Thing::KIND
    };
    assert!(snapshot.view_of(older).is_none());
    assert_eq!(snapshot.cached_as(older).unwrap().len(), 2);
}
