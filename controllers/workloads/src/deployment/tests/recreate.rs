//! Recreation, step by step. After upstream's `recreate_test.go`.

use super::super::recreate::old_pods_remain;
use super::*;

fn recreate(replicas: i32) -> Deployment {
    let strategy = json!({"type": "Recreate", "rollingUpdate": null});
    deployment(replicas, json!({"spec": {"strategy": strategy}}))
}

#[test]
fn old_sets_go_to_zero_before_anything_is_created() {
    let run = run(&store(
        recreate(4),
        [set("v0", 2, json!({})), set("v1", 4, json!({}))],
    ));
    assert_eq!(
        run.writes(),
        [
            "patch replicasets web-v0 to 0",
            "patch replicasets web-v1 to 0",
            "update deployments/status web"
        ]
    );
    assert_eq!(run.messages().len(), 2);
}

#[test]
fn nothing_is_created_while_old_pods_remain() {
    let counted = set("v1", 0, json!({"status": {"replicas": 1}}));
    let waits = run(&store(recreate(4), [counted]));
    assert_eq!(waits.writes(), ["update deployments/status web"]);
    assert!(
        waits
            .rest
            .report
            .to_string()
            .contains("ReplicaSet shop/web-v1 to delete 1 pod")
    );

    for (phase, waits) in [
        ("Running", true),
        ("Pending", true),
        ("Unknown", true),
        ("Failed", false),
        ("Succeeded", false),
    ] {
        let pod = pod("p", "v1", json!({"status": {"phase": phase}}));
        let store = SnapshotBuilder::new()
            .add(recreate(4))
            .add(set("v1", 0, json!({})))
            .add(pod)
            .build();
        let run = run(&store);
        assert_eq!(!run.stage_names().contains(&"create"), waits, "{phase}");
    }
}

#[test]
fn pods_of_the_new_set_are_not_waited_for() {
    let new = member("v2", 4, json!({}));
    let busy = Set {
        has_live_pods: true,
        ..new
    };
    assert!(!old_pods_remain(&family(Some(busy.clone()), vec![])));
    assert!(old_pods_remain(&family(None, vec![busy])));
}

#[test]
fn the_new_set_is_created_in_full_size() {
    let run = run(&store(recreate(4), [set("v1", 0, json!({}))]));
    assert_eq!(
        run.writes(),
        [
            "create replicasets (new) to 4",
            "update deployments/status web"
        ]
    );
    let name = body(&run.stages[0].items[0])["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let message = format!("ScalingReplicaSet: Scaled up replica set {name} from 0 to 4");
    assert_eq!(run.messages(), [message]);
}

#[test]
fn an_existing_new_set_is_scaled_to_full_size() {
    let run = run(&store(recreate(4), [set("v2", 0, sized(4, 4))]));
    assert_eq!(
        run.writes(),
        [
            "patch replicasets web-v2 to 4",
            "update deployments/status web"
        ]
    );
}
