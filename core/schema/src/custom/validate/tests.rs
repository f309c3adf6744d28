use serde_json::json;

use super::*;
use crate::{Types, apply_defaults, custom_type, drop_nulls};

fn crontab() -> (Types, crate::TypeId) {
    let schema = json!({
        "type": "object",
        "required": ["spec"],
        "properties": {"spec": {
            "type": "object",
            "required": ["cron"],
            "properties": {
                "cron": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5, "minLength": 2},
                "count": {"type": "integer", "minimum": 1, "maximum": 10, "multipleOf": 2},
                "small": {
                    "type": "integer", "format": "int32",
                    "minimum": 0, "exclusiveMinimum": true, "maximum": 10, "exclusiveMaximum": true,
                },
                "ratio": {"type": "number", "maximum": 0.5},
                "policy": {"type": "string", "enum": ["Allow", "Forbid"]},
                "num": {"type": "integer", "enum": [1, 2]},
                "port": {"x-kubernetes-int-or-string": true},
                "nul": {"type": "string", "nullable": true},
                "dflt": {"type": "string", "default": "hi"},
                "labels": {"type": "object", "maxProperties": 1, "additionalProperties": {"type": "string"}},
                "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "maxLength": 3}},
                "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "map": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}, "d": {"type": "integer", "default": 3}},
                    },
                },
                "date": {"type": "string", "format": "date-time"},
                "any": {"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 2}]},
                "one": {"type": "integer", "oneOf": [{"minimum": 5}, {"maximum": 7}]},
                "all": {"type": "integer", "allOf": [{"minimum": 5}, {"maximum": 7}]},
                "not": {"type": "integer", "not": {"minimum": 5}},
                "nested": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
                    "anyOf": [{"required": ["a"]}, {"properties": {"b": {"maxLength": 1}}}],
                },
                "emb": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": true,
                    "x-kubernetes-preserve-unknown-fields": true,
                },
            },
        }},
    });
    custom_type("x", &schema)
}

/// What is said of a `spec` after defaulting. The only pattern is that of `cron`.
fn faults(spec: Value) -> Vec<String> {
    let (types, of) = crontab();
    let mut value = json!({"metadata": {"name": "a"}, "spec": spec});
    drop_nulls(types.schema(of), &mut value);
    apply_defaults(types.schema(of), &mut value);
    let lower = |_: &str, text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase());
    let faults = value_faults(types.schema(of), &value, &lower);
    faults.iter().map(ToString::to_string).collect()
}

/// As [`faults`], with a valid `cron`.
fn with(mut spec: Value) -> Vec<String> {
    spec["cron"] = json!("ab");
    faults(spec)
}

#[test]
fn faults_are_told_as_upstream_tells_them() {
    // The messages are those of kube-apiserver v1.36.4 for the same definition and objects.
    for (spec, expected) in [
        (json!({}), vec!["spec.cron: Required value"]),
        (json!(null), vec!["spec: Required value"]),
        (
            json!(5),
            vec![
                "spec: Invalid value: \"integer\": spec in body must be of type object: \"integer\"",
            ],
        ),
        (
            json!({"cron": "abcdefg"}),
            vec!["spec.cron: Too long: may not be more than 5 bytes"],
        ),
        (
            json!({"cron": "a"}),
            vec![
                "spec.cron: Invalid value: \"a\": spec.cron in body should be at least 2 chars long",
            ],
        ),
        (
            json!({"cron": "A1"}),
            vec!["spec.cron: Invalid value: \"A1\": spec.cron in body should match '^[a-z]+$'"],
        ),
        (json!({"cron": null}), vec!["spec.cron: Required value"]),
        (
            json!({"cron": 5, "count": "x", "policy": "X"}),
            vec![
                "spec.count: Invalid value: \"string\": spec.count in body must be of type integer: \"string\"",
                "spec.cron: Invalid value: \"integer\": spec.cron in body must be of type string: \"integer\"",
                "spec.policy: Unsupported value: \"X\": supported values: \"Allow\", \"Forbid\"",
            ],
        ),
    ] {
        assert_eq!(faults(spec.clone()), expected, "{spec}");
    }
    for (spec, expected) in [
        (json!({"count": 2.0}), vec![]),
        (
            json!({"nul": null, "one": 4, "port": 80, "num": 2.0}),
            vec![],
        ),
        (
            json!({"count": 12}),
            vec![
                "spec.count: Invalid value: 12: spec.count in body should be less than or equal to 10",
            ],
        ),
        (
            json!({"count": 0}),
            vec![
                "spec.count: Invalid value: 0: spec.count in body should be greater than or equal to 1",
            ],
        ),
        (
            json!({"count": 3}),
            vec!["spec.count: Invalid value: 3: spec.count in body should be a multiple of 2"],
        ),
        (
            json!({"small": 0}),
            vec!["spec.small: Invalid value: 0: spec.small in body should be greater than 0"],
        ),
        (
            json!({"small": 99999999999_u64}),
            vec![
                "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in spec.small",
                "spec.small: Invalid value: 99999999999: spec.small in body should be less than 10",
            ],
        ),
        (
            json!({"ratio": 0.75}),
            vec![
                "spec.ratio: Invalid value: 0.75: spec.ratio in body should be less than or equal to 0.5",
            ],
        ),
        (
            json!({"policy": 7}),
            vec![
                "spec.policy: Invalid value: \"integer\": spec.policy in body must be of type string: \"integer\"",
                "spec.policy: Unsupported value: 7: supported values: \"Allow\", \"Forbid\"",
            ],
        ),
        (
            json!({"num": 7}),
            vec!["spec.num: Unsupported value: 7: supported values: \"1\", \"2\""],
        ),
        (
            json!({"port": 1.5}),
            vec![
                "spec.port: Invalid value: \"number\": spec.port in body must be of type integer,string: \"number\"",
            ],
        ),
        (
            json!({"date": "x"}),
            vec![
                "spec.date: Invalid value: \"x\": spec.date in body must be of type date-time: \"x\"",
            ],
        ),
        (
            json!({"emb": {"a": 1}}),
            vec![
                "spec.emb.apiVersion: Required value",
                "spec.emb.kind: Required value",
            ],
        ),
    ] {
        assert_eq!(with(spec.clone()), expected, "{spec}");
    }
}

#[test]
fn faults_in_lists_and_maps_name_the_item() {
    for (spec, expected) in [
        (
            json!({"labels": {"a": 1}}),
            vec![
                "spec.labels.a: Invalid value: \"integer\": spec.labels.a in body must be of type string: \"integer\"",
            ],
        ),
        (
            json!({"labels": {"a": "x", "b": "y"}}),
            vec!["spec.labels: Too many: 2: must have at most 1 item"],
        ),
        (
            json!({"list": []}),
            vec!["spec.list: Invalid value: 0: spec.list in body should have at least 1 items"],
        ),
        (
            json!({"list": ["a", "b", "c"]}),
            vec!["spec.list: Too many: 3: must have at most 2 items"],
        ),
        (
            json!({"list": ["abcd", null]}),
            vec![
                "spec.list[0]: Too long: may not be more than 3 bytes",
                "spec.list[1]: Invalid value: \"null\": spec.list[1] in body must be of type string: \"null\"",
            ],
        ),
        (
            json!({"set": ["a", "a"]}),
            vec!["spec.set[1]: Duplicate value: \"a\""],
        ),
        (
            json!({"map": [{"name": "a"}, {"name": "a"}]}),
            vec!["spec.map[1]: Duplicate value: {\"name\":\"a\"}"],
        ),
        (
            json!({"map": [{}, {"name": "a"}]}),
            vec!["spec.map[0].name: Required value"],
        ),
    ] {
        assert_eq!(with(spec.clone()), expected, "{spec}");
    }
}

#[test]
fn combined_schemas_are_told_as_a_whole() {
    for (spec, expected) in [
        (
            json!({"any": 3}),
            vec![
                "<nil>: Invalid value: \"\": \"spec.any\" must validate at least one schema (anyOf)",
                "spec.any: Invalid value: 3: spec.any in body should be greater than or equal to 5",
            ],
        ),
        (
            json!({"one": 6}),
            vec![
                "<nil>: Invalid value: \"\": \"spec.one\" must validate one and only one schema (oneOf). Found 2 valid alternatives",
            ],
        ),
        (
            json!({"all": 4}),
            vec![
                "spec.all: Invalid value: 4: spec.all in body should be greater than or equal to 5",
                "<nil>: Invalid value: \"\": \"spec.all\" must validate all the schemas (allOf)",
            ],
        ),
        (
            json!({"not": 6}),
            vec!["<nil>: Invalid value: \"\": \"spec.not\" must not validate the schema (not)"],
        ),
        (
            json!({"nested": {"b": "xyz"}}),
            vec![
                "<nil>: Invalid value: \"\": \"spec.nested\" must validate at least one schema (anyOf)",
                "spec.nested.b: Too long: may not be more than 1 byte",
            ],
        ),
        (json!({"nested": {"a": 1, "b": "xyz"}}), vec![]),
    ] {
        assert_eq!(with(spec.clone()), expected, "{spec}");
    }
}

#[test]
fn the_reason_is_that_of_the_cause() {
    let (types, of) = crontab();
    let faults = value_faults(types.schema(of), &json!({"metadata": {}}), &|_, _| true);
    assert_eq!(faults.len(), 1);
    assert_eq!(
        (faults[0].reason, faults[0].path.as_str()),
        ("FieldValueRequired", "spec")
    );
}

#[test]
fn defaults_replace_what_is_missing_and_nulls_that_must_not_be() {
    let (types, of) = crontab();
    let mut value = json!({"spec": {
        "dflt": null, "nul": null, "num": null, "labels": {"a": null, "b": "x"},
        "map": [{"name": "a"}, {"name": "b", "d": 1}],
    }});
    let mut kept = value.clone();
    apply_defaults(types.schema(of), &mut kept);
    let nulls = (&kept["spec"]["num"], &kept["spec"]["labels"]["a"]);
    assert_eq!(nulls, (&Value::Null, &Value::Null));
    assert_eq!(kept["spec"]["dflt"], "hi");
    drop_nulls(types.schema(of), &mut value);
    apply_defaults(types.schema(of), &mut value);
    assert_eq!(
        value["spec"],
        json!({
            "dflt": "hi", "nul": null, "labels": {"b": "x"},
            "map": [{"name": "a", "d": 3}, {"name": "b", "d": 1}],
        })
    );
    let once = value.clone();
    apply_defaults(types.schema(of), &mut value);
    assert_eq!(value, once);
}
