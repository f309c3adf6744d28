//! Rules about values, as JSON schemas state them.

use serde_json::{Value, json};

use crate::Rules;

/// Adds what the schema of a custom resource asks of values.
pub(super) fn write(written: &mut Value, rules: &Rules) {
    let mut add = |name: &str, value: Value| written[name] = value;
    add("format", rules.format.as_str().into());
    if let Some(default) = &rules.default {
        add("default", default.clone());
    }
    if rules.nullable {
        add("nullable", true.into());
    }
    if !rules.allowed.is_empty() {
        add("enum", json!(*rules.allowed));
    }
    if let Some(pattern) = &rules.pattern {
        add("pattern", json!(pattern));
    }
    for (name, bound) in [("minimum", rules.minimum), ("maximum", rules.maximum)] {
        if let Some(bound) = bound {
            add(name, number(bound.at));
            if bound.exclusive {
                let exclusive = match name {
                    "minimum" => "exclusiveMinimum",
                    _ => "exclusiveMaximum",
                };
                add(exclusive, true.into());
            }
        }
    }
    if let Some(multiple) = rules.multiple_of {
        add("multipleOf", number(multiple));
    }
    for (min, max, range) in [
        ("minLength", "maxLength", rules.length),
        ("minItems", "maxItems", rules.items),
        ("minProperties", "maxProperties", rules.properties),
    ] {
        if let Some(count) = range.min {
            add(min, count.into());
        }
        if let Some(count) = range.max {
            add(max, count.into());
        }
    }
    if rules.embedded_resource {
        add("x-kubernetes-embedded-resource", true.into());
    }
    if !rules.validations.is_empty() {
        add("x-kubernetes-validations", json!(*rules.validations));
    }
    for (name, schema) in &rules.junctors {
        add(name, schema.clone());
    }
    if rules.format.is_empty()
        && let Some(written) = written.as_object_mut()
    {
        // A custom resource's number has a format only if its schema says so.
        written.remove("format");
    }
}

/// Whole numbers are written without a fraction.
fn number(number: f64) -> Value {
    match number as i64 {
        whole if whole as f64 == number => whole.into(),
        _ => number.into(),
    }
}
