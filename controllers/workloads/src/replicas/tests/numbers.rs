//! Too few and too many.

use super::*;

fn bodies(actions: &Actions) -> Vec<&str> {
    actions
        .items
        .iter()
        .map(|action| match action {
            Action::Write(write) if write.is_create() => write.body.json(),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn the_right_number_of_ready_pods_is_left_in_peace() {
    let played = sync(&store(set(2, json!({})), [pod("a"), pod("b")]));
    assert!(played.stages.is_empty());
    assert_eq!(played.rest.revisit, Revisit::OnChange);
    assert_eq!(
        played.rest.report.to_string(),
        "the right number of pods: desired 2, active 2, ready 2, available 2, terminating 0"
    );
}

#[test]
fn creates_what_is_missing_in_growing_batches_and_tells_of_each() {
    let played = sync(&store(set(3, json!({})), [pod("a")]));
    assert_eq!(played.stages(), ["create", "tell"]);
    let create = played.stage("create");
    assert_eq!(create.pace, Pace::SlowStart);
    let bodies = bodies(create);
    assert_eq!(bodies.len(), 2);
    let body = json_of(bodies[0]);
    assert_eq!(body["metadata"]["generateName"], "web-");
    assert_eq!(body["metadata"]["ownerReferences"][0]["uid"], "set-1");
    assert_eq!(played.told(), ["SuccessfulCreate Created pod: web-made"; 2]);
    assert_eq!(
        played
            .rest
            .report
            .waits_for
            .as_ref()
            .map(ToString::to_string)
            .as_deref(),
        Some("ReplicaSet shop/web to have 2 more pods available")
    );
}

#[test]
fn a_template_field_that_nobody_knows_reaches_the_pods_unchanged() {
    let spec = r#"{"fromTheFuture":{"b":1.50,"a":[null,"\u00e9"]},"containers":[]}"#;
    let text = format!(
        r#"{{"metadata":{{"name":"web","namespace":"shop","uid":"set-1",
           "resourceVersion":"7"}},"spec":{{"replicas":1,
           "selector":{{"matchLabels":{{"app":"web"}}}},
           "template":{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{spec}}}}}}}"#
    );
    let owner = ReplicaSet::decode(text.as_bytes()).unwrap();
    let played = sync(&store(owner, []));
    assert!(bodies(played.stage("create"))[0].ends_with(&format!(r#""spec":{spec}}}"#)));
}

#[test]
fn ended_and_terminating_pods_are_replaced() {
    let pods = [
        pod("a"),
        pod_with("b", json!({"status": {"phase": "Failed"}})),
        pod_with("c", json!({"status": {"phase": "Succeeded"}})),
        pod_with("d", json!({"metadata": {"deletionTimestamp": ago(1)}})),
    ];
    assert_eq!(
        sync(&store(set(4, json!({})), pods))
            .stage("create")
            .items
            .len(),
        3
    );
}

#[test]
fn one_sync_creates_at_most_a_burst() {
    let played = sync(&store(set(10_000, json!({})), []));
    assert_eq!(played.stage("create").items.len(), BURST);
}

#[test]
fn replicas_default_to_one_and_never_go_below_none() {
    for (replicas, missing) in [(json!(null), Some(1)), (json!(-3), None), (json!(0), None)] {
        let played = sync(&store(set(0, json!({"spec": {"replicas": replicas}})), []));
        let created = played.stages.iter().find(|stage| stage.stage == "create");
        assert_eq!(
            created.map(|stage| stage.items.len()),
            missing,
            "{replicas}"
        );
    }
    let played = sync(&store(
        set(0, json!({"spec": {"replicas": -3}})),
        [pod("a")],
    ));
    assert_eq!(deleted(played.stage("delete")), ["a"]);
}

#[test]
fn the_first_failed_create_is_told_written_and_tried_again() {
    let store = store(set(3, json!({})), []);
    let mut calls = 0;
    let played = play(&store, |stage, action| {
        calls += 1;
        match (stage, calls) {
            ("create", 1) => done("web-made"),
            ("create", 2) => failed(403, "Forbidden", "pods \"web-\" is forbidden: quota"),
            ("create", _) => Answer::Skipped,
            _ => granted(action),
        }
    });
    assert_eq!(
        played.told(),
        [
            "SuccessfulCreate Created pod: web-made",
            "FailedCreate Error creating: pods \"web-\" is forbidden: quota",
        ]
    );
    let condition = json!({"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
        "lastTransitionTime": NOW.to_string(), "message": "pods \"web-\" is forbidden: quota"});
    assert_eq!(played.status().unwrap()["conditions"], json!([condition]));
    assert_eq!(played.error(), Some("pods \"web-\" is forbidden: quota"));
}

#[test]
fn a_namespace_on_its_way_out_is_no_failure() {
    let status = json_of(
        r#"{"status":"Failure","code":403,"reason":"Forbidden","message":"no new content",
            "details":{"causes":[{"reason":"NamespaceTerminating"}]}}"#,
    );
    let error = ApiError::from_status(serde_json::from_value(status).unwrap());
    let store = store(set(3, json!({"status": {"replicas": 0}})), []);
    let played = play(&store, |stage, action| match stage {
        "create" => Answer::Failed(error.clone()),
        _ => granted(action),
    });
    assert!(played.told().is_empty());
    assert_eq!(played.status().unwrap().get("conditions"), None);
    assert_eq!(played.rest.revisit, Revisit::OnChange);
    assert_eq!(
        played
            .rest
            .report
            .waits_for
            .as_ref()
            .map(ToString::to_string)
            .as_deref(),
        Some("Namespace shop to be deleted")
    );
}

#[test]
fn a_template_that_makes_no_pods_is_refused_without_asking() {
    for (template, message) in [
        (
            json!({"metadata": {"labels": null}}),
            "unable to create pods, no labels",
        ),
        (
            json!({"metadata": {"labels": {"app": "other"}}}),
            "unable to create pods, the selector does not match them",
        ),
    ] {
        let played = sync(&store(set(1, json!({"spec": {"template": template}})), []));
        assert_eq!(played.stages(), ["tell"]);
        assert!(played.told().is_empty());
        let condition = &played.status().unwrap()["conditions"][0];
        assert_eq!(condition["reason"], "FailedCreate");
        assert_eq!(condition["message"], message);
        assert_eq!(played.error(), Some(message));
    }
}

#[test]
fn deletes_unready_pods_before_ready_ones_and_tells_of_each() {
    let pods = [pod("a"), unready("b"), pod("c"), unready("d")];
    let played = sync(&store(set(2, json!({})), pods));
    assert_eq!(played.stages(), ["delete", "tell"]);
    let delete = played.stage("delete");
    assert_eq!(delete.pace, Pace::Together);
    assert_eq!(deleted(delete), ["b", "d"]);
    assert_eq!(
        played.told(),
        [
            "SuccessfulDelete Deleted pod: b",
            "SuccessfulDelete Deleted pod: d"
        ]
    );
    assert_eq!(
        played
            .rest
            .report
            .waits_for
            .as_ref()
            .map(ToString::to_string)
            .as_deref(),
        Some("ReplicaSet shop/web to delete 2 pods")
    );
}

#[test]
fn deletes_the_incarnation_that_was_judged() {
    let played = sync(&store(set(0, json!({})), [pod("a")]));
    let Action::Write(Write {
        verb: Verb::Delete { propagation, .. },
        precondition,
        ..
    }) = &played.stage("delete").items[0]
    else {
        panic!("no delete");
    };
    assert_eq!(precondition.uid, Some("pod-a".into()));
    assert_eq!(
        (&precondition.resource_version, propagation),
        (&None, &None)
    );
}

#[test]
fn one_sync_deletes_at_most_a_burst() {
    let pods = (0..BURST + 7).map(|i| pod(&format!("p{i:04}")));
    let played = sync(&store(set(0, json!({})), pods));
    assert_eq!(played.stage("delete").items.len(), BURST);
}

#[test]
fn pods_crowded_with_their_siblings_sets_go_first() {
    let deployment = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web",
        "uid": "deploy-1", "controller": true}]);
    let owned = json!({"metadata": {"ownerReferences": deployment}});
    let sibling = set(
        1,
        merged(
            owned.clone(),
            json!({"metadata": {"name": "old", "uid": "set-0"}}),
        ),
    );
    let on = |node: &str| json!({"spec": {"nodeName": node}});
    let mine = [pod_with("a", on("n1")), pod_with("b", on("n2"))];
    let neighbour = pod_of("ReplicaSet", "set-0", "x", on("n2"));
    let store = |owner: ReplicaSet| {
        let pods = mine.iter().chain([&neighbour]).cloned();
        SnapshotBuilder::new()
            .add(owner)
            .add(sibling.clone())
            .add_all(pods)
            .build()
    };
    assert_eq!(deleted(sync(&store(set(1, owned))).stage("delete")), ["b"]);
    // Without a common owner nobody is crowded, and the UID decides.
    assert_eq!(
        deleted(sync(&store(set(1, json!({})))).stage("delete")),
        ["a"]
    );
}

#[test]
fn deletion_costs_count_unless_switched_off() {
    let cost = json!({"metadata": {"annotations":
        {"controller.kubernetes.io/pod-deletion-cost": "-5"}}});
    let store = store(set(1, json!({})), [pod("a"), pod_with("b", cost)]);
    for (deletion_cost, victim) in [(true, "b"), (false, "a")] {
        let settings = ReplicasSettings {
            deletion_cost,
            ..ReplicasSettings::default()
        };
        let played =
            play_with::<ReplicaSetKind>(settings, &store, |_, action| granted(action)).unwrap();
        assert_eq!(deleted(played.stage("delete")), [victim]);
    }
}

#[test]
fn a_failed_delete_is_told_written_and_tried_again() {
    let store = store(
        set(0, json!({"status": {"replicas": 2}})),
        [pod("a"), pod("b")],
    );
    let played = play(&store, |stage, action| match (stage, action) {
        (
            "delete",
            Action::Write(Write {
                verb: Verb::Delete { .. },
                target,
                ..
            }),
        ) if target.name.name == "a" => failed(500, "InternalError", "etcd is away"),
        _ => granted(action),
    });
    assert_eq!(
        played.told(),
        [
            "FailedDelete Error deleting: etcd is away",
            "SuccessfulDelete Deleted pod: b"
        ]
    );
    let condition = &played.status().unwrap()["conditions"][0];
    assert_eq!(condition["reason"], "FailedDelete");
    assert_eq!(condition["message"], "unable to delete pods: etcd is away");
    assert_eq!(played.error(), Some("unable to delete pods: etcd is away"));
}

#[test]
fn a_pod_that_is_gone_or_replaced_needs_no_deletion_and_no_word() {
    let replaced = "the UID in the precondition (pod-a) does not match the UID in record (pod-b)";
    for (code, reason, message) in [(404, "NotFound", "gone"), (409, "Conflict", replaced)] {
        let store = store(set(0, json!({})), [pod("a")]);
        let played = play(&store, |stage, action| match stage {
            "delete" => failed(code, reason, message),
            _ => granted(action),
        });
        assert!(played.told().is_empty(), "{reason}");
        assert_eq!(played.error(), None, "{reason}");
    }
}

#[test]
fn an_owner_being_deleted_gets_its_status_and_nothing_else() {
    let owner = |replicas| {
        set(
            replicas,
            json!({"metadata": {"deletionTimestamp": ago(1)}, "status": {"replicas": 9}}),
        )
    };
    for replicas in [0, 5] {
        let played = sync(&store(owner(replicas), [pod("a")]));
        assert_eq!(played.stages(), ["tell"]);
        assert_eq!(played.status().unwrap()["replicas"], 1);
    }
}

#[test]
fn an_owner_that_is_not_there_is_not_observed() {
    let empty = SnapshotBuilder::new()
        .kind::<ReplicaSet>()
        .kind::<Pod>()
        .build();
    assert!(
        ReplicaSetController::default()
            .observe(&key(), &empty, &())
            .is_none()
    );
}

#[test]
fn an_owner_without_a_usable_selector_is_left_alone_and_told_why() {
    for (selector, why) in [
        (json!(null), "it has no selector"),
        (
            json!({}),
            "its selector is empty and would select every pod",
        ),
        (
            json!({"matchExpressions": [{"key": "a", "operator": "Like"}]}),
            "Like",
        ),
    ] {
        let mut owner = set(3, json!({"status": {"replicas": 9}}));
        owner.spec.selector = serde_json::from_value(selector).unwrap();
        let played = sync(&store(owner, [pod("a"), orphan("b")]));
        assert!(played.stages.is_empty());
        assert_eq!(played.rest.revisit, Revisit::OnChange);
        assert!(
            played.rest.report.to_string().contains(why),
            "{}",
            played.rest.report
        );
    }
    let mut owner = controller(3, json!({}));
    owner.spec.selector = Default::default();
    let store = store(owner, [orphan("b")]);
    let settings = ReplicasSettings::default();
    let played = play_with::<ReplicationControllerKind>(settings, &store, |_, a| granted(a));
    assert!(played.unwrap().stages.is_empty());
}

#[test]
fn the_order_in_which_pods_are_seen_does_not_show() {
    let store = store(set(1, json!({})), ["d", "b", "a", "c"].map(pod));
    let controller = ReplicaSetController::default();
    let mut seen = controller.observe(&key(), &store, &()).unwrap();
    let mut plans = Vec::new();
    for _ in 0..seen.active.len() {
        seen.active.rotate_left(1);
        match controller.step(&seen, &Answers::none(), Now::at(NOW)) {
            Step::Do(actions) => plans.push(deleted(&actions).join(" ")),
            Step::Rest(rest) => panic!("{rest:?}"),
        }
    }
    assert_eq!(plans, ["a b c"; 4]);
}

#[test]
fn a_replication_controller_creates_and_tells_in_its_own_name() {
    let store = store(controller(1, json!({"status": null})), []);
    let settings = ReplicasSettings::default();
    let played =
        play_with::<ReplicationControllerKind>(settings, &store, |_, a| granted(a)).unwrap();
    let owner = &json_of(bodies(played.stage("create"))[0])["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["apiVersion"], &owner["kind"]),
        (&json!("v1"), &json!("ReplicationController"))
    );
    assert_eq!(played.records()[0].about.kind, "ReplicationController");
}
