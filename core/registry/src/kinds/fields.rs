//! What field selectors compare: mostly what is stored, but not only.
//!
//! Upstream: the `ToSelectableFields` functions in `pkg/registry`.

use flyball_api::Text;
use serde_json::Value;

use crate::object::{Object, at, selectable};

/// The value of a selectable field. What is not stored because it is false or zero is told as such.
pub(crate) fn field_value(object: &Object, field: &str) -> Text {
    let text = |path: &str| selectable(object, path);
    let or = |path: &str, otherwise: &str| {
        let value = text(path);
        if value.is_empty() {
            Text::from(otherwise)
        } else {
            value
        }
    };
    match field {
        "spec.hostNetwork" | "spec.unschedulable" => or(field, "false"),
        "status.replicas" => or(field, "0"),
        "status.successful" => or("status.succeeded", "0"),
        "name" => text("metadata.name"),
        "source" => match at(object, "source.component") {
            Value::String(component) if !component.is_empty() => component.as_str().into(),
            _ => text("reportingComponent"),
        },
        _ => text(field),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_left_out_is_false_or_zero() {
        let object = json!({
            "metadata": {"name": "a"},
            "status": {"succeeded": 2},
            "reportingComponent": "kubelet",
        });
        let object = object.as_object().unwrap();
        for (field, value) in [
            ("spec.hostNetwork", "false"),
            ("status.replicas", "0"),
            ("status.successful", "2"),
            ("name", "a"),
            ("source", "kubelet"),
            ("spec.nodeName", ""),
        ] {
            assert_eq!(field_value(object, field).as_str(), value, "{field}");
        }
    }
}
