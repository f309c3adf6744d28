use super::*;

fn replicas(count: i64) -> Value {
    json!({"spec": {"replicas": count}})
}

fn labels(labels: Value) -> Value {
    json!({"metadata": {"name": "d", "labels": labels}})
}

/// What upstream shows after a create, see `fieldmanager_test.go` of apimachinery.
#[test]
fn the_creator_owns_what_it_sets_but_not_what_identifies_the_object() {
    let mut world = World::new();
    let body = json!({
        "metadata": {"name": "d", "namespace": "n", "labels": {"a": "b"}},
        "spec": {"replicas": 1, "strategy": {}, "selector": {"matchLabels": {"a": "b"}}},
    });
    world.update("", body).unwrap();
    assert_eq!(
        world.owners(),
        json!([["unknown", "Update", 1, {
            "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
            "f:spec": {"f:replicas": {}, "f:strategy": {}, "f:selector": {}},
        }]])
    );
}

#[test]
fn an_update_takes_over_what_it_changes_and_nothing_else() {
    let mut world = World::with(json!({"spec": {"replicas": 1, "paused": true}}));
    world
        .update("other", json!({"spec": {"replicas": 2, "paused": true}}))
        .unwrap();
    let settled = json!([
        ["maker", "Update", 1, {"f:spec": {"f:paused": {}}}],
        ["other", "Update", 2, {"f:spec": {"f:replicas": {}}}],
    ]);
    assert_eq!(world.owners(), settled);

    // A change of nothing changes no time.
    world
        .update("maker", json!({"spec": {"replicas": 2, "paused": true}}))
        .unwrap();
    assert_eq!(world.owners(), settled);

    // What is removed has no owner, and who owns nothing is forgotten.
    world
        .update("third", json!({"spec": {"replicas": 2}}))
        .unwrap();
    assert_eq!(
        world.owners(),
        json!([["other", "Update", 2, {"f:spec": {"f:replicas": {}}}]])
    );
}

#[test]
fn one_name_is_another_owner_through_a_subresource() {
    let mut world = World::with(json!({"spec": {"replicas": 1}, "status": {}}));
    let body = json!({"spec": {"replicas": 1}, "status": {"replicas": 1}});
    world.update_through("maker", "status", body).unwrap();
    assert_eq!(
        world.owners(),
        json!([
            ["maker", "Update", 1, {"f:spec": {"f:replicas": {}}}],
            ["maker", "Update", "status", 2, {"f:status": {"f:replicas": {}}}],
        ])
    );
}

#[test]
fn ignored_fields_get_no_owner() {
    let mut world = World::new();
    world.ignored = FieldSet::of_names(&[&["status"]]);
    world
        .update(
            "maker",
            json!({"spec": {"paused": true}, "status": {"replicas": 1}}),
        )
        .unwrap();
    world
        .apply(
            "app",
            json!({"spec": {"replicas": 1}, "status": {"replicas": 2}}),
        )
        .unwrap();
    assert_eq!(
        world.owners(),
        json!([
            ["app", "Apply", 2, {"f:spec": {"f:replicas": {}}}],
            ["maker", "Update", 1, {"f:spec": {"f:paused": {}}}],
        ])
    );
}

/// `leaf_test.go` and `multiple_appliers_test.go` of structured-merge-diff.
#[test]
fn an_applier_owns_what_it_applies_and_loses_what_it_does_not() {
    let mut world = World::new();
    world
        .apply("app", labels(json!({"a": "1", "b": "2"})))
        .unwrap();
    assert_eq!(
        world.object()["metadata"]["labels"],
        json!({"a": "1", "b": "2"})
    );
    world.apply("app", labels(json!({"a": "1"}))).unwrap();
    assert_eq!(world.object()["metadata"]["labels"], json!({"a": "1"}));
    assert_eq!(
        world.owners(),
        json!([["app", "Apply", 2, {"f:metadata": {"f:labels": {"f:a": {}}}}]])
    );
    world
        .apply("app", json!({"metadata": {"name": "d"}}))
        .unwrap();
    assert_eq!(world.object()["metadata"].get("labels"), None);
    assert_eq!(world.owners(), json!([]));
}

#[test]
fn what_others_own_stays_when_an_applier_gives_it_up() {
    let mut world = World::new();
    world
        .apply("one", labels(json!({"a": "1", "b": "2"})))
        .unwrap();
    world.apply("two", labels(json!({"a": "1"}))).unwrap();
    world
        .apply("one", json!({"metadata": {"name": "d"}}))
        .unwrap();
    assert_eq!(world.object()["metadata"]["labels"], json!({"a": "1"}));
    // It changed nothing in the object when it came to own this, so no time is told.
    assert_eq!(
        world.owners(),
        json!([["two", "Apply", null, {"f:metadata": {"f:labels": {"f:a": {}}}}]])
    );
}

#[test]
fn what_nobody_owns_stays() {
    let mut world = World::new();
    world
        .apply("app", labels(json!({"a": "1", "b": "2"})))
        .unwrap();
    let mut object = world.object().clone();
    object["metadata"]["labels"]["stray"] = "x".into();
    object["spec"]["paused"] = true.into();
    world.object = Some(object);
    world.apply("app", labels(json!({"b": "2"}))).unwrap();
    assert_eq!(
        world.object()["metadata"]["labels"],
        json!({"b": "2", "stray": "x"})
    );
    assert_eq!(world.object()["spec"], json!({"paused": true}));
}

/// `set_test.go` and `nested_test.go` of structured-merge-diff.
#[test]
fn items_are_owned_one_by_one() {
    let containers = |items: Value| json!({"spec": {"template": {"spec": {"containers": items}}}});
    let mut world = World::new();
    world
        .apply(
            "one",
            containers(json!([{"name": "a", "image": "1"}, {"name": "b", "image": "2"}])),
        )
        .unwrap();
    world
        .apply(
            "two",
            containers(json!([{"name": "c"}, {"name": "a", "command": ["x"]}])),
        )
        .unwrap();
    assert_eq!(
        world.object()["spec"]["template"]["spec"]["containers"],
        json!([
            {"name": "c"},
            {"name": "a", "image": "1", "command": ["x"]},
            {"name": "b", "image": "2"},
        ])
    );
    world
        .apply("one", containers(json!([{"name": "b", "image": "2"}])))
        .unwrap();
    assert_eq!(
        world.object()["spec"]["template"]["spec"]["containers"],
        json!([{"name": "c"}, {"name": "a", "command": ["x"]}, {"name": "b", "image": "2"}])
    );
}

/// `default_keys_test.go` of structured-merge-diff.
#[test]
fn a_port_without_protocol_is_the_one_with_tcp() {
    let ports = |ports: Value| json!({"spec": {"template": {"spec": {"containers": [{"name": "a", "ports": ports}]}}}});
    let mut world = World::new();
    world
        .apply("one", ports(json!([{"containerPort": 80, "name": "x"}])))
        .unwrap();
    let refused = world
        .apply(
            "two",
            ports(json!([{"containerPort": 80, "protocol": "TCP", "name": "y"}])),
        )
        .unwrap_err();
    assert_eq!(
        refused.message,
        "Apply failed with 1 conflict: conflict with \"one\": \
         .spec.template.spec.containers[name=\"a\"].ports[containerPort=80,protocol=\"TCP\"].name"
    );
    world
        .apply(
            "two",
            ports(json!([{"containerPort": 80, "protocol": "UDP"}])),
        )
        .unwrap();
    let found = &world.object()["spec"]["template"]["spec"]["containers"][0]["ports"];
    assert_eq!(found.as_array().unwrap().len(), 2);
}

/// The words of kube-apiserver v1.36.4, and `conflict_test.go` of apimachinery.
#[test]
fn a_conflict_names_the_owner_and_the_field() {
    let mut world = World::with(replicas(1));
    let refused = world.apply("app", replicas(2)).unwrap_err();
    assert_eq!(
        (refused.class.code(), refused.class.reason()),
        (409, "Conflict")
    );
    assert_eq!(
        refused.message,
        "Apply failed with 1 conflict: conflict with \"maker\" using apps/v1: .spec.replicas"
    );
    let cause = &refused.causes[0];
    assert_eq!(&*cause.cause_type, "FieldManagerConflict");
    assert_eq!(&*cause.message, "conflict with \"maker\" using apps/v1");
    assert_eq!(&*cause.field, ".spec.replicas");
}

#[test]
fn several_conflicts_are_listed_by_owner() {
    let mut world =
        World::with(json!({"metadata": {"labels": {"x": "y"}}, "spec": {"replicas": 1}}));
    let mut status = world.object().clone();
    status["status"] = json!({"replicas": 1});
    world.update_through("boss", "status", status).unwrap();
    let refused = world
        .apply("app", json!({
            "metadata": {"labels": {"x": "z"}}, "spec": {"replicas": 7}, "status": {"replicas": 2},
        }))
        .unwrap_err();
    assert_eq!(
        refused.message,
        "Apply failed with 3 conflicts: conflicts with \"boss\" with subresource \"status\" using \
         apps/v1:\n- .status.replicas\nconflicts with \"maker\" using apps/v1:\n\
         - .metadata.labels.x\n- .spec.replicas"
    );
    assert_eq!(refused.causes.len(), 3);
}

#[test]
fn force_takes_fields_away() {
    let mut world = World::with(replicas(1));
    world.force("app", replicas(2)).unwrap();
    assert_eq!(world.object()["spec"]["replicas"], 2);
    assert_eq!(
        world.owners(),
        json!([["app", "Apply", 2, {"f:spec": {"f:replicas": {}}}]])
    );
}

#[test]
fn owners_of_the_same_value_share_it() {
    let mut world = World::new();
    world.apply("one", replicas(1)).unwrap();
    world.apply("two", replicas(1)).unwrap();
    let refused = world.apply("one", replicas(2)).unwrap_err();
    assert!(
        refused.message.contains("conflict with \"two\""),
        "{}",
        refused.message
    );
    world.force("one", replicas(2)).unwrap();
    assert_eq!(
        world.owners(),
        json!([["one", "Apply", 4, {"f:spec": {"f:replicas": {}}}]])
    );
}

#[test]
fn an_applier_that_is_overruled_by_an_update_meets_a_conflict() {
    let mut world = World::new();
    world.apply("app", replicas(1)).unwrap();
    let mut scaled = world.object().clone();
    scaled["spec"]["replicas"] = 5.into();
    world.update("scaler", scaled).unwrap();
    assert_eq!(
        world.owners(),
        json!([["scaler", "Update", 2, {"f:spec": {"f:replicas": {}}}]])
    );
    assert_eq!(
        world.apply("app", replicas(1)).unwrap_err().class,
        Class::Conflict
    );
    world
        .apply("app", json!({"metadata": {"name": "d"}}))
        .unwrap();
    assert_eq!(world.object()["spec"]["replicas"], 5);
}

#[test]
fn atomic_parts_have_one_owner() {
    let select = |value: &str| json!({"spec": {"selector": {"matchLabels": {"a": value}}}});
    let mut world = World::new();
    world.apply("one", select("1")).unwrap();
    let refused = world.apply("two", select("2")).unwrap_err();
    assert!(
        refused.message.ends_with(": .spec.selector"),
        "{}",
        refused.message
    );
}

/// `skipnonapplied.go` of apimachinery.
#[test]
fn what_was_there_before_anybody_applied_belongs_to_nobody_in_particular() {
    let mut world = World::new();
    world.object = Some(with_head(json!({
        "metadata": {"name": "d", "uid": "u"}, "spec": {"replicas": 1, "paused": true}, "status": {},
    })));
    world.update("maker", world.object().clone()).unwrap();
    assert_eq!(
        world.owners(),
        json!([]),
        "updates are not tracked until somebody applies"
    );
    world
        .apply("app", json!({"spec": {"paused": true}}))
        .unwrap();
    assert_eq!(
        world.owners(),
        json!([
            ["app", "Apply", null, {"f:spec": {"f:paused": {}}}],
            ["before-first-apply", "Update", 2, {"f:spec": {"f:paused": {}, "f:replicas": {}}}],
        ])
    );
}

/// `capmanagers_test.go` of apimachinery.
#[test]
fn more_than_ten_updaters_become_ancient() {
    let mut world = World::with(labels(json!({"l0": "x"})));
    for at in 1..13 {
        let mut object = world.object().clone();
        object["metadata"]["labels"][format!("l{at}")] = "x".into();
        world.update(&format!("client-{at:02}"), object).unwrap();
    }
    let owners = world.owners();
    let owners = owners.as_array().unwrap();
    assert_eq!(owners.len(), 10);
    assert_eq!(
        owners[0],
        json!(["ancient-changes", "Update", 4, {"f:metadata": {"f:labels": {
            ".": {}, "f:l0": {}, "f:l1": {}, "f:l2": {}, "f:l3": {},
        }}}])
    );
    assert_eq!(owners[1][0], "client-04");
}

#[test]
fn owners_of_versions_that_are_gone_are_forgotten() {
    let mut world = World::new();
    world.apply("app", replicas(1)).unwrap();
    let mut object = world.object().clone();
    object["metadata"]["managedFields"][0]["apiVersion"] = "apps/v1beta1".into();
    world.object = Some(object.clone());
    object["spec"]["paused"] = true.into();
    world.update("maker", object).unwrap();
    assert_eq!(
        world.owners(),
        json!([["maker", "Update", 2, {"f:spec": {"f:paused": {}}}]])
    );
}

/// `obsolete_versions_test.go` and the conversions of `multiple_appliers_test.go` of
/// structured-merge-diff: in the older version, `replicas` was called `paused`.
#[test]
fn owners_meet_across_versions() {
    let mut world = World::new();
    world
        .apply("old", json!({"spec": {"free": {"count": 1}}}))
        .unwrap();
    let mut object = world.object().clone();
    object["metadata"]["managedFields"][0]["apiVersion"] = "apps/v0".into();
    object["spec"] = json!({"replicas": 1});
    let schema = world.kind.schema();
    let convert = |object: &Value, version: &str| {
        let mut object = object.clone();
        let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else {
            return Some((object, schema));
        };
        match version {
            "apps/v0" => {
                if let Some(count) = spec.remove("replicas") {
                    spec.insert("free".to_owned(), json!({"count": count}));
                }
            }
            "apps/v1" => {
                if let Some(free) = spec.remove("free") {
                    spec.insert("replicas".to_owned(), free["count"].clone());
                }
            }
            _ => return None,
        }
        Some((object, schema))
    };
    let change = Change {
        convert: &convert,
        ..world.change("app", "")
    };
    let refused = apply(Some(&object), &with_head(replicas(2)), false, &change).unwrap_err();
    assert_eq!(
        refused.message,
        "Apply failed with 1 conflict: conflict with \"old\": .spec.free.count"
    );
    let shared = apply(Some(&object), &with_head(replicas(1)), false, &change).unwrap();
    assert_eq!(
        shared["metadata"]["managedFields"]
            .as_array()
            .unwrap()
            .len(),
        2
    );

    // The old one applies in the new version, without what it owned in the old one.
    let change = Change {
        owner: "old",
        ..change
    };
    let config = with_head(json!({"spec": {"paused": true}}));
    let pruned = apply(Some(&object), &config, false, &change).unwrap();
    assert_eq!(pruned["spec"], json!({"paused": true}));
}
