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

#[test]
fn what_a_builder_makes_is_complete_unless_it_is_asked_otherwise() {
    let snapshot = SnapshotBuilder::new()
        .incomplete::<Thing>()
        .add(Thing::new("a", "one"))
        .kind::<Place>()
        .build();
    assert!(snapshot.view::<Place>().unwrap().is_complete());
    assert!(!snapshot.view::<Thing>().unwrap().is_complete());
    assert!(!snapshot.view_of(Thing::KIND).unwrap().is_complete());
    assert_eq!(snapshot.get::<Thing>("a", "one").unwrap().name, "one");
    assert!(snapshot.incomplete().is_empty());
}

#[test]
fn kinds_that_are_waited_for_stay_so_whatever_views_come_and_go() {
    let snapshot = snapshot();
    assert!(snapshot.incomplete().is_empty());
    let waiting = snapshot.waiting_for([Thing::KIND, Place::kind(), Thing::KIND]);
    let mut expected = [Thing::KIND, Place::kind()];
    expected.sort_unstable();
    let place = || Store::<Place>::new().view().clone().into();
    for other in [
        waiting.clone(),
        waiting.with(place()),
        waiting.without(Thing::KIND),
        waiting.replacing(Thing::KIND, place()),
        waiting.discovered(Arc::default()),
    ] {
        assert_eq!(other.incomplete(), expected);
    }
    // The former snapshot is as it was, and a later one may wait for others.
    assert!(snapshot.incomplete().is_empty());
    assert!(waiting.waiting_for([]).incomplete().is_empty());
}

#[test]
fn one_kind_takes_the_place_of_another_in_one_step() {
    let newer = Kind {
        version: "v2",
        ..Thing::KIND
    };
    let mut store = Store::<Thing>::of(newer);
    store.apply(Arc::new(Thing::new("a", "three")));
    let (before, view) = (snapshot(), AnyView::from(store.view().clone()));
    let kinds =
        |snapshot: &Snapshot| -> Vec<Kind> { snapshot.views().iter().map(AnyView::kind).collect() };
    let after = before.replacing(Thing::KIND, view.clone());
    let in_two = before.without(Thing::KIND).with(view.clone());
    assert_eq!(kinds(&after), kinds(&in_two));
    assert!(after.view_of(Thing::KIND).is_none() && before.has::<Thing>());
    assert_eq!(after.view_of(newer).unwrap().len(), 1);
    // Again, with the new kind there already, or the old one absent.
    for again in [
        after.replacing(newer, view.clone()),
        after.replacing(Thing::KIND, view),
    ] {
        assert_eq!(kinds(&again), kinds(&after));
    }
}
