use super::*;

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// An object that was applied by a client: its former self owns the fields by updates.
fn applied_by_client(body: Value) -> World {
    let mut object = with_head(body);
    let annotation = object.to_string();
    object["metadata"]["annotations"][ANNOTATION] = annotation.into();
    let mut world = World::new();
    world.update("kubectl-client-side-apply", object).unwrap();
    world
}

fn replicas(count: i64) -> Value {
    json!({"metadata": {"name": "d"}, "spec": {"replicas": count}})
}

/// The ideas of upstream's `lastappliedmanager_test.go`.
#[test]
fn kubectl_does_not_conflict_with_its_former_self() {
    let mut world = applied_by_client(replicas(1));
    world.apply("kubectl", replicas(2)).unwrap();
    assert_eq!(world.object()["spec"]["replicas"], 2);
    assert_eq!(
        world.owners()[0],
        json!(["kubectl", "Apply", 2, {"f:spec": {"f:replicas": {}}}])
    );
}

#[test]
fn others_do() {
    let mut world = applied_by_client(replicas(1));
    assert_eq!(
        world.apply("app", replicas(2)).unwrap_err().class,
        Class::Conflict
    );
}

#[test]
fn what_has_changed_since_is_a_conflict() {
    let mut world = applied_by_client(json!({
        "metadata": {"name": "d", "labels": {"a": "1"}}, "spec": {"replicas": 1},
    }));
    let mut scaled = world.object().clone();
    scaled["spec"]["replicas"] = 5.into();
    world.update("scaler", scaled).unwrap();
    let config = json!({"metadata": {"name": "d", "labels": {"a": "2"}}, "spec": {"replicas": 2}});
    let refused = world.apply("kubectl", config).unwrap_err();
    assert_eq!(
        refused.message,
        "Apply failed with 1 conflict: conflict with \"scaler\" using apps/v1: .spec.replicas"
    );
}

#[test]
fn an_annotation_that_cannot_be_read_allows_nothing() {
    for annotation in ["", "{", "5", r#"{"apiVersion": "apps/v0"}"#] {
        let mut world = World::with(json!({
            "metadata": {"annotations": {ANNOTATION: annotation}}, "spec": {"replicas": 1},
        }));
        assert!(world.apply("kubectl", replicas(2)).is_err(), "{annotation}");
    }
}

/// Upstream's `lastappliedupdater_test.go`.
#[test]
fn the_annotation_follows() {
    let mut world = applied_by_client(replicas(1));
    world.apply("kubectl", replicas(2)).unwrap();
    assert_eq!(
        world.object()["metadata"]["annotations"][ANNOTATION],
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\"},\
         \"spec\":{\"replicas\":2}}\n"
    );
    world
        .apply("app", json!({"spec": {"paused": true}}))
        .unwrap();
    let annotation = world.object()["metadata"]["annotations"][ANNOTATION]
        .as_str()
        .unwrap();
    assert!(!annotation.contains("paused"));
}

#[test]
fn an_annotation_that_grows_too_large_goes() {
    let mut world = applied_by_client(replicas(1));
    let config = json!({"metadata": {"name": "d", "labels": {"a": "x".repeat(300 * 1024)}}});
    world.apply("kubectl", config).unwrap();
    assert_eq!(
        world.object()["metadata"]["annotations"].get(ANNOTATION),
        None
    );
}
