//! From a structural schema to types.

use flyball_api::Text;
use serde_json::Value;

use super::{entries, field, flag, text, texts};
use crate::{
    Bound, Field, ListKind, ListShape, ObjectShape, Range, Rules, Shape, Strategic, TextFormat,
    Type, TypeId, Types, builtin,
};

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The types of a custom resource whose schema is this `openAPIV3Schema`.
///
/// Objects have `apiVersion`, `kind` and `metadata` whether or not the schema says so. Schemas that are not structural
/// (see [`structural_faults`](super::structural_faults)) give types too: what they leave open is left open.
pub fn custom_type(name: &str, schema: &Value) -> (Types, TypeId) {
    let mut types = Types::new();
    let of = convert(&mut types, schema, true);
    let mut root = types.get(of).clone();
    root.name = name.into();
    types.set(of, root);
    (types, of)
}

/// The types of values that this schema describes, which are no objects of their own.
pub fn value_type(schema: &Value) -> (Types, TypeId) {
    let mut types = Types::new();
    let of = convert(&mut types, schema, false);
    (types, of)
}

fn convert(types: &mut Types, schema: &Value, is_resource: bool) -> TypeId {
    let is_resource = is_resource || flag(schema, "x-kubernetes-embedded-resource");
    let is_open = flag(schema, "x-kubernetes-preserve-unknown-fields");
    let shape = match text(schema, "type") {
        _ if flag(schema, "x-kubernetes-int-or-string") => Shape::IntOrText,
        _ if is_resource => object(types, schema, is_open || schema.is_null(), true),
        "object" => match field(schema, "additionalProperties") {
            Some(value) if value != &Value::Bool(false) => Shape::Map {
                // True allows any value, and so does the schema that says nothing.
                value: convert(types, value, false),
                atomic: text(schema, "x-kubernetes-map-type") == "atomic",
            },
            _ => object(types, schema, is_open, false),
        },
        "array" => Shape::List(list(types, schema)),
        "string" => Shape::Text(TextFormat::Plain),
        "integer" => Shape::Integer {
            bits: match text(schema, "format") {
                "int32" => 32,
                _ => 64,
            },
        },
        "number" => Shape::Number,
        "boolean" => Shape::Boolean,
        _ => Shape::Any,
    };
    let of = types.add(Type {
        name: Text::default(),
        description: text(schema, "description").into(),
        shape,
    });
    types.set_rules(of, rules(schema));
    of
}

fn object(types: &mut Types, schema: &Value, open: bool, is_resource: bool) -> Shape {
    let required = texts(schema.get("required"));
    let mut fields: Vec<Field> = Vec::new();
    for (name, of) in entries(schema, "properties") {
        let id = match (is_resource, name) {
            (true, "metadata") => metadata(types, of),
            _ => convert(types, of, false),
        };
        fields.push(a_field(name, id, text(of, "description"), &required));
    }
    if is_resource {
        for name in ["apiVersion", "kind", "metadata"] {
            if fields.iter().any(|field| field.name == name) {
                continue;
            }
            let id = match name {
                "metadata" => metadata(types, &Value::Null),
                _ => types.add(Type {
                    name: Text::default(),
                    description: Box::default(),
                    shape: Shape::Text(TextFormat::Plain),
                }),
            };
            fields.push(a_field(name, id, "", &required));
        }
    }
    fields.sort_by(|one, other| one.name.cmp(&other.name));
    Shape::Object(ObjectShape {
        fields: fields.into(),
        open,
        atomic: text(schema, "x-kubernetes-map-type") == "atomic",
    })
}

fn a_field(name: &str, of: TypeId, description: &str, required: &[Text]) -> Field {
    Field {
        name: name.into(),
        of,
        required: required.iter().any(|one| one == name),
        retain_keys: false,
        replaced: false,
        description: description.into(),
    }
}

/// The metadata that every object has, with the rules that a schema adds for its name.
fn metadata(types: &mut Types, schema: &Value) -> TypeId {
    let Some(meta) = builtin().named(OBJECT_META) else {
        return convert(types, schema, false);
    };
    let of = types.graft(&builtin().types, meta.id());
    let mut meta = types.get(of).clone();
    if let Shape::Object(object) = &mut meta.shape {
        for field in &mut object.fields {
            let rules = schema.pointer(&format!("/properties/{}", field.name));
            if let (Some(rules), "name" | "generateName") = (rules, field.name.as_str()) {
                field.of = convert(types, rules, false);
            }
        }
    }
    types.set(of, meta);
    of
}

fn list(types: &mut Types, schema: &Value) -> ListShape {
    ListShape {
        item: convert(types, schema.get("items").unwrap_or(&Value::Null), false),
        kind: match text(schema, "x-kubernetes-list-type") {
            "set" => ListKind::Set,
            "map" => ListKind::Map {
                keys: texts(schema.get("x-kubernetes-list-map-keys")),
            },
            _ => ListKind::Atomic,
        },
        strategic: Strategic::Replace,
    }
}

/// What a schema asks of values beyond their shape.
pub(super) fn rules(schema: &Value) -> Rules {
    let list = |name: &str| -> Box<[Value]> {
        let list = schema.get(name).and_then(Value::as_array);
        list.cloned().unwrap_or_default().into()
    };
    let number = |name: &str| schema.get(name).and_then(Value::as_f64);
    let bound = |name: &str, exclusive: &str| {
        number(name).map(|at| Bound {
            at,
            exclusive: flag(schema, exclusive),
        })
    };
    let range = |min: &str, max: &str| Range {
        min: schema.get(min).and_then(Value::as_u64),
        max: schema.get(max).and_then(Value::as_u64),
    };
    let junctors = ["allOf", "anyOf", "oneOf", "not"];
    let junctors = junctors.map(|name| Some((Text::from(name), field(schema, name)?.clone())));
    Rules {
        default: field(schema, "default").cloned(),
        nullable: flag(schema, "nullable"),
        format: text(schema, "format").into(),
        allowed: list("enum"),
        pattern: field(schema, "pattern")
            .and_then(Value::as_str)
            .map(Into::into),
        minimum: bound("minimum", "exclusiveMinimum"),
        maximum: bound("maximum", "exclusiveMaximum"),
        multiple_of: number("multipleOf"),
        length: range("minLength", "maxLength"),
        items: range("minItems", "maxItems"),
        properties: range("minProperties", "maxProperties"),
        embedded_resource: flag(schema, "x-kubernetes-embedded-resource"),
        validations: list("x-kubernetes-validations"),
        junctors: junctors.into_iter().flatten().collect(),
    }
}
