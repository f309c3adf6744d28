//! What happens to nodes as time goes by.

use std::time::Duration;

use flyball_api::{ConditionStatus, Kind, ObjectName, Timestamp};
use flyball_plan::{Action, Target, Verb, Write};
use flyball_testkit::Runner;

use super::*;
use crate::annotations::LOST;

/// A world and the controller in it.
struct Play {
    world: World,
    runner: Runner<NodeController>,
}

/// How many nodes and leases were created, and how many statuses and renewals written.
#[derive(Debug, Default, PartialEq, Eq)]
struct Writes {
    created: usize,
    statuses: usize,
    renewals: usize,
}

fn is_patch_of(write: &Write, kind: Kind) -> bool {
    write.verb == Verb::StrategicPatch && write.target.kind == kind
}

impl Play {
    fn of(world: World) -> Self {
        let runner = Runner::new(subject(), &world);
        Self { world, runner }
    }

    fn run(&mut self, writes: &mut Writes) {
        let (syncs, _) = self.runner.run(&mut self.world, &mut |_| Ok(())).unwrap();
        for action in syncs.iter().flat_map(|sync| sync.actions()) {
            match action {
                Action::Write(write) if write.is_create() => writes.created += 1,
                Action::Write(write) if is_patch_of(write, Lease::KIND) => writes.renewals += 1,
                Action::Write(write) if is_patch_of(write, Node::KIND) => writes.statuses += 1,
                other => panic!("no business of a node: {other:?}"),
            }
        }
    }

    /// Lets so many seconds pass, one by one.
    fn pass(&mut self, seconds: u64) -> Writes {
        let mut writes = Writes::default();
        self.run(&mut writes);
        for _ in 0..seconds {
            self.world.advance(Duration::from_secs(1));
            self.run(&mut writes);
        }
        writes
    }

    fn node(&self, name: &str) -> Node {
        self.world.get("", name).unwrap()
    }

    fn lease_age(&self, name: &str) -> Duration {
        let lease: Lease = self.world.get("kube-node-lease", name).unwrap();
        let renewed = Timestamp::from(lease.spec.renew_time.unwrap());
        self.world.now().saturating_since(renewed)
    }

    fn edit(&mut self, kind: Kind, name: &str, change: impl FnOnce(&mut Value)) {
        let name = ObjectName::new("", name);
        assert!(self.world.edit(&Target { kind, name }, change));
    }
}

fn is_ready(node: &Node) -> bool {
    let mut conditions = node.status.conditions.iter();
    conditions.any(|it| it.kind == "Ready" && it.status == ConditionStatus::True)
}

#[test]
fn nodes_appear_and_stay_alive_for_an_hour() {
    let mut play = Play::of(fresh());
    let begun = play.pass(0);
    // A server keeps the status that a node is created with; this one does not.
    let expected = Writes {
        created: 6,
        statuses: 3,
        renewals: 0,
    };
    assert_eq!(begun, expected, "three nodes and three leases");
    for name in ["node-0", "node-1", "node-2"] {
        assert!(is_ready(&play.node(name)), "{name}");
    }
    let hour = play.pass(3600);
    assert_eq!(hour.created, 0);
    // Every 10 s to 10.4 s, looked at once a second here: every 11 s at the latest.
    assert!((3 * 327..=3 * 360).contains(&hour.renewals), "{hour:?}");
    // Every 5 min to 5 min 12 s.
    assert!((3 * 11..=3 * 12).contains(&hour.statuses), "{hour:?}");
    assert!(play.lease_age("node-0") <= Duration::from_secs(11));
}

#[test]
fn a_restart_writes_nothing_that_is_not_due() {
    let mut play = Play::of(fresh());
    play.pass(5);
    play.runner = Runner::new(subject(), &play.world);
    assert_eq!(play.pass(0), Writes::default());
    let later = play.pass(6);
    assert_eq!((later.created, later.statuses, later.renewals), (0, 0, 3));
}

#[test]
fn a_lost_node_falls_silent_and_comes_back() {
    let mut play = Play::of(fresh());
    play.pass(0);
    play.edit(Node::KIND, "node-1", |node| {
        node["metadata"]["annotations"][LOST] = "true".into();
    });
    play.pass(100);
    assert!(play.lease_age("node-1") >= Duration::from_secs(100));
    assert!(play.lease_age("node-0") <= Duration::from_secs(11));
    // Somebody notices, as the node lifecycle controller would.
    play.edit(Node::KIND, "node-1", |node| {
        node["status"]["conditions"][3]["status"] = "Unknown".into();
    });
    assert!(!is_ready(&play.node("node-1")));
    play.edit(Node::KIND, "node-1", |node| {
        node["metadata"]["annotations"][LOST] = Value::Null;
    });
    play.pass(0);
    assert!(is_ready(&play.node("node-1")));
    assert_eq!(play.lease_age("node-1"), Duration::ZERO);
}

#[test]
fn what_is_deleted_by_hand_comes_back() {
    let mut play = Play::of(fresh());
    play.pass(0);
    let gone = |kind, namespace: &str| Target {
        kind,
        name: ObjectName::new(namespace, "node-2"),
    };
    play.world.remove(&gone(Lease::KIND, "kube-node-lease"));
    assert_eq!(play.pass(0).created, 1);
    play.world.remove(&gone(Node::KIND, ""));
    play.world.remove(&gone(Lease::KIND, "kube-node-lease"));
    assert_eq!(play.pass(0).created, 2);
    assert!(is_ready(&play.node("node-2")));
}

#[test]
fn a_node_made_by_hand_and_marked_is_simulated_too() {
    let mut world = fresh();
    world.put(ours("worker"));
    let mut play = Play::of(world);
    play.pass(30);
    assert!(is_ready(&play.node("worker")));
    assert_eq!(play.world.list::<Lease>("").len(), 4);
}

#[test]
fn without_a_namespace_for_leases_nodes_are_there_all_the_same() {
    // The model of a server knows no missing namespaces, only ones on their way out.
    let mut world = prepared(World::default());
    world.put(namespace("default"));
    world.put(namespace("kube-node-lease").with(json!({"status": {"phase": "Terminating"}})));
    let mut play = Play::of(world);
    play.pass(0);
    assert_eq!(play.world.list::<Node>("").len(), 3);
    assert_eq!(play.world.list::<Lease>("").len(), 0);
    play.world.put(namespace("kube-node-lease"));
    play.pass(60);
    assert_eq!(play.world.list::<Lease>("").len(), 3);
}
