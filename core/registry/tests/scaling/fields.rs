//! The list fields of a kind, and objects that have many entries in one of them.

use flyball_schema::{Schema, Shape, TextFormat};
use serde_json::{Map, Value, json};

/// How entries look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// All are equal, and wrong.
    Equal,
    /// Each is another one, and wrong.
    Different,
    /// All are equal and may be right one by one, so that the request comes as far as warnings.
    Plausible,
}

/// A step from an object to a list.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Field(String),
    /// The first item of a list.
    Item,
    /// A key of a map.
    Key,
}

/// A list field of a kind.
pub(crate) struct ListField<'a> {
    pub(crate) way: Vec<Step>,
    pub(crate) item: Schema<'a>,
}

impl ListField<'_> {
    /// The path of the field, such as `spec.containers[].ports`.
    pub(crate) fn path(&self) -> String {
        let mut path = String::new();
        for step in &self.way {
            match step {
                Step::Field(name) if path.is_empty() => path.push_str(name),
                Step::Field(name) => path.extend([".", name.as_str()]),
                Step::Item => path.push_str("[]"),
                Step::Key => path.push_str("{}"),
            }
        }
        path
    }

    /// The base object with so many entries in this field.
    pub(crate) fn filled(&self, base: &Value, count: usize, flavour: Flavour) -> Value {
        let mut object = base.clone();
        let mut place = &mut object;
        for step in &self.way {
            place = match step {
                Step::Field(name) => {
                    if !place.is_object() {
                        *place = json!({});
                    }
                    &mut place[name.as_str()]
                }
                Step::Item => {
                    if place.as_array().is_none_or(Vec::is_empty) {
                        *place = json!([{}]);
                    }
                    &mut place[0]
                }
                Step::Key => {
                    if !place.is_object() {
                        *place = json!({});
                    }
                    &mut place["key"]
                }
            };
        }
        // An entry that the base has is right but for being there many times.
        let model = place.as_array().and_then(|all| all.first()).cloned();
        let entries = (0..count).map(|at| match (flavour, &model) {
            (Flavour::Plausible, Some(model)) => model.clone(),
            _ => entry(self.item, at, flavour, 2),
        });
        *place = entries.collect();
        object
    }
}

/// All list fields below a type, each type of the way at most once.
pub(crate) fn lists<'a>(
    of: Schema<'a>,
    way: &mut Vec<Step>,
    above: &mut Vec<Schema<'a>>,
    found: &mut Vec<ListField<'a>>,
) {
    if above.iter().any(|one| one.id() == of.id()) {
        return;
    }
    above.push(of);
    match of.shape() {
        Shape::Object(shape) => {
            for field in &shape.fields {
                way.push(Step::Field(field.name.to_string()));
                lists(of.at(field.of), way, above, found);
                way.pop();
            }
        }
        Shape::Map { value, .. } => {
            way.push(Step::Key);
            lists(of.at(*value), way, above, found);
            way.pop();
        }
        Shape::List(shape) => {
            let item = of.at(shape.item);
            found.push(ListField {
                way: way.clone(),
                item,
            });
            way.push(Step::Item);
            lists(item, way, above, found);
            way.pop();
        }
        _ => {}
    }
    above.pop();
}

fn entry(of: Schema<'_>, at: usize, flavour: Flavour, depth: usize) -> Value {
    let is_right = flavour == Flavour::Plausible;
    match of.shape() {
        Shape::Object(_) | Shape::List(_) | Shape::Map { .. } if depth == 0 => Value::Null,
        Shape::Object(shape) => {
            let mut object = Map::new();
            for field in &shape.fields {
                let of = of.at(field.of);
                let is_deep = matches!(of.shape(), Shape::Object(_) | Shape::Any);
                // Only what must be there of what is large itself.
                if !is_deep || field.required {
                    let value = entry(of, at, flavour, depth - 1);
                    if !value.is_null() {
                        object.insert(field.name.to_string(), value);
                    }
                }
            }
            Value::Object(object)
        }
        Shape::List(shape) => match is_right {
            true => Value::Null,
            false => json!([entry(of.at(shape.item), at, flavour, depth - 1)]),
        },
        Shape::Map { value, .. } => match is_right {
            true => Value::Null,
            false => json!({"!": entry(of.at(*value), at, flavour, depth - 1)}),
        },
        Shape::Text(format) => text(*format, at, flavour).into(),
        Shape::Integer { .. } | Shape::Number => match flavour {
            Flavour::Equal => json!(-1),
            Flavour::Different => json!(-1 - at as i64),
            Flavour::Plausible => json!(80),
        },
        Shape::Boolean => json!(true),
        Shape::IntOrText => match is_right {
            true => json!(80),
            false => json!(format!("!{at}")),
        },
        Shape::Any => json!({"bad": at}),
    }
}

fn text(format: TextFormat, at: usize, flavour: Flavour) -> String {
    match (format, flavour) {
        (TextFormat::Plain, Flavour::Equal) => "!bad".to_owned(),
        (TextFormat::Plain, Flavour::Different) => format!("!bad-{at}"),
        (TextFormat::Plain, Flavour::Plausible) => "a".to_owned(),
        (TextFormat::Bytes, _) => "YQ==".to_owned(),
        (TextFormat::Time, _) => "2026-01-02T03:04:05Z".to_owned(),
        (TextFormat::MicroTime, _) => "2026-01-02T03:04:05.000000Z".to_owned(),
        (TextFormat::Quantity, Flavour::Plausible) => "1".to_owned(),
        (TextFormat::Quantity, _) => format!("-{}", at + 1),
    }
}
