//! Namespaces on their way out: one sync (cases), which changes lead to one and when, and what
//! becomes of any world.

mod survey;

use std::collections::BTreeSet;
use std::sync::Arc;

use flyball_api::discovery::Failure;
use flyball_api::views::{Deployment, Node, Pod, ReplicaSet, ReplicationController};
use flyball_api::{Kind, Object, Timestamp};
use flyball_plan::{Action, Subresource, Target, Verb, Write};
use flyball_testkit::laws::{self, verdict};
use flyball_testkit::{Lawful, Moment, Runner, World, check_cases_in};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use flyball_api::views::Namespace;

/// Fewer kinds make for cases that can be read.
fn prepared(world: World) -> World {
    world.offering(ReplicationController::KIND, &["create", "get"])
}

#[test]
fn namespaces_get_what_their_cases_say() {
    check_cases_in(&NamespaceController, "src/namespace/cases", prepared);
}

fn namespace(name: &str, deleting: bool) -> Value {
    let mut namespace = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name},
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"},
    });
    if deleting {
        let at = Timestamp::from_unix_seconds(1_767_225_600);
        namespace["metadata"]["deletionTimestamp"] = json!(at);
        namespace["status"]["phase"] = "Terminating".into();
    }
    namespace
}

fn object(kind: Kind, namespace: &str, name: &str, finalizer: bool) -> Value {
    let mut object = json!({
        "apiVersion": kind.api_version(), "kind": kind.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {}, "status": {},
    });
    if kind == Pod::KIND {
        object["spec"] = json!({"nodeName": "n1", "terminationGracePeriodSeconds": 20});
        object["status"] = json!({"phase": "Running"});
    }
    if finalizer {
        object["metadata"]["finalizers"] = json!(["example.com/held"]);
    }
    object
}

#[test]
fn a_namespace_is_looked_at_when_it_is_to_go_but_not_at_once() {
    let of = |json: Value| Arc::new(Namespace::decode(json.to_string().as_bytes()).unwrap());
    let keys = |change: &Change| {
        NamespaceController
            .route(change, &Snapshot::default())
            .len()
    };
    let (active, going) = (of(namespace("a", false)), of(namespace("a", true)));
    assert_eq!(keys(&Change::added(active.clone())), 0);
    assert_eq!(keys(&Change::updated(active, going.clone())), 1);
    assert_eq!(keys(&Change::deleted(going)), 0);
    let mut world = World::of([namespace("a", true)]);
    let (syncs, due) = Runner::new(NamespaceController, &world)
        .run(&mut world, &mut |_| Ok(()))
        .unwrap();
    assert!(syncs.is_empty());
    assert_eq!(due, Some(PATIENCE));
}

/// Runs until nothing changes any more; every request, by its verb.
fn settle(world: &mut World) -> Vec<&'static str> {
    let mut verbs = Vec::new();
    let mut watch = |moment: Moment<'_>| {
        if let Moment::Before { action, .. } = moment {
            verbs.push(action.verb());
        }
        Ok(())
    };
    let mut runner = Runner::new(NamespaceController, world);
    runner.converge(world, kubelets, &mut watch).unwrap();
    verbs
}

/// Pods that were asked to go do, unless finalizers hold them.
fn kubelets(world: &mut World) {
    for pod in world.list::<Pod>("").into_iter().filter(Pod::is_deleting) {
        let grace = pod.metadata.deletion_grace_period_seconds.unwrap_or(0);
        if grace > 0 {
            let target = Target::of(Pod::KIND, &pod.metadata);
            world.edit(&target, |pod| {
                pod["metadata"]["deletionGracePeriodSeconds"] = 0.into();
            });
        }
    }
}

#[test]
fn a_kind_without_objects_costs_one_request() {
    let mut world = prepared(World::of([namespace("a", true)]));
    let mut verbs = settle(&mut world);
    verbs.sort_unstable();
    // Pods, ReplicaSets and Deployments; conditions and the end.
    let all = [
        "discover", "get", "list", "list", "list", "update", "update",
    ];
    assert_eq!(verbs, all);
}

#[test]
fn what_cannot_be_deleted_together_is_deleted_one_by_one_with_its_identity() {
    let kind = ReplicaSet::KIND;
    let objects = (0..3).map(|at| object(kind, "a", &format!("set-{at}"), false));
    let world = World::of(objects.chain([namespace("a", true)]));
    let mut world = world.offering(kind, &["list", "delete"]);
    let verbs = settle(&mut world);
    assert_eq!(verbs.iter().filter(|verb| **verb == "delete").count(), 3);
    assert!(world.get::<Namespace>("", "a").is_none());
}

#[test]
fn a_server_that_refuses_a_collection_after_all_is_asked_for_each_object() {
    let kind = ReplicaSet::KIND;
    let mut world = World::of([namespace("a", true), object(kind, "a", "set", false)]);
    let mut watch = |moment: Moment<'_>| match moment {
        Moment::Stage { actions, .. } if actions.stage == "delete each" => Err("seen".to_owned()),
        _ => Ok(()),
    };
    // The request after question, discovery, pods and three lists.
    let refused = flyball_api::ApiError::from_response(405, None, b"");
    world.fail(6, flyball_testkit::Fault::Refused(refused));
    world.advance(PATIENCE);
    let mut runner = Runner::new(NamespaceController, &world);
    let seen = runner.converge(&mut world, |_| {}, &mut watch).map(drop);
    assert_eq!(seen, Err("seen".to_owned()));
}

#[test]
fn a_group_that_cannot_be_discovered_keeps_the_namespace_and_is_named() {
    let mut world = World::of([
        namespace("a", true),
        object(ReplicaSet::KIND, "a", "set", false),
    ]);
    let failure = Failure {
        group: "apps".into(),
        version: "v1".into(),
        reason: "stale GroupVersion discovery: apps/v1".to_owned(),
    };
    world.undiscovered(vec![failure]);
    let mut runner = Runner::new(NamespaceController, &world);
    let ended = runner.converge(&mut world, |_| {}, &mut |_| Ok(()));
    assert!(ended.is_err_and(|why| why.contains("keeps failing")));
    let said = world.json(Namespace::KIND, "", "a").unwrap()["status"]["conditions"][0].clone();
    assert_eq!(said["reason"], "DiscoveryFailed");
    assert_eq!(
        said["message"],
        "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: \
         apps/v1: stale GroupVersion discovery: apps/v1"
    );
    // Once it can be, all goes.
    world.undiscovered(Vec::new());
    settle(&mut world);
    assert_eq!(world.objects().count(), 0);
}

#[test]
fn a_group_version_that_is_none_keeps_the_namespace_and_is_named() {
    let mut world = World::of([namespace("a", true)]);
    world.undiscovered(vec![Failure {
        group: "a/b".into(),
        version: "v1".into(),
        reason: "unexpected GroupVersion string: a/b/v1".to_owned(),
    }]);
    let mut runner = Runner::new(NamespaceController, &world);
    let ended = runner.converge(&mut world, |_| {}, &mut |_| Ok(()));
    assert!(ended.is_err_and(|why| why.contains("keeps failing")));
    let all = &world.json(Namespace::KIND, "", "a").unwrap()["status"]["conditions"];
    assert_eq!(all[0]["status"], "False", "{all}");
    assert_eq!(all[1]["reason"], "GroupVersionParsingFailed", "{all}");
    assert_eq!(all[1]["message"], "unexpected GroupVersion string: a/b/v1");
}

#[test]
fn many_objects_go_in_bounded_portions() {
    let kind = ReplicaSet::KIND;
    let objects = (0..1_500).map(|at| object(kind, "a", &format!("set-{at}"), false));
    let world = World::of(objects.chain([namespace("a", true)]));
    let mut world = world.offering(kind, &["list", "delete"]);
    let mut most = 0;
    let mut watch = |moment: Moment<'_>| {
        if let Moment::Stage { actions, .. } = moment {
            most = most.max(actions.items.len());
        }
        Ok(())
    };
    let mut runner = Runner::new(NamespaceController, &world);
    runner.converge(&mut world, |_| {}, &mut watch).unwrap();
    assert_eq!(world.objects().count(), 0);
    assert_eq!(most, 1_000);
}

const KINDS: [Kind; 3] = [Pod::KIND, ReplicaSet::KIND, Deployment::KIND];

/// What the controller did is right in the world as it was.
fn is_right(action: &Action, world: &World) -> Result<(), String> {
    let inside = |namespace: &str| {
        let found = world.get::<Namespace>("", namespace);
        let going = found.is_some_and(|it| it.is_deleting());
        going
            .then_some(())
            .ok_or_else(|| format!("deletes in {namespace}, which stays"))
    };
    match action {
        Action::Write(Write {
            verb: Verb::DeleteCollection { .. },
            target,
            ..
        }) => {
            let (kind, namespace) = (target.kind, &target.name.namespace);
            inside(namespace)?;
            let pods = world.list::<Pod>(namespace);
            let early = kind != Pod::KIND && !pods.is_empty();
            (!early)
                .then_some(())
                .ok_or_else(|| format!("{kind} before pods"))
        }
        Action::Write(Write {
            verb: Verb::Delete { .. },
            target,
            ..
        }) => inside(&target.name.namespace),
        Action::Write(Write {
            verb: Verb::Update,
            target,
            subresource: Subresource::FINALIZE,
            ..
        }) => {
            let left = KINDS.iter().any(|kind| {
                let mut ids = world.objects().map(|(id, _)| id);
                ids.any(|id| id.0 == *kind && id.1.namespace == target.name.name)
            });
            (!left)
                .then_some(())
                .ok_or_else(|| format!("lets {} go with content", target.name))
        }
        _ => Ok(()),
    }
}

fn worlds() -> impl Strategy<Value = World> {
    let one = (0..3_usize, 0..3_usize, prop::bool::weighted(0.2));
    let offers = any::<bool>();
    (proptest::collection::vec(one, 0..10), offers).prop_map(|(objects, collections)| {
        let all = [
            namespace("a", true),
            namespace("b", true),
            namespace("c", false),
        ];
        let mut world = World::of(all);
        if !collections {
            world = world.offering(ReplicaSet::KIND, &["list", "delete"]);
        }
        for (at, (kind, into, held)) in objects.into_iter().enumerate() {
            let into = ["a", "b", "c"][into];
            world.put(object(KINDS[kind], into, &format!("it-{at}"), held));
        }
        world
    })
}

impl Lawful for NamespaceController {
    const KIND: Kind = Namespace::KIND;

    fn subject() -> Self {
        Self
    }

    fn invariants(_: &World) -> Result<(), String> {
        Ok(())
    }

    /// What is left of a namespace on its way out is held by finalizers, which its conditions name.
    fn reached(world: &World) -> Result<(), String> {
        for namespace in world.list::<Namespace>("") {
            let name = &namespace.metadata.name;
            if !namespace.is_deleting() {
                continue;
            }
            let content = world.objects().filter(|(id, _)| id.1.namespace == **name);
            let going: Vec<&Arc<Value>> = content.map(|(_, object)| object).collect();
            let pods = going.iter().any(|object| object["kind"] == "Pod");
            let held = |object: &Value| !object["metadata"]["finalizers"].is_null();
            let waits = going.iter().filter(|it| !pods || it["kind"] == "Pod");
            if going.is_empty() || waits.into_iter().any(|it| !held(it)) {
                return Err(format!("{name} should have less in it, or be gone"));
            }
            let json = world
                .json(Namespace::KIND, "", name)
                .unwrap_or(&Value::Null);
            let said = json["status"]["conditions"].to_string();
            if !said.contains("example.com/held in") {
                return Err(format!("{name} does not say what holds it: {said}"));
            }
        }
        Ok(())
    }

    fn others(world: &mut World) {
        kubelets(world);
    }
}

proptest! {
    #![proptest_config(laws::config())]

    #[test]
    fn whatever_is_in_a_namespace_goes_in_order(world in worlds()) {
        let mut world = world;
        let mut watch = |moment: Moment<'_>| match moment {
            Moment::Before { action, world, .. } => is_right(action, world),
            _ => Ok(()),
        };
        let mut runner = Runner::new(NamespaceController, &world);
        verdict(runner.converge(&mut world, kubelets, &mut watch).map(drop))?;
        verdict(NamespaceController::reached(&world))?;
    }

    /// A namespace that is stuck is only looked at, again and again.
    #[test]
    fn at_rest_nothing_is_written(world in worlds()) {
        let mut world = world;
        settle(&mut world);
        let before = world.revision();
        let writes: BTreeSet<&str> = settle(&mut world)
            .into_iter()
            .filter(|verb| !["get", "list", "discover"].contains(verb))
            .collect();
        prop_assert!(writes.is_empty(), "{:?}", writes);
        prop_assert_eq!(world.revision(), before);
    }

    #[test]
    fn bounded(world in worlds(), faults in laws::bytes(8)) {
        verdict(laws::bounded::<NamespaceController>(world, &faults))?;
    }

    #[test]
    fn amnesiac(world in worlds(), deaths in laws::bytes(4)) {
        verdict(laws::amnesiac::<NamespaceController>(world, &deaths))?;
    }

    /// From caches of any age nothing is deleted in a namespace that stays, and none is let go
    /// with content.
    #[test]
    fn stale_safe(world in worlds(), upsets in laws::upsets(), back in 0..20_u64) {
        let mut world = world;
        let known = world.revision().saturating_sub(back);
        for upset in &upsets {
            upset.happen(&mut world);
        }
        verdict(stale(NamespaceController, world, known))?;
    }
}

/// Syncs from caches that stand still, for a while.
fn stale<C>(controller: C, mut world: World, known: u64) -> Result<(), String>
where
    C: Controller<Key = ObjectName>,
{
    let mut runner = Runner::behind(controller, &world, known);
    let mut watch = |moment: Moment<'_>| match moment {
        Moment::Before { action, world, .. } => is_right(action, world),
        _ => Ok(()),
    };
    for _ in 0..8 {
        world.advance(PATIENCE);
        for _ in 0..20 {
            match runner.sync(&mut world, &mut watch) {
                Ok(Ok(_)) => {}
                Ok(Err(_)) => break,
                Err(why) => return Err(why),
            }
        }
    }
    Ok(())
}

#[test]
fn nodes_are_not_in_any_namespace() {
    let mut world = World::of([namespace("a", true)]);
    world.put(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}));
    settle(&mut world);
    assert!(world.get::<Node>("", "n1").is_some());
}
