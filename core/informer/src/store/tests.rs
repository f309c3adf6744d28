use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::testing::Thing;

type Model = BTreeMap<(String, String), Thing>;

fn thing() -> impl Strategy<Value = Thing> {
    let owner = prop::sample::subsequence(vec!["x", "y", "z"], 0..=3);
    ("[ab]", "[a-f]", 1..9u64, owner).prop_map(|(ns, name, version, owners)| {
        Thing::new(&ns, &name).at(version).owned_by(&owners)
    })
}

#[derive(Clone, Debug)]
enum Op {
    Apply(Thing),
    Remove(String, String),
    Replace(Vec<Thing>),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => thing().prop_map(Op::Apply),
        2 => ("[ab]", "[a-f]").prop_map(|(ns, name)| Op::Remove(ns, name)),
        1 => prop::collection::vec(thing(), 0..8).prop_map(Op::Replace),
    ]
}

fn key(thing: &Thing) -> (String, String) {
    (thing.namespace.clone(), thing.name.clone())
}

fn check(view: &StoreView<Thing>, model: &Model) {
    let names = |things: &mut dyn Iterator<Item = &Arc<Thing>>| -> Vec<_> {
        things.map(|thing| key(thing)).collect()
    };
    assert!(view.list("").map(|t| &**t).eq(model.values()));
    assert_eq!(view.len(), model.len());
    for ns in ["a", "b", "c"] {
        let expected: Vec<_> = model.keys().filter(|(n, _)| n == ns).cloned().collect();
        assert_eq!(names(&mut view.list(ns)), expected);
    }
    for owner in ["w", "x", "y", "z"] {
        let owned = |thing: &&Thing| thing.owners.iter().any(|o| o == owner);
        let expected: Vec<_> = model.values().filter(owned).map(key).collect();
        assert_eq!(names(&mut view.indexed("owner", owner)), expected);
    }
}

proptest! {
    #[test]
    fn store_and_indexes_agree_with_a_plain_map_and_views_stay(
        ops in prop::collection::vec(op(), 1..40),
    ) {
        let mut store = Store::<Thing>::new();
        let mut model = Model::new();
        let mut states = Vec::new();
        for op in ops {
            states.push((store.view().clone(), model.clone()));
            match op {
                Op::Apply(thing) => {
                    let old = store.apply(Arc::new(thing.clone()));
                    prop_assert_eq!(old.map(|old| (*old).clone()), model.insert(key(&thing), thing));
                }
                Op::Remove(ns, name) => {
                    let old = store.remove(&ns, &name);
                    prop_assert_eq!(old.map(|old| (*old).clone()), model.remove(&(ns, name)));
                }
                Op::Replace(things) => {
                    let listed: Model = things.into_iter().map(|t| (key(&t), t)).collect();
                    let mut told = model.clone();
                    store.replace(listed.values().cloned().map(Arc::new), |old, new| {
                        match new {
                            Some(new) => told.insert(key(new), (**new).clone()),
                            None => told.remove(&key(old.unwrap())),
                        };
                    });
                    // The same version is the same state, whatever else the generator wrote in it.
                    model = listed.into_iter().map(|(k, new)| match model.get(&k) {
                        Some(old) if old.version == new.version => (k, old.clone()),
                        _ => (k, new),
                    }).collect();
                    prop_assert_eq!(told, model.clone());
                }
            }
        }
        states.push((store.view().clone(), model));
        for (view, model) in states {
            check(&view, &model);
        }
    }
}

#[test]
fn versions_compare_as_numbers_and_strange_ones_not_at_all() {
    assert!(is_older("9", "10"));
    assert!(!is_older("10", "9") && !is_older("9", "9"));
    assert!(!is_older("a", "b") && !is_older("", "1"));
}

#[test]
fn a_cache_is_complete_from_its_first_list_on() {
    let mut store = Store::<Thing>::new();
    store.apply(Arc::new(Thing::new("a", "a")));
    store.advance("7");
    let before = store.view().clone();
    // Even a list that changes nothing.
    store.replace([Arc::new(Thing::new("a", "a"))], |_, _| panic!("no change"));
    assert!(!before.is_complete() && store.view().is_complete());
    store.remove("a", "a");
    store.advance("8");
    assert!(store.view().is_complete());
    let mut filled = Store::<Thing>::new();
    filled.mark_complete();
    assert!(filled.view().is_complete());
}

#[test]
fn a_list_keeps_only_the_very_object_that_is_cached() {
    let mut store = Store::<Thing>::new();
    let kept = Arc::new(Thing::new("a", "kept"));
    store.apply(kept.clone());
    store.apply(Arc::new(Thing::new("a", "other")));
    let mut listed = Objects::default();
    listed.put(kept);
    listed.put(Arc::new(Thing::new("a", "other").owned_by(&["x"])));
    let mut changed = Vec::new();
    store.replace_by(&listed, |_, new| changed.push(new.unwrap().name.clone()));
    assert_eq!(changed, ["other"]);
    assert_eq!(store.view().indexed("owner", "x").count(), 1);
}
