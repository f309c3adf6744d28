use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;
use crate::{Shape, TextFormat, builtin};

fn deployment() -> Schema<'static> {
    builtin().kind("apps", "v1", "Deployment").unwrap()
}

fn pod() -> Schema<'static> {
    builtin().kind("", "v1", "Pod").unwrap()
}

fn faults(schema: Schema<'_>, text: &str) -> Vec<String> {
    let decoded = decode(schema, text.as_bytes()).unwrap();
    decoded.strict.iter().map(ToString::to_string).collect()
}

fn failure(schema: Schema<'_>, value: Value) -> String {
    let failed = decode(schema, value.to_string().as_bytes()).unwrap_err();
    assert_eq!(decode_value(schema, value).unwrap_err(), failed);
    failed.to_string()
}

#[test]
fn unknown_and_duplicate_fields_are_reported_in_order_with_their_paths() {
    let text = r#"{"kind": "Pod", "spec": {"a.b": 1, "containers": [{}, {"nmae": "a", "name": "b", "name": "c"}]},
        "metadata": {"labels": {"x": "1", "x": "2"}}, "speck": {"x": 1, "x": 2}}"#;
    assert_eq!(
        faults(pod(), text),
        [
            r#"unknown field "spec.a.b""#,
            r#"unknown field "spec.containers[1].nmae""#,
            r#"duplicate field "spec.containers[1].name""#,
            r#"duplicate field "metadata.labels.x""#,
            r#"unknown field "speck""#,
        ]
    );
    let decoded = decode(pod(), text.as_bytes()).unwrap();
    assert_eq!(
        decoded.value,
        json!({
            "kind": "Pod",
            "spec": {"containers": [{}, {"name": "c"}]},
            "metadata": {"labels": {"x": "2"}},
        })
    );
    assert_eq!(
        strict_message(&decoded.strict[..2]),
        r#"strict decoding error: unknown field "spec.a.b", unknown field "spec.containers[1].nmae""#
    );
}

#[test]
fn names_of_fields_are_case_sensitive() {
    let text = r#"{"Spec": {}}"#;
    assert_eq!(faults(pod(), text), [r#"unknown field "Spec""#]);
}

#[test]
fn at_most_a_hundred_faults_are_reported() {
    let fields: Vec<String> = (0..200).map(|field| format!("\"f{field}\": 1")).collect();
    let text = format!("{{{}}}", fields.join(","));
    assert_eq!(faults(pod(), &text).len(), 100);
}

#[test]
fn a_value_of_another_type_is_named_as_go_names_it() {
    for (value, why) in [
        (
            json!({"spec": {"replicas": "3"}}),
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            json!({"spec": {"replicas": 1.5}}),
            "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            json!({"spec": {"replicas": 99999999999_u64}}),
            "json: cannot unmarshal number 99999999999 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            json!({"spec": "x"}),
            "json: cannot unmarshal string into Go struct field Deployment.spec of type v1.DeploymentSpec",
        ),
        (
            json!({"spec": {"template": {"spec": {"containers": {}}}}}),
            "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
        (
            json!({"spec": {"template": {"spec": {"containers": [{"name": 1}]}}}}),
            "json: cannot unmarshal number into Go struct field Container.spec.template.spec.containers.name of type string",
        ),
        (
            json!({"metadata": {"labels": {"a": true}}}),
            "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            json!({"metadata": {"labels": ["a"]}}),
            "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string",
        ),
        (
            json!([]),
            "json: cannot unmarshal array into Go value of type v1.Deployment",
        ),
        (
            json!({"metadata": {"creationTimestamp": 1}}),
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
        ),
        (
            json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": true}}}}),
            "json: cannot unmarshal bool into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
        ),
        (
            json!({"spec": {"template": {"spec": {"volumes": [{"hostPath": 5}]}}}}),
            "json: cannot unmarshal number into Go struct field Volume.spec.template.spec.volumes.VolumeSource.hostPath of type v1.HostPathVolumeSource",
        ),
        (
            json!({"spec": {"template": {"spec": {"containers": [{"imagePullPolicy": 1}]}}}}),
            "json: cannot unmarshal number into Go struct field Container.spec.template.spec.containers.imagePullPolicy of type v1.PullPolicy",
        ),
        (
            json!({"spec": {"template": {"spec": {"containers": [{"resources": {"limits": 1}}]}}}}),
            "json: cannot unmarshal number into Go struct field ResourceRequirements.spec.template.spec.containers.resources.limits of type v1.ResourceList",
        ),
        (
            json!({"spec": {"template": {"spec": {"containers": [{"securityContext": {"capabilities": {"add": [1]}}}]}}}}),
            "json: cannot unmarshal number into Go struct field Capabilities.spec.template.spec.containers.securityContext.capabilities.add of type v1.Capability",
        ),
    ] {
        assert_eq!(failure(deployment(), value), why);
    }
}

#[test]
fn the_first_wrong_type_counts_and_unreadable_notation_comes_before_it() {
    let two = json!({"spec": {"minReadySeconds": "a", "replicas": "b"}});
    assert!(failure(deployment(), two).contains("minReadySeconds"));
    let containers = json!([{"resources": {"limits": {"cpu": "1x"}}}]);
    let mixed = json!({"kind": 1, "spec": {"template": {"spec": {"containers": containers}}}});
    assert!(failure(deployment(), mixed).starts_with("quantities must match"));
}

#[test]
fn quantities_and_times_take_their_canonical_form() {
    let text = json!({
        "metadata": {"creationTimestamp": "2020-01-01T02:00:00.5+02:00"},
        "spec": {"containers": [{"resources": {"limits": {"cpu": "1000m", "memory": 1024, "x": "1.5Gi"}}}]},
    });
    assert_eq!(
        decode_value(pod(), text).unwrap().value,
        json!({
            "metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"},
            "spec": {"containers": [{"resources": {"limits": {"cpu": "1", "memory": "1024", "x": "1536Mi"}}}]},
        })
    );
}

#[test]
fn amounts_longer_than_what_is_counted_with_keep_their_digits() {
    let long = "123456789".repeat(7);
    for (sent, kept) in [
        (long.clone(), long.clone()),
        (format!("00{long}"), long.clone()),
        (format!("{long}0000m"), format!("{long}0")),
        (format!("-{long}"), format!("-{long}")),
    ] {
        let text = json!({"spec": {"containers": [{"resources": {"limits": {"cpu": sent}}}]}});
        let read = decode_value(pod(), text).unwrap().value;
        let limit = &read["spec"]["containers"][0]["resources"]["limits"]["cpu"];
        assert_eq!(*limit, json!(kept));
    }
    let odd = json!({"spec": {"containers": [{"resources": {"limits": {"cpu": "0.50.5"}}}]}});
    assert!(failure(pod(), odd).starts_with("quantities must match"));
}

#[test]
fn a_null_is_nothing_in_a_field_and_an_empty_value_elsewhere() {
    let text = json!({
        "metadata": {"labels": {"a": null}, "annotations": null},
        "spec": {"containers": [null], "hostNetwork": null},
    });
    assert_eq!(
        decode_value(pod(), text).unwrap().value,
        json!({"metadata": {"labels": {"a": ""}}, "spec": {"containers": [{}]}})
    );
}

#[test]
fn bytes_are_base_64() {
    let secret = builtin().kind("", "v1", "Secret").unwrap();
    assert!(decode_value(secret, json!({"data": {"a": "YQ=="}})).is_ok());
    assert_eq!(
        failure(secret, json!({"data": {"a": "Y!"}})),
        "illegal base64 data at input byte 1"
    );
}

#[test]
fn what_is_not_json_is_an_error() {
    for text in ["", "{", "{} {}", "{\"spec\": }"] {
        let failed = decode(pod(), text.as_bytes()).unwrap_err();
        assert!(matches!(failed, DecodeFailed::Syntax(_)), "{text}");
    }
    let deep = "[".repeat(100_000);
    assert!(decode(pod(), deep.as_bytes()).is_err());
}

#[test]
fn pruning_keeps_values_of_other_types_and_nulls() {
    let mut value = json!({"spec": {"replicas": "3", "foo": 1, "paused": null}});
    let faults = prune(deployment(), &mut value);
    assert_eq!(value, json!({"spec": {"replicas": "3", "paused": null}}));
    assert_eq!(faults, [StrictFault::Unknown("spec.foo".to_owned())]);
    assert_eq!(faults[0].path(), "spec.foo");
}

/// Draws a value of a type from a string of dice; unknown fields are strewn in and counted.
struct Dice<'a> {
    rolls: std::slice::Iter<'a, u8>,
    strewn: Vec<String>,
}

impl Dice<'_> {
    fn roll(&mut self) -> u8 {
        self.rolls.next().copied().unwrap_or_default()
    }

    fn value(&mut self, schema: Schema<'_>, path: &str, depth: usize) -> Value {
        match schema.shape() {
            Shape::Object(object) => {
                let mut value = Map::new();
                let below = |name: &str| match path {
                    "" => name.to_owned(),
                    path => format!("{path}.{name}"),
                };
                for field in &object.fields {
                    if depth > 0 && self.roll() > 180 {
                        let of = self.value(schema.at(field.of), &below(&field.name), depth - 1);
                        value.insert(field.name.to_string(), of);
                    }
                }
                if self.roll() > 220 {
                    value.insert("zzz".to_owned(), json!({"a": [1]}));
                    self.strewn.push(below("zzz"));
                }
                Value::Object(value)
            }
            Shape::List(list) => {
                let count = usize::from(self.roll() % 3);
                let item = schema.at(list.item);
                let items = (0..count).map(|at| self.value(item, &format!("{path}[{at}]"), depth));
                items.collect()
            }
            Shape::Map { value, .. } => {
                json!({ "key": self.value(schema.at(*value), &format!("{path}.key"), depth) })
            }
            Shape::Boolean => json!(self.roll() > 127),
            Shape::Integer { .. } => json!(self.roll()),
            Shape::Number => json!(f64::from(self.roll()) + 0.5),
            Shape::IntOrText => match self.roll() {
                roll @ 0..100 => json!(roll),
                roll => json!(roll.to_string()),
            },
            Shape::Text(TextFormat::Plain) => json!(self.roll().to_string()),
            Shape::Text(TextFormat::Bytes) => json!("YQ=="),
            Shape::Text(TextFormat::Time) => json!("2020-01-01T00:00:00Z"),
            Shape::Text(TextFormat::MicroTime) => json!("2020-01-01T00:00:00.000001Z"),
            Shape::Text(TextFormat::Quantity) => json!("1500m"),
            Shape::Any => json!({"any": [null, 1]}),
        }
    }
}

proptest! {
    #[test]
    fn exactly_what_does_not_belong_is_dropped(which in 0..builtin().resources.len(), rolls in vec(any::<u8>(), 0..600)) {
        let resource = &builtin().resources[which];
        let schema = builtin().types.schema(resource.of);
        let mut dice = Dice { rolls: rolls.iter(), strewn: Vec::new() };
        let value = dice.value(schema, "", 6);
        let decoded = decode(schema, value.to_string().as_bytes()).unwrap();
        let mut dropped: Vec<&str> = decoded.strict.iter().map(StrictFault::path).collect();
        dropped.sort_unstable();
        dice.strewn.sort_unstable();
        prop_assert_eq!(dropped, dice.strewn);
        // Text and value are one walk, and what is decoded is of its type.
        prop_assert_eq!(&decode_value(schema, value).unwrap(), &decoded);
        let again = decode_value(schema, decoded.value.clone()).unwrap();
        prop_assert_eq!(again, Decoded { strict: Vec::new(), ..decoded });
    }

    #[test]
    fn no_text_does_harm(text in "[{}\\[\\]\":,a-z0-9 .-]{0,60}", loose: bool) {
        let schema = deployment();
        let _ = match loose {
            true => decode_custom(schema, text.as_bytes()),
            false => decode(schema, text.as_bytes()),
        };
    }
}
