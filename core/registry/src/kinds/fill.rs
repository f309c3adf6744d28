//! Defaults as tables: where a value belongs, and what it is if nobody gave one.
//!
//! A table is a list of paths and [`Fill`]s, worked through in order, so that what an earlier line
//! made can be filled by a later one. A path such as `containers[].ports[].protocol` names a field
//! of every map that the part before it leads to; where that part leads nowhere, nothing happens.

use serde_json::{Map, Value};

use crate::object::Object;

/// What a field is if nobody gave it.
#[derive(Clone, Copy)]
pub(super) enum Fill {
    /// A text, also in place of an empty one: upstream cannot tell that from none.
    Text(&'static str),
    /// A text that may be given as the empty one.
    OptionalText(&'static str),
    /// A number that may be given as zero.
    Int(i64),
    /// A number, also in place of zero: upstream cannot tell that from none.
    Nonzero(i64),
    /// A truth value.
    Bool(bool),
    /// A map without anything in it, which is how upstream writes a struct that holds nothing.
    Empty,
    /// A list of one text, also in place of an empty list.
    OneText(&'static str),
    /// What follows from the map that the field is in; nothing where it follows that there is none.
    By(fn(&Object) -> Option<Value>),
}

/// A path and what belongs there.
pub(super) type Line = (&'static str, Fill);

/// Fills in what is missing.
pub(super) fn fill(object: &mut Object, table: &[Line]) {
    for (path, with) in table {
        match path.rsplit_once('.') {
            Some((way, field)) => each(object, way, &mut |map| fill_field(map, field, *with)),
            None => fill_field(object, path, *with),
        }
    }
}

/// Fills in what is missing in every map at the end of a path.
pub(super) fn fill_each(object: &mut Object, way: &str, table: &[Line]) {
    each(object, way, &mut |map| fill(map, table));
}

/// Does something with every map at the end of a path, `[]` standing for each item of a list.
pub(super) fn each(object: &mut Object, way: &str, act: &mut dyn FnMut(&mut Object)) {
    let (part, rest) = match way.split_once('.') {
        Some((part, rest)) => (part, Some(rest)),
        None => (way, None),
    };
    let (field, is_list) = match part.strip_suffix("[]") {
        Some(field) => (field, true),
        None => (part, false),
    };
    let maps = match object.get_mut(field) {
        Some(Value::Array(items)) if is_list => items.as_mut_slice(),
        Some(value) if !is_list => std::slice::from_mut(value),
        _ => return,
    };
    for map in maps.iter_mut().filter_map(Value::as_object_mut) {
        match rest {
            Some(rest) => each(map, rest, act),
            None => act(map),
        }
    }
}

/// The map in a field, made if it is not there.
pub(super) fn map_in<'a>(object: &'a mut Object, field: &str) -> Option<&'a mut Object> {
    let value = object.entry(field).or_insert(Value::Null);
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut()
}

fn fill_field(map: &mut Object, field: &str, with: Fill) {
    if !is_missing(map.get(field), with) {
        return;
    }
    let value = match with {
        Fill::Text(text) | Fill::OptionalText(text) => text.into(),
        Fill::Int(number) | Fill::Nonzero(number) => number.into(),
        Fill::Bool(flag) => flag.into(),
        Fill::Empty => Value::Object(Map::new()),
        Fill::OneText(text) => Value::Array(vec![text.into()]),
        Fill::By(rule) => match rule(map) {
            Some(value) => value,
            None => return,
        },
    };
    map.insert(field.to_owned(), value);
}

fn is_missing(value: Option<&Value>, with: Fill) -> bool {
    match (value, with) {
        (None | Some(Value::Null), _) => true,
        (Some(Value::String(text)), Fill::Text(_) | Fill::By(_)) => text.is_empty(),
        (Some(Value::Number(number)), Fill::Nonzero(_)) => number.as_i64() == Some(0),
        (Some(Value::Array(items)), Fill::OneText(_)) => items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filled(value: Value, table: &[Line]) -> Value {
        let Value::Object(mut object) = value else {
            panic!("not a map")
        };
        fill(&mut object, table);
        Value::Object(object)
    }

    #[test]
    fn a_default_is_put_where_nothing_is_and_nowhere_else() {
        for (fill, given, expected) in [
            (Fill::Text("a"), json!({}), json!({"x": "a"})),
            (Fill::Text("a"), json!({"x": null}), json!({"x": "a"})),
            (Fill::Text("a"), json!({"x": ""}), json!({"x": "a"})),
            (Fill::Text("a"), json!({"x": "b"}), json!({"x": "b"})),
            (Fill::OptionalText("a"), json!({"x": ""}), json!({"x": ""})),
            (Fill::Int(7), json!({"x": 0}), json!({"x": 0})),
            (Fill::Nonzero(7), json!({"x": 0}), json!({"x": 7})),
            (Fill::Bool(true), json!({"x": false}), json!({"x": false})),
            (Fill::Empty, json!({}), json!({"x": {}})),
            (Fill::OneText("a"), json!({"x": []}), json!({"x": ["a"]})),
            (
                Fill::By(|map| map.get("y").cloned()),
                json!({"y": 1}),
                json!({"x": 1, "y": 1}),
            ),
            (Fill::By(|_| None), json!({}), json!({})),
        ] {
            assert_eq!(filled(given.clone(), &[("x", fill)]), expected, "{given}");
        }
    }

    #[test]
    fn a_path_reaches_every_item_and_makes_nothing_on_the_way() {
        let table = [("a[].b.c", Fill::Int(1)), ("d.e", Fill::Int(2))];
        assert_eq!(
            filled(json!({"a": [{"b": {}}, {}, 3, {"b": {"c": 9}}]}), &table),
            json!({"a": [{"b": {"c": 1}}, {}, 3, {"b": {"c": 9}}]}),
        );
    }

    #[test]
    fn a_line_fills_what_an_earlier_one_made() {
        let table = [("a", Fill::Empty), ("a.b", Fill::Bool(false))];
        assert_eq!(filled(json!({}), &table), json!({"a": {"b": false}}));
    }
}
