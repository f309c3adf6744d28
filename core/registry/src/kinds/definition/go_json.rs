//! Versions and schemas as Go writes its own structures: some messages hold them whole.

use serde_json::Value;

use super::hoisted::{Hoisted, Version};
use crate::field_error::{FieldError, Mistake};

/// How the value of a field is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum As {
    /// A text, empty if there is none.
    Text,
    /// True or false; false if there is none.
    Flag,
    /// As it is; null if there is none.
    Plain,
    Schema,
    Schemas,
    SchemaMap,
    /// A schema, or a list of them.
    Items,
    /// A schema, or whether anything goes.
    Additional,
}

/// The fields of a schema in Go: the name in JSON, the name in Go, how it is written, and whether it may
/// stand at the root of an object that has a status of its own.
const FIELDS: &[(&str, &str, As, bool)] = &[
    ("id", "ID", As::Text, false),
    ("$schema", "Schema", As::Text, false),
    ("$ref", "Ref", As::Plain, false),
    ("description", "Description", As::Text, true),
    ("type", "Type", As::Text, true),
    ("nullable", "Nullable", As::Flag, false),
    ("format", "Format", As::Text, true),
    ("title", "Title", As::Text, true),
    ("default", "Default", As::Plain, false),
    ("maximum", "Maximum", As::Plain, true),
    ("exclusiveMaximum", "ExclusiveMaximum", As::Flag, true),
    ("minimum", "Minimum", As::Plain, true),
    ("exclusiveMinimum", "ExclusiveMinimum", As::Flag, true),
    ("maxLength", "MaxLength", As::Plain, true),
    ("minLength", "MinLength", As::Plain, true),
    ("pattern", "Pattern", As::Text, true),
    ("maxItems", "MaxItems", As::Plain, true),
    ("minItems", "MinItems", As::Plain, true),
    ("uniqueItems", "UniqueItems", As::Flag, true),
    ("multipleOf", "MultipleOf", As::Plain, true),
    ("enum", "Enum", As::Plain, false),
    ("maxProperties", "MaxProperties", As::Plain, false),
    ("minProperties", "MinProperties", As::Plain, false),
    ("required", "Required", As::Plain, true),
    ("items", "Items", As::Items, true),
    ("allOf", "AllOf", As::Schemas, false),
    ("oneOf", "OneOf", As::Schemas, false),
    ("anyOf", "AnyOf", As::Schemas, false),
    ("not", "Not", As::Schema, false),
    ("properties", "Properties", As::SchemaMap, true),
    (
        "additionalProperties",
        "AdditionalProperties",
        As::Additional,
        false,
    ),
    (
        "patternProperties",
        "PatternProperties",
        As::SchemaMap,
        false,
    ),
    ("dependencies", "Dependencies", As::Plain, false),
    ("additionalItems", "AdditionalItems", As::Additional, false),
    ("definitions", "Definitions", As::SchemaMap, false),
    ("externalDocs", "ExternalDocs", As::Plain, true),
    ("example", "Example", As::Plain, true),
    (
        "x-kubernetes-preserve-unknown-fields",
        "XPreserveUnknownFields",
        As::Plain,
        true,
    ),
    (
        "x-kubernetes-embedded-resource",
        "XEmbeddedResource",
        As::Flag,
        false,
    ),
    (
        "x-kubernetes-int-or-string",
        "XIntOrString",
        As::Flag,
        false,
    ),
    (
        "x-kubernetes-list-map-keys",
        "XListMapKeys",
        As::Plain,
        false,
    ),
    ("x-kubernetes-list-type", "XListType", As::Plain, false),
    ("x-kubernetes-map-type", "XMapType", As::Plain, false),
    ("x-kubernetes-validations", "XValidations", As::Plain, true),
];

/// What must not stand at the root of an object whose status is validated apart, if anything does.
pub(super) fn root_mistake(schema: &Value, path: &str) -> Option<FieldError> {
    for (name, _, _, allowed) in FIELDS {
        let value = &schema[*name];
        if value.is_null() || value == false || value == "" {
            continue;
        }
        if *name == "type" && value != "object" {
            let detail = "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
            return Some(FieldError::invalid(
                format!("{path}.type"),
                value.clone(),
                detail,
            ));
        }
        if !allowed {
            let known = FIELDS.iter().filter(|(.., allowed)| *allowed);
            let known: Vec<&str> = known.map(|(_, name, ..)| *name).collect();
            let message = format!(
                "Invalid value: {}: only [{}] fields are allowed at the root of the schema if the status subresource is \
                 enabled",
                schema_text(schema),
                known.join(" ")
            );
            return Some(FieldError {
                field: path.to_owned(),
                mistake: Mistake::Told {
                    reason: "FieldValueInvalid",
                    message,
                },
                detail: String::new(),
            });
        }
    }
    None
}

/// The versions of a definition.
pub(super) fn versions(hoisted: &Hoisted<'_>, listed: &Value) -> String {
    match listed {
        Value::Null => "null".to_owned(),
        _ => list(hoisted.versions.iter().map(version)),
    }
}

fn version(version: &Version<'_>) -> String {
    let (whole, own) = (version.whole, &version.own);
    let schema = own.schema.map_or("null".to_owned(), |_| {
        let openapi = own.openapi().map_or("null".to_owned(), schema_text);
        format!("{{\"OpenAPIV3Schema\":{openapi}}}")
    });
    let plain = |value: Option<&Value>| value.map_or("null".to_owned(), Value::to_string);
    format!(
        "{{\"Name\":{},\"Served\":{},\"Storage\":{},\"Deprecated\":{},\"DeprecationWarning\":{},\"Schema\":{schema},\
         \"Subresources\":{},\"AdditionalPrinterColumns\":{},\"SelectableFields\":{}}}",
        text(&whole["name"]),
        whole["served"] == true,
        whole["storage"] == true,
        whole["deprecated"] == true,
        whole["deprecationWarning"],
        own.subresources.map_or("null".to_owned(), subresources),
        own.columns.map_or("null".to_owned(), columns),
        plain(own.fields).replace("\"jsonPath\"", "\"JSONPath\""),
    )
}

fn subresources(all: &Value) -> String {
    let status = match &all["status"] {
        Value::Null => "null",
        _ => "{}",
    };
    let scale = match &all["scale"] {
        Value::Null => "null".to_owned(),
        scale => format!(
            "{{\"SpecReplicasPath\":{},\"StatusReplicasPath\":{},\"LabelSelectorPath\":{}}}",
            text(&scale["specReplicasPath"]),
            text(&scale["statusReplicasPath"]),
            scale["labelSelectorPath"],
        ),
    };
    format!("{{\"Status\":{status},\"Scale\":{scale}}}")
}

fn columns(all: &Value) -> String {
    list(all.as_array().into_iter().flatten().map(|column| {
        format!(
            "{{\"Name\":{},\"Type\":{},\"Format\":{},\"Description\":{},\"Priority\":{},\"JSONPath\":{}}}",
            text(&column["name"]),
            text(&column["type"]),
            text(&column["format"]),
            text(&column["description"]),
            column["priority"].as_i64().unwrap_or_default(),
            text(&column["jsonPath"]),
        )
    }))
}

fn schema_text(schema: &Value) -> String {
    let fields = FIELDS.iter().map(|(name, go, kind, _)| {
        let value = &schema[*name];
        let written = match (kind, value) {
            (As::Text, value) => text(value),
            (As::Flag, value) => (*value == true).to_string(),
            (_, Value::Null) => "null".to_owned(),
            (As::Plain, value) => value.to_string(),
            (As::Schema, value) => schema_text(value),
            (As::Schemas, value) => list(value.as_array().into_iter().flatten().map(schema_text)),
            (As::SchemaMap, value) => {
                let of = value.as_object().into_iter().flatten();
                let of = of
                    .map(|(key, of)| format!("{}:{}", text(&key.as_str().into()), schema_text(of)));
                format!("{{{}}}", of.collect::<Vec<_>>().join(","))
            }
            (As::Items, Value::Array(several)) => format!(
                "{{\"Schema\":null,\"JSONSchemas\":{}}}",
                list(several.iter().map(schema_text))
            ),
            (As::Items, one) => format!("{{\"Schema\":{},\"JSONSchemas\":null}}", schema_text(one)),
            (As::Additional, Value::Bool(any)) => format!("{{\"Allows\":{any},\"Schema\":null}}"),
            (As::Additional, of) => format!("{{\"Allows\":true,\"Schema\":{}}}", schema_text(of)),
        };
        format!("\"{go}\":{written}")
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn text(value: &Value) -> String {
    Value::from(value.as_str().unwrap_or_default()).to_string()
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}
