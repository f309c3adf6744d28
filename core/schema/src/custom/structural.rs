//! Whether a schema is structural: whether it alone says what belongs to an object.
//!
//! The rules and words are those of apiextensions' `pkg/apiserver/schema/validation.go` and `complete.go`. Whether
//! patterns are regular expressions is not asked here.

use serde_json::{Value, json};

use super::{entries, field, flag, text};

/// Why a schema is not structural.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{path}: {kind}: {detail}")]
pub struct SchemaFault {
    /// Where, such as `spec.versions[0].schema.openAPIV3Schema.properties[spec].type`.
    pub path: String,
    /// What kind of fault it is.
    pub kind: SchemaFaultKind,
    /// What would be right.
    pub detail: String,
}

/// What kind of fault a [`SchemaFault`] is, as field errors name them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum SchemaFaultKind {
    /// Something is missing.
    #[error("Required value")]
    Required,
    /// Something must not be there.
    #[error("Forbidden")]
    Forbidden,
    /// Something has a wrong value, which is given as JSON.
    #[error("Invalid value: {0}")]
    Invalid(String),
}

/// Where a schema stands in the one that is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// All faults of the schema at `path`, in order of their messages.
pub fn structural_faults(schema: &Value, path: &str) -> Vec<SchemaFault> {
    let mut faults = Faults(Vec::new());
    faults.invariants(schema, Level::Root, path);
    faults.completeness(schema, Some(schema), path, path);
    faults.0.sort_by_cached_key(ToString::to_string);
    faults.0
}

struct Faults(Vec<SchemaFault>);

impl Faults {
    fn add(&mut self, path: String, kind: SchemaFaultKind, detail: &str) {
        self.0.push(SchemaFault {
            path,
            kind,
            detail: detail.to_owned(),
        });
    }

    fn required(&mut self, path: String, detail: &str) {
        self.add(path, SchemaFaultKind::Required, detail);
    }

    fn forbidden(&mut self, path: String, detail: &str) {
        self.add(path, SchemaFaultKind::Forbidden, detail);
    }

    fn invalid(&mut self, path: String, value: Value, detail: &str) {
        self.add(path, SchemaFaultKind::Invalid(value.to_string()), detail);
    }

    fn invariants(&mut self, schema: &Value, level: Level, path: &str) {
        match field(schema, "items") {
            Some(items) => self.invariants(items, Level::Item, &format!("{path}.items")),
            None if text(schema, "type") == "array" => {
                self.required(format!("{path}.items"), "must be specified");
            }
            None => {}
        }
        for (name, of) in entries(schema, "properties") {
            self.invariants(of, Level::Field, &format!("{path}.properties[{name}]"));
        }
        if let Some(values) = field(schema, "additionalProperties") {
            let path = format!("{path}.additionalProperties");
            if values.is_object() {
                self.invariants(values, Level::Field, &path);
            }
            if level == Level::Root {
                self.forbidden(path, "must not be used at the root");
            }
        }
        self.extensions(schema, path);
        self.junctors(schema, path);
        self.of_type(schema, level, path);
        self.of_metadata(schema, level, path);
    }

    fn extensions(&mut self, schema: &Value, path: &str) {
        if !flag(schema, "x-kubernetes-int-or-string") {
            return;
        }
        for name in [
            "x-kubernetes-preserve-unknown-fields",
            "x-kubernetes-embedded-resource",
        ] {
            if flag(schema, name) {
                let detail = "must be false if x-kubernetes-int-or-string is true";
                self.invalid(format!("{path}.{name}"), json!(true), detail);
            }
        }
    }

    fn of_type(&mut self, schema: &Value, level: Level, path: &str) {
        let of = text(schema, "type");
        let at = format!("{path}.type");
        let embedded = flag(schema, "x-kubernetes-embedded-resource");
        let is_open = flag(schema, "x-kubernetes-preserve-unknown-fields");
        if embedded && of != "object" {
            let detail = "must be object if x-kubernetes-embedded-resource is true";
            match of {
                "" => self.required(at.clone(), detail),
                of => self.invalid(at.clone(), json!(of), detail),
            }
        } else if of.is_empty() && !flag(schema, "x-kubernetes-int-or-string") && !is_open {
            let detail = match level {
                Level::Root => "must not be empty at the root",
                Level::Item => "must not be empty for specified array items",
                Level::Field => "must not be empty for specified object fields",
            };
            self.required(at.clone(), detail);
        }
        if embedded && field(schema, "additionalProperties").is_some() {
            let detail = "must not be used if x-kubernetes-embedded-resource is set";
            self.forbidden(format!("{path}.additionalProperties"), detail);
        }
        if level == Level::Root && !of.is_empty() && of != "object" {
            self.invalid(at, json!(of), "must be object at the root");
        }
        if embedded && !is_open && entries(schema, "properties").next().is_none() {
            self.required(
                format!("{path}.properties"),
                "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
            );
        }
    }

    fn of_metadata(&mut self, schema: &Value, level: Level, path: &str) {
        let checked = level == Level::Root || flag(schema, "x-kubernetes-embedded-resource");
        if !checked {
            return;
        }
        for (name, wanted) in [
            ("kind", "string"),
            ("apiVersion", "string"),
            ("metadata", "object"),
        ] {
            let Some(of) = schema.pointer(&format!("/properties/{name}")) else {
                continue;
            };
            let of = text(of, "type");
            if of != wanted {
                let path = format!("{path}.properties[{name}].type");
                self.invalid(path, json!(of), &format!("must be {wanted}"));
            }
        }
        let metadata = schema
            .pointer("/properties/metadata")
            .and_then(Value::as_object);
        if let (Level::Root, Some(metadata)) = (level, metadata) {
            let of = metadata.get("properties").and_then(Value::as_object);
            let named = |name: &String| name == "name" || name == "generateName";
            let only_names = of.is_none_or(|of| of.keys().all(named));
            let known = |name: &String| matches!(name.as_str(), "type" | "properties" | "default");
            let is_said = |(name, value): (&String, &Value)| !known(name) && !is_empty(value);
            if !only_names || metadata.iter().any(is_said) {
                self.forbidden(
                    format!("{path}.properties[metadata]"),
                    "must not specify anything other than name and generateName, but metadata is implicitly specified",
                );
            }
        }
    }

    /// The schemas under `anyOf`, `allOf`, `oneOf` and `not`, which may restrict values but not say what belongs.
    fn junctors(&mut self, schema: &Value, path: &str) {
        let is_pair = |of: &Value| of.get("anyOf") == Some(&int_or_string());
        let any_of_pair = is_pair(schema);
        let all_of_pair = schema.pointer("/allOf/0").is_some_and(is_pair);
        for (name, of) in nested(schema) {
            if any_of_pair && name.starts_with("anyOf") {
                continue;
            }
            let skip_pair = all_of_pair && name == "allOf[0]";
            self.nested(of, skip_pair, &format!("{path}.{name}"));
        }
    }

    fn nested(&mut self, schema: &Value, skip_pair: bool, path: &str) {
        for (name, of) in nested(schema) {
            if !(skip_pair && name.starts_with("anyOf")) {
                self.nested(of, false, &format!("{path}.{name}"));
            }
        }
        if let Some(items) = field(schema, "items") {
            self.nested(items, false, &format!("{path}.items"));
        }
        for (name, of) in entries(schema, "properties") {
            let path = format!("{path}.properties[{name}]");
            self.nested(of, false, &path);
            if name == "metadata" {
                self.forbidden(path, "must not be specified in a nested context");
            }
        }
        for (name, detail) in [
            ("type", "must be empty to be structural"),
            ("additionalProperties", "must be undefined to be structural"),
            ("default", "must be undefined to be structural"),
            ("title", "must be empty to be structural"),
            ("description", "must be empty to be structural"),
            ("nullable", "must be false to be structural"),
            (
                "x-kubernetes-preserve-unknown-fields",
                "must be false to be structural",
            ),
            (
                "x-kubernetes-embedded-resource",
                "must be false to be structural",
            ),
            (
                "x-kubernetes-int-or-string",
                "must be false to be structural",
            ),
            (
                "x-kubernetes-list-map-keys",
                "must be empty to be structural",
            ),
            (
                "x-kubernetes-list-type",
                "must be undefined to be structural",
            ),
            (
                "x-kubernetes-map-type",
                "must be undefined to be structural",
            ),
            ("x-kubernetes-validations", "must be empty to be structural"),
        ] {
            let may_be_empty = !detail.contains("undefined");
            let said = field(schema, name).is_some_and(|of| !(may_be_empty && is_empty(of)));
            if said {
                self.forbidden(format!("{path}.{name}"), detail);
            }
        }
    }

    /// What a nested schema restricts must be something that the schema itself describes.
    fn completeness(&mut self, schema: &Value, of: Option<&Value>, path: &str, nested_path: &str) {
        let Some(of) = of else {
            let detail = format!("because it is defined in {nested_path}");
            return self.required(path.to_owned(), &detail);
        };
        for (name, nested) in nested(schema) {
            let nested_path = format!("{nested_path}.{name}");
            self.completeness(nested, Some(of), path, &nested_path);
            if let Some(items) = field(nested, "items") {
                let items_path = format!("{nested_path}.items");
                self.completeness(
                    items,
                    field(of, "items"),
                    &format!("{path}.items"),
                    &items_path,
                );
            }
            for (name, nested) in entries(nested, "properties") {
                let described = of.pointer("/properties").and_then(|of| of.get(name));
                let part = format!("properties[{name}]");
                let nested_path = format!("{nested_path}.{part}");
                self.completeness(nested, described, &format!("{path}.{part}"), &nested_path);
            }
        }
    }
}

fn int_or_string() -> Value {
    json!([{ "type": "integer" }, { "type": "string" }])
}

/// The schemas nested in a schema, with their names.
fn nested(schema: &Value) -> impl Iterator<Item = (String, &Value)> {
    let lists = ["anyOf", "allOf", "oneOf"]
        .into_iter()
        .flat_map(move |name| {
            let list = schema
                .get(name)
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            list.enumerate()
                .map(move |(at, of)| (format!("{name}[{at}]"), of))
        });
    let not = field(schema, "not").map(|of| ("not".to_owned(), of));
    lists.chain(not)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}
