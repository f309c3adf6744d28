//! Values in messages as upstream has them: structures of its own, and lists that are empty instead of absent.
//!
//! Rules say what is wrong in terms of the API. Where they show a value that is more than a text or a number, its type
//! is found by the field, and the value is written as upstream's own type of it ([`go_text`]). Objects here do not tell
//! an empty list or map from none, but where one was sent is known, so that it is told.

use flyball_schema::{Schema, Shape, builtin, go_text};
use serde_json::{Map, Value};

use crate::call::Call;
use crate::failure::ERRORS_MAX;
use crate::field_error::FieldError;

impl Call<'_> {
    /// Mistakes in an object that held something empty at these places, with values as upstream shows them.
    pub(crate) fn as_upstream_tells(
        &self,
        errors: Vec<FieldError>,
        emptied: &[String],
    ) -> Vec<FieldError> {
        let kept = self.kept();
        // The metadata of custom objects are of the same type as those of all others.
        let schema = builtin().kind(&kept.group, &kept.version, &kept.kind);
        let schema = schema.unwrap_or_else(|| self.schema());
        let emptied = Emptied::new(emptied);
        let told = errors.into_iter().enumerate().map(|(at, error)| {
            // An answer does not list more of them.
            if at >= ERRORS_MAX {
                return error;
            }
            let place = place(&kept.kind, &error.field);
            told(schema, error, &place, &emptied)
        });
        told.collect()
    }
}

/// The name of the field of an object in which a place lies.
pub(crate) fn field_of(place: &str) -> &str {
    place.split(['.', '[']).next().unwrap_or_default()
}

/// Where the field of a message is: upstream looks for some in the wrong place when it tells of them.
fn place(kind: &str, field: &str) -> String {
    match (kind, field) {
        ("Ingress", "spec") => "spec.rules".to_owned(),
        ("PersistentVolume", "nodeAffinity") => "spec.nodeAffinity".to_owned(),
        ("Node", field) => field.replacen("metadata.taints", "spec.taints", 1),
        (_, field) => field.to_owned(),
    }
}

/// The places at which something empty was held, found by what they lie below.
struct Emptied<'a> {
    /// Each with its number in the order in which they were found.
    places: Vec<(&'a str, usize)>,
}

impl<'a> Emptied<'a> {
    fn new(places: &'a [String]) -> Self {
        let places = places.iter().map(String::as_str).enumerate();
        let mut places: Vec<_> = places.map(|(at, place)| (place, at)).collect();
        places.sort_unstable();
        Self { places }
    }

    /// The rest of each place that begins with this one, in the order in which they were found.
    fn below(&self, place: &str) -> impl Iterator<Item = &'a str> {
        let from = self.places.partition_point(|(one, _)| *one < place);
        let all = self.places.iter().skip(from);
        let all = all.map_while(|(one, at)| Some((*at, one.strip_prefix(place)?)));
        let mut all: Vec<(usize, &str)> = all.collect();
        all.sort_unstable();
        all.into_iter().map(|(_, below)| below)
    }
}

fn told(schema: Schema<'_>, error: FieldError, place: &str, emptied: &Emptied<'_>) -> FieldError {
    let Some(value) = error.value() else {
        return error;
    };
    if !matches!(value, Value::Null | Value::Array(_) | Value::Object(_)) {
        return error;
    }
    let Some(of) = type_of(schema, place, value) else {
        return error;
    };
    let mut value = value.clone();
    let below = emptied.below(place);
    for below in below.filter(|below| !below.starts_with(char::is_alphanumeric)) {
        put_empty(of, &mut value, below);
    }
    let text = go_text(of, &value);
    error.with_shown(&text)
}

/// The type of a value that is shown for a field: that of the field, or of one of its items, or of what the field is a
/// part of.
fn type_of<'a>(schema: Schema<'a>, field: &str, value: &Value) -> Option<Schema<'a>> {
    let mut way = vec![schema];
    for step in Steps(field) {
        let last = *way.last()?;
        let next = match step {
            Step::Field(name) => last.field(name),
            Step::Item(key) => last.item().or_else(|| last.field(key)),
        };
        way.push(next?);
    }
    let of = way.pop()?;
    match (of.shape(), value) {
        (_, Value::Null) | (Shape::List(_), Value::Array(_)) => Some(of),
        (Shape::Object(_) | Shape::Map { .. } | Shape::Any, _) => Some(of),
        (Shape::List(_), Value::Object(_)) => {
            let item = of.item()?;
            match item.shape() {
                Shape::Object(_) => Some(item),
                _ => way.pop(),
            }
        }
        _ => way.pop(),
    }
}

/// Puts an empty list or map where one was sent.
fn put_empty(of: Schema<'_>, value: &mut Value, place: &str) {
    let (mut of, mut value) = (of, value);
    for step in Steps(place) {
        let (next, held) = match (step, value) {
            (Step::Field(name), Value::Object(members)) => {
                (of.field(name), members.entry(name).or_insert(Value::Null))
            }
            (Step::Item(key), Value::Object(members)) => match members.get_mut(key) {
                Some(held) => (of.field(key), held),
                None => return,
            },
            (Step::Item(at), Value::Array(items)) => {
                let item = at.parse().ok().and_then(|at: usize| items.get_mut(at));
                match item {
                    Some(held) => (of.item(), held),
                    None => return,
                }
            }
            _ => return,
        };
        let Some(next) = next else { return };
        (of, value) = (next, held);
    }
    if value.is_null() {
        *value = match of.shape() {
            Shape::List(_) => Value::Array(Vec::new()),
            Shape::Map { .. } => Value::Object(Map::new()),
            _ => Value::Null,
        };
    }
}

/// A step on the way to a field.
enum Step<'a> {
    Field(&'a str),
    /// An item of a list or a value of a map.
    Item(&'a str),
}

/// The steps to a field such as `spec.ports[1].name`.
struct Steps<'a>(&'a str);

impl<'a> Iterator for Steps<'a> {
    type Item = Step<'a>;

    fn next(&mut self) -> Option<Step<'a>> {
        if let Some(rest) = self.0.strip_prefix('[') {
            let (key, rest) = rest.split_once(']')?;
            self.0 = rest;
            return Some(Step::Item(key));
        }
        let rest = self.0.strip_prefix('.').unwrap_or(self.0);
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        self.0 = rest;
        (!name.is_empty()).then_some(Step::Field(name))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(kind: (&str, &str), field: &str, value: Value, emptied: &[&str], want: &str) {
        let schema = builtin().kind(kind.0, "v1", kind.1).unwrap();
        let emptied: Vec<String> = emptied.iter().map(|&place| place.to_owned()).collect();
        let error = FieldError::invalid(field, value, "why");
        let error = told(
            schema,
            error,
            &place(kind.1, field),
            &Emptied::new(&emptied),
        );
        let want = format!("{field}: Invalid value: {want}: why");
        assert_eq!(error.to_string(), want);
        assert_eq!(&*error.cause().cause_type, "FieldValueInvalid");
    }

    #[test]
    fn a_value_is_shown_as_the_type_of_its_field_or_of_what_is_near() {
        let port =
            r#"{"Name":"","Protocol":"","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}"#;
        check(
            ("", "Service"),
            "spec.ports[1]",
            json!({"port": 80}),
            &[],
            port,
        );
        let ranges = r#"{"CIDRs":["a"]}"#;
        let kind = ("networking.k8s.io", "ServiceCIDR");
        check(kind, "spec.cidrs", json!({"cidrs": ["a"]}), &[], ranges);
        let driver = r#"{"Name":"a","NodeID":"","TopologyKeys":null,"Allocatable":null}"#;
        let kind = ("storage.k8s.io", "CSINode");
        check(kind, "spec.drivers", json!({"name": "a"}), &[], driver);
        check(
            ("", "Pod"),
            "odd",
            json!({"name": "a"}),
            &[],
            r#"{"name":"a"}"#,
        );
    }

    #[test]
    fn fields_that_upstream_looks_for_elsewhere_are_found() {
        let taint = r#"{"Key":"a","Value":"","Effect":"","TimeAdded":null}"#;
        check(
            ("", "Node"),
            "metadata.taints[1]",
            json!({"key": "a"}),
            &[],
            taint,
        );
        let (volume, terms) = (
            "PersistentVolume",
            "spec.nodeAffinity.required.nodeSelectorTerms",
        );
        let affinity = r#"{"Required":{"NodeSelectorTerms":[]}}"#;
        check(
            ("", volume),
            "nodeAffinity",
            json!({"required": {}}),
            &[terms],
            affinity,
        );
    }

    #[test]
    fn what_was_sent_empty_is_told() {
        let (kind, labels) = (("apps", "Deployment"), "spec.template.metadata.labels");
        check(kind, labels, Value::Null, &[], "null");
        check(kind, labels, Value::Null, &[labels], "{}");
        check(kind, "spec.selector", Value::Null, &[labels], "null");
        let policy = json!({"rules": [{"action": "Ignore"}]});
        let told = r#"{"Rules":[{"Action":"Ignore","OnExitCodes":null,"OnPodConditions":[]}]}"#;
        let place = "spec.podFailurePolicy.rules[0].onPodConditions";
        check(
            ("batch", "Job"),
            "spec.podFailurePolicy",
            policy,
            &[place],
            told,
        );
    }
}
