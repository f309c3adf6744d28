//! Measures and behavior in the notation that annotations of the first version have.
//!
//! Its fields stand in the order in which upstream writes them, because clients compare the text.

use serde_json::{Map, Value, json};

/// A JSON object with these fields in this order; those without a value are left out.
fn object(fields: &[(&str, Option<String>)]) -> String {
    let given = fields
        .iter()
        .filter_map(|(name, value)| Some(format!("{name:?}:{}", value.as_ref()?)));
    format!("{{{}}}", given.collect::<Vec<_>>().join(","))
}

/// A value as JSON, if there is one.
fn some(value: &Value) -> Option<String> {
    (!value.is_null()).then(|| value.to_string())
}

/// A value as JSON, null if there is none.
fn any(value: &Value) -> Option<String> {
    Some(value.to_string())
}

/// An amount as JSON, zero if there is none.
fn amount(value: &Value) -> Option<String> {
    some(value).or_else(|| Some("\"0\"".to_owned()))
}

fn selector(value: &Value) -> Option<String> {
    value.is_object().then(|| {
        let expressions = value["matchExpressions"].as_array().map(|all| {
            let one = |one: &Value| {
                object(&[
                    ("key", any(&one["key"])),
                    ("operator", any(&one["operator"])),
                    ("values", some(&one["values"])),
                ])
            };
            let all: Vec<String> = all.iter().map(one).collect();
            format!("[{}]", all.join(","))
        });
        object(&[
            ("matchLabels", some(&value["matchLabels"])),
            ("matchExpressions", expressions),
        ])
    })
}

fn reference(value: &Value) -> Option<String> {
    Some(object(&[
        ("kind", any(&value["kind"])),
        ("name", any(&value["name"])),
        ("apiVersion", some(&value["apiVersion"])),
    ]))
}

/// A measure and what is aimed at.
pub(super) fn write_spec(metric: &Value) -> String {
    let source = |name: &str, written: String| {
        object(&[("type", any(&metric["type"])), (name, Some(written))])
    };
    let target = |kind: &str| &metric[kind]["target"];
    let name = |kind: &str| any(&metric[kind]["metric"]["name"]);
    let chosen = |kind: &str| selector(&metric[kind]["metric"]["selector"]);
    match metric["type"].as_str().unwrap_or_default() {
        "Object" => source(
            "object",
            object(&[
                ("target", reference(&metric["object"]["describedObject"])),
                ("metricName", name("object")),
                ("targetValue", amount(&target("object")["value"])),
                ("selector", chosen("object")),
                ("averageValue", some(&target("object")["averageValue"])),
            ]),
        ),
        "Pods" => source(
            "pods",
            object(&[
                ("metricName", name("pods")),
                (
                    "targetAverageValue",
                    amount(&target("pods")["averageValue"]),
                ),
                ("selector", chosen("pods")),
            ]),
        ),
        "External" => source(
            "external",
            object(&[
                ("metricName", name("external")),
                ("metricSelector", chosen("external")),
                ("targetValue", some(&target("external")["value"])),
                (
                    "targetAverageValue",
                    some(&target("external")["averageValue"]),
                ),
            ]),
        ),
        kind => {
            let field = if kind == "Resource" {
                "resource"
            } else {
                "containerResource"
            };
            let of = &metric[field];
            source(
                field,
                object(&[
                    ("name", any(&of["name"])),
                    (
                        "targetAverageUtilization",
                        some(&of["target"]["averageUtilization"]),
                    ),
                    ("targetAverageValue", some(&of["target"]["averageValue"])),
                    ("container", some(&of["container"])),
                ]),
            )
        }
    }
}

/// A measure and what it shows.
pub(super) fn write_status(metric: &Value) -> String {
    let source = |name: &str, written: String| {
        object(&[("type", any(&metric["type"])), (name, Some(written))])
    };
    let current = |kind: &str| &metric[kind]["current"];
    let name = |kind: &str| any(&metric[kind]["metric"]["name"]);
    let chosen = |kind: &str| selector(&metric[kind]["metric"]["selector"]);
    match metric["type"].as_str().unwrap_or_default() {
        "Object" => source(
            "object",
            object(&[
                ("target", reference(&metric["object"]["describedObject"])),
                ("metricName", name("object")),
                ("currentValue", amount(&current("object")["value"])),
                ("selector", chosen("object")),
                ("averageValue", some(&current("object")["averageValue"])),
            ]),
        ),
        "Pods" => source(
            "pods",
            object(&[
                ("metricName", name("pods")),
                (
                    "currentAverageValue",
                    amount(&current("pods")["averageValue"]),
                ),
                ("selector", chosen("pods")),
            ]),
        ),
        "External" => source(
            "external",
            object(&[
                ("metricName", name("external")),
                ("metricSelector", chosen("external")),
                ("currentValue", amount(&current("external")["value"])),
                (
                    "currentAverageValue",
                    some(&current("external")["averageValue"]),
                ),
            ]),
        ),
        kind => {
            let field = if kind == "Resource" {
                "resource"
            } else {
                "containerResource"
            };
            let of = &metric[field];
            source(
                field,
                object(&[
                    ("name", any(&of["name"])),
                    (
                        "currentAverageUtilization",
                        some(&of["current"]["averageUtilization"]),
                    ),
                    (
                        "currentAverageValue",
                        amount(&of["current"]["averageValue"]),
                    ),
                    ("container", some(&of["container"])),
                ]),
            )
        }
    }
}

pub(super) fn write_condition(condition: &Value) -> String {
    object(&[
        ("type", any(&condition["type"])),
        ("status", any(&condition["status"])),
        ("lastTransitionTime", any(&condition["lastTransitionTime"])),
        ("reason", some(&condition["reason"])),
        ("message", some(&condition["message"])),
    ])
}

/// How fast it scales, in the names of upstream's own structures.
pub(super) fn write_behavior(behavior: &Value) -> String {
    let rules = |rules: &Value| match rules.is_null() {
        true => Some("null".to_owned()),
        false => {
            let policies = rules["policies"].as_array().map(|all| {
                let one = |one: &Value| {
                    object(&[
                        ("Type", any(&one["type"])),
                        ("Value", any(&one["value"])),
                        ("PeriodSeconds", any(&one["periodSeconds"])),
                    ])
                };
                let all: Vec<String> = all.iter().map(one).collect();
                format!("[{}]", all.join(","))
            });
            Some(object(&[
                (
                    "StabilizationWindowSeconds",
                    any(&rules["stabilizationWindowSeconds"]),
                ),
                ("SelectPolicy", any(&rules["selectPolicy"])),
                ("Policies", policies.or_else(|| Some("null".to_owned()))),
                ("Tolerance", any(&rules["tolerance"])),
            ]))
        }
    };
    object(&[
        ("ScaleUp", rules(&behavior["scaleUp"])),
        ("ScaleDown", rules(&behavior["scaleDown"])),
    ])
}

/// A map with these fields; those without a value are left out.
fn map(fields: &[(&str, &Value)]) -> Value {
    let given = fields.iter().filter(|(_, value)| !value.is_null());
    let all: Map<String, Value> = given
        .map(|(name, value)| ((*name).to_owned(), (*value).clone()))
        .collect();
    all.into()
}

/// What is aimed at, of the kind that its values show.
fn aim(value: &Value, average: &Value, percent: &Value) -> Value {
    let kind = if !percent.is_null() {
        "Utilization"
    } else if !average.is_null() {
        "AverageValue"
    } else {
        "Value"
    };
    map(&[
        ("type", &json!(kind)),
        ("value", value),
        ("averageValue", average),
        ("averageUtilization", percent),
    ])
}

fn measure(of: &Value, selector: &str) -> Value {
    map(&[("name", &of["metricName"]), ("selector", &of[selector])])
}

/// A measure that an annotation tells of; nothing if it makes no sense.
pub(super) fn read_spec(metric: &Value) -> Option<Value> {
    let kind = metric.as_object()?.get("type")?.as_str()?;
    let none = &Value::Null;
    let (field, source) = match kind {
        "Object" => {
            let of = &metric["object"];
            let average = &of["averageValue"];
            // A value of zero is what stands there when an average is meant.
            let value = if average.is_null() {
                &of["targetValue"]
            } else {
                none
            };
            let described = ("describedObject", &of["target"]);
            let target = aim(value, average, none);
            (
                "object",
                map(&[
                    described,
                    ("metric", &measure(of, "selector")),
                    ("target", &target),
                ]),
            )
        }
        "Pods" => {
            let of = &metric["pods"];
            let target = aim(none, &of["targetAverageValue"], none);
            (
                "pods",
                map(&[("metric", &measure(of, "selector")), ("target", &target)]),
            )
        }
        "External" => {
            let of = &metric["external"];
            let target = aim(&of["targetValue"], &of["targetAverageValue"], none);
            (
                "external",
                map(&[
                    ("metric", &measure(of, "metricSelector")),
                    ("target", &target),
                ]),
            )
        }
        "Resource" | "ContainerResource" => {
            let field = if kind == "Resource" {
                "resource"
            } else {
                "containerResource"
            };
            let of = &metric[field];
            let target = aim(
                none,
                &of["targetAverageValue"],
                &of["targetAverageUtilization"],
            );
            let rest = [("container", &of["container"]), ("name", &of["name"])];
            (field, map(&[rest[0], rest[1], ("target", &target)]))
        }
        _ => return Some(json!({"type": kind})),
    };
    Some(json!({"type": kind, field: source}))
}

/// What a measure showed, as an annotation tells it; nothing if it makes no sense.
pub(super) fn read_status(metric: &Value) -> Option<Value> {
    let kind = metric.as_object()?.get("type")?.as_str()?;
    let none = &Value::Null;
    let shown = |value: &Value, average: &Value, percent: &Value| {
        map(&[
            ("value", value),
            ("averageValue", average),
            ("averageUtilization", percent),
        ])
    };
    let (field, source) = match kind {
        "Object" => {
            let of = &metric["object"];
            let current = shown(&of["currentValue"], &of["averageValue"], none);
            let described = ("describedObject", &of["target"]);
            (
                "object",
                map(&[
                    described,
                    ("metric", &measure(of, "selector")),
                    ("current", &current),
                ]),
            )
        }
        "Pods" => {
            let of = &metric["pods"];
            let current = shown(none, &of["currentAverageValue"], none);
            (
                "pods",
                map(&[("metric", &measure(of, "selector")), ("current", &current)]),
            )
        }
        "External" => {
            let of = &metric["external"];
            let current = shown(&of["currentValue"], &of["currentAverageValue"], none);
            (
                "external",
                map(&[
                    ("metric", &measure(of, "metricSelector")),
                    ("current", &current),
                ]),
            )
        }
        "Resource" | "ContainerResource" => {
            let field = if kind == "Resource" {
                "resource"
            } else {
                "containerResource"
            };
            let of = &metric[field];
            let percent = &of["currentAverageUtilization"];
            let current = shown(none, &of["currentAverageValue"], percent);
            let rest = [("container", &of["container"]), ("name", &of["name"])];
            (field, map(&[rest[0], rest[1], ("current", &current)]))
        }
        _ => return Some(json!({"type": kind})),
    };
    Some(json!({"type": kind, field: source}))
}

/// How fast it scales, as an annotation tells it; nothing if it says nothing.
pub(super) fn read_behavior(written: &Value) -> Option<Value> {
    written.as_object()?;
    let rules = |rules: &Value| {
        let policies = rules["Policies"].as_array().map(|all| {
            let one = |one: &Value| {
                map(&[
                    ("type", &one["Type"]),
                    ("value", &one["Value"]),
                    ("periodSeconds", &one["PeriodSeconds"]),
                ])
            };
            Value::from(all.iter().map(one).collect::<Vec<Value>>())
        });
        map(&[
            (
                "stabilizationWindowSeconds",
                &rules["StabilizationWindowSeconds"],
            ),
            ("selectPolicy", &rules["SelectPolicy"]),
            ("policies", &policies.unwrap_or_default()),
            ("tolerance", &rules["Tolerance"]),
        ])
    };
    let given = |name: &str| match &written[name] {
        Value::Object(_) => rules(&written[name]),
        _ => Value::Null,
    };
    let behavior = map(&[
        ("scaleUp", &given("ScaleUp")),
        ("scaleDown", &given("ScaleDown")),
    ]);
    behavior
        .as_object()
        .is_some_and(|all| !all.is_empty())
        .then_some(behavior)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_read_as_they_are_written() {
        for metric in [
            json!({"type": "Resource", "resource": {
                "name": "memory", "target": {"type": "AverageValue", "averageValue": "1Mi"},
            }}),
            json!({"type": "ContainerResource", "containerResource": {
                "name": "cpu", "container": "c",
                "target": {"type": "Utilization", "averageUtilization": 40},
            }}),
            json!({"type": "External", "external": {
                "metric": {"name": "q", "selector": {"matchLabels": {"a": "b"}}},
                "target": {"type": "Value", "value": "30"},
            }}),
            json!({"type": "Object", "object": {
                "describedObject": {"kind": "K", "name": "n"},
                "metric": {"name": "q"},
                "target": {"type": "AverageValue", "averageValue": "3"},
            }}),
            json!({"type": "Object", "object": {
                "describedObject": {"kind": "K", "name": "n"},
                "metric": {"name": "q"},
                "target": {"type": "Value", "value": "2k"},
            }}),
        ] {
            let written: Value = serde_json::from_str(&write_spec(&metric)).unwrap();
            assert_eq!(read_spec(&written), Some(metric));
        }
    }

    #[test]
    fn behavior_is_written_in_the_order_of_upstream() {
        let behavior = json!({"scaleUp": {
            "stabilizationWindowSeconds": 5,
            "selectPolicy": "Max",
            "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}],
        }});
        let text = write_behavior(&behavior);
        assert_eq!(
            text,
            r#"{"ScaleUp":{"StabilizationWindowSeconds":5,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}],"Tolerance":null},"ScaleDown":null}"#
        );
        let written: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read_behavior(&written), Some(behavior));
        assert_eq!(read_behavior(&json!({"Other": 1})), None);
        assert_eq!(read_behavior(&json!([])), None);
    }
}
