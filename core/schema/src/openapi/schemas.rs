//! Types as JSON schemas, in both dialects.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::enums::Enums;
use super::{Offered, custom, rules};
use crate::{BuiltIn, Field, ListKind, Schema, Shape, Strategic, Subresource, TextFormat, TypeId};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";
/// The type of answers that are not objects.
pub(super) const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
/// The type of patches.
pub(super) const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
/// The type of what a deletion may carry.
pub(super) const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

/// The two ways to write a document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    V2,
    V3,
}

/// The name of a resource's type in documents.
pub(super) fn name(of: Offered<'_>) -> String {
    of.schema().get().name.to_string()
}

/// The name of the type of a resource's lists.
pub(super) fn list_name(of: Offered<'_>) -> String {
    let name = name(of);
    match name.rsplit_once('.') {
        Some((package, _)) => format!("{package}.{}", of.resource.list_kind),
        None => of.resource.list_kind.to_string(),
    }
}

/// The name of the type of a part of a resource.
pub(super) fn part_name(of: Offered<'_>, part: &Subresource) -> String {
    let itself = part.kind == of.resource.kind && part.group == of.resource.group;
    let known = crate::builtin().kind(&part.group, &part.version, &part.kind);
    match known {
        Some(schema) if !itself => schema.get().name.to_string(),
        _ => name(of),
    }
}

/// The schemas of resources and of all that they refer to, by name.
pub(super) fn all(
    dialect: Dialect,
    offered: &[Offered<'_>],
    shared: &BuiltIn,
) -> Map<String, Value> {
    let mut writer = Writer {
        dialect,
        kinds: BTreeMap::new(),
        done: BTreeSet::new(),
        schemas: Map::new(),
        standard: standard(shared),
        enums: Enums::listed(),
    };
    for (name, kind) in shared.kinds() {
        writer.kinds.insert(name, kind);
    }
    // Those of custom resources refer to what is described here, and have no descriptions of it.
    for word in [
        "ObjectMeta",
        "Status",
        "Patch",
        "DeleteOptions",
        "ListMeta",
        "WatchEvent",
    ] {
        if let Some(schema) = shared.named(&format!("{META}{word}")) {
            writer.named(schema);
        }
    }
    for of in offered {
        let resource = of.resource;
        let kind = [&resource.group, &resource.version, &resource.kind].map(ToString::to_string);
        writer.kinds.insert(name(*of), kind);
        writer.named(of.schema());
        if !resource.list_kind.is_empty() {
            writer.list(*of);
        }
        writer.select(*of);
        for part in &resource.subresources {
            if let Some(schema) = shared.named(&part_name(*of, part)) {
                writer.named(schema);
            }
        }
    }
    writer.schemas
}

/// What every object says of itself, as built-in kinds describe it.
fn standard(shared: &BuiltIn) -> BTreeMap<String, String> {
    let example = shared.kind("", "v1", "ConfigMap");
    let described = |name: &str| {
        let field = example.and_then(|example| example.field_named(name))?;
        Some((name.to_owned(), field.description.to_string()))
    };
    ["apiVersion", "kind", "metadata"]
        .into_iter()
        .filter_map(described)
        .collect()
}

/// How a document refers to a named type.
pub(super) fn reference(dialect: Dialect, name: &str) -> Value {
    match dialect {
        Dialect::V2 => json!({ "$ref": format!("#/definitions/{name}") }),
        Dialect::V3 => json!({ "$ref": format!("#/components/schemas/{name}") }),
    }
}

struct Writer {
    dialect: Dialect,
    kinds: BTreeMap<String, [String; 3]>,
    done: BTreeSet<String>,
    schemas: Map<String, Value>,
    /// Descriptions of what every object has.
    standard: BTreeMap<String, String>,
    enums: Enums,
}

impl Writer {
    /// Adds a named type, with everything below it.
    fn named(&mut self, schema: Schema<'_>) {
        let name = schema.get().name.as_str();
        if !self.done.insert(name.to_owned()) {
            return;
        }
        let mut written = self.shape(schema);
        describe(&mut written, &schema.get().description);
        if let Some(kind) = self.kinds.get(name) {
            written.insert("x-kubernetes-group-version-kind".to_owned(), kinds(kind));
        }
        self.schemas.insert(name.to_owned(), Value::Object(written));
    }

    /// Tells which fields selectors may name.
    fn select(&mut self, of: Offered<'_>) {
        let fields = of.selectable.iter();
        let fields: Vec<Value> = fields.map(|path| json!({ "fieldPath": path })).collect();
        if fields.is_empty() {
            return;
        }
        for name in [name(of), list_name(of)] {
            if let Some(schema) = self.schemas.get_mut(&name) {
                schema["x-kubernetes-selectable-fields"] = json!(fields);
            }
        }
    }

    fn list(&mut self, of: Offered<'_>) {
        let resource = of.resource;
        let text = |description: &str| json!({ "type": "string", "description": description });
        let kind = [&resource.group, &resource.version, &resource.list_kind];
        let list = json!({
            "description": format!("{} is a list of {}", resource.list_kind, resource.kind),
            "type": "object",
            "required": ["items"],
            "properties": {
                "apiVersion": text("The group and version of the list."),
                "kind": text("The kind of the list."),
                "metadata": self.with_siblings(&format!("{META}ListMeta"), "Standard list metadata."),
                "items": {
                    "description": format!("List of {}.", resource.plural),
                    "type": "array",
                    "items": reference(self.dialect, &name(of)),
                },
            },
            "x-kubernetes-group-version-kind": kinds(&kind.map(ToString::to_string)),
        });
        self.schemas.insert(list_name(of), list);
    }

    /// A reference with a description. A v3 reference has no siblings, so it is wrapped.
    fn with_siblings(&self, name: &str, description: &str) -> Map<String, Value> {
        let target = reference(self.dialect, name);
        let mut written = match (self.dialect, target) {
            (Dialect::V3, target) => Map::from_iter([("allOf".to_owned(), json!([target]))]),
            (Dialect::V2, Value::Object(target)) => target,
            (Dialect::V2, _) => Map::new(),
        };
        describe(&mut written, description);
        written
    }

    fn field(&mut self, owner: Schema<'_>, field: &Field) -> Value {
        let of = owner.at(field.of);
        let is_object = owner
            .rules()
            .is_some_and(|rules| rules.embedded_resource || !owner.get().name.is_empty());
        let standard = self.standard.get(field.name.as_str());
        let standard = standard.filter(|_| is_object).cloned();
        let description = match (field.description.is_empty(), standard) {
            (_, Some(standard)) => standard,
            (true, None) => of.get().description.to_string(),
            (false, None) => field.description.to_string(),
        };
        let mut written = if of.get().name.is_empty() {
            let mut written = self.shape(of);
            describe(&mut written, &description);
            written
        } else {
            self.named(of);
            let description = match is_object {
                true => description.as_str(),
                false => &field.description,
            };
            self.with_siblings(&of.get().name, description)
        };
        let strategy = match (of.shape(), field.retain_keys) {
            (Shape::List(list), retain) if list.strategic != Strategic::Replace => match retain {
                true => "merge,retainKeys",
                false => "merge",
            },
            (_, true) => "retainKeys",
            _ if field.replaced => "replace",
            _ => "",
        };
        if !strategy.is_empty() {
            written.insert("x-kubernetes-patch-strategy".to_owned(), strategy.into());
        }
        let type_name = owner.get().name.as_str();
        self.enums.write(type_name, &field.name, &mut written);
        Value::Object(written)
    }

    /// A value that is not a field, so that nothing is said of it besides its type.
    fn value(&mut self, schema: Schema<'_>) -> Value {
        if schema.get().name.is_empty() {
            let mut written = self.shape(schema);
            describe(&mut written, &schema.get().description);
            return Value::Object(written);
        }
        self.named(schema);
        reference(self.dialect, &schema.get().name)
    }

    fn shape(&mut self, schema: Schema<'_>) -> Map<String, Value> {
        let mut written = match schema.shape() {
            Shape::Object(object) => {
                let mut properties = Map::new();
                for field in &object.fields {
                    properties.insert(field.name.to_string(), self.field(schema, field));
                }
                let required = object.fields.iter().filter(|field| field.required);
                let required: Vec<&str> = required.map(|field| field.name.as_str()).collect();
                let mut written = json!({ "type": "object" });
                if !properties.is_empty() {
                    written["properties"] = Value::Object(properties);
                }
                if !required.is_empty() {
                    written["required"] = json!(required);
                }
                if object.open {
                    written["x-kubernetes-preserve-unknown-fields"] = true.into();
                }
                if object.atomic {
                    written["x-kubernetes-map-type"] = "atomic".into();
                }
                written
            }
            Shape::Map { value, atomic } => {
                let value = self.value(schema.at(*value));
                let mut written = json!({ "type": "object", "additionalProperties": value });
                if *atomic {
                    written["x-kubernetes-map-type"] = "atomic".into();
                }
                written
            }
            Shape::List(list) => {
                let item = self.value(schema.at(list.item));
                let mut written = json!({ "type": "array", "items": item });
                written["x-kubernetes-list-type"] = match &list.kind {
                    ListKind::Atomic => "atomic".into(),
                    ListKind::Set => "set".into(),
                    ListKind::Map { keys } => {
                        written["x-kubernetes-list-map-keys"] = json!(**keys);
                        "map".into()
                    }
                };
                if let Strategic::MergeBy(key) = &list.strategic {
                    written["x-kubernetes-patch-merge-key"] = key.as_str().into();
                }
                written
            }
            Shape::Boolean => json!({ "type": "boolean" }),
            Shape::Number => json!({ "type": "number", "format": "double" }),
            Shape::Integer { bits } => {
                json!({ "type": "integer", "format": format!("int{bits}") })
            }
            Shape::Text(format) => self.text(*format),
            Shape::IntOrText => self.int_or_text(schema),
            Shape::Any => any(schema),
        };
        if let Some(rules) = schema.rules() {
            rules::write(&mut written, rules);
            custom::adjust(self.dialect, schema, &mut written);
        }
        match written {
            Value::Object(written) => written,
            _ => Map::new(),
        }
    }

    fn text(&self, format: TextFormat) -> Value {
        match format {
            TextFormat::Plain => json!({ "type": "string" }),
            TextFormat::Bytes => json!({ "type": "string", "format": "byte" }),
            TextFormat::Time | TextFormat::MicroTime => {
                json!({ "type": "string", "format": "date-time" })
            }
            TextFormat::Quantity if self.dialect == Dialect::V2 => json!({ "type": "string" }),
            TextFormat::Quantity => {
                json!({ "oneOf": [{ "type": "string" }, { "type": "number" }] })
            }
        }
    }

    fn int_or_text(&self, schema: Schema<'_>) -> Value {
        match self.dialect {
            _ if schema.rules().is_some() => json!({ "x-kubernetes-int-or-string": true }),
            Dialect::V2 => json!({ "type": "string", "format": "int-or-string" }),
            Dialect::V3 => json!({
                "oneOf": [{ "type": "integer" }, { "type": "string" }],
                "format": "int-or-string",
            }),
        }
    }
}

fn any(schema: Schema<'_>) -> Value {
    let name = schema.get().name.as_str();
    let is_object = |word: &str| name.ends_with(word);
    match name {
        "" if schema.rules().is_some() => json!({ "x-kubernetes-preserve-unknown-fields": true }),
        _ if [".FieldsV1", ".Patch", ".RawExtension"]
            .into_iter()
            .any(is_object) =>
        {
            json!({ "type": "object" })
        }
        _ => json!({}),
    }
}

fn describe(written: &mut Map<String, Value>, description: &str) {
    if !description.is_empty() {
        written.insert("description".to_owned(), description.into());
    }
}

fn kinds(kind: &[String; 3]) -> Value {
    let [group, version, kind] = kind;
    json!([{ "group": group, "version": version, "kind": kind }])
}

impl BuiltIn {
    /// The kinds with the names of their types.
    fn kinds(&self) -> impl Iterator<Item = (String, [String; 3])> {
        let name = |id: TypeId| self.types.get(id).name.to_string();
        self.kind_ids()
            .map(move |(kind, id)| (name(id), kind.clone().map(String::from)))
    }
}
