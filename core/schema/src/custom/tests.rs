use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{ListKind, Schema, Shape, StrictFault, TextFormat, prune};

fn definition() -> Value {
    json!({
        "spec": {
            "group": "stable.example.com",
            "scope": "Namespaced",
            "names": {"plural": "crontabs", "kind": "CronTab", "shortNames": ["ct"], "categories": ["all"]},
            "versions": [{
                "name": "v1",
                "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas"}},
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "spec": {
                            "type": "object",
                            "required": ["cron"],
                            "properties": {
                                "cron": {"type": "string", "pattern": "^\\S+$", "maxLength": 20},
                                "replicas": {
                                    "type": "integer", "format": "int32", "default": 1,
                                    "minimum": 0, "maximum": 10, "exclusiveMaximum": true,
                                },
                                "port": {"x-kubernetes-int-or-string": true},
                                "policy": {"type": "string", "enum": ["Allow", "Forbid"], "nullable": true},
                                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                                "jobs": {
                                    "type": "array",
                                    "x-kubernetes-list-type": "map",
                                    "x-kubernetes-list-map-keys": ["name"],
                                    "items": {
                                        "type": "object",
                                        "properties": {"name": {"type": "string"}},
                                    },
                                },
                                "tags": {
                                    "type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"},
                                },
                                "template": {
                                    "type": "object",
                                    "x-kubernetes-embedded-resource": true,
                                    "x-kubernetes-preserve-unknown-fields": true,
                                },
                                "free": {"x-kubernetes-preserve-unknown-fields": true},
                            },
                        },
                    },
                }},
            }],
        },
    })
}

fn crontab(read: impl FnOnce(&Resource, Schema<'_>)) {
    let (types, resource) = custom_resource(&definition(), "v1").unwrap();
    read(&resource, types.schema(resource.of));
}

#[test]
fn a_definition_gives_a_resource() {
    crontab(|resource, schema| {
        assert_eq!(resource.api_version(), "stable.example.com/v1");
        assert_eq!(resource.list_kind, "CronTabList");
        assert_eq!(resource.singular, "crontab");
        assert_eq!(*resource.short_names, ["ct"]);
        assert!(resource.namespaced);
        let parts = resource.subresources.iter().map(|part| part.name.as_str());
        assert_eq!(parts.collect::<Vec<_>>(), ["status", "scale"]);
        assert_eq!(resource.subresource("scale").unwrap().group, "autoscaling");
        assert_eq!(schema.get().name, "com.example.stable.v1.CronTab");
    });
    assert!(custom_resource(&definition(), "v2").is_none());
    assert!(custom_resource(&json!({}), "v1").is_none());
}

#[test]
fn a_schema_gives_shapes_and_rules() {
    crontab(|_, schema| {
        let spec = schema.field("spec").unwrap();
        assert!(spec.field_named("cron").unwrap().required);
        let cron = spec.field("cron").unwrap().rules().unwrap();
        assert_eq!(cron.pattern.as_deref(), Some("^\\S+$"));
        assert_eq!(cron.length.max, Some(20));

        let replicas = spec.field("replicas").unwrap();
        assert!(matches!(replicas.shape(), Shape::Integer { bits: 32 }));
        let rules = replicas.rules().unwrap();
        assert_eq!(rules.default, Some(json!(1)));
        assert!(rules.maximum.unwrap().exclusive && !rules.minimum.unwrap().exclusive);

        assert!(matches!(
            spec.field("port").unwrap().shape(),
            Shape::IntOrText
        ));
        let policy = spec.field("policy").unwrap().rules().unwrap();
        assert_eq!(*policy.allowed, [json!("Allow"), json!("Forbid")]);
        assert!(policy.nullable);
        assert!(matches!(
            spec.field("labels").unwrap().shape(),
            Shape::Map { .. }
        ));
        assert!(matches!(spec.field("free").unwrap().shape(), Shape::Any));

        let kind = |name| match spec.field(name).unwrap().shape() {
            Shape::List(list) => list.kind.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(kind("tags"), ListKind::Set);
        let keys = [Text::from("name")].into();
        assert_eq!(kind("jobs"), ListKind::Map { keys });
    });
}

#[test]
fn every_object_has_metadata_of_the_one_type() {
    crontab(|_, schema| {
        let created = schema.field("metadata").unwrap().field("creationTimestamp");
        let created = created.unwrap();
        assert!(matches!(created.shape(), Shape::Text(TextFormat::Time)));
        let embedded = schema.field("spec").unwrap().field("template").unwrap();
        assert!(
            embedded
                .field("metadata")
                .unwrap()
                .field("labels")
                .is_some()
        );
        assert!(embedded.rules().unwrap().embedded_resource);
    });
}

#[test]
fn the_name_may_have_rules() {
    let schema = json!({
        "type": "object",
        "properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}}},
    });
    let (types, of) = custom_type("x", &schema);
    let name = types.schema(of).field("metadata").unwrap().field("name");
    assert_eq!(name.unwrap().rules().unwrap().length.max, Some(5));
}

#[test]
fn pruning_drops_what_the_schema_does_not_say() {
    crontab(|_, schema| {
        let mut value = json!({
            "apiVersion": "stable.example.com/v1",
            "metadata": {"name": "a", "nmae": "b"},
            "spec": {
                "cron": 5, "corn": 1, "free": {"a": [1]}, "labels": {"x": "y"},
                "jobs": [{"name": "a"}, {"name": "b", "x": 1}],
                "template": {"spec": {"a": 1}, "metadata": {"x": 1}},
            },
        });
        let faults = prune(schema, &mut value);
        let paths: Vec<&str> = faults.iter().map(StrictFault::path).collect();
        assert_eq!(
            paths,
            [
                "metadata.nmae",
                "spec.corn",
                "spec.jobs[1].x",
                "spec.template.metadata.x"
            ]
        );
        assert_eq!(value["spec"]["cron"], 5);
        assert_eq!(value["spec"]["free"], json!({"a": [1]}));
        assert_eq!(
            value["spec"]["template"],
            json!({"spec": {"a": 1}, "metadata": {}})
        );
    });
}

#[test]
fn faults_of_schemas_are_told_in_upstreams_words() {
    let pair = json!([{"type": "integer"}, {"type": "string"}]);
    for (schema, expected) in [
        (
            definition()
                .pointer("/spec/versions/0/schema/openAPIV3Schema")
                .unwrap()
                .clone(),
            vec![],
        ),
        (
            json!({}),
            vec!["s.type: Required value: must not be empty at the root"],
        ),
        (
            json!({"type": "array", "additionalProperties": {"type": "string"}}),
            vec![
                "s.additionalProperties: Forbidden: must not be used at the root",
                "s.items: Required value: must be specified",
                "s.type: Invalid value: \"array\": must be object at the root",
            ],
        ),
        (
            json!({"type": "object", "properties": {
                "a": {"anyOf": pair.clone()},
                "b": {"x-kubernetes-int-or-string": true, "anyOf": pair.clone()},
                "c": {"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": pair}]},
                "d": {"type": "array", "items": {}},
                "e": {"type": "object", "x-kubernetes-embedded-resource": true},
            }}),
            vec![
                "s.properties[a].type: Required value: must not be empty for specified object fields",
                "s.properties[d].items.type: Required value: must not be empty for specified array items",
                "s.properties[e].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
            ],
        ),
        (
            json!({"type": "object", "not": {"properties": {"a": {"minimum": 1}, "metadata": {"minimum": 1}}}, "anyOf": [{"type": "object"}]}),
            vec![
                "s.anyOf[0].type: Forbidden: must be empty to be structural",
                "s.not.properties[metadata]: Forbidden: must not be specified in a nested context",
                "s.properties[a]: Required value: because it is defined in s.not.properties[a]",
                "s.properties[metadata]: Required value: because it is defined in s.not.properties[metadata]",
            ],
        ),
        (
            json!({"type": "object", "properties": {
                "metadata": {"type": "object", "properties": {"labels": {"type": "object"}}},
                "kind": {"type": "integer"},
            }}),
            vec![
                "s.properties[kind].type: Invalid value: \"integer\": must be string",
                "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified",
            ],
        ),
    ] {
        let faults = structural_faults(&schema, "s");
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(faults, expected, "{schema}");
    }
}

/// JSON in which schemas' own words are likely.
fn schemas() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "object",
        "array",
        "string",
        "integer",
        "map",
        "set",
        "date-time",
        "a",
        "metadata",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        words.prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 4, |inner| {
        let names = prop::sample::select(vec![
            "type",
            "properties",
            "items",
            "additionalProperties",
            "required",
            "enum",
            "default",
            "a",
            "metadata",
            "anyOf",
            "not",
            "allOf",
            "minimum",
            "maxLength",
            "format",
            "nullable",
            "x-kubernetes-list-type",
            "x-kubernetes-list-map-keys",
            "x-kubernetes-int-or-string",
            "x-kubernetes-embedded-resource",
            "x-kubernetes-preserve-unknown-fields",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names.prop_map(str::to_owned), inner, 0..5)
                .prop_map(|object| object.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn no_schema_and_no_value_does_harm(schema in schemas(), mut value in schemas()) {
        let _ = structural_faults(&schema, "s");
        let _ = custom_resource(&json!({"spec": &schema}), "a");
        let (types, of) = custom_type("x", &schema);
        let of = types.schema(of);
        prune(of, &mut value);
        prop_assert_eq!(prune(of, &mut value), []);
        apply_defaults(of, &mut value);
        let _ = value_faults(of, &value, &|_, _| false);
    }
}
