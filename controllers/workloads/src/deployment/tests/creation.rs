//! How the new ReplicaSet comes to be, or does not.

use super::super::creation::name;
use super::*;

fn created(run: &Run) -> Value {
    body(
        run.actions()
            .find(|action| action.write().is_some_and(Write::is_create))
            .unwrap(),
    )
}

#[test]
fn a_fresh_deployment_gets_a_set_that_carries_its_template_unchanged() {
    let change = json!({"metadata": {"annotations": {"team": "a",
        "deployment.kubernetes.io/revision": null}},
        "spec": {"minReadySeconds": 7}});
    let run = run(&store(deployment(3, change), []));
    assert_eq!(
        run.writes(),
        [
            "create replicasets (new) to 3",
            "update deployments/status web"
        ]
    );
    let set = created(&run);
    let hash = set["metadata"]["labels"]["pod-template-hash"]
        .as_str()
        .unwrap()
        .to_owned();
    let labels = json!({"app": "web", "pod-template-hash": hash});
    assert_eq!(
        set,
        json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {"name": format!("web-{hash}"), "namespace": "shop", "labels": labels,
                "annotations": {"team": "a", "deployment.kubernetes.io/revision": "1",
                    "deployment.kubernetes.io/desired-replicas": "3",
                    "deployment.kubernetes.io/max-replicas": "4"},
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web",
                    "uid": "d-1", "controller": true, "blockOwnerDeletion": true}]},
            "spec": {"replicas": 3, "minReadySeconds": 7, "selector": {"matchLabels": labels},
                "template": merged(template("v2"), json!({"metadata": {"labels": labels}}))},
        })
    );

    let message = format!("ScalingReplicaSet: Scaled up replica set web-{hash} from 0 to 3");
    assert_eq!(run.messages(), [message]);
    let status = run.status_body();
    assert_eq!(
        status["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "1"
    );
    assert_eq!(status["metadata"]["resourceVersion"], "7");
    assert!(status.get("spec").is_none());
    assert_eq!(status["status"]["observedGeneration"], 2);
    assert_eq!(status["status"]["unavailableReplicas"], 3);
    assert_eq!(
        run.conditions(),
        [
            "Progressing=True NewReplicaSetCreated",
            "Available=False MinimumReplicasUnavailable"
        ]
    );
    assert_eq!(
        status["status"]["conditions"][0]["message"],
        format!("Created new replica set \"web-{hash}\"")
    );
}

#[test]
fn a_roll_out_begins_with_the_surge_and_may_take_old_pods_in_the_same_sync() {
    let bounds =
        json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}}});
    let run = run(&store(
        deployment(10, bounds),
        [set("v1", 10, sized(10, 13))],
    ));
    assert_eq!(
        run.writes(),
        [
            "create replicasets (new) to 3",
            "patch replicasets web-v1 to 8",
            "update deployments/status web"
        ]
    );
    assert_eq!(
        created(&run)["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "2"
    );
}

#[test]
fn names_stay_within_the_limit_of_names() {
    assert_eq!(name("web", "abc"), "web-abc");
    let long = "w".repeat(250);
    let cut = name(&long, "0123456789");
    assert_eq!(cut.len(), 253);
    assert!(cut.ends_with("w-0123456789"));
}

/// A server that has a ReplicaSet of every name already, which is `namesake`.
fn collide(change: Value, namesake: impl Fn(Value) -> Value) -> Run {
    let mut wanted = Value::Null;
    run_with(
        &store(deployment(3, change), []),
        move |action| match action {
            Action::Write(write) if write.is_create() => {
                wanted = body(action);
                refused(409, "AlreadyExists")
            }
            Action::Read(Read {
                question: Question::Get { target, .. },
                ..
            }) => {
                assert_eq!(
                    target.name.name,
                    wanted["metadata"]["name"].as_str().unwrap()
                );
                let there = json!({"metadata": {"uid": "there", "resourceVersion": "50"},
                "status": {"replicas": 0}});
                let json = namesake(merged(wanted.clone(), there)).to_string();
                Answer::Read(Opaque::new(&json).unwrap())
            }
            other => granted(other),
        },
    )
}

#[test]
fn a_namesake_of_ours_with_our_template_is_the_new_set() {
    let run = collide(json!({}), |namesake| {
        merged(namesake, json!({"spec": {"replicas": 1}}))
    });
    let name = created(&run)["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        run.writes(),
        [
            "create replicasets (new) to 3",
            &format!("patch replicasets {name} to 3"),
            "update deployments/status web"
        ]
    );
    // It was not created now, so nobody says so.
    assert_eq!(
        run.messages()[1..],
        [format!(
            "ScalingReplicaSet: Scaled up replica set {name} from 1 to 3"
        )]
    );
    assert!(
        !run.conditions()
            .iter()
            .any(|c| c.contains("NewReplicaSetCreated"))
    );
}

#[test]
fn a_namesake_that_is_another_counts_as_a_collision() {
    let strangers: [Value; 2] = [
        json!({"metadata": {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment",
            "name": "web", "uid": "d-0", "controller": true}]}}),
        json!({"spec": {"template": template("v7")}}),
    ];
    for stranger in strangers {
        let run = collide(json!({}), |namesake| merged(namesake, stranger.clone()));
        assert_eq!(
            run.stage_names(),
            ["create", "examine-namesake", "count-collision"]
        );
        assert_eq!(run.status_body()["status"]["collisionCount"], 1);
        assert_eq!(run.failed_with(), Some("refused: AlreadyExists"));
    }
}

#[test]
fn a_collision_makes_another_name() {
    let first = created(&run(&store(deployment(3, json!({})), [])));
    let counted = json!({"status": {"collisionCount": 1}});
    let second = created(&run(&store(deployment(3, counted), [])));
    assert_ne!(first["metadata"]["name"], second["metadata"]["name"]);
}

#[test]
fn a_failed_creation_is_told_in_an_event_and_in_the_condition() {
    let store = store(deployment(3, json!({})), []);
    let run = run_with(&store, |action| match action {
        Action::Write(write) if write.is_create() => refused(422, "Invalid"),
        other => granted(other),
    });
    assert_eq!(run.stage_names(), ["create", "report-failure"]);
    assert_eq!(
        run.conditions(),
        ["Progressing=False ReplicaSetCreateError"]
    );
    assert_eq!(run.failed_with(), Some("refused: Invalid"));
    let name = created(&run)["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let message = format!(
        "ReplicaSetCreateError: Failed to create new replica set \"{name}\": refused: Invalid"
    );
    assert!(run.messages().contains(&message));

    // Said once: the same failure again is only told as an event.
    let said = json!({"status": run.status_body()["status"].clone()});
    let store = super::store(deployment(3, said), []);
    let again = run_with(&store, |action| match action {
        Action::Write(write) if write.is_create() => refused(422, "Invalid"),
        other => granted(other),
    });
    assert_eq!(again.writes(), ["create replicasets (new) to 3"]);
}

#[test]
fn without_a_deadline_a_failed_creation_is_only_an_event() {
    let store = store(
        deployment(3, json!({"spec": {"progressDeadlineSeconds": i32::MAX}})),
        [],
    );
    let run = run_with(&store, |action| match action {
        Action::Write(write) if write.is_create() => refused(403, "Forbidden"),
        other => granted(other),
    });
    assert_eq!(run.writes(), ["create replicasets (new) to 3"]);
    assert_eq!(run.failed_with(), Some("refused: Forbidden"));
}

#[test]
fn a_namespace_on_its_way_out_is_left_alone() {
    let store = store(deployment(3, json!({})), []);
    let run = run_with(&store, |action| match action {
        Action::Write(write) if write.is_create() => {
            let answer = json!({"code": 403, "reason": "Forbidden", "message": "going",
                "details": {"causes": [{"reason": "NamespaceTerminating"}]}});
            let status: Status = serde_json::from_value(answer).unwrap();
            Answer::Failed(ApiError::from_status(status))
        }
        other => granted(other),
    });
    assert_eq!(run.stage_names(), ["create"]);
    assert_eq!(run.rest.revisit, Revisit::OnChange);
}

#[test]
fn the_oldest_set_with_the_template_is_the_new_one_whatever_its_hash() {
    let twin =
        json!({"metadata": {"name": "web-twin", "uid": "rs-twin", "creationTimestamp": ago(10)}});
    let sets = [
        set("v2", 0, sized(2, 3)),
        set("v2", 0, merged(sized(2, 3), twin)),
    ];
    let run = run(&store(deployment(2, json!({})), sets));
    assert_eq!(run.writes()[0], "patch replicasets web-v2 to 2");
}

#[test]
fn another_spelling_of_the_same_template_restarts_nothing() {
    let resources = |cpu: &str| {
        json!({"metadata": {"creationTimestamp": null}, "spec": {"volumes": null,
            "containers": [{"name": "main", "image": "v2",
                "resources": {"limits": {"cpu": cpu}}}]}})
    };
    let labels = json!({"metadata": {"labels": {"app": "web", "pod-template-hash": "from-go"}}});
    let sets = [set(
        "v2",
        3,
        merged(
            sized(3, 4),
            json!({"spec": {
        "template": merged(resources("1000m"), labels)}}),
        ),
    )];
    let deployment = deployment(
        3,
        json!({"spec": {"template":
        merged(resources("1"), json!({"metadata": {"labels": {"app": "web"}},
            "spec": {"volumes": []}}))}}),
    );
    let run = run(&store(deployment, sets));
    assert_eq!(run.writes(), ["update deployments/status web"]);
}
