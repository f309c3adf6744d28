//! The causes of a refusal, in an order that both servers can have.
//!
//! Upstream walks maps in Go's order, which is another each time: two labels that are wrong are told either way.

use std::borrow::Cow;

use serde_json::Value;

/// The values of a list, each once.
pub(super) fn once(values: &[Value]) -> Vec<Value> {
    let mut once: Vec<Value> = Vec::new();
    for value in values {
        if !once.contains(value) {
            once.push(value.clone());
        }
    }
    // Who is in conflict is told in the order of a Go map, too.
    if once
        .iter()
        .any(|cause| cause["reason"] == "FieldManagerConflict")
    {
        once.sort_by_key(Value::to_string);
    }
    once
}

/// A refusal whose causes within one map are in order of their words, in its message as well.
pub(super) fn in_order(document: &Value) -> Cow<'_, Value> {
    let Some(causes) = document["details"]["causes"].as_array() else {
        return Cow::Borrowed(document);
    };
    let told = |causes: &[Value]| {
        let causes = causes.iter().map(|cause| {
            let text = |field: &str| cause[field].as_str().unwrap_or_default().to_owned();
            format!("{}: {}", text("field"), text("message"))
        });
        causes.collect::<Vec<_>>().join(", ")
    };
    let causes = once(causes);
    let mut sorted = causes.clone();
    // The properties of a schema are a map, too.
    let group = document["details"]["group"].as_str().unwrap_or_default();
    if group.ends_with(".example.com") {
        sorted.sort_by_key(Value::to_string);
    }
    for within in sorted.chunk_by_mut(|one, other| map_of(one) == map_of(other)) {
        within.sort_by_key(Value::to_string);
    }
    if sorted == causes {
        return Cow::Borrowed(document);
    }
    let mut document = document.clone();
    let message = document["message"].as_str().unwrap_or_default();
    let message = message.replace(&told(&causes), &told(&sorted));
    document["message"] = message.into();
    document["details"]["causes"] = sorted.into();
    Cow::Owned(document)
}

/// The map that the field of a cause is of: the field itself, or what stands before a key.
fn map_of(cause: &Value) -> &str {
    let field = cause["field"].as_str().unwrap_or_default();
    let is_index = |rest: &str| {
        rest.split_once(']')
            .is_some_and(|(index, _)| index.bytes().all(|byte| byte.is_ascii_digit()))
    };
    // These are a set to upstream, whose order is chance as well.
    if field.starts_with("spec.schedulingGates") {
        return "spec.schedulingGates";
    }
    let mut brackets = field.match_indices('[');
    let key = brackets.find(|(at, _)| !field.get(at + 1..).is_some_and(is_index));
    key.map_or(field, |(at, _)| field.get(..at).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(causes: [(&str, &str); 3]) -> Value {
        let told = causes.map(|(field, message)| format!("{field}: {message}"));
        let causes = causes.map(|(field, message)| json!({"field": field, "message": message}));
        json!({"message": format!("is invalid: [{}]", told.join(", ")), "details": {"causes": causes}})
    }

    #[test]
    fn only_causes_within_one_map_change_places() {
        let one = refusal([("name", "z"), ("labels", "b"), ("labels", "a")]);
        let other = refusal([("name", "z"), ("labels", "a"), ("labels", "b")]);
        assert_eq!(in_order(&one), in_order(&other));
        let other = refusal([("labels", "a"), ("labels", "b"), ("name", "z")]);
        assert_ne!(in_order(&one), in_order(&other));
        let one = refusal([("limits[b]", "x"), ("limits[a]", "x"), ("c[1]", "x")]);
        let other = refusal([("limits[a]", "x"), ("limits[b]", "x"), ("c[1]", "x")]);
        assert_eq!(in_order(&one), in_order(&other));
        let one = refusal([("c[0].a", "x"), ("c[1].a", "x"), ("d", "x")]);
        let other = refusal([("c[1].a", "x"), ("c[0].a", "x"), ("d", "x")]);
        assert_ne!(in_order(&one), in_order(&other));
    }
}
