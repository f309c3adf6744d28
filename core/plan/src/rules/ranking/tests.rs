//! The order of victims, one rule at a time.

use flyball_api::views::{ContainerStatus, InitContainer, PodCondition};
use flyball_api::{ConditionStatus, Text};

use super::*;

const NOW: Timestamp = Timestamp::from_unix_seconds(1_000_000);

fn ago(seconds: i64) -> Option<Timestamp> {
    Some(Timestamp::from_unix_seconds(NOW.unix_seconds() - seconds))
}

/// A running, ready pod on a node of its own; its UID is its name.
fn pod(name: &str) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.name = name.into();
    pod.metadata.uid = name.into();
    pod.metadata.creation_timestamp = ago(100);
    pod.spec.node_name = format!("node-of-{name}").into();
    pod.status.phase = Phase::Running;
    ready(pod, ago(50))
}

fn with(mut pod: Pod, change: impl FnOnce(&mut Pod)) -> Pod {
    change(&mut pod);
    pod
}

fn condition(status: ConditionStatus, since: Option<Timestamp>) -> Box<[PodCondition]> {
    Box::new([PodCondition {
        kind: "Ready".into(),
        status,
        last_transition_time: since,
    }])
}

fn ready(pod: Pod, since: Option<Timestamp>) -> Pod {
    with(pod, |pod| {
        pod.status.conditions = condition(ConditionStatus::True, since)
    })
}

fn unready(pod: Pod) -> Pod {
    with(pod, |pod| {
        pod.status.conditions = condition(ConditionStatus::False, ago(50))
    })
}

fn costing(pod: Pod, cost: &str) -> Pod {
    with(pod, |pod| {
        pod.metadata.annotations = [(DELETION_COST, cost)].into_iter().collect()
    })
}

fn restarted(pod: Pod, containers: &[i32]) -> Pod {
    with(pod, |pod| {
        pod.status.container_statuses = containers
            .iter()
            .map(|count| ContainerStatus {
                name: "c".into(),
                restart_count: *count,
            })
            .collect();
    })
}

fn init_restarted(pod: Pod, count: i32, policy: Option<&str>) -> Pod {
    with(pod, |pod| {
        pod.spec.init_containers = Box::new([InitContainer {
            name: "s".into(),
            restart_policy: policy.map(Into::into),
        }]);
        pod.status.init_container_statuses = Box::new([ContainerStatus {
            name: "s".into(),
            restart_count: count,
        }]);
    })
}

fn on(pod: Pod, node: &str) -> Pod {
    with(pod, |pod| pod.spec.node_name = node.into())
}

fn created(pod: Pod, at: Option<Timestamp>) -> Pod {
    with(pod, |pod| pod.metadata.creation_timestamp = at)
}

/// All but the last pod to go, in order; the same for every rotation of the input.
fn order_with(pods: Vec<Pod>, on_node: &[(&str, usize)], deletion_cost: bool) -> String {
    let on_node: HashMap<Text, usize> = on_node.iter().map(|(n, c)| ((*n).into(), *c)).collect();
    let ranking = Ranking {
        on_node: &on_node,
        deletion_cost,
        now: NOW,
    };
    let mut pods: Vec<&Pod> = pods.iter().collect();
    let mut orders = Vec::new();
    for _ in 0..pods.len() {
        pods.rotate_left(1);
        let chosen = victims(&pods, pods.len() - 1, ranking);
        let names: Vec<&str> = chosen
            .iter()
            .map(|pod| pod.metadata.name.as_str())
            .collect();
        orders.push(names.join(" "));
    }
    orders.dedup();
    assert_eq!(orders.len(), 1, "the order of input shows: {orders:?}");
    orders.remove(0)
}

fn order(pods: Vec<Pod>) -> String {
    order_with(pods, &[], true)
}

#[test]
fn each_rule_decides_when_all_rules_before_it_are_even() {
    // Each pod yields only to those before it; names are such that UIDs would say the opposite.
    let pods = vec![
        with(unready(on(pod("i"), "")), |pod| {
            pod.status.phase = Phase::Pending
        }),
        with(unready(pod("h")), |pod| pod.status.phase = Phase::Pending),
        with(unready(pod("g")), |pod| pod.status.phase = Phase::Unknown),
        unready(pod("f")),
        costing(pod("e"), "-1"),
        on(pod("d"), "crowded"),
        ready(pod("c"), ago(1)),
        restarted(pod("b"), &[0, 3]),
        pod("a"),
    ];
    assert_eq!(order_with(pods, &[("crowded", 2)], true), "i h g f e d c b");
}

#[test]
fn a_pod_on_a_fuller_node_goes_first() {
    let pods = vec![
        on(pod("a"), "one"),
        on(pod("b"), "three"),
        on(pod("c"), "two"),
    ];
    assert_eq!(
        order_with(pods, &[("one", 1), ("two", 2), ("three", 3)], true),
        "b c"
    );
}

#[test]
fn a_cheaper_pod_goes_first_unless_costs_are_switched_off() {
    let pods = || {
        vec![
            costing(pod("a"), "100"),
            pod("b"),
            costing(pod("c"), "-100"),
        ]
    };
    assert_eq!(order_with(pods(), &[], true), "c b");
    assert_eq!(order_with(pods(), &[], false), "a b");
}

#[test]
fn a_cost_that_is_not_a_plain_number_counts_as_none() {
    for (text, cost) in [
        ("0", 0),
        ("7", 7),
        ("-7", -7),
        ("-07", -7),
        ("2147483647", i32::MAX),
        ("2147483648", 0),
        ("-2147483648", i32::MIN),
        ("+7", 0),
        ("007", 0),
        ("7.5", 0),
        ("seven", 0),
        ("-", 0),
        ("", 0),
        (" 7", 0),
    ] {
        assert_eq!(deletion_cost(&costing(pod("a"), text)), cost, "{text:?}");
    }
    assert_eq!(deletion_cost(&pod("a")), 0);
}

#[test]
fn a_pod_that_does_not_say_since_when_it_is_ready_goes_before_those_that_do() {
    let pods = vec![
        ready(pod("a"), ago(1)),
        ready(pod("b"), None),
        ready(pod("c"), ago(90)),
    ];
    assert_eq!(order(pods), "b a");
}

#[test]
fn ready_times_are_compared_by_powers_of_two_and_uids_within_one() {
    // 8.59 s and 17.18 s are 2^33 and 2^34 nanoseconds.
    let pods = vec![
        ready(pod("c"), ago(9)),
        ready(pod("b"), ago(17)),
        ready(pod("a"), ago(18)),
        ready(pod("d"), ago(8)),
    ];
    assert_eq!(order(pods), "d b c");
}

#[test]
fn what_became_ready_in_the_future_is_younger_than_anything() {
    let pods = vec![
        ready(pod("b"), ago(-5)),
        ready(pod("a"), ago(1)),
        ready(pod("c"), ago(0)),
    ];
    assert_eq!(order(pods), "b c");
}

#[test]
fn more_restarts_go_first_containers_before_sidecars() {
    let pods = vec![
        init_restarted(restarted(pod("a"), &[1]), 9, Some("Always")),
        restarted(pod("b"), &[2, 0]),
        init_restarted(restarted(pod("c"), &[1]), 3, Some("Always")),
        init_restarted(restarted(pod("d"), &[1]), 99, None),
    ];
    assert_eq!(order(pods), "b a c");
}

#[test]
fn the_younger_goes_first_at_last_and_the_undated_before_all() {
    let pods = vec![
        created(pod("a"), ago(4_000)),
        created(pod("b"), ago(10)),
        created(pod("c"), None),
        created(pod("d"), ago(600)),
    ];
    assert_eq!(order(pods), "c b d");
}

#[test]
fn pods_alike_in_everything_go_by_uid() {
    assert_eq!(order(vec![pod("c"), pod("a"), pod("d"), pod("b")]), "a b c");
}

#[test]
fn where_pairs_run_in_a_circle_pods_of_one_instant_stay_together() {
    // c has more restarts than a and became ready with it; b became ready at another instant of
    // the same bucket. Pair by pair: c before a, a before b, b before c.
    let pods = vec![
        restarted(ready(pod("a"), ago(10)), &[0]),
        ready(pod("b"), ago(11)),
        restarted(ready(pod("c"), ago(10)), &[5]),
        ready(pod("d"), ago(12)),
    ];
    assert_eq!(order(pods), "c a b");
}

#[test]
fn deleting_all_needs_no_ranking() {
    let (a, b) = (pod("a"), pod("b"));
    let pods = [&b, &a];
    let on_node = HashMap::new();
    let ranking = Ranking {
        on_node: &on_node,
        deletion_cost: true,
        now: NOW,
    };
    for count in [2, 5] {
        let names: Vec<_> = victims(&pods, count, ranking)
            .iter()
            .map(|pod| pod.metadata.name.clone())
            .collect();
        assert_eq!(names, ["a", "b"]);
    }
    assert!(victims(&pods, 0, ranking).is_empty());
}
