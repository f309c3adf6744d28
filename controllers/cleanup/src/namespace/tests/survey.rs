//! Namespaces beside a controller that caches everything: one list of a sparse kind answers for
//! all namespaces, and nothing goes that should not.

use flyball_plan::{Now, Question, Read, Sight};

use super::*;

/// The controller as it is in a process where somebody else sees everything.
#[derive(Clone, Copy)]
struct Beside;

impl Controller for Beside {
    type Key = ObjectName;
    type Observation = Observation;
    type Memory = ();

    const DESCRIPTOR: Descriptor = NamespaceController::DESCRIPTOR;
    const SIGHT: Sight = Sight::Everything;

    fn route(&self, change: &Change, store: &Snapshot) -> Keys<ObjectName> {
        NamespaceController.route(change, store)
    }

    fn patience(&self, key: &ObjectName) -> Duration {
        NamespaceController.patience(key)
    }

    fn observe(&self, key: &ObjectName, store: &Snapshot, _: &()) -> Option<Observation> {
        NamespaceController.observe(key, store, &())
    }

    fn step(&self, seen: &Observation, answers: &Answers, now: Now) -> Step {
        NamespaceController.step(seen, answers, now)
    }
}

/// Runs until nothing changes any more; every question, as a line.
fn asked(world: &mut World) -> Vec<String> {
    let mut asked = Vec::new();
    let mut watch = |moment: Moment<'_>| {
        if let Moment::Before { action, world, .. } = moment {
            is_right(action, world)?;
            if let Action::Read(Read {
                question: Question::List {
                    kind, namespace, ..
                },
                ..
            }) = action
            {
                asked.push(match namespace.is_empty() {
                    true => format!("all {kind}"),
                    false => format!("{kind} in {namespace}"),
                });
            }
        }
        Ok(())
    };
    let mut runner = Runner::new(Beside, world);
    runner.converge(world, kubelets, &mut watch).unwrap();
    asked.sort_unstable();
    asked
}

#[test]
fn a_list_of_all_there_is_spares_one_of_the_namespace() {
    let mut world = prepared(World::of([
        namespace("a", true),
        object(ReplicaSet::KIND, "b", "set", false),
    ]));
    let all = ["all deployments.apps", "all pods", "all replicasets.apps"];
    assert_eq!(asked(&mut world), all);
    assert!(world.get::<Namespace>("", "a").is_none());
}

#[test]
fn what_it_shows_in_the_namespace_is_looked_at_there_and_deleted() {
    let mut world = prepared(World::of([
        namespace("a", true),
        object(ReplicaSet::KIND, "a", "set", false),
        object(ReplicaSet::KIND, "b", "set", false),
    ]));
    let asked = asked(&mut world);
    assert!(
        asked.contains(&"replicasets.apps in a".to_owned()),
        "{asked:?}"
    );
    assert!(
        !asked.contains(&"deployments.apps in a".to_owned()),
        "{asked:?}"
    );
    let left: Vec<_> = world.objects().map(|(id, _)| id.1.to_string()).collect();
    assert_eq!(left, ["b/set"]);
}

#[test]
fn a_kind_with_many_objects_is_asked_for_in_the_namespace_only() {
    let many = (0..=observe::SPARSE_MAX)
        .map(|at| object(Deployment::KIND, "b", &format!("d-{at}"), false));
    let mut world = prepared(World::of(many.chain([namespace("a", true)])));
    let asked = asked(&mut world);
    assert!(
        asked.contains(&"deployments.apps in a".to_owned()),
        "{asked:?}"
    );
    assert!(
        !asked.contains(&"all deployments.apps".to_owned()),
        "{asked:?}"
    );
}

/// The cache showed few, the server has many: a list that was cut off proves nothing.
#[test]
fn a_list_that_was_cut_off_proves_nothing() {
    let mut world = prepared(World::of([namespace("a", true)]));
    let before = world.revision();
    let many = (0..=observe::SPARSE_MAX)
        .map(|at| object(Deployment::KIND, "0", &format!("d-{at}"), false));
    for object in many.chain([object(Deployment::KIND, "a", "hidden", false)]) {
        world.put(object);
    }
    let mut runner = Runner::behind(Beside, &world, before);
    let mut watch = |moment: Moment<'_>| match moment {
        Moment::Before { action, world, .. } => is_right(action, world),
        _ => Ok(()),
    };
    runner.converge(&mut world, kubelets, &mut watch).unwrap();
    assert!(world.get::<Namespace>("", "a").is_none());
    assert!(world.json(Deployment::KIND, "a", "hidden").is_none());
}

proptest! {
    #![proptest_config(laws::config())]

    #[test]
    fn beside_full_caches_it_ends_the_same(world in worlds()) {
        let (mut alone, mut beside) = (world.clone(), world);
        settle(&mut alone);
        asked(&mut beside);
        let left = |world: &World| world.objects().map(|(id, _)| id.clone()).collect::<Vec<_>>();
        prop_assert_eq!(left(&alone), left(&beside));
    }

    /// However old the caches are that say where to ask, no namespace goes with content.
    #[test]
    fn old_hints_do_no_harm(world in worlds(), upsets in laws::upsets(), back in 0..20_u64) {
        let mut world = world;
        let known = world.revision().saturating_sub(back);
        for upset in &upsets {
            upset.happen(&mut world);
        }
        verdict(stale(Beside, world, known))?;
    }
}
