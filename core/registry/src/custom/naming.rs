//! Which names a definition gets: those it asks for, unless another of its group has them.
//!
//! Upstream: `apiextensions-apiserver/pkg/controller/status/naming_controller.go`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::conditions::{self, Condition};
use crate::object::{Object, at};

/// The names that other definitions of a group hold.
#[derive(Debug, Default)]
pub(super) struct Taken {
    resources: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

impl Taken {
    /// Adds the names that a definition was given.
    pub(super) fn add(&mut self, names: &Value) {
        let mut put = |set: fn(&mut Self) -> &mut BTreeSet<String>, value: &Value| {
            if let Some(name) = value.as_str().filter(|name| !name.is_empty()) {
                set(self).insert(name.to_owned());
            }
        };
        put(|taken| &mut taken.resources, &names["plural"]);
        put(|taken| &mut taken.resources, &names["singular"]);
        for name in names["shortNames"].as_array().into_iter().flatten() {
            put(|taken| &mut taken.resources, name);
        }
        put(|taken| &mut taken.kinds, &names["kind"]);
        put(|taken| &mut taken.kinds, &names["listKind"]);
    }
}

/// The outcome: the names that are accepted, and why not all of them if so.
#[derive(Debug, PartialEq)]
pub(super) struct Naming {
    pub(super) accepted: Map<String, Value>,
    /// The reason and the message of the last conflict that was found.
    pub(super) conflict: Option<(&'static str, String)>,
}

impl Naming {
    /// The condition that tells it.
    pub(super) fn condition(&self) -> Condition<'_> {
        match &self.conflict {
            None => Condition {
                kind: "NamesAccepted",
                status: "True",
                reason: "NoConflicts",
                message: "no conflicts found",
            },
            Some((reason, message)) => Condition {
                kind: "NamesAccepted",
                status: "False",
                reason,
                message,
            },
        }
    }
}

/// Whether a definition has been given all that it asks for.
pub(super) fn is_settled(definition: &Object) -> bool {
    let (asked, given) = (
        at(definition, "spec.names"),
        at(definition, "status.acceptedNames"),
    );
    let fields = [
        "plural",
        "singular",
        "kind",
        "listKind",
        "shortNames",
        "categories",
    ];
    fields
        .iter()
        .all(|field| without_empty(&asked[*field]) == without_empty(&given[*field]))
}

/// A list without items means the same as no list, and so does an empty text.
fn without_empty(value: &Value) -> Option<&Value> {
    match value {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::Array(list) if list.is_empty() => None,
        value => Some(value),
    }
}

/// Decides about the names of a definition. What it was given before it keeps.
pub(super) fn decide(definition: &Object, taken: &Taken) -> Naming {
    let (asked, given) = (
        at(definition, "spec.names"),
        at(definition, "status.acceptedNames"),
    );
    let mut accepted = given.as_object().cloned().unwrap_or_default();
    let mut conflict = None;
    let mut one = |field: &str, used: &BTreeSet<String>, reason: &'static str| {
        let name = asked[field].as_str().unwrap_or_default();
        match asked[field] != given[field] && used.contains(name) {
            true => conflict = Some((reason, format!("{name:?} is already in use"))),
            false => put(&mut accepted, field, &asked[field]),
        }
    };
    one("plural", &taken.resources, "PluralConflict");
    one("singular", &taken.resources, "SingularConflict");
    let own = |name: &&str| {
        let own = given["shortNames"].as_array();
        own.is_some_and(|own| own.iter().any(|one| one == name))
    };
    let short = asked["shortNames"].as_array().into_iter().flatten();
    let short = short.filter_map(Value::as_str);
    let used: Vec<String> = short
        .filter(|name| !own(name) && taken.resources.contains(*name))
        .map(|name| format!("{name:?} is already in use"))
        .collect();
    match used.as_slice() {
        [] => put(&mut accepted, "shortNames", &asked["shortNames"]),
        [message] => conflict = Some(("ShortNamesConflict", message.clone())),
        several => conflict = Some(("ShortNamesConflict", format!("[{}]", several.join(", ")))),
    }
    let mut one = |field: &str, used: &BTreeSet<String>, reason: &'static str| {
        let name = asked[field].as_str().unwrap_or_default();
        match asked[field] != given[field] && used.contains(name) {
            true => conflict = Some((reason, format!("{name:?} is already in use"))),
            false => put(&mut accepted, field, &asked[field]),
        }
    };
    one("kind", &taken.kinds, "KindConflict");
    one("listKind", &taken.kinds, "ListKindConflict");
    put(&mut accepted, "categories", &asked["categories"]);
    // Two names are told even if they are empty.
    for field in ["plural", "kind"] {
        accepted.entry(field).or_insert_with(|| "".into());
    }
    Naming { accepted, conflict }
}

fn put(names: &mut Map<String, Value>, field: &str, value: &Value) {
    match without_empty(value) {
        Some(value) => names.insert(field.to_owned(), value.clone()),
        None => names.remove(field),
    };
}

/// Whether the condition that is told is the one that holds.
pub(super) fn is_told(definition: &Object, naming: &Naming) -> bool {
    at(definition, "status.acceptedNames").as_object() == Some(&naming.accepted)
        && conditions::is(definition, &naming.condition())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn definition(names: Value, accepted: Value) -> Object {
        let whole = json!({"spec": {"names": names}, "status": {"acceptedNames": accepted}});
        whole.as_object().unwrap().clone()
    }

    fn things() -> Value {
        json!({"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList", "shortNames": ["th"]})
    }

    #[test]
    fn names_that_nobody_has_are_accepted() {
        let fresh = definition(things(), json!({"plural": "", "kind": ""}));
        let naming = decide(&fresh, &Taken::default());
        assert_eq!(Value::Object(naming.accepted), things());
        assert_eq!(naming.conflict, None);
        assert!(!is_settled(&fresh) && is_settled(&definition(things(), things())));
    }

    #[test]
    fn a_name_that_another_has_is_refused_and_the_others_accepted() {
        let mut taken = Taken::default();
        let other = json!({"plural": "others", "singular": "thing", "kind": "Other", "listKind": "OtherList", "shortNames": ["th"]});
        taken.add(&other);
        let naming = decide(&definition(things(), json!({})), &taken);
        assert_eq!(
            Value::Object(naming.accepted.clone()),
            json!({"plural": "things", "kind": "Thing", "listKind": "ThingList"})
        );
        let condition = naming.condition();
        assert_eq!(condition.status, "False");
        assert_eq!(condition.reason, "ShortNamesConflict");
        assert_eq!(condition.message, "\"th\" is already in use");
    }

    #[test]
    fn a_name_that_is_ones_own_stays() {
        let mut taken = Taken::default();
        taken.add(&things());
        assert_eq!(
            decide(&definition(things(), things()), &taken).conflict,
            None
        );
    }
}
