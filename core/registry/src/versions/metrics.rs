//! Measures in the notation of annotations: what is aimed at in a spec, what is shown in a status.

use serde_json::{Value, json};

use super::notation::{amount, any, map, object, some};

/// Which of its two sides a measure tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// What is aimed at.
    Target,
    /// What is shown.
    Current,
}

impl Side {
    /// The field of a measure that holds its values.
    fn field(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Current => "current",
        }
    }

    fn value(self) -> &'static str {
        match self {
            Self::Target => "targetValue",
            Self::Current => "currentValue",
        }
    }

    fn average(self) -> &'static str {
        match self {
            Self::Target => "targetAverageValue",
            Self::Current => "currentAverageValue",
        }
    }

    fn percent(self) -> &'static str {
        match self {
            Self::Target => "targetAverageUtilization",
            Self::Current => "currentAverageUtilization",
        }
    }

    /// An amount that need not be aimed at, but is always shown.
    fn shown(self, value: &Value) -> Option<String> {
        match self {
            Self::Target => some(value),
            Self::Current => amount(value),
        }
    }

    /// The values of a measure; those of a target say of which kind they are.
    fn values(self, value: &Value, average: &Value, percent: &Value) -> Value {
        let kind = if !percent.is_null() {
            "Utilization"
        } else if !average.is_null() {
            "AverageValue"
        } else {
            "Value"
        };
        let kind = match self {
            Self::Target => json!(kind),
            Self::Current => Value::Null,
        };
        map(&[
            ("type", &kind),
            ("value", value),
            ("averageValue", average),
            ("averageUtilization", percent),
        ])
    }
}

/// The field that holds a measure of this type; nothing if there is no such type.
fn field_of(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "Object" => "object",
        "Pods" => "pods",
        "External" => "external",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return None,
    })
}

/// A measure as an annotation tells it.
pub(super) fn write(metric: &Value, side: Side) -> String {
    let kind = metric["type"].as_str().unwrap_or_default();
    let field = field_of(kind).unwrap_or("containerResource");
    let of = &metric[field];
    let values = &of[side.field()];
    let name = || any(&of["metric"]["name"]);
    let chosen = || selector(&of["metric"]["selector"]);
    let written = match kind {
        "Object" => object(&[
            ("target", reference(&of["describedObject"])),
            ("metricName", name()),
            (side.value(), amount(&values["value"])),
            ("selector", chosen()),
            ("averageValue", some(&values["averageValue"])),
        ]),
        "Pods" => object(&[
            ("metricName", name()),
            (side.average(), amount(&values["averageValue"])),
            ("selector", chosen()),
        ]),
        "External" => object(&[
            ("metricName", name()),
            ("metricSelector", chosen()),
            (side.value(), side.shown(&values["value"])),
            (side.average(), some(&values["averageValue"])),
        ]),
        _ => object(&[
            ("name", any(&of["name"])),
            (side.percent(), some(&values["averageUtilization"])),
            (side.average(), side.shown(&values["averageValue"])),
            ("container", some(&of["container"])),
        ]),
    };
    object(&[("type", any(&metric["type"])), (field, Some(written))])
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

pub(super) fn write_condition(condition: &Value) -> String {
    object(&[
        ("type", any(&condition["type"])),
        ("status", any(&condition["status"])),
        ("lastTransitionTime", any(&condition["lastTransitionTime"])),
        ("reason", some(&condition["reason"])),
        ("message", some(&condition["message"])),
    ])
}

/// A measure that an annotation tells of; nothing if it makes no sense.
pub(super) fn read(metric: &Value, side: Side) -> Option<Value> {
    let kind = metric.as_object()?.get("type")?.as_str()?;
    let Some(field) = field_of(kind) else {
        return Some(json!({"type": kind}));
    };
    let of = &metric[field];
    let none = &Value::Null;
    let measure = |selector: &str| map(&[("name", &of["metricName"]), ("selector", &of[selector])]);
    let (value, average, percent) = (&of[side.value()], &of[side.average()], &of[side.percent()]);
    let source = match kind {
        "Object" => {
            let average = &of["averageValue"];
            // A target of zero is what stands there when an average is meant.
            let is_meant = side == Side::Current || average.is_null();
            let value = if is_meant { value } else { none };
            map(&[
                ("describedObject", &of["target"]),
                ("metric", &measure("selector")),
                (side.field(), &side.values(value, average, none)),
            ])
        }
        "Pods" => map(&[
            ("metric", &measure("selector")),
            (side.field(), &side.values(none, average, none)),
        ]),
        "External" => map(&[
            ("metric", &measure("metricSelector")),
            (side.field(), &side.values(value, average, none)),
        ]),
        _ => map(&[
            ("container", &of["container"]),
            ("name", &of["name"]),
            (side.field(), &side.values(none, average, percent)),
        ]),
    };
    Some(json!({"type": kind, field: source}))
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
            let written: Value = serde_json::from_str(&write(&metric, Side::Target)).unwrap();
            assert_eq!(read(&written, Side::Target), Some(metric));
        }
    }
}
