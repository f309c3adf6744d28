//! What becomes of any family, whatever fails, dies, lags or is done by others.

use std::time::Duration;

use flyball_plan::{Action, Precondition, Target, Verb};
use flyball_testkit::laws::{self, Lawful, verdict};
use flyball_testkit::{Moment, Runner, World};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const KINDS: [Kind; 3] = [WIDGET, PLANET, CONFIG_MAP];

/// How an object is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Manner {
    Stays,
    /// Waits for its dependents to be gone.
    Waits,
    /// Goes, held by somebody else.
    Held,
}

/// To whom an object belongs: one of the others, or one that had its name before, or nobody.
#[derive(Clone, Copy, Debug)]
struct Bond {
    to: usize,
    former: bool,
    blocks: bool,
}

fn name(at: usize) -> String {
    format!("o{at}")
}

fn reference(bond: Bond, kinds: &[usize]) -> Value {
    let kind = KINDS[kinds[bond.to % kinds.len()]];
    let name = name(bond.to % kinds.len());
    let former = if bond.former { "former-" } else { "" };
    let uid = format!("{former}{}-{name}", kind.kind.to_lowercase());
    json!({"apiVersion": kind.api_version(), "kind": kind.kind, "name": name, "uid": uid,
        "blockOwnerDeletion": bond.blocks})
}

fn world(objects: &[(usize, Manner, Vec<Bond>)]) -> World {
    let mut world = prepared(World::default());
    let kinds: Vec<usize> = objects
        .iter()
        .map(|(kind, ..)| kind % KINDS.len())
        .collect();
    for (at, (_, manner, bonds)) in objects.iter().enumerate() {
        let kind = KINDS[kinds[at]];
        let mut owners: Vec<Value> = bonds.iter().map(|bond| reference(*bond, &kinds)).collect();
        owners.sort_by_key(|owner| owner["uid"].to_string());
        owners.dedup_by_key(|owner| owner["uid"].to_string());
        let mut object = json!({"apiVersion": kind.api_version(), "kind": kind.kind,
            "metadata": {"name": name(at), "ownerReferences": owners}});
        let finalizer = match manner {
            Manner::Stays => None,
            Manner::Waits => Some("foregroundDeletion"),
            Manner::Held => Some("example.com/held"),
        };
        if let Some(finalizer) = finalizer {
            object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
            object["metadata"]["finalizers"] = json!([finalizer]);
        }
        world.put(object);
    }
    world
}

fn worlds() -> impl Strategy<Value = World> {
    let manner = prop_oneof![
        4 => Just(Manner::Stays),
        1 => Just(Manner::Waits),
        1 => Just(Manner::Held),
    ];
    let bond = (0..8_usize, proptest::bool::weighted(0.2), any::<bool>());
    let bond = bond.prop_map(|(to, former, blocks)| Bond { to, former, blocks });
    let object = (0..KINDS.len(), manner, vec(bond, 0..3));
    vec(object, 1..8).prop_map(|objects| world(&objects))
}

fn owners(object: &Value) -> impl Iterator<Item = &Value> {
    let owners = object["metadata"]["ownerReferences"].as_array();
    owners.into_iter().flatten()
}

fn waits(object: &Value) -> bool {
    let finalizers = object["metadata"]["finalizers"].as_array();
    let mut finalizers = finalizers.into_iter().flatten();
    !object["metadata"]["deletionTimestamp"].is_null()
        && finalizers.any(|one| one == "foregroundDeletion")
}

/// The owner that a reference means, if it lives.
fn living<'a>(owner: &Value, dependent: &Value, world: &'a World) -> Option<&'a Value> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = world.kind(&text(&owner["apiVersion"]), &text(&owner["kind"]))?;
    let namespace = match kind.namespaced {
        true => text(&dependent["metadata"]["namespace"]),
        false => String::new(),
    };
    let found = world.json(kind, &namespace, &text(&owner["name"]))?;
    (found["metadata"]["uid"] == owner["uid"]).then_some(found)
}

/// Whether an object names an owner that would live in a namespace while it lives in none.
fn is_nonsense(object: &Value) -> bool {
    let in_none = object["metadata"]["namespace"].is_null();
    in_none && owners(object).any(|owner| owner["kind"] != "Planet")
}

/// What must be true of every object when nothing changes any more.
fn reached(world: &World) -> Result<(), String> {
    for (id, object) in world.objects() {
        let what = || format!("{id:?}: {object}");
        if waits(object) {
            let uid = &object["metadata"]["uid"];
            let blocks =
                |owner: &Value| owner["uid"] == *uid && owner["blockOwnerDeletion"] == true;
            let blocked = world.objects().any(|(_, other)| owners(other).any(blocks));
            if !blocked {
                return Err(format!("waits for nothing: {}", what()));
            }
        } else if object["metadata"]["deletionTimestamp"].is_null()
            && owners(object).count() > 0
            && !is_nonsense(object)
        {
            let solid = |owner: &Value| living(owner, object, world).is_some_and(|it| !waits(it));
            if !owners(object).all(solid) {
                return Err(format!("has an owner that is gone: {}", what()));
            }
        }
    }
    Ok(())
}

/// What must be true of a write just before it is made.
fn is_harmless(action: &Action, world: &World) -> Result<(), String> {
    let Some(write) = action.write() else {
        return Ok(());
    };
    let deletes = match write.verb {
        Verb::Delete { .. } => true,
        Verb::MergePatch => false,
        _ => return Ok(()),
    };
    let Some(object) = world.target(&write.target) else {
        return Ok(());
    };
    if !holds(&write.precondition, object) {
        return Ok(());
    }
    let alive = |owner: &&Value| living(owner, object, world).is_some_and(|it| !waits(it));
    let alive: Vec<&Value> = owners(object).filter(alive).collect();
    if deletes && (!alive.is_empty() || owners(object).count() == 0 || is_nonsense(object)) {
        return Err(format!("deletes what somebody owns: {object}"));
    }
    if write.verb == Verb::MergePatch {
        let patch: Value = serde_json::from_str(write.body.json()).unwrap();
        if let Some(left) = patch["metadata"].get("ownerReferences") {
            let left = left.as_array().map(Vec::as_slice).unwrap_or_default();
            let kept = |owner: &&Value| left.iter().any(|it| it["uid"] == owner["uid"]);
            if !alive.iter().all(kept) {
                return Err(format!("takes a living owner off {object}: {patch}"));
            }
        }
    }
    Ok(())
}

fn holds(precondition: &Precondition, object: &Value) -> bool {
    let uid = precondition.uid.as_ref().map(ToString::to_string);
    let version = precondition.resource_version.as_deref();
    object["metadata"]["uid"].as_str() == uid.as_deref()
        && version.is_none_or(|version| object["metadata"]["resourceVersion"] == version)
}

impl Lawful for GarbageCollector {
    const KIND: Kind = WIDGET;

    fn subject() -> Self {
        Self
    }

    fn invariants(_: &World) -> Result<(), String> {
        Ok(())
    }

    fn reached(world: &World) -> Result<(), String> {
        reached(world)
    }

    fn others(_: &mut World) {}

    fn essence(world: &World) -> String {
        essence(world)
    }
}

/// What stays. Of two that go, which waits for the other may depend on who was looked at first.
fn essence(world: &World) -> String {
    let stays = |object: &Value| object["metadata"]["deletionTimestamp"].is_null();
    let mut left: Vec<String> = world
        .objects()
        .filter(|(_, object)| stays(object))
        .map(|((kind, name), object)| {
            format!("{kind} {name} {}", object["metadata"]["ownerReferences"])
        })
        .collect();
    left.sort();
    left.join("\n")
}

/// What others do while the collector is not looking.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Vanish,
    Recreate,
    Touch,
    Disown,
    Adopt(usize),
    Revive,
}

fn happen(world: &mut World, which: usize, deed: Deed) {
    let ids: Vec<_> = world.objects().map(|(id, _)| id.clone()).collect();
    let Some((kind, name)) = ids.get(which % ids.len().max(1)).cloned() else {
        return;
    };
    let target = Target { kind, name };
    let Some(mut object) = world.target(&target).cloned() else {
        return;
    };
    match deed {
        Deed::Vanish => {
            world.remove(&target);
        }
        Deed::Recreate => {
            world.remove(&target);
            let uid = format!("{}-anew", object["metadata"]["uid"].as_str().unwrap());
            object["metadata"] = json!({"name": object["metadata"]["name"],
                "namespace": object["metadata"]["namespace"], "uid": uid});
            world.put(object);
        }
        // One that was not there when the caches last heard, and whom others name. No identity
        // ever comes back.
        Deed::Revive => {
            let known = |uid: &Value| {
                let states = world.history().iter().filter_map(|it| it.state.as_ref());
                states
                    .into_iter()
                    .any(|state| state["metadata"]["uid"] == *uid)
            };
            let named = owners(&object).next().cloned();
            let named = named.filter(|owner| owner["kind"] == "Planet" && !known(&owner["uid"]));
            if let Some(owner) = named {
                let there = world.json(PLANET, "", owner["name"].as_str().unwrap());
                if there.is_none() {
                    world.put(json!({"apiVersion": "example.com/v1", "kind": "Planet",
                        "metadata": {"name": owner["name"], "uid": owner["uid"]}}));
                }
            }
        }
        deed => {
            let other = ids[match deed {
                Deed::Adopt(at) => at % ids.len(),
                _ => 0,
            }]
            .clone();
            let owner = world
                .json(other.0, &other.1.namespace, &other.1.name)
                .cloned();
            world.edit(&target, |object| {
                let metadata = &mut object["metadata"];
                match (deed, owner) {
                    (Deed::Disown, _) => metadata["ownerReferences"] = json!([]),
                    (Deed::Adopt(_), Some(owner)) => {
                        metadata["ownerReferences"] = json!([{
                            "apiVersion": owner["apiVersion"], "kind": owner["kind"],
                            "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}]);
                    }
                    _ => metadata["labels"] = json!({"touched": which.to_string()}),
                }
            });
        }
    }
}

fn deeds() -> impl Strategy<Value = Vec<(usize, Deed)>> {
    let deed = prop_oneof![
        Just(Deed::Vanish),
        Just(Deed::Recreate),
        Just(Deed::Touch),
        Just(Deed::Disown),
        Just(Deed::Revive),
        (0..8_usize).prop_map(Deed::Adopt),
    ];
    vec((0..8_usize, deed), 0..6)
}

/// Runs on caches that lag, each kind by itself, while others do as they please between looks;
/// judges every write at the moment it is made.
fn stale_safe(
    mut world: World,
    before: &[(usize, Deed)],
    between: &[(usize, Deed)],
    lags: &[u8],
) -> Result<(), String> {
    let known = world.revision();
    for (which, deed) in before {
        happen(&mut world, *which, *deed);
    }
    let mut runner = Runner::behind(GarbageCollector, &world, known);
    let mut witness = |moment: Moment<'_>| match moment {
        Moment::Before { action, world, .. } => is_harmless(action, world),
        _ => Ok(()),
    };
    let mut between = between.iter();
    for lag in [0].iter().chain(lags) {
        for (at, kind) in runner.caches().kinds().into_iter().enumerate() {
            let seen = runner.caches().seen(kind);
            let part = u64::from(lag.rotate_right(2 * at as u32) & 3);
            let upto = seen + (world.revision() - seen) * part / 3;
            runner.see(&world, |caches| caches.catch_up_kind(&world, kind, upto));
        }
        for _ in 0..100 {
            if runner.sync(&mut world, &mut witness)?.is_err() {
                break;
            }
        }
        // Whoever has been found missing never comes.
        let next = between
            .next()
            .filter(|(_, deed)| !matches!(deed, Deed::Revive));
        if let Some((which, deed)) = next {
            happen(&mut world, *which, *deed);
        }
        world.advance(Duration::from_secs(2));
    }
    runner.converge(&mut world, |_| (), &mut witness)?;
    reached(&world)
}

proptest! {
    #![proptest_config(laws::config())]

    #[test]
    fn quiet(world in worlds()) {
        verdict(laws::quiet::<GarbageCollector>(world))?;
    }

    #[test]
    fn bounded(world in worlds(), faults in laws::bytes(8)) {
        verdict(laws::bounded::<GarbageCollector>(world, &faults))?;
    }

    #[test]
    fn amnesiac(world in worlds(), deaths in laws::bytes(4)) {
        verdict(laws::amnesiac::<GarbageCollector>(world, &deaths))?;
    }

    #[test]
    fn own_only_and_stale_safe(
        world in worlds(),
        before in deeds(),
        between in deeds(),
        lags in laws::bytes(6),
    ) {
        verdict(stale_safe(world, &before, &between, &lags))?;
    }

    #[test]
    fn order_blind(world in worlds(), seed in any::<u64>()) {
        let shuffled = |at: usize| (at as u64).wrapping_mul(seed | 1).rotate_left(17) ^ seed;
        let mut one = world.clone();
        let mut two = world;
        let run = |world: &mut World, rank: &dyn Fn(usize) -> u64| {
            Runner::listing(GarbageCollector, world, rank).converge(world, |_| (), &mut |_| Ok(()))
        };
        verdict(run(&mut one, &|at| at as u64).map(drop))?;
        verdict(run(&mut two, &shuffled).map(drop))?;
        prop_assert_eq!(essence(&one), essence(&two));
    }
}
