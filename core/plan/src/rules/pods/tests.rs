use flyball_api::views::{PodCondition, PodStatus};

use super::*;

fn at(seconds: u64) -> Timestamp {
    Timestamp::UNIX_EPOCH.saturating_add(Duration::from_secs(seconds))
}

fn pod(phase: Phase, deleting: bool) -> Pod {
    let mut pod = Pod::default();
    pod.status.phase = phase;
    pod.metadata.deletion_timestamp = deleting.then(|| at(0));
    pod
}

/// A pod whose readiness is this, since then.
fn ready(status: ConditionStatus, since: Option<Timestamp>) -> Pod {
    let ready = PodCondition {
        kind: "Ready".into(),
        status,
        last_transition_time: since,
    };
    let conditions = Box::new([ready]);
    let status = PodStatus {
        phase: Phase::Running,
        conditions,
        ..PodStatus::default()
    };
    Pod {
        status,
        ..Pod::default()
    }
}

#[test]
fn what_a_pod_counts_as_follows_from_phase_and_deletion() {
    // (phase, deleting) → (terminal, active, terminating)
    let cases = [
        (Phase::Pending, false, (false, true, false)),
        (Phase::Running, false, (false, true, false)),
        (Phase::Unknown, false, (false, true, false)),
        (Phase::Unset, false, (false, true, false)),
        (Phase::Succeeded, false, (true, false, false)),
        (Phase::Failed, false, (true, false, false)),
        (Phase::Pending, true, (false, false, true)),
        (Phase::Running, true, (false, false, true)),
        (Phase::Unset, true, (false, false, true)),
        (Phase::Succeeded, true, (true, false, false)),
        (Phase::Failed, true, (true, false, false)),
    ];
    for (phase, deleting, expected) in cases {
        let pod = pod(phase, deleting);
        let counts = (is_terminal(&pod), is_active(&pod), is_terminating(&pod));
        assert_eq!(counts, expected, "{phase:?} {deleting}");
    }
}

#[test]
fn only_a_true_condition_is_ready() {
    assert!(!is_ready(&Pod::default()));
    assert!(is_ready(&ready(ConditionStatus::True, None)));
    assert!(!is_ready(&ready(ConditionStatus::False, Some(at(1)))));
    assert!(!is_ready(&ready(ConditionStatus::Unknown, Some(at(1)))));
    assert_eq!(
        ready_since(&ready(ConditionStatus::True, Some(at(1)))),
        Some(at(1))
    );
    assert_eq!(
        ready_since(&ready(ConditionStatus::False, Some(at(1)))),
        None
    );
}

#[test]
fn availability_is_readiness_that_lasted() {
    // Upstream: pkg/api/v1/pod/util.go, IsPodAvailable; controller_utils.go,
    // nextPodAvailabilityCheck.
    let since = Some(at(100));
    let yes = ConditionStatus::True;
    // (pod, minReadySeconds, now) → how long until available
    let cases = [
        (ready(yes, since), 0, 100, Some(0)),
        (ready(yes, None), 0, 100, Some(0)),
        (ready(yes, since), 10, 100, Some(10)),
        (ready(yes, since), 10, 109, Some(1)),
        (ready(yes, since), 10, 110, Some(0)),
        (ready(yes, since), 10, 500, Some(0)),
        // Ready in the future, by another clock: wait for it.
        (ready(yes, since), 10, 90, Some(20)),
        // Waiting cannot help one that does not say since when, or is not ready.
        (ready(yes, None), 10, 100, None),
        (ready(ConditionStatus::False, since), 0, 500, None),
        (Pod::default(), 0, 500, None),
        (ready(yes, since), i32::MAX, 100, Some(i32::MAX as u64)),
    ];
    for (i, (pod, min_ready_seconds, now, expected)) in cases.into_iter().enumerate() {
        let expected = expected.map(Duration::from_secs);
        assert_eq!(
            available_in(&pod, min_ready_seconds, at(now)),
            expected,
            "case {i}"
        );
        let available = expected == Some(Duration::ZERO);
        assert_eq!(
            is_available(&pod, min_ready_seconds, at(now)),
            available,
            "case {i}"
        );
    }
}
