//! Progress, its deadline, and when to look again. After upstream's `progress_test.go` and
//! `TestDeploymentComplete`, `TestDeploymentProgressing`, `TestDeploymentTimedOut`.

use std::time::Duration;

use flyball_api::views::DeploymentStatus;

use super::super::progress::{
    deadline, has_progressed, is_complete, is_timed_out, judge, judge_again_after,
};
use super::*;

fn status(replicas: i32, updated: i32, ready: i32, available: i32) -> DeploymentStatus {
    DeploymentStatus {
        observed_generation: 2,
        replicas,
        updated_replicas: updated,
        ready_replicas: ready,
        available_replicas: available,
        ..DeploymentStatus::default()
    }
}

/// A status whose Progressing condition was said for this reason so many seconds ago.
fn said(status: &str, reason: &str, seconds: i64) -> Value {
    json!({"status": {"replicas": 3, "conditions": [
        {"type": "Progressing", "status": status, "reason": reason, "message": "m",
            "lastUpdateTime": ago(seconds), "lastTransitionTime": ago(seconds + 50)}]}})
}

#[test]
fn complete_means_all_new_all_available_and_observed() {
    let table = [
        (status(5, 5, 5, 5), true),
        (status(4, 4, 4, 4), false),
        (status(6, 5, 6, 6), false),
        (status(5, 4, 5, 5), false),
        (status(5, 5, 5, 4), false),
        (
            DeploymentStatus {
                observed_generation: 1,
                ..status(5, 5, 5, 5)
            },
            false,
        ),
        (
            DeploymentStatus {
                observed_generation: 3,
                ..status(5, 5, 5, 5)
            },
            true,
        ),
    ];
    for (status, want) in table {
        assert_eq!(
            is_complete(&deployment(5, json!({})), &status),
            want,
            "{status:?}"
        );
    }
    assert!(is_complete(&deployment(0, json!({})), &status(0, 0, 0, 0)));
}

#[test]
fn progress_is_more_new_fewer_old_more_ready_or_more_available() {
    let before = status(10, 4, 4, 4);
    let table = [
        (status(10, 4, 4, 4), false),
        (status(10, 6, 4, 4), true),
        (status(8, 4, 4, 4), true),
        (status(10, 4, 5, 4), true),
        (status(10, 4, 4, 5), true),
        (status(10, 1, 4, 4), false),
        (status(10, 4, 3, 3), false),
    ];
    for (now, want) in table {
        assert_eq!(has_progressed(&before, &now), want, "{now:?}");
    }
}

#[test]
fn the_deadline_runs_from_the_last_word_about_progress() {
    assert_eq!(
        deadline(&deployment(1, json!({}))),
        Some(Duration::from_secs(600))
    );
    for none in [json!(null), json!(i32::MAX)] {
        let without = deployment(1, json!({"spec": {"progressDeadlineSeconds": none}}));
        assert_eq!(deadline(&without), None);
    }
    let table = [
        ("NewReplicaSetCreated", 599, false),
        ("NewReplicaSetCreated", 600, false),
        ("NewReplicaSetCreated", 601, true),
        ("ReplicaSetUpdated", 601, true),
        ("DeploymentResumed", 601, true),
        ("ProgressDeadlineExceeded", 1, true),
        ("NewReplicaSetAvailable", 10_000, false),
    ];
    for (reason, seconds, want) in table {
        let deployment = deployment(3, said("True", reason, seconds));
        assert_eq!(
            is_timed_out(&deployment, &deployment.status, NOW),
            want,
            "{reason} {seconds}"
        );
    }
    let silent = deployment(3, json!({}));
    assert!(!is_timed_out(&silent, &silent.status, NOW));
}

/// The Progressing condition after judging, as status, reason, update and transition seconds ago.
fn judged(deployment: &Deployment, now: DeploymentStatus) -> Option<(String, i64, i64)> {
    let mut status = DeploymentStatus {
        conditions: deployment.status.conditions.clone(),
        ..now
    };
    judge(
        deployment,
        &deployment.status,
        &mut status,
        "ReplicaSet \"web-v2\"",
        NOW,
    );
    let condition = status.conditions.iter().find(|c| c.kind == "Progressing")?;
    let seconds = |at: Option<Timestamp>| NOW.unix_seconds() - at.unwrap().unix_seconds();
    let (update, transition) = (condition.last_update_time, condition.last_transition_time);
    let text = format!(
        "{:?} {}: {}",
        condition.status, condition.reason, condition.message
    );
    Some((text, seconds(update), seconds(transition)))
}

#[test]
fn progress_is_said_anew_each_time_and_completion_once() {
    let going = deployment(3, said("True", "ReplicaSetUpdated", 100));
    let progressed = "True ReplicaSetUpdated: ReplicaSet \"web-v2\" is progressing.";
    assert_eq!(
        judged(&going, status(3, 1, 0, 0)).unwrap(),
        (progressed.to_owned(), 0, 150)
    );

    let paused = deployment(3, said("Unknown", "DeploymentResumed", 100));
    assert_eq!(
        judged(&paused, status(3, 1, 0, 0)).unwrap(),
        (progressed.to_owned(), 0, 0)
    );

    let complete =
        "True NewReplicaSetAvailable: ReplicaSet \"web-v2\" has successfully progressed.";
    assert_eq!(
        judged(&going, status(3, 3, 3, 3)).unwrap(),
        (complete.to_owned(), 0, 150)
    );

    let stuck = deployment(3, said("True", "ReplicaSetUpdated", 700));
    let late = "False ProgressDeadlineExceeded: ReplicaSet \"web-v2\" has timed out progressing.";
    assert_eq!(
        judged(&stuck, status(3, 0, 0, 0)).unwrap(),
        (late.to_owned(), 0, 0)
    );
    // Standing still within the deadline changes nothing.
    assert_eq!(judged(&going, status(3, 0, 0, 0)).unwrap().1, 100);
    // A timeout is taken back by progress.
    let failed = deployment(3, said("False", "ProgressDeadlineExceeded", 700));
    assert_eq!(
        judged(&failed, status(3, 1, 1, 1)).unwrap(),
        (progressed.to_owned(), 0, 0)
    );
}

#[test]
fn a_finished_roll_out_is_not_judged_again() {
    let finished = deployment(3, said("True", "NewReplicaSetAvailable", 9000));
    let (text, update, _) = judged(&finished, status(2, 2, 1, 1)).unwrap();
    assert!(text.starts_with("True NewReplicaSetAvailable: m"), "{text}");
    assert_eq!(update, 9000);
}

#[test]
fn without_a_deadline_nothing_is_said_about_progress() {
    let change = merged(
        said("True", "ReplicaSetUpdated", 9),
        json!({"spec": {"progressDeadlineSeconds": null}}),
    );
    assert_eq!(judged(&deployment(3, change), status(3, 1, 1, 1)), None);
}

#[test]
fn a_roll_out_that_stands_still_is_looked_at_when_its_deadline_is_over() {
    let wait = |reason: &str, seconds: i64| {
        let deployment = deployment(3, said("True", reason, seconds));
        judge_again_after(&deployment, &deployment.status, NOW).map(|wait| wait.as_millis())
    };
    assert_eq!(wait("ReplicaSetUpdated", 100), Some(501_000));
    assert_eq!(wait("ReplicaSetUpdated", 600), Some(1));
    assert_eq!(wait("ProgressDeadlineExceeded", 100), None);
    // Time alone does not change the verdict about a success.
    assert_eq!(wait("NewReplicaSetAvailable", 100), None);
    let silent = deployment(3, json!({}));
    assert_eq!(judge_again_after(&silent, &silent.status, NOW), None);
}

#[test]
fn a_sync_that_changes_nothing_waits_for_the_deadline() {
    let sets = || [set("v2", 3, merged(sized(3, 4), available(0)))];
    let first = run(&store(deployment(3, json!({})), sets()));
    assert_eq!(first.rest.revisit, Revisit::OnChange);
    let written = json!({"status": first.status_body()["status"].clone()});
    let second = run(&store(deployment(3, written), sets()));
    assert_eq!(second.writes(), [""; 0]);
    assert_eq!(
        second.rest.revisit,
        Revisit::After(Duration::from_secs(601))
    );
}
