use k8s_openapi::api::core::v1::Pod;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{ListKind, Shape, Strategic, TextFormat, decode};

/// The types that are reached from a type, itself included.
fn reached(schema: Schema<'_>) -> std::collections::BTreeSet<TypeId> {
    let mut seen = std::collections::BTreeSet::new();
    let mut open = vec![schema.id()];
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        match schema.at(id).shape() {
            Shape::Object(object) => open.extend(object.fields.iter().map(|field| field.of)),
            Shape::Map { value, .. } => open.push(*value),
            Shape::List(list) => open.push(list.item),
            _ => {}
        }
    }
    seen
}

#[test]
fn the_embedded_file_can_be_read_and_is_small() {
    let builtin = BuiltIn::read(TYPES).unwrap();
    let mut bytes = 0;
    for (_, of) in builtin.types.iter() {
        bytes += size_of::<crate::Type>() + on_heap(&of.name);
        if let Shape::Object(object) = &of.shape {
            bytes += object.fields.len() * size_of::<crate::Field>();
            bytes += object
                .fields
                .iter()
                .map(|of| on_heap(&of.name))
                .sum::<usize>();
        }
        if let Shape::List(list) = &of.shape
            && let ListKind::Map { keys } = &list.kind
        {
            bytes += keys.len() * size_of::<Text>();
        }
    }
    println!(
        "{} types: {} bytes embedded, {} more of descriptions, {bytes} bytes decoded",
        builtin.types.iter().count(),
        TYPES.len(),
        DESCRIPTIONS.len(),
    );
    assert!(TYPES.len() < 100_000);
    assert!(DESCRIPTIONS.len() < 200_000);
    assert!(bytes < 1_000_000);
}

fn on_heap(text: &Text) -> usize {
    match text.is_heap_allocated() {
        true => text.capacity(),
        false => 0,
    }
}

#[test]
fn every_resource_is_a_whole_object() {
    let builtin = builtin();
    assert_eq!(builtin.resources.len(), 62);
    for resource in &builtin.resources {
        let schema = builtin.types.schema(resource.of);
        for name in ["apiVersion", "kind", "metadata"] {
            assert!(
                schema.field_named(name).is_some(),
                "{}: {name}",
                resource.kind
            );
        }
        let labels = schema.field("metadata").unwrap().field("labels").unwrap();
        assert!(matches!(labels.shape(), Shape::Map { atomic: false, .. }));
        assert!(reached(schema).len() > 10);
        for part in &resource.subresources {
            let kind = builtin.kind(&part.group, &part.version, &part.kind);
            assert!(kind.is_some(), "{}/{}", resource.plural, part.name);
        }
    }
}

#[test]
fn fields_are_in_order_of_name() {
    for (_, of) in builtin().types.iter() {
        if let Shape::Object(object) = &of.shape {
            assert!(
                object
                    .fields
                    .is_sorted_by(|one, other| one.name < other.name)
            );
        }
    }
}

#[test]
fn kinds_and_resources_are_found_by_name() {
    let builtin = builtin();
    let deployments = builtin.resource("apps", "v1", "deployments").unwrap();
    assert_eq!(deployments.kind, "Deployment");
    assert!(deployments.namespaced);
    assert_eq!(deployments.list_kind, "DeploymentList");
    let same = builtin.resource_of("apps", "v1", "Deployment").unwrap();
    assert_eq!(same.plural, "deployments");
    let of = builtin.kind("apps", "v1", "Deployment").unwrap();
    assert_eq!(of.id(), deployments.of);
    for resource in &builtin.resources {
        let (group, version) = (&resource.group, &resource.version);
        let found = builtin.resource(group, version, &resource.plural).unwrap();
        assert_eq!(found.of, resource.of);
    }
    assert!(builtin.kind("autoscaling", "v1", "Scale").is_some());
    assert!(builtin.kind("", "v1", "Status").is_some());
    assert!(builtin.resource("apps", "v1", "pods").is_none());
    assert!(builtin.resource_of("autoscaling", "v1", "Scale").is_none());
}

#[test]
fn lists_of_a_pod_merge_by_the_right_keys() {
    let spec = builtin().named("io.k8s.api.core.v1.PodSpec").unwrap();
    let list = |schema: Schema<'static>| match schema.shape() {
        Shape::List(list) => list,
        other => panic!("{other:?}"),
    };
    let containers = spec.field("containers").unwrap();
    assert_eq!(
        list(containers).strategic,
        Strategic::MergeBy("name".into())
    );
    let ports = list(containers.item().unwrap().field("ports").unwrap());
    let keys = ["containerPort", "protocol"].map(Text::from).into();
    assert_eq!(ports.kind, ListKind::Map { keys });
    assert_eq!(ports.strategic, Strategic::MergeBy("containerPort".into()));
    let tolerations = list(spec.field("tolerations").unwrap());
    assert_eq!(tolerations.kind, ListKind::Atomic);
    assert!(spec.field_named("volumes").unwrap().retain_keys);
    assert!(spec.field_named("containers").unwrap().required);
    let selector = spec.field("nodeSelector").unwrap();
    assert!(matches!(selector.shape(), Shape::Map { atomic: true, .. }));
    let limits = containers
        .item()
        .unwrap()
        .field("resources")
        .unwrap()
        .field("limits");
    let limit = limits.unwrap().field("cpu").unwrap();
    assert!(matches!(limit.shape(), Shape::Text(TextFormat::Quantity)));
}

#[test]
fn a_claim_reference_merges_by_field_although_its_type_is_atomic() {
    let atomic = |schema: Schema<'_>| match schema.shape() {
        Shape::Object(object) => object.atomic,
        other => panic!("{other:?}"),
    };
    let builtin = builtin();
    assert!(atomic(
        builtin.named("io.k8s.api.core.v1.ObjectReference").unwrap()
    ));
    let volume = builtin
        .named("io.k8s.api.core.v1.PersistentVolumeSpec")
        .unwrap();
    assert!(!atomic(volume.field("claimRef").unwrap()));
}

#[test]
fn descriptions_are_those_of_the_same_types() {
    let described = described();
    let pod = described.named("io.k8s.api.core.v1.Pod").unwrap();
    assert!(
        pod.get()
            .description
            .starts_with("Pod is a collection of containers")
    );
    let spec = pod.field_named("spec").unwrap();
    assert!(
        spec.description
            .starts_with("Specification of the desired behavior of the pod.")
    );
    let bare = builtin().named("io.k8s.api.core.v1.Pod").unwrap();
    assert_eq!(bare.id(), pod.id());
    assert!(bare.get().description.is_empty());
}

#[test]
fn a_pod_of_k8s_openapi_passes_through_unchanged() {
    let pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "web", "labels": {"a": "b"}, "creationTimestamp": "2020-01-01T00:00:00Z",
            "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {".": {}}}}],
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "controller": true}],
        },
        "spec": {
            "containers": [{
                "name": "a", "image": "i", "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "resources": {"limits": {"cpu": "500m", "memory": "64Mi"}},
                "readinessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 5},
                "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            }],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}],
            }}},
            "volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}],
            "tolerations": [{"operator": "Exists", "tolerationSeconds": 300}],
        },
        "status": {"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}]},
    });
    let typed: Pod = serde_json::from_value(pod).unwrap();
    let text = serde_json::to_vec(&typed).unwrap();
    let schema = builtin().kind("", "v1", "Pod").unwrap();
    let decoded = decode(schema, &text).unwrap();
    assert_eq!(decoded.strict, []);
    assert_eq!(decoded.value, serde_json::to_value(&typed).unwrap());
    let again: Pod = serde_json::from_value(decoded.value).unwrap();
    assert_eq!(again, typed);
}

#[test]
fn a_file_that_was_cut_off_is_not_read() {
    for length in (0..TYPES.len()).step_by(1_009) {
        assert!(file::read(&TYPES[..length]).is_none());
    }
    let mut types = Types::default();
    types.add(crate::Type {
        name: Text::default(),
        description: Box::default(),
        shape: Shape::Any,
    });
    assert!(file::describe(&mut types, &DESCRIPTIONS[..100]).is_none());
}

proptest! {
    #[test]
    fn a_damaged_file_does_no_harm(at in 0..TYPES.len(), byte in any::<u8>()) {
        let mut damaged = TYPES.to_vec();
        damaged[at] = byte;
        if let Some(content) = file::read(&damaged) {
            for (id, _) in content.types.iter() {
                reached(content.types.schema(id));
            }
        }
    }
}

#[test]
fn any_value_of_a_field_that_holds_json_is_kept() {
    let revision = builtin().kind("apps", "v1", "ControllerRevision").unwrap();
    let value = json!({"data": {"spec": {"x": [1, null, {"y": 2.5}]}}, "revision": 1});
    let decoded = crate::decode_value(revision, value.clone()).unwrap();
    assert_eq!(decoded.value, value);
    assert_ne!(decoded.value, Value::Null);
}
