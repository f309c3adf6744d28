//! Scaling in and out of roll-outs. Tables after upstream's `TestScale` and
//! `TestFindActiveOrLatest`.

use super::super::scaling::{is_due, scale};
use super::*;

/// Sizes of the new set and of the old ones, oldest first.
type Sizes = (Option<i32>, &'static [i32]);

/// The Deployment's replicas and surge.
type Whole = (i32, i32);

fn rolling(replicas: i32, surge: i32) -> Deployment {
    let bounds = json!({"maxSurge": surge, "maxUnavailable": 1});
    let spec = json!({"strategy": {"rollingUpdate": bounds}});
    deployment(replicas, json!({"spec": spec, "status": {"replicas": 7}}))
}

/// Sets of these sizes that were sized for `before`; nothing of the new one is available, so that
/// it is never saturated.
fn sets((new, old): Sizes, before: Whole) -> Family {
    let marks = sized(before.0, before.0 + before.1);
    let old = old
        .iter()
        .enumerate()
        .map(|(at, size)| member(&format!("v{}", at + 1), *size, marks.clone()));
    let new = new.map(|size| member("v9", size, merged(marks.clone(), available(0))));
    family(new, old.collect())
}

fn sizes_after(deployment: &Deployment, family: &Family) -> (Option<i32>, Vec<i32>) {
    let edits = scale(deployment, family);
    let size = |set: &Set| {
        let edit = edits.iter().find(|edit| edit.set.name() == set.name());
        edit.and_then(|edit| edit.replicas)
            .unwrap_or(set.replicas())
    };
    (
        family.new.as_ref().map(size),
        family.old.iter().map(size).collect(),
    )
}

#[test]
fn a_scaling_is_spread_in_proportion() {
    let table: [(Whole, Whole, Sizes, Sizes); 16] = [
        // One active set gets it all.
        ((10, 0), (12, 0), (Some(10), &[]), (Some(12), &[])),
        ((10, 0), (5, 0), (Some(10), &[]), (Some(5), &[])),
        ((6, 0), (4, 0), (Some(0), &[0, 6]), (Some(0), &[0, 4])),
        // Shares.
        ((5, 0), (10, 0), (Some(2), &[3]), (Some(4), &[6])),
        ((5, 0), (3, 0), (Some(2), &[3]), (Some(1), &[2])),
        ((9, 0), (4, 0), (Some(8), &[1]), (Some(4), &[0])),
        ((7, 0), (10, 0), (Some(2), &[2, 3]), (Some(3), &[3, 4])),
        ((13, 0), (8, 0), (Some(2), &[3, 8]), (Some(1), &[2, 5])),
        // Of equals the younger grows and the older shrinks.
        ((3, 0), (4, 0), (Some(1), &[1, 1]), (Some(2), &[1, 1])),
        ((3, 0), (2, 0), (Some(1), &[1, 1]), (Some(1), &[0, 1])),
        ((4, 0), (5, 0), (None, &[2, 2]), (None, &[2, 3])),
        ((10, 0), (14, 0), (None, &[3, 7]), (None, &[4, 10])),
        // To zero.
        ((6, 0), (0, 0), (Some(3), &[1, 2]), (Some(0), &[0, 0])),
        // With surge.
        ((10, 2), (20, 2), (Some(6), &[6]), (Some(11), &[11])),
        ((10, 3), (50, 6), (Some(5), &[8]), (Some(22), &[34])),
        // New pods that are broken cost no old ones.
        ((2, 1), (2, 1), (Some(2), &[1]), (Some(2), &[1])),
    ];
    for (before, after, sizes, want) in table {
        let (deployment, family) = (rolling(after.0, after.1), sets(sizes, before));
        assert_eq!(
            is_due(&deployment, &family),
            before.0 != after.0,
            "{before:?} {after:?}"
        );
        let (new, old) = sizes_after(&deployment, &family);
        assert_eq!(
            (new, old.as_slice()),
            want,
            "{sizes:?} for {before:?} to {after:?}"
        );
    }
}

#[test]
fn without_active_sets_the_new_or_else_the_youngest_starts() {
    let after = |sizes| sizes_after(&rolling(6, 0), &sets(sizes, (6, 0)));
    assert_eq!(after((Some(0), &[0, 0])), (Some(6), vec![0, 0]));
    assert_eq!(after((None, &[0, 0])), (None, vec![0, 6]));
    assert_eq!(after((None, &[])), (None, vec![]));
}

#[test]
fn a_scaling_that_was_interrupted_goes_on_where_it_stopped() {
    let mut family = sets((Some(2), &[1, 1]), (5, 0));
    family.old[1] = member("v2", 1, sized(3, 3));
    assert_eq!(sizes_after(&rolling(5, 0), &family), (Some(2), vec![1, 2]));
}

#[test]
fn the_total_becomes_what_is_allowed_whatever_the_shares() {
    for (new, first) in [(1, 3), (2, 2), (5, 1), (4, 7), (9, 9)] {
        // In the middle of a roll-out there are as many pods as there may be.
        let before = new + first - 1;
        for after in 0..25 {
            let marks = sized(before, before + 1);
            let old = member("v1", first, marks.clone());
            let new = member("v2", new, merged(marks, available(0)));
            let total: i32 = scale(&rolling(after, 1), &family(Some(new), vec![old]))
                .iter()
                .map(|edit| edit.replicas.unwrap_or(edit.set.replicas()))
                .sum();
            let most = if after == 0 { 0 } else { after + 1 };
            assert_eq!(total, most, "{before} to {after}, old set of {first}");
        }
    }
}

#[test]
fn sets_without_marks_fall_back_to_the_status_and_change_nothing_without_it() {
    let spread = |status: i32| {
        let change = json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": 0}}},
            "status": {"replicas": status}});
        let (old, new) = (member("v1", 5, json!({})), member("v2", 5, available(0)));
        let edits = scale(&deployment(20, change), &family(Some(new), vec![old]));
        edits.iter().map(|edit| edit.replicas).collect::<Vec<_>>()
    };
    assert_eq!(spread(10), [Some(10), Some(10)]);
    // Only the leftovers move: all of it goes to the largest, of equals the younger.
    assert_eq!(spread(0), [None, Some(15)]);
}

#[test]
fn old_sets_go_to_zero_once_the_new_one_is_saturated() {
    let deployment = deployment(4, json!({}));
    let (old, new) = (member("v1", 2, sized(2, 3)), member("v2", 4, sized(4, 5)));
    let edits = scale(&deployment, &family(Some(new), vec![old]));
    let sizes: Vec<_> = edits
        .iter()
        .map(|edit| (edit.set.name(), edit.replicas))
        .collect();
    assert_eq!(sizes, [("web-v1", Some(0))]);
}

#[test]
fn a_recreation_is_not_scaled_in_proportion() {
    let deployment = deployment(4, json!({"spec": {"strategy": {"type": "Recreate"}}}));
    let (old, new) = (member("v1", 2, sized(2, 2)), member("v2", 2, sized(2, 2)));
    assert!(scale(&deployment, &family(Some(new), vec![old])).is_empty());
}

#[test]
fn a_scaling_sizes_all_sets_in_one_sync_and_tells_each() {
    let sets = [
        set("v1", 5, merged(sized(10, 13), available(5))),
        set("v2", 5, merged(sized(10, 13), available(1))),
    ];
    let run = run(&store(deployment(20, json!({})), sets));
    assert_eq!(
        run.writes(),
        [
            "patch replicasets web-v2 to 15",
            "patch replicasets web-v1 to 10",
            "update deployments/status web"
        ]
    );
    assert_eq!(
        run.messages(),
        [
            "ScalingReplicaSet: Scaled up replica set web-v2 from 5 to 15",
            "ScalingReplicaSet: Scaled up replica set web-v1 from 5 to 10"
        ]
    );
    let patch = body(&run.stages[0].items[0]);
    assert_eq!(
        patch["metadata"]["annotations"],
        json!({"deployment.kubernetes.io/desired-replicas": "20",
            "deployment.kubernetes.io/max-replicas": "25"})
    );
}

#[test]
fn a_set_of_the_right_size_learns_what_it_was_sized_for() {
    // Upstream takes this for a scaling for ever.
    let run = run(&store(
        deployment(3, json!({})),
        [set("v2", 3, sized(2, 3))],
    ));
    assert_eq!(run.stage_names(), ["sizes", "status"]);
    assert!(body(&run.stages[0].items[0]).get("spec").is_none());
    assert!(run.messages().is_empty());
}
