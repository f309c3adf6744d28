//! From JSON that was merged with an object to a value of its type, as upstream does it where no text is decoded.
//!
//! Results of strategic merge patches and of configurations that are applied never become text: upstream sets the
//! fields of its structures from them one by one. That is more lenient than its decoder in one respect, whole numbers
//! that are too large lose their upper bits, and says other words of what is of another type.
//!
//! Upstream: `FromUnstructuredWithValidation` in `apimachinery/pkg/runtime/converter.go`.

use serde_json::{Map, Number, Value};

use super::Decoded;
use super::fault::{DecodeFailed, StrictFault, go_type};
use super::place::Place;
use super::scalar::{self, Read};
use crate::{Schema, Shape, TextFormat};

/// The fields of a type, by its name, in the order in which Go declares them.
pub type Declared<'a> = dyn Fn(&str) -> Vec<&'static str> + 'a;

/// Makes a value of a type of what was merged.
///
/// Of several mistakes the first is told in the order in which upstream's structures are declared.
pub fn convert(
    schema: Schema<'_>,
    value: Value,
    declared: &Declared<'_>,
) -> Result<Decoded, DecodeFailed> {
    let mut walk = Walk {
        declared,
        path: String::new(),
        place: Place::default(),
        unknown: Vec::new(),
    };
    let value = walk.value(schema, value);
    let value = value.map_err(DecodeFailed::Unreadable)?;
    let mut strict = walk.unknown;
    strict.sort_unstable();
    Ok(Decoded {
        value,
        strict: strict.into_iter().map(StrictFault::Unknown).collect(),
    })
}

struct Walk<'a> {
    declared: &'a Declared<'a>,
    /// Where the walk is, as upstream names it: keys of maps are left out.
    path: String,
    /// Where it is, as Go names types.
    place: Place<'a>,
    unknown: Vec<String>,
}

impl<'a> Walk<'a> {
    fn value(&mut self, schema: Schema<'a>, value: Value) -> Result<Value, String> {
        match (schema.shape(), value) {
            (_, Value::Null) => Ok(Value::Null),
            (Shape::Object(object), Value::Object(members)) => {
                self.fields(schema, object.open, members)
            }
            (Shape::Object(_), other) => {
                Err(format!("cannot restore struct from: {}", go_kind(&other)))
            }
            (Shape::Map { value: of, .. }, Value::Object(members)) => {
                let of = schema.at(*of);
                self.place.descend();
                let members = members.into_iter().map(|(key, value)| {
                    let value = self.value(of, value)?;
                    Ok((key, or_empty(of, value)))
                });
                let members = members.collect::<Result<_, String>>()?;
                self.place.ascend();
                Ok(Value::Object(members))
            }
            (Shape::Map { .. }, other) => {
                Err(format!("cannot restore map from {}", go_kind(&other)))
            }
            (Shape::List(list), Value::Array(items)) => self.items(schema.at(list.item), items),
            (Shape::List(_), other) => {
                Err(format!("cannot restore slice from {}", go_kind(&other)))
            }
            (Shape::Text(TextFormat::Bytes), other) if !other.is_string() => {
                Err(format!("cannot restore slice from {}", go_kind(&other)))
            }
            (Shape::Integer { bits }, Value::Number(number)) => {
                whole(&number, *bits).map(Value::from).ok_or_else(|| {
                    let expected = self.place.expected(schema);
                    format!("cannot convert float64 to {expected}")
                })
            }
            (_, value) => self.scalar(schema, value),
        }
    }

    fn fields(
        &mut self,
        schema: Schema<'a>,
        open: bool,
        members: Map<String, Value>,
    ) -> Result<Value, String> {
        let outer = self.path.len();
        let mut fields = Map::new();
        let mut members = members.into_iter();
        while let Some((key, value)) = members.next() {
            if outer > 0 {
                self.path.push('.');
            }
            self.path.push_str(&key);
            match schema.field_named(&key) {
                Some(field) => {
                    let here = self.place.mark();
                    self.place.enter(schema, &field.name);
                    let value = self.value(schema.at(field.of), value);
                    self.place.back_to(here);
                    let value = match value {
                        Ok(value) => value,
                        Err(why) => return Err(self.earlier(schema, &key, members).unwrap_or(why)),
                    };
                    if !value.is_null() {
                        fields.insert(key, value);
                    }
                }
                None if open => drop(fields.insert(key, value)),
                None => self.unknown.push(self.path.clone()),
            }
            self.path.truncate(outer);
        }
        Ok(Value::Object(fields))
    }

    /// What is wrong with a field that is declared before this one, if there is one among these.
    fn earlier(
        &mut self,
        schema: Schema<'a>,
        field: &str,
        others: impl Iterator<Item = (String, Value)>,
    ) -> Option<String> {
        let declared = (self.declared)(schema.get().name.as_str());
        let place = |field: &str| declared.iter().position(|one| *one == field);
        let at = place(field)?;
        let is_before = |other: &str| place(other).is_some_and(|other| other < at);
        let mut others: Vec<_> = others.filter(|(name, _)| is_before(name)).collect();
        others.sort_by_key(|(name, _)| place(name));
        others.into_iter().find_map(|(name, value)| {
            let field = schema.field_named(&name)?;
            let here = self.place.mark();
            self.place.enter(schema, &field.name);
            let value = self.value(schema.at(field.of), value);
            self.place.back_to(here);
            value.err()
        })
    }

    fn items(&mut self, of: Schema<'a>, items: Vec<Value>) -> Result<Value, String> {
        let outer = self.path.len();
        let mut list = Vec::with_capacity(items.len());
        self.place.descend();
        for (at, item) in items.into_iter().enumerate() {
            self.path.push_str(&format!("[{at}]"));
            let item = self.value(of, item)?;
            list.push(or_empty(of, item));
            self.path.truncate(outer);
        }
        self.place.ascend();
        Ok(Value::Array(list))
    }

    fn scalar(&self, schema: Schema<'_>, value: Value) -> Result<Value, String> {
        let kind = go_kind(&value);
        match scalar::read(schema, value) {
            Read::Value(value) => Ok(value),
            // Go can make a text of a whole number, though upstream does not want it to.
            Read::WrongType if kind == "int64" && matches!(schema.shape(), Shape::Text(_)) => {
                let expected = self.place.expected(schema);
                Err(format!("cannot convert int64 to {expected}"))
            }
            Read::WrongType => Err(format!("unrecognized type: {}", go_type(schema))),
            Read::NotBytes(at) => Err(format!(
                "error decoding from json: illegal base64 data at input byte {at}"
            )),
            Read::NotPlain { found, expected } => Err(format!(
                "json: cannot unmarshal {found} into Go value of type {expected}"
            )),
            Read::Unreadable(why) => Err(why),
        }
    }
}

/// A null in a list or a map is the empty value of its type.
fn or_empty(of: Schema<'_>, value: Value) -> Value {
    match value {
        Value::Null => scalar::empty(of),
        value => value,
    }
}

/// A whole number in so many bits; what does not fit loses its upper bits, as in Go. Numbers with a fraction are none.
fn whole(number: &Number, bits: u8) -> Option<i64> {
    let whole = match (number.as_i64(), number.as_f64()) {
        (Some(whole), _) => whole,
        // Beyond what 64 bits hold, processors answer the lowest number.
        (None, Some(float)) if float.trunc() == float => match float {
            -9.3e18..9.2e18 => float as i64,
            _ => i64::MIN,
        },
        _ => return None,
    };
    let low = i32::from_le_bytes([
        whole.to_le_bytes()[0],
        whole.to_le_bytes()[1],
        whole.to_le_bytes()[2],
        whole.to_le_bytes()[3],
    ]);
    Some(if bits == 32 { low.into() } else { whole })
}

/// What Go calls the kind of a value that it has decoded into nothing in particular.
fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::builtin;

    fn why(kind: &str, value: Value) -> String {
        let group = if kind == "Deployment" { "apps" } else { "" };
        let schema = builtin().kind(group, "v1", kind).unwrap();
        convert(schema, value, &|_| Vec::new())
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn numbers_that_are_too_large_lose_their_upper_bits() {
        let schema = builtin().kind("apps", "v1", "Deployment").unwrap();
        for (sent, kept) in [
            (json!(99_999_999_999_u64), json!(1_215_752_191)),
            (json!(3.0), json!(3)),
            (json!(-1), json!(-1)),
            (json!(1e300), json!(0)),
        ] {
            let object =
                convert(schema, json!({"spec": {"replicas": sent}}), &|_| Vec::new()).unwrap();
            assert_eq!(object.value["spec"]["replicas"], kept);
        }
        let fraction = json!({"spec": {"replicas": 1.5}});
        assert_eq!(
            why("Deployment", fraction),
            "cannot convert float64 to int32"
        );
    }

    #[test]
    fn values_of_another_type_are_told_in_the_words_of_the_converter() {
        for (value, told) in [
            (
                json!({"spec": {"replicas": "3"}}),
                "unrecognized type: int32",
            ),
            (json!({"spec": {"paused": 1}}), "unrecognized type: bool"),
            (json!({"spec": "x"}), "cannot restore struct from: string"),
            (
                json!({"metadata": {"labels": ["a"]}}),
                "cannot restore map from slice",
            ),
            (
                json!({"metadata": {"labels": {"a": 1}}}),
                "cannot convert int64 to string",
            ),
            (
                json!({"metadata": {"labels": {"a": true}}}),
                "unrecognized type: string",
            ),
            (
                json!({"metadata": {"finalizers": {}}}),
                "cannot restore slice from map",
            ),
            (
                json!({"metadata": {"creationTimestamp": 1}}),
                "json: cannot unmarshal number into Go value of type string",
            ),
            (
                json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": true}}}}),
                "json: cannot unmarshal bool into Go value of type int32",
            ),
        ] {
            assert_eq!(why("Deployment", value), told);
        }
        assert_eq!(
            why("Service", json!({"spec": {"ports": [{"protocol": 1}]}})),
            "cannot convert int64 to v1.Protocol"
        );
        assert_eq!(
            why("Secret", json!({"data": {"a": "10.0"}})),
            "error decoding from json: illegal base64 data at input byte 2"
        );
        assert_eq!(
            why("Secret", json!({"data": {"a": 1}})),
            "cannot restore slice from int64"
        );
    }

    #[test]
    fn unknown_fields_are_told_in_order_of_their_names() {
        let schema = builtin().kind("", "v1", "Pod").unwrap();
        let sent =
            json!({"zoo": 1, "spec": {"containers": [{"a": null}], "bar": 1, "hostname": null}});
        let read = convert(schema, sent, &|_| Vec::new()).unwrap();
        let told: Vec<_> = read.strict.iter().map(StrictFault::path).collect();
        assert_eq!(told, ["spec.bar", "spec.containers[0].a", "zoo"]);
        assert_eq!(read.value, json!({"spec": {"containers": [{}]}}));
    }
}
