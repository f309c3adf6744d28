//! What a definition says by saying nothing: Go leaves out what is empty, zero or false.

use flyball_schema::is_go_empty;
use serde_json::{Map, Value};

/// Fields of a schema that are told even if they are empty or false.
const TOLD: &[&str] = &[
    "default",
    "enum",
    "example",
    "x-kubernetes-preserve-unknown-fields",
    "maximum",
    "minimum",
    "maxLength",
    "minLength",
    "maxItems",
    "minItems",
    "maxProperties",
    "minProperties",
    "multipleOf",
    "additionalProperties",
    "additionalItems",
    "items",
    "not",
    "$ref",
    "externalDocs",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
];

/// Removes what says nothing from a spec.
pub(super) fn remove(spec: &mut Map<String, Value>) {
    drop_empty(spec, &["preserveUnknownFields"]);
    if let Some(Value::Object(names)) = spec.get_mut("names") {
        drop_empty(names, &["singular", "listKind", "shortNames", "categories"]);
    }
    for version in items(spec.get_mut("versions")) {
        drop_empty(
            version,
            &["deprecated", "additionalPrinterColumns", "selectableFields"],
        );
        for column in items(version.get_mut("additionalPrinterColumns")) {
            drop_empty(column, &["format", "description", "priority"]);
        }
        if let Some(Value::Object(schema)) = version.get_mut("schema")
            && let Some(schema) = schema.get_mut("openAPIV3Schema")
        {
            of_schema(schema);
        }
    }
}

fn items(list: Option<&mut Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    let list = list.and_then(Value::as_array_mut).into_iter().flatten();
    list.filter_map(Value::as_object_mut)
}

fn drop_empty(object: &mut Map<String, Value>, fields: &[&str]) {
    object.retain(|name, value| !(fields.contains(&name.as_str()) && is_go_empty(value)));
}

fn of_schema(schema: &mut Value) {
    let Value::Object(fields) = schema else {
        return;
    };
    fields.retain(|name, value| TOLD.contains(&name.as_str()) || !is_go_empty(value));
    for name in ["items", "not", "additionalProperties", "additionalItems"] {
        match fields.get_mut(name) {
            Some(Value::Array(several)) => several.iter_mut().for_each(of_schema),
            Some(one) => of_schema(one),
            None => {}
        }
    }
    for name in ["allOf", "anyOf", "oneOf"] {
        if let Some(Value::Array(several)) = fields.get_mut(name) {
            several.iter_mut().for_each(of_schema);
        }
    }
    for name in ["properties", "patternProperties", "definitions"] {
        if let Some(Value::Object(all)) = fields.get_mut(name) {
            all.values_mut().for_each(of_schema);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_says_nothing_goes_and_what_says_no_stays() {
        let mut spec = json!({
            "preserveUnknownFields": false,
            "names": {"shortNames": [], "plural": ""},
            "versions": [{
                "served": false, "deprecated": false,
                "additionalPrinterColumns": [{"priority": 0, "name": ""}],
                "schema": {"openAPIV3Schema": {
                    "description": "", "nullable": false, "required": [], "minLength": 0,
                    "properties": {"default": {"default": false, "type": ""}, "required": {}},
                    "items": {"pattern": ""},
                }},
            }],
        });
        remove(spec.as_object_mut().unwrap());
        let expected = json!({
            "names": {"plural": ""},
            "versions": [{
                "served": false,
                "additionalPrinterColumns": [{"name": ""}],
                "schema": {"openAPIV3Schema": {
                    "minLength": 0, "items": {},
                    "properties": {"default": {"default": false}, "required": {}},
                }},
            }],
        });
        assert_eq!(spec, expected);
    }
}
