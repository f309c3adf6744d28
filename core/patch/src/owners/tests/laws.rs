use super::*;
use crate::typed::{TypeRef, compare, leaves};

/// What some client wants: a few labels, values, items and scalars.
fn body() -> impl Strategy<Value = Value> {
    let labels = proptest::option::of(proptest::collection::btree_map("[a-c]", "[xy]", 0..3));
    let finalizers = proptest::sample::subsequence(vec!["a", "b", "c"], 0..3).prop_shuffle();
    let names = proptest::sample::subsequence(vec!["a", "b", "c"], 0..3).prop_shuffle();
    let container = (proptest::option::of("[xy]"), proptest::option::of("[xy]"));
    let containers = names.prop_flat_map(move |names| {
        let count = names.len();
        (
            Just(names),
            proptest::collection::vec(container.clone(), count),
        )
    });
    let scalars = (
        proptest::option::of(0i64..3),
        proptest::option::of(any::<bool>()),
        proptest::option::of("[xy]"),
        proptest::option::of("[xy]"),
    );
    (labels, finalizers, containers, scalars).prop_map(
        |(labels, finalizers, (names, rest), (replicas, paused, selector, free))| {
            let containers: Vec<Value> = names
                .iter()
                .zip(rest)
                .map(|(name, (image, command))| {
                    let command = command.map(|word| vec![word]);
                    json!({"name": name, "image": image, "command": command})
                })
                .collect();
            let selector = selector.map(|value| json!({"matchLabels": {"a": value}}));
            let free = free.map(|value| json!({"a": {value: 1}}));
            // Empty lists and maps are left out: to upstream they are null once they are pruned.
            let labels = labels.filter(|labels| !labels.is_empty());
            let finalizers = Some(finalizers).filter(|values| !values.is_empty());
            let pod = Some(containers).filter(|items| !items.is_empty());
            let template = pod.map(|items| json!({"spec": {"containers": items}}));
            let spec = crate::merge_patch::without_nulls(&json!({
                "replicas": replicas, "paused": paused, "selector": selector, "free": free,
                "template": template,
            }));
            let spec = Some(spec).filter(|spec| spec != &json!({}));
            let metadata = json!({"name": "d", "labels": labels, "finalizers": finalizers});
            crate::merge_patch::without_nulls(&json!({"metadata": metadata, "spec": spec}))
        },
    )
}

/// A client that applies, by force or not, or puts an object in place.
#[derive(Clone, Debug)]
enum Deed {
    Apply(&'static str, Value, bool),
    Update(&'static str, Value),
}

fn deed() -> impl Strategy<Value = Deed> {
    let client = proptest::sample::select(vec!["one", "two", "three"]);
    prop_oneof![
        (client.clone(), body(), any::<bool>())
            .prop_map(|(client, body, force)| Deed::Apply(client, body, force)),
        (client, body()).prop_map(|(client, body)| Deed::Update(client, body)),
    ]
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    proptest::collection::vec(deed(), 1..6)
}

fn after(deeds: &[Deed]) -> World {
    let mut world = World::new();
    for deed in deeds {
        match deed.clone() {
            Deed::Apply(client, body, force) => {
                let _ = world.apply_with(client, body, force);
            }
            Deed::Update(client, body) => world.update(client, body).unwrap(),
        }
    }
    if world.object.is_none() {
        world
            .update("maker", json!({"metadata": {"name": "d"}}))
            .unwrap();
    }
    world
}

fn without_owners(object: &Value) -> Value {
    let mut object = object.clone();
    ledger::clear(&mut object);
    object
}

/// What may still have an owner when all that was in it is gone, for upstream keeps a null there.
fn may_be_emptied() -> FieldSet {
    FieldSet::of_names(&[
        &["metadata", "labels"],
        &["metadata", "finalizers"],
        &["spec"],
        &["spec", "free"],
        &["spec", "free", "a"],
        &["spec", "template"],
        &["spec", "template", "spec"],
        &["spec", "template", "spec", "containers"],
    ])
}

proptest! {
    #[test]
    fn applying_twice_is_applying_once(history in deeds(), body in body(), force: bool) {
        let mut world = after(&history);
        if world.apply_with("one", body.clone(), force).is_ok() {
            let once = world.object().clone();
            world.apply_with("one", body, false).unwrap();
            prop_assert_eq!(world.object(), &once);
        }
    }

    #[test]
    fn applying_changes_only_what_is_applied_or_given_up(
        history in deeds(),
        body in body(),
        force: bool,
    ) {
        let mut world = after(&history);
        let before = world.object().clone();
        prop_assume!(world.apply_with("one", body.clone(), force).is_ok());
        let found = {
            let of = TypeRef::Of(world.kind.schema());
            let found = compare(of, &without_owners(&before), &without_owners(world.object()));
            let wanted = leaves(of, &with_head(body));
            let wanted = crate::typed::with_named_fields(Some(of), &wanted);
            (found.added.difference(&wanted), found.modified.difference(&wanted), found.removed)
        };
        let (added, modified, removed) = found;
        let server = FieldSet::of_names(&[&["metadata", "uid"]]);
        prop_assert!(added.difference(&server).is_empty(), "added {}", added);
        prop_assert!(modified.is_empty(), "modified {}", modified);
        let owner = ledger::Owner::applier("one", "");
        let owned = ledger::Ledger::read(&before).unwrap().0.remove(&owner);
        let owned = owned.map(|owned| owned.fields).unwrap_or_default();
        let of = TypeRef::Of(world.kind.schema());
        // An item goes with all that is in it, whoever owns that.
        let removed = removed.recursive_difference(&owned);
        let owned = crate::typed::with_named_fields(Some(of), &owned);
        prop_assert!(removed.difference(&owned).is_empty(), "removed {}", removed);
    }

    #[test]
    fn an_applier_gets_what_it_wants_and_owns_it(history in deeds(), body in body()) {
        let mut world = after(&history);
        world.force("one", body.clone()).unwrap();
        let of = TypeRef::Of(world.kind.schema());
        let config = with_head(body);
        let merged = crate::typed::merge(of, &without_owners(world.object()), &config);
        prop_assert_eq!(&merged, &without_owners(world.object()));
        let owner = ledger::Owner::applier("one", "");
        let owned = ledger::Ledger::read(world.object()).unwrap().0.remove(&owner);
        let owned = owned.map(|owned| owned.fields).unwrap_or_default();
        let wanted = leaves(of, &config).difference(&update::never_tracked());
        prop_assert_eq!(owned, wanted);
    }

    #[test]
    fn owners_own_only_what_is_there(history in deeds()) {
        let world = after(&history);
        let of = TypeRef::Of(world.kind.schema());
        let there = leaves(of, &without_owners(world.object()));
        let there = crate::typed::with_named_fields(Some(of), &there);
        for (owner, owned) in ledger::Ledger::read(world.object()).unwrap().0 {
            prop_assert!(!owned.fields.is_empty());
            let stray = owned.fields.difference(&there).difference(&may_be_emptied());
            prop_assert!(stray.is_empty(), "{:?} owns {}", owner, stray);
        }
    }

    #[test]
    fn without_force_nobody_else_loses_a_field_to_another_value(
        history in deeds(),
        body in body(),
    ) {
        let mut world = after(&history);
        let before = ledger::Ledger::read(world.object()).unwrap();
        if world.apply("one", body).is_ok() {
            let mut left = ledger::Ledger::read(world.object()).unwrap();
            let of = TypeRef::Of(world.kind.schema());
            let there = leaves(of, &without_owners(world.object()));
            for (owner, owned) in before.0 {
                if owner == ledger::Owner::applier("one", "") {
                    continue;
                }
                let left = left.0.remove(&owner).map(|owned| owned.fields).unwrap_or_default();
                let lost = owned.fields.difference(&left);
                // They may lose what was in an item that is gone.
                prop_assert!(lost.intersection(&there).is_empty(), "{:?} lost {}", owner, lost);
            }
        }
    }
}
