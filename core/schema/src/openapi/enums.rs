//! The values that fields of built-in types may have, as kube-apiserver v1.36.4 lists them in its documents:
//! `kubectl explain` shows them. k8s-openapi does not know them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

const LISTED: &str = include_str!("enums.json");

/// Values by type and field.
#[derive(Default)]
pub(super) struct Enums(BTreeMap<String, BTreeMap<String, Vec<String>>>);

impl Enums {
    pub(super) fn listed() -> Self {
        // The tests read it, so it can be read.
        Self(serde_json::from_str(LISTED).unwrap_or_default())
    }

    /// Adds to a field what it, its items or its values may be.
    pub(super) fn write(&self, type_name: &str, field: &str, written: &mut Map<String, Value>) {
        let values = self.0.get(type_name).and_then(|fields| fields.get(field));
        let Some(values) = values else { return };
        let within = ["items", "additionalProperties"]
            .into_iter()
            .find(|within| written.contains_key(*within));
        if let Some(within) = within {
            written[within]["enum"] = json!(values);
            return;
        }
        written.insert("enum".to_owned(), json!(values));
        if let Some(Value::String(description)) = written.get_mut("description") {
            description.push_str("\n\nPossible enum values:");
            for value in values {
                description.push_str(&format!("\n - `{value:?}`"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_listed_only_of_fields_that_exist() {
        let listed = Enums::listed().0;
        assert_eq!(listed.len(), 61);
        for (type_name, fields) in &listed {
            let schema = crate::builtin().named(type_name);
            let schema = schema.unwrap_or_else(|| panic!("there is no {type_name}"));
            for field in fields.keys() {
                assert!(schema.field_named(field).is_some(), "{type_name} {field}");
            }
        }
    }

    #[test]
    fn a_field_says_what_it_may_be_and_a_list_what_its_items_may_be() {
        let write = |type_name: &str, field: &str, mut written: Value| {
            let fields = written.as_object_mut().unwrap();
            Enums::listed().write(type_name, field, fields);
            written
        };
        let policy = json!({"type": "string", "description": "When."});
        assert_eq!(
            write("io.k8s.api.core.v1.PodSpec", "restartPolicy", policy),
            json!({
                "type": "string",
                "description": "When.\n\nPossible enum values:\n - `\"Always\"`\n - `\"Never\"`\n - `\"OnFailure\"`",
                "enum": ["Always", "Never", "OnFailure"],
            })
        );
        let families = json!({"type": "array", "items": {"type": "string"}});
        assert_eq!(
            write("io.k8s.api.core.v1.ServiceSpec", "ipFamilies", families)["items"]["enum"],
            json!(["", "IPv4", "IPv6"])
        );
        let other = json!({"type": "string"});
        assert_eq!(
            write("io.k8s.api.core.v1.PodSpec", "hostname", other.clone()),
            other
        );
    }
}
