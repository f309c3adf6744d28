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
