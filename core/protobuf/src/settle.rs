//! What upstream's types make of an object: what its JSON always has is there, what it never has is not.
//!
//! Go cannot tell a zero from nothing where a field is no pointer, and what is stored cannot tell an empty list from
//! none. So an object that went through upstream has lost what its type cannot hold (`minReadySeconds: 0`,
//! `args: []`) and has gained what its type always holds (`resources: {}`, a list that is null).
//!
//! While a request is under way, an empty list is still there where it is always written, and has an owner: [`settle`]
//! leaves it, [`store`] makes it null.

use std::fmt;

use serde_json::{Map, Value};

use crate::table::{Arity, Field, Form, Kind, Message, Table, table};

/// As deep as objects are looked at.
const DEPTH_MAX: usize = 100;

/// How far an object has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It was sent.
    Sent,
    /// It is about to be stored.
    Stored,
}

/// Makes an object of a built-in kind what upstream's types would make of it, and says where it held an empty list or
/// map, such as `spec.containers[0].args`. Kinds that are not known are left alone.
pub fn settle(api_version: &str, kind: &str, object: &mut Map<String, Value>) -> Vec<String> {
    let table = table();
    match table.kind(api_version, kind) {
        Some(message) => settle_message(table, message, object, 0, Stage::Sent),
        None => Vec::new(),
    }
}

/// Makes a settled object of a built-in kind what it is when it comes back from upstream's store.
pub fn store(api_version: &str, kind: &str, object: &mut Map<String, Value>) {
    let table = table();
    if let Some(message) = table.kind(api_version, kind) {
        settle_message(table, message, object, 0, Stage::Stored);
    }
}

/// Says where something empty was found. Objects seldom hold such a thing, so that places are only put together on the
/// way back.
fn settle_message(
    table: &Table<'_>,
    message: &Message<'_>,
    object: &mut Map<String, Value>,
    depth: usize,
    stage: Stage,
) -> Vec<String> {
    if depth > DEPTH_MAX {
        return Vec::new();
    }
    let mut found = Vec::new();
    for field in &message.fields {
        found.append(&mut settle_one(table, field, object, depth, stage));
    }
    found
}

/// A field, or those of a message that stands in the place of one.
fn settle_one(
    table: &Table<'_>,
    field: &Field<'_>,
    object: &mut Map<String, Value>,
    depth: usize,
    stage: Stage,
) -> Vec<String> {
    match (field.name, field.of) {
        ("", Kind::Message(place)) => {
            settle_message(table, table.message(place), object, depth + 1, stage)
        }
        _ => settle_field(table, field, object, depth, stage),
    }
}

fn settle_field(
    table: &Table<'_>,
    field: &Field<'_>,
    object: &mut Map<String, Value>,
    depth: usize,
    stage: Stage,
) -> Vec<String> {
    let inner = match field.of {
        Kind::Message(place) => Some(table.message(place)),
        _ => None,
    };
    let inner = inner.filter(|message| message.form == Form::Object);
    let mut found = Vec::new();
    if let Some(value) = object.get_mut(field.name) {
        if let Some(message) = inner {
            each(field.arity, value, |key, object| {
                let below = settle_message(table, message, object, depth + 1, stage);
                let below = below.into_iter();
                found.extend(below.map(|place| format!("{}{key}.{place}", field.name)));
            });
        }
        let is_empty = is_empty(field, value);
        if is_empty {
            found.push(field.name.to_owned());
        }
        let is_kept = field.always && stage == Stage::Sent;
        if is_nothing(field, value) || (is_empty && !is_kept) {
            object.remove(field.name);
        }
    }
    if field.always && !object.contains_key(field.name) {
        let mut value = zero(table, field);
        if let (Some(message), Value::Object(object)) = (inner, &mut value) {
            settle_message(table, message, object, depth + 1, stage);
        }
        object.insert(field.name.to_owned(), value);
    }
    if field.absent_is_null {
        object.entry(field.name).or_insert(Value::Null);
    }
    found
}

/// Goes through the objects in a field, each with what leads to it from the field.
fn each(arity: Arity, value: &mut Value, mut then: impl FnMut(Key<'_>, &mut Map<String, Value>)) {
    match (arity, value) {
        (Arity::One, Value::Object(object)) => then(Key::Own, object),
        (Arity::Many, Value::Array(items)) => {
            for (at, item) in items.iter_mut().enumerate() {
                if let Value::Object(object) = item {
                    then(Key::Item(at), object);
                }
            }
        }
        (Arity::Map, Value::Object(members)) => {
            for (key, value) in members.iter_mut() {
                if let Value::Object(object) = value {
                    then(Key::Member(key), object);
                }
            }
        }
        _ => {}
    }
}

/// What leads from a field to an object in it.
#[derive(Clone, Copy)]
enum Key<'a> {
    Own,
    Item(usize),
    Member(&'a str),
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => Ok(()),
            Self::Item(at) => write!(f, "[{at}]"),
            Self::Member(key) => write!(f, "[{key}]"),
        }
    }
}

/// Whether a value is an empty list or map.
fn is_empty(field: &Field<'_>, value: &Value) -> bool {
    match (field.arity, value) {
        (Arity::Many, Value::Array(items)) => items.is_empty(),
        (Arity::Map, Value::Object(members)) => members.is_empty(),
        _ => false,
    }
}

/// Whether upstream's type cannot tell a value from none.
fn is_nothing(field: &Field<'_>, value: &Value) -> bool {
    match (field.arity, value) {
        (_, Value::Null) => true,
        (Arity::One, value) if field.zero_is_absent => match value {
            Value::String(text) => text.is_empty(),
            Value::Number(number) => number.as_f64() == Some(0.0),
            Value::Bool(flag) => !flag,
            _ => false,
        },
        _ => false,
    }
}

/// What is written for nothing.
fn zero(table: &Table<'_>, field: &Field<'_>) -> Value {
    match (field.arity, field.of) {
        (Arity::Many | Arity::Map, _) | (_, Kind::Bytes | Kind::Json) => Value::Null,
        (_, Kind::Text) => "".into(),
        (_, Kind::Bool) => false.into(),
        (_, Kind::Int32 | Kind::Int64 | Kind::Double) => 0.into(),
        (_, Kind::Message(place)) => match table.message(place).form {
            Form::Object => Value::Object(Map::new()),
            Form::IntOrString => 0.into(),
            Form::Quantity => "0".into(),
            Form::Value | Form::Last | Form::Time | Form::MicroTime => Value::Null,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settled(api_version: &str, kind: &str, value: Value) -> Value {
        let Value::Object(mut object) = value else {
            return Value::Null;
        };
        settle(api_version, kind, &mut object);
        Value::Object(object)
    }

    #[test]
    fn what_a_type_always_holds_is_there_and_what_it_cannot_hold_is_not() {
        let deployment = json!({
            "metadata": {"name": "a", "labels": {}},
            "spec": {"replicas": 0, "minReadySeconds": 0, "paused": false, "template": {"spec": {
                "containers": [{"name": "c", "args": [], "tty": false}],
                "hostNetwork": false,
            }}},
        });
        let want = json!({
            "metadata": {"name": "a"},
            "spec": {
                "replicas": 0,
                "selector": null,
                "strategy": {},
                "template": {"metadata": {}, "spec": {"containers": [{"name": "c", "resources": {}}]}},
            },
            "status": {},
        });
        let is = settled("apps/v1", "Deployment", deployment);
        assert_eq!(is["spec"]["template"], want["spec"]["template"]);
        assert_eq!(is["metadata"], want["metadata"]);
        assert_eq!(is["spec"]["replicas"], 0);
        assert!(is["spec"].get("minReadySeconds").is_none());
        assert_eq!(is["status"], json!({}));
    }

    #[test]
    fn a_list_that_is_always_written_is_empty_until_it_is_stored() {
        let (version, kind) = ("rbac.authorization.k8s.io/v1", "Role");
        let Value::Object(mut role) = json!({"metadata": {"name": "a"}, "rules": []}) else {
            return;
        };
        assert_eq!(settle(version, kind, &mut role), ["rules"]);
        assert_eq!(role["rules"], json!([]));
        store(version, kind, &mut role);
        assert_eq!(role.get("rules"), Some(&Value::Null));
        assert!(settle(version, kind, &mut role).is_empty());
        assert_eq!(role.get("rules"), Some(&Value::Null));
    }

    #[test]
    fn what_was_empty_is_told_by_its_place() {
        let policy =
            json!({"spec": {"podSelector": {"matchLabels": {}}, "ingress": [{"from": []}]}});
        let Value::Object(mut policy) = policy else {
            return;
        };
        let held = settle("networking.k8s.io/v1", "NetworkPolicy", &mut policy);
        assert_eq!(
            held,
            ["spec.podSelector.matchLabels", "spec.ingress[0].from"]
        );
        assert_eq!(policy["spec"], json!({"podSelector": {}, "ingress": [{}]}));
        assert!(settle("networking.k8s.io/v1", "NetworkPolicy", &mut policy).is_empty());
    }

    #[test]
    fn a_pointer_that_is_always_written_is_null() {
        let claim = json!({"spec": {"dataSource": {"kind": "PersistentVolumeClaim", "name": "a"}}});
        let claim = settled("v1", "PersistentVolumeClaim", claim);
        let source = &claim["spec"]["dataSource"];
        assert_eq!(
            source,
            &json!({"apiGroup": null, "kind": "PersistentVolumeClaim", "name": "a"})
        );
        assert!(claim["spec"].get("dataSourceRef").is_none());
    }

    #[test]
    fn what_is_not_known_is_left_alone() {
        let odd = json!({"spec": {"list": []}});
        assert_eq!(settled("odd/v1", "Odd", odd.clone()), odd);
    }
}
