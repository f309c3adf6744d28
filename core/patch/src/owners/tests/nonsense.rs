use super::*;

#[test]
fn a_configuration_must_be_of_the_kind() {
    let mut world = World::new();
    for (config, message) in [
        (
            json!({"apiVersion": "v1", "kind": "Pod"}),
            "invalid object type: /v1, Kind=Pod",
        ),
        (
            json!({"apiVersion": "apps/v1beta1", "kind": "Deployment"}),
            "invalid object type: apps/v1beta1, Kind=Deployment",
        ),
        (json!({}), "invalid object type: /, Kind="),
        (
            with_head(json!({"metadata": {"managedFields": []}})),
            "metadata.managedFields must be nil",
        ),
        (
            json!([]),
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot \
             unmarshal array into Go value of type map[string]interface {}",
        ),
    ] {
        let change = world.change("app", "");
        let refused = apply(None, &config, false, &change).unwrap_err();
        assert_eq!(refused.class, Class::BadRequest);
        assert_eq!(refused.message, message);
    }
    let refused = world.apply(
        "app",
        json!({"metadata": {"name": "d"}, "spec": {"bogus": 5}}),
    );
    let refused = refused.unwrap_err();
    assert_eq!((refused.class.code(), refused.class.reason()), (500, ""));
    assert_eq!(
        refused.message,
        "failed to create typed patch object (/d; apps/v1, Kind=Deployment): .spec.bogus: field \
         not declared in schema"
    );
}

/// Upstream's `managedfields_test.go`.
#[test]
fn owners_that_cannot_be_read_are_told_to_appliers() {
    for (entry, message) in [
        (
            json!({"operation": "Frob"}),
            "operation must be `Apply` or `Update`",
        ),
        (
            json!({"operation": "Apply"}),
            "apiVersion must not be empty",
        ),
        (
            json!({"operation": "Apply", "apiVersion": "apps/v1"}),
            "missing fieldsType in managed fields entry 0",
        ),
        (
            json!({"operation": "Apply", "apiVersion": "apps/v1", "fieldsType": "FieldsV2"}),
            "invalid fieldsType \"FieldsV2\" in managed fields entry 0",
        ),
        (
            json!({"operation": 5}),
            "json: cannot unmarshal number into Go struct field \
          ManagedFieldsEntry.operation of type string",
        ),
        (json!(5), "expected map, got 5"),
    ] {
        let mut world = World::new();
        world.object = Some(with_head(json!({"metadata": {"managedFields": [entry]}})));
        let refused = world.apply("app", json!({})).unwrap_err();
        assert_eq!(
            refused.message,
            format!("failed to decode managed fields: {message}")
        );
    }
}

#[test]
fn owners_that_cannot_be_read_do_not_lock_updaters_out() {
    let entry = |fields: Value| {
        json!({"manager": "m", "operation": "Update", "apiVersion": "apps/v1",
               "fieldsType": "FieldsV1", "fieldsV1": fields})
    };
    for nonsense in [
        json!(5),
        json!([5]),
        json!([entry(json!({"x": {}}))]),
        json!("x"),
    ] {
        let mut world = World::with(json!({"spec": {"replicas": 1}}));
        let mut object = world.object().clone();
        object["metadata"]["managedFields"] = nonsense.clone();
        object["spec"]["paused"] = true.into();
        world.update("other", object).unwrap();
        // Those of the live object count.
        assert_eq!(
            world.owners(),
            json!([
                ["maker", "Update", 1, {"f:spec": {"f:replicas": {}}}],
                ["other", "Update", 2, {"f:spec": {"f:paused": {}}}],
            ]),
            "{nonsense}"
        );
    }
}

/// Upstream's `fieldmanager_test.go`: clients may edit owners, and make the server forget them.
#[test]
fn a_client_can_edit_and_reset_the_owners() {
    let mut world = World::with(json!({"spec": {"replicas": 1}}));
    let mut edited = world.object().clone();
    edited["metadata"]["managedFields"][0]["manager"] = "heir".into();
    world.update("other", edited).unwrap();
    assert_eq!(
        world.owners(),
        json!([["heir", "Update", 1, {"f:spec": {"f:replicas": {}}}]])
    );

    for reset in [json!([]), json!([{}])] {
        let mut world = World::with(json!({"spec": {"replicas": 1}}));
        let mut object = world.object().clone();
        object["metadata"]["managedFields"] = reset.clone();
        object["spec"]["replicas"] = 2.into();
        // Not through a subresource.
        let mut other = World::with(json!({"spec": {"replicas": 1}}));
        other
            .update_through("other", "status", object.clone())
            .unwrap();
        assert_eq!(other.owners().as_array().unwrap().len(), 1);

        world.update("other", object).unwrap();
        assert_eq!(
            world.object()["metadata"].get("managedFields"),
            None,
            "{reset}"
        );
    }
}

#[test]
fn an_object_that_is_not_of_its_type_is_left_without_owners() {
    let mut world = World::with(json!({"spec": {"replicas": 1}}));
    let mut object = world.object().clone();
    object["spec"]["bogus"] = true.into();
    let refused = world.update("other", object).unwrap_err();
    assert_eq!(
        refused.message,
        "failed to convert new object (/; apps/v1, Kind=Deployment) to smd typed: .spec.bogus: \
         field not declared in schema"
    );
    assert_eq!(world.object()["metadata"].get("managedFields"), None);
}

proptest! {
    #[test]
    fn any_object_any_configuration_and_any_owners_have_an_answer(
        live in any_json(),
        config in any_json(),
        owners in any_json(),
        force in any::<bool>(),
    ) {
        let world = World::new();
        let change = world.change("kubectl", "");
        let mut body = with_head(json!({"metadata": {}, "spec": {"free": config}}));
        let _ = apply(Some(&live), &config, force, &change);
        let _ = apply(Some(&live), &body, force, &change);
        let mut there = with_head(json!({"metadata": {"managedFields": owners, "uid": "u"}}));
        there["spec"] = json!({"free": live});
        let _ = apply(Some(&there), &body, force, &change);
        let _ = update(Some(&there), &mut body, &change);
        let mut anything = live.clone();
        let _ = update(Some(&config), &mut anything, &change);
    }
}
