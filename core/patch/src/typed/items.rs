//! How the items of a list are told apart.

use flyball_api::Text;
use flyball_schema::Shape;
use serde_json::{Map, Value};

use super::{Atom, ListAtom, ListOwners, TypeRef};
use crate::fields::Step;

impl ListAtom<'_> {
    /// The step that leads to an item: its keys, or its value. Items of an atomic list have none.
    pub(crate) fn step(&self, item: &Value) -> Result<Step, String> {
        match self.kind {
            ListOwners::Atomic => Err("invalid indexing of non-associative list".to_owned()),
            ListOwners::Set => set_step(item),
            ListOwners::Keys(keys) => self.key_step(keys, item),
        }
    }

    fn key_step(&self, keys: &[Text], item: &Value) -> Result<Step, String> {
        let members = match item {
            Value::Object(members) => members,
            Value::Null => {
                return Err("associative list with keys may not have a null element".to_owned());
            }
            _ => {
                return Err("associative list with keys may not have non-map elements".to_owned());
            }
        };
        let mut key = Map::new();
        for name in keys {
            let value = members.get(name.as_str()).cloned();
            // An item without some of the keys is another item than one that has them.
            if let Some(value) = value.or_else(|| default_key(self.item, name)) {
                key.insert(name.to_string(), value);
            }
        }
        if key.is_empty() && !keys.is_empty() {
            let keys: Vec<_> = keys.iter().map(|key| format!("{key:?}")).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] \
                 (and doesn't have default values for any key fields)",
                keys.join(" ")
            ));
        }
        Ok(Step::Key(key))
    }
}

fn set_step(item: &Value) -> Result<Step, String> {
    match item {
        Value::Object(_) => {
            Err("associative list without keys has an element that's a map type".to_owned())
        }
        Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
        Value::Null => {
            Err("associative list without keys has an element that's an explicit null".to_owned())
        }
        scalar => Ok(Step::Value(scalar.clone())),
    }
}

/// The value that a key field has if an item does not say it.
///
/// A custom resource says so itself. Upstream's documents give defaults to the fields of built-in
/// types: to required ones the zero of their type, and `TCP` to the protocol of a port.
fn default_key(item: TypeRef<'_>, name: &str) -> Option<Value> {
    let TypeRef::Of(schema) = item else {
        return None;
    };
    let field = schema.field_named(name)?;
    let of = schema.at(field.of);
    if let Some(default) = of.rules().and_then(|rules| rules.default.clone()) {
        return Some(default);
    }
    let kind = schema.get().name.rsplit('.').next().unwrap_or_default();
    match (kind, name) {
        // The types of custom resources have no names.
        ("", _) => None,
        ("ContainerPort" | "ServicePort", "protocol") => Some("TCP".into()),
        ("LocalObjectReference", "name") => Some("".into()),
        _ if !field.required => None,
        _ => match of.shape() {
            Shape::Text(_) => Some("".into()),
            Shape::Integer { .. } => Some(0.into()),
            _ => None,
        },
    }
}

/// The type of what a step leads to, if the schema knows.
pub(super) fn at_step<'a>(of: TypeRef<'a>, step: &Step) -> Option<TypeRef<'a>> {
    match (of.atom(None), step) {
        (Atom::Map(map), Step::Field(name)) => map.member(name),
        (Atom::List(list), Step::Key(_) | Step::Value(_) | Step::Index(_)) => Some(list.item),
        _ => None,
    }
}
