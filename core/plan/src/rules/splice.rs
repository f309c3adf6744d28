//! Changing one member of a JSON text and nothing else.
//!
//! Templates and whole objects are carried as text so that a field nobody here knows survives.
//! When one member of such a text must change, only the objects on the way to it are taken apart;
//! the texts of all other members are put back as they were.

use std::fmt;

use flyball_api::DecodeError;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// Puts `value` at `path`, where objects that are missing or null on the way are made.
pub fn set(json: &str, path: &[&str], value: &impl Serialize) -> Result<String, DecodeError> {
    let value = serde_json::to_string(value).map_err(DecodeError::new)?;
    edit(Some(json), path, Some(&value)).map(Option::unwrap_or_default)
}

/// Takes away what is at `path`; a text without it stays as it is.
pub fn remove(json: &str, path: &[&str]) -> Result<String, DecodeError> {
    edit(Some(json), path, None).map(Option::unwrap_or_default)
}

/// The text of what is at `path`; `None` if it is missing or null.
pub fn get<'a>(json: &'a str, path: &[&str]) -> Result<Option<&'a str>, DecodeError> {
    let Some((key, rest)) = path.split_first() else {
        return Ok(Some(json));
    };
    let members: Members<'a> = serde_json::from_str(json).map_err(DecodeError::new)?;
    match members.get(key) {
        Some(inside) => get(inside, rest),
        None => Ok(None),
    }
}

fn edit(
    json: Option<&str>,
    path: &[&str],
    value: Option<&str>,
) -> Result<Option<String>, DecodeError> {
    let Some((key, rest)) = path.split_first() else {
        return Ok(value.map(str::to_owned));
    };
    let members: Members<'_> = match json {
        None => Members(Vec::new()),
        Some(text) => serde_json::from_str(text).map_err(DecodeError::new)?,
    };
    let inside = members.get(key);
    if value.is_none() && inside.is_none() {
        return Ok(json.map(str::to_owned));
    }
    let changed = edit(inside, rest, value)?;
    if value.is_none() && changed.as_deref() == inside {
        return Ok(json.map(str::to_owned));
    }
    let changed = changed
        .map(RawValue::from_string)
        .transpose()
        .map_err(DecodeError::new)?;
    let edited = Edited {
        members: &members,
        key,
        changed: changed.as_deref(),
    };
    serde_json::to_string(&edited)
        .map(Some)
        .map_err(DecodeError::new)
}

/// The members of an object in their order, each as its text.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    fn get(&self, key: &str) -> Option<&'a str> {
        let (_, value) = self.0.iter().find(|(name, _)| name == key)?;
        Some(value.get()).filter(|text| *text != "null")
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Members(Vec::new()))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_any(InOrder)
    }
}

/// An object with one member changed, added at the end, or left out.
struct Edited<'a> {
    members: &'a Members<'a>,
    key: &'a str,
    changed: Option<&'a RawValue>,
}

impl Serialize for Edited<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut changed = self.changed;
        for (name, value) in &self.members.0 {
            if name != self.key {
                map.serialize_entry(name, value)?;
            } else if let Some(value) = changed.take() {
                map.serialize_entry(name, value)?;
            }
        }
        if let Some(value) = changed {
            map.serialize_entry(self.key, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_member_named_changes() {
        let json = r#"{"z":1.50,"a":{"x":18446744073709551616,"b":"old","y":[ 1 ]},"n":null}"#;
        let changed = set(json, &["a", "b"], &"new").unwrap();
        assert_eq!(
            changed,
            r#"{"z":1.50,"a":{"x":18446744073709551616,"b":"new","y":[ 1 ]},"n":null}"#
        );
        let removed = remove(json, &["a", "b"]).unwrap();
        assert_eq!(
            removed,
            r#"{"z":1.50,"a":{"x":18446744073709551616,"y":[ 1 ]},"n":null}"#
        );
    }

    #[test]
    fn missing_and_null_objects_are_made_on_the_way() {
        assert_eq!(set("{}", &["a", "b"], &1).unwrap(), r#"{"a":{"b":1}}"#);
        assert_eq!(
            set(r#"{"a":null}"#, &["a", "b"], &1).unwrap(),
            r#"{"a":{"b":1}}"#
        );
        assert_eq!(set("null", &["a"], &true).unwrap(), r#"{"a":true}"#);
    }

    #[test]
    fn removing_what_is_not_there_changes_nothing() {
        for json in [r#"{"a": {} }"#, "{}", "null", r#"{"a":null}"#] {
            assert_eq!(remove(json, &["a", "b"]).unwrap(), json);
        }
    }

    #[test]
    fn reads_the_text_at_a_path() {
        let json = r#"{"a":{"b":[1, 2],"c":null}}"#;
        assert_eq!(get(json, &["a", "b"]).unwrap(), Some("[1, 2]"));
        assert_eq!(get(json, &["a", "c"]).unwrap(), None);
        assert_eq!(get(json, &["x", "y"]).unwrap(), None);
    }

    #[test]
    fn a_path_through_something_else_than_an_object_is_an_error() {
        assert!(set(r#"{"a":[]}"#, &["a", "b"], &1).is_err());
        assert!(remove("[1]", &["a"]).is_err());
        assert!(get(r#"{"a":"text"}"#, &["a", "b"]).is_err());
    }
}
