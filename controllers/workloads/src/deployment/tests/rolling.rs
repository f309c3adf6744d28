//! Rolling updates, step by step. Tables after upstream's `rolling_test.go`.

use super::super::limits::Limits;
use super::super::rolling::shrink;
use super::*;

/// Replicas 10; old sets as size and available, oldest first; the new one likewise.
fn shrunk(unavailable: i32, old: &[(i32, i32)], new: (i32, i32)) -> Vec<i32> {
    let limits = Limits {
        replicas: 10,
        surge: 0,
        unavailable,
    };
    let old: Vec<Set> = old
        .iter()
        .enumerate()
        .map(|(at, (size, up))| member(&format!("v{}", at + 1), *size, available(*up)))
        .collect();
    let edits = shrink(&limits, &member("v9", new.0, available(new.1)), &old);
    let size = |set: &Set| {
        let edit = edits.iter().find(|edit| edit.set.name() == set.name());
        edit.and_then(|edit| edit.replicas)
            .unwrap_or(set.replicas())
    };
    old.iter().map(size).collect()
}

#[test]
fn old_pods_go_as_far_as_availability_allows() {
    type Row = (i32, &'static [(i32, i32)], (i32, i32), &'static [i32]);
    let table: [Row; 13] = [
        // Nothing to spare, something to spare.
        (0, &[(10, 10)], (0, 0), &[10]),
        (2, &[(10, 10)], (0, 0), &[8]),
        // Unavailable pods go first, alone or with available ones.
        (2, &[(10, 8)], (0, 0), &[8]),
        (2, &[(10, 9)], (0, 0), &[8]),
        (2, &[(10, 1)], (0, 0), &[8]),
        // New pods that are not available yet hold the old ones.
        (2, &[(8, 8)], (2, 0), &[8]),
        (2, &[(8, 8)], (5, 0), &[8]),
        (2, &[(8, 8)], (5, 5), &[3]),
        // A roll-over: two old sets, the new one has nothing yet.
        (2, &[(8, 8), (5, 0)], (0, 0), &[8, 0]),
        // A rollback from a broken set.
        (2, &[(5, 0)], (8, 7), &[1]),
        // The oldest shrinks first.
        (2, &[(3, 3), (7, 7)], (3, 3), &[0, 5]),
        // A set whose status has not caught up stops it.
        (2, &[(6, 8), (4, 4)], (2, 2), &[6, 4]),
        // Sets without pods have nothing to give.
        (2, &[(0, 0), (10, 10)], (0, 0), &[0, 8]),
    ];
    for (unavailable, old, new, want) in table {
        assert_eq!(
            shrunk(unavailable, old, new),
            want,
            "{unavailable}: {old:?}, new {new:?}"
        );
    }
}

fn limited(surge: Value, unavailable: Value) -> Value {
    let bounds = json!({"maxSurge": surge, "maxUnavailable": unavailable});
    json!({"spec": {"strategy": {"rollingUpdate": bounds}}})
}

#[test]
fn the_new_set_grows_first_and_nothing_else_happens_then() {
    let sets = [set("v1", 10, sized(10, 12)), set("v2", 0, sized(10, 12))];
    let run = run(&store(deployment(10, limited(json!(2), json!(2))), sets));
    assert_eq!(
        run.writes(),
        [
            "patch replicasets web-v2 to 2",
            "update deployments/status web"
        ]
    );
    assert_eq!(
        run.messages(),
        ["ScalingReplicaSet: Scaled up replica set web-v2 from 0 to 2"]
    );
    assert_eq!(run.rest.report.rule.code, "NewReplicaSetScaled");
    let patch = body(&run.stages[0].items[0]);
    let want =
        json!({"metadata": {"uid": "rs-v2", "resourceVersion": "5"}, "spec": {"replicas": 2}});
    assert_eq!(patch, want);
}

#[test]
fn a_new_set_that_is_too_large_shrinks() {
    let sets = [set("v1", 2, sized(10, 12)), set("v2", 11, sized(10, 12))];
    let run = run(&store(deployment(10, limited(json!(2), json!(0))), sets));
    assert_eq!(run.writes()[0], "patch replicasets web-v2 to 10");
    assert_eq!(
        run.messages(),
        ["ScalingReplicaSet: Scaled down replica set web-v2 from 11 to 10"]
    );
}

#[test]
fn old_sets_shrink_when_the_new_one_cannot_grow() {
    let sets = [
        set("v0", 0, sized(10, 12)),
        set("v1", 10, sized(10, 12)),
        set("v2", 2, merged(sized(10, 12), available(1))),
    ];
    let run = run(&store(deployment(10, limited(json!(2), json!(2))), sets));
    assert_eq!(
        run.writes(),
        [
            "patch replicasets web-v1 to 7",
            "update deployments/status web"
        ]
    );
    let message = "ScalingReplicaSet: Scaled down replica set web-v1 from 10 to 7";
    assert_eq!(run.messages(), [message]);
    assert!(
        run.rest
            .report
            .to_string()
            .contains("ReplicaSet shop/web-v2 to have 1 more pod available")
    );
}

#[test]
fn failing_to_shrink_old_sets_does_not_keep_the_status_from_being_written() {
    let sets = [set("v1", 10, sized(10, 12)), set("v2", 2, sized(10, 12))];
    let store = store(deployment(10, limited(json!(2), json!(2))), sets);
    let run = run_with(&store, |action| match action {
        Action::Write(write) if write.verb == Verb::StrategicPatch => refused(409, "Conflict"),
        other => granted(other),
    });
    assert_eq!(run.stage_names(), ["old", "status"]);
    assert_eq!(run.failed_with(), Some("refused: Conflict"));
}

#[test]
fn failing_to_grow_the_new_set_ends_the_sync() {
    let sets = [set("v1", 10, sized(10, 12)), set("v2", 0, sized(10, 12))];
    let store = store(deployment(10, limited(json!(2), json!(2))), sets);
    let run = run_with(&store, |action| match action {
        Action::Write(write) if write.verb == Verb::StrategicPatch => refused(500, "InternalError"),
        other => granted(other),
    });
    assert_eq!(run.stage_names(), ["new"]);
    assert_eq!(run.failed_with(), Some("refused: InternalError"));
}

#[test]
fn rolling_back_by_hand_numbers_and_grows_the_old_set_in_one_write() {
    // The template is v1's again, so v1 is the new one and v2 an old one.
    let change = merged(
        limited(json!(2), json!(2)),
        json!({"spec": {"template": template("v1")}}),
    );
    let sets = [set("v1", 0, sized(10, 12)), set("v2", 10, sized(10, 12))];
    let run = run(&store(deployment(10, change), sets));
    assert_eq!(
        run.writes(),
        [
            "patch replicasets web-v1 to 2",
            "update deployments/status web"
        ]
    );
    let annotations = &body(&run.stages[0].items[0])["metadata"]["annotations"];
    let want = json!({"deployment.kubernetes.io/revision": "3",
        "deployment.kubernetes.io/revision-history": "1"});
    assert_eq!(*annotations, want);
    let status = run.status_body();
    assert_eq!(
        status["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "3"
    );
}
