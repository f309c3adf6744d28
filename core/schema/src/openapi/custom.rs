//! What is particular about the schemas of custom resources in documents.
//!
//! Upstream: `apiextensions-apiserver/pkg/controller/openapi/{builder,v2}`.

use serde_json::{Map, Value, json};

use super::schemas::Dialect;
use crate::{ListKind, Schema, Shape};

/// Adjusts what was written of a type that a definition describes.
pub(super) fn adjust(dialect: Dialect, schema: Schema<'_>, written: &mut Value) {
    let Some(rules) = schema.rules() else {
        return;
    };
    let Some(fields) = written.as_object_mut() else {
        return;
    };
    if let Shape::List(list) = schema.shape()
        && list.kind == ListKind::Atomic
    {
        // A list that says nothing of itself is atomic, and says nothing here either.
        fields.remove("x-kubernetes-list-type");
    }
    let is_root = !schema.get().name.is_empty();
    let is_int_or_text = matches!(schema.shape(), Shape::IntOrText);
    match dialect {
        Dialect::V3 => {
            if is_int_or_text && !fields.contains_key("anyOf") && !fields.contains_key("allOf") {
                let either = json!([{"type": "integer"}, {"type": "string"}]);
                fields.insert("anyOf".to_owned(), either);
            }
            if rules.embedded_resource {
                fields.insert("required".to_owned(), json!(["kind", "apiVersion"]));
            }
        }
        Dialect::V2 => {
            // The older dialect has no words for these.
            for name in ["default", "allOf", "anyOf", "oneOf", "not", "nullable"] {
                fields.remove(name);
            }
            let is_open = fields.contains_key("x-kubernetes-preserve-unknown-fields");
            if is_open && is_root {
                *fields = Map::from_iter([("type".to_owned(), "object".into())]);
            } else if is_open || is_int_or_text {
                keep_marks(fields);
            } else if rules.nullable {
                fields.clear();
            }
        }
    }
}

fn keep_marks(fields: &mut Map<String, Value>) {
    fields.retain(|name, _| name.starts_with("x-kubernetes-") || name == "description");
}
