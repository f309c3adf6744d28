//! Objects as JSON, and the parts of their metadata that every kind has.

use flyball_api::{Labels, Text};
use serde_json::{Map, Value};

/// An object: its top-level fields.
pub type Object = Map<String, Value>;

/// Reading and writing of what all objects have.
pub(crate) trait Meta {
    /// The metadata; null if there is none.
    fn meta(&self) -> &Value;
    /// The metadata to be changed; made if there is none.
    fn meta_mut(&mut self) -> &mut Map<String, Value>;

    /// A text of the metadata; empty if it is not there.
    fn meta_text(&self, field: &str) -> &str {
        self.meta()[field].as_str().unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.meta_text("name")
    }

    fn namespace(&self) -> &str {
        self.meta_text("namespace")
    }

    fn uid(&self) -> &str {
        self.meta_text("uid")
    }

    fn resource_version(&self) -> &str {
        self.meta_text("resourceVersion")
    }

    fn is_deleting(&self) -> bool {
        self.meta()["deletionTimestamp"].is_string()
    }

    fn generation(&self) -> i64 {
        self.meta()["generation"].as_i64().unwrap_or_default()
    }

    fn finalizers(&self) -> impl Iterator<Item = &str> {
        let all = self.meta()["finalizers"].as_array();
        all.into_iter().flatten().filter_map(Value::as_str)
    }

    fn has_finalizers(&self) -> bool {
        self.finalizers().next().is_some()
    }

    /// Makes these the finalizers.
    fn set_finalizers(&mut self, names: &[String]) {
        let meta = self.meta_mut();
        match names {
            [] => drop(meta.remove("finalizers")),
            names => drop(meta.insert("finalizers".to_owned(), names.into())),
        }
    }

    fn add_finalizer(&mut self, name: &str) {
        let mut names: Vec<String> = self.finalizers().map(str::to_owned).collect();
        if !names.iter().any(|one| one == name) {
            names.push(name.to_owned());
            self.set_finalizers(&names);
        }
    }

    fn remove_finalizer(&mut self, name: &str) {
        let kept = self.finalizers().filter(|one| *one != name);
        let kept: Vec<String> = kept.map(str::to_owned).collect();
        self.set_finalizers(&kept);
    }

    fn labels(&self) -> Labels {
        let all = self.meta()["labels"].as_object();
        let pairs = all.into_iter().flatten();
        Labels::from_iter(pairs.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?))))
    }
}

impl Meta for Object {
    fn meta(&self) -> &Value {
        self.get("metadata").unwrap_or(&Value::Null)
    }

    fn meta_mut(&mut self) -> &mut Map<String, Value> {
        let meta = self
            .entry("metadata")
            .or_insert_with(|| Value::Object(Map::new()));
        if !meta.is_object() {
            *meta = Value::Object(Map::new());
        }
        match meta {
            Value::Object(meta) => meta,
            // Just made one.
            _ => unreachable!("metadata is an object"),
        }
    }
}

/// The value at a path of fields such as `spec.nodeName`; null if there is none.
pub(crate) fn at<'a>(object: &'a Object, path: &str) -> &'a Value {
    let mut parts = path.split('.');
    let first = parts.next().and_then(|part| object.get(part));
    parts.fold(first.unwrap_or(&Value::Null), |value, part| &value[part])
}

/// The value at a path as a field selector compares it.
pub(crate) fn selectable(object: &Object, path: &str) -> Text {
    match at(object, path) {
        Value::String(text) => text.as_str().into(),
        Value::Bool(flag) => if *flag { "true" } else { "false" }.into(),
        Value::Number(number) => number.to_string().into(),
        _ => Text::default(),
    }
}
