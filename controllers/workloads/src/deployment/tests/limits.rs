//! Limits and the size of the new ReplicaSet. Tables after upstream's `TestMaxUnavailable`,
//! `TestResolveFenceposts`, `TestNewRSNewReplicas` and
//! `TestDeploymentController_reconcileNewReplicaSet`.

use super::super::limits::{Limits, Strategy};
use super::*;

fn limits(replicas: i32, surge: Value, unavailable: Value) -> Limits {
    let bounds = json!({"maxSurge": surge, "maxUnavailable": unavailable});
    let change = json!({"spec": {"strategy": {"rollingUpdate": bounds}}});
    Limits::of(&deployment(replicas, change))
}

#[test]
fn surge_rounds_up_and_unavailable_rounds_down_and_is_capped() {
    // Replicas, surge, unavailable → surge, unavailable.
    let table = [
        (10, json!(5), json!(3), 5, 3),
        (10, json!("25%"), json!("25%"), 3, 2),
        (10, json!(0), json!("50%"), 0, 5),
        (5, json!(1), json!(10), 1, 5),
        (5, json!(0), json!(0), 0, 1),
        (1, json!("0%"), json!("1%"), 0, 1),
        (0, json!("25%"), json!("25%"), 0, 0),
        (0, json!(3), json!(3), 3, 0),
        (3, Value::Null, Value::Null, 0, 1),
        (3, json!("nonsense"), json!(1), 0, 0),
    ];
    for (replicas, surge, unavailable, want_surge, want_unavailable) in table {
        let limits = limits(replicas, surge.clone(), unavailable.clone());
        let want = Limits {
            replicas,
            surge: want_surge,
            unavailable: want_unavailable,
        };
        assert_eq!(limits, want, "{replicas} {surge} {unavailable}");
    }
}

#[test]
fn only_a_rolling_update_may_stray() {
    let recreate = deployment(4, json!({"spec": {"strategy": {"type": "Recreate"}}}));
    assert_eq!(
        Limits::of(&recreate),
        Limits {
            replicas: 4,
            surge: 0,
            unavailable: 0
        }
    );
}

#[test]
fn the_new_set_grows_into_the_room_that_is_left() {
    // Surge, total, new → size, for 10 replicas.
    let table = [
        (0, 10, 0, 0),
        (2, 10, 0, 2),
        (2, 5, 0, 7),
        (2, 12, 2, 2),
        (2, 6, 6, 10),
        (3, 13, 5, 5),
    ];
    for (surge, total, new, want) in table {
        let limits = limits(10, json!(surge), json!(1));
        let size = limits.size_of_new(&Strategy::RollingUpdate, total, new);
        assert_eq!(size, Ok(want), "surge {surge}, total {total}, new {new}");
    }
}

#[test]
fn a_recreation_starts_in_full_size_and_an_unknown_strategy_does_not_start() {
    let limits = Limits {
        replicas: 5,
        surge: 0,
        unavailable: 0,
    };
    assert_eq!(limits.size_of_new(&Strategy::Recreate, 10, 0), Ok(5));
    let unknown = Strategy::Unknown("BlueGreen".to_owned());
    assert!(
        limits
            .size_of_new(&unknown, 0, 0)
            .unwrap_err()
            .contains("BlueGreen")
    );
}
