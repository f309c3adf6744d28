//! Reading a page of a list, one object at a time.

use std::fmt;

use flyball_api::{Object, Text};
use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

use super::type_check::TypeCheck;

/// What a page says besides its objects.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Page {
    /// The version of the whole list.
    #[serde(rename = "resourceVersion")]
    pub(super) version: Text,
    /// Asks for the next page; empty on the last.
    #[serde(rename = "continue")]
    pub(super) continue_token: String,
}

/// Reads a page and hands every object to `each`. After an error, what was handed out is of no use.
pub(super) fn read_page<T: Object>(
    body: &[u8],
    types: &TypeCheck,
    each: impl FnMut(T),
) -> Result<Page, String> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let read = reader.deserialize_map(PageVisitor {
        types,
        each,
        object: std::marker::PhantomData,
    });
    read.and_then(|page| reader.end().map(|()| page))
        .map_err(|error| error.to_string())
}

struct PageVisitor<'t, T, F> {
    types: &'t TypeCheck,
    each: F,
    object: std::marker::PhantomData<T>,
}

impl<'de, T: Object, F: FnMut(T)> Visitor<'de> for PageVisitor<'_, T, F> {
    type Value = Page;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Page, A::Error> {
        let mut page = None;
        let mut has_items = false;
        while let Some(key) = map.next_key::<Text>()? {
            match key.as_str() {
                "metadata" => page = Some(map.next_value()?),
                "items" => {
                    map.next_value_seed(&mut self)?;
                    has_items = true;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        // A Status or some proxy's greeting is JSON too; taking it for an empty list would look
        // as if every object had been deleted.
        match page {
            Some(page) if has_items => Ok(page),
            _ => Err(A::Error::custom(
                "not a list: metadata or items are missing",
            )),
        }
    }
}

impl<'de, T: Object, F: FnMut(T)> DeserializeSeed<'de> for &mut PageVisitor<'_, T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        // Null stands for an empty list.
        deserializer.deserialize_option(Items(self))
    }
}

struct Items<'p, 't, T, F>(&'p mut PageVisitor<'t, T, F>);

impl<'de, T: Object, F: FnMut(T)> Visitor<'de> for Items<'_, '_, T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the objects of a list")
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut number = 0;
        while let Some(item) = items.next_element::<&RawValue>()? {
            let json = item.get().as_bytes();
            let wrong =
                |what: &dyn fmt::Display| A::Error::custom(format!("item {number}: {what}"));
            self.0
                .types
                .check(json)
                .map_err(|found| wrong(&format!("it is a {found}")))?;
            (self.0.each)(T::decode(json).map_err(|error| wrong(&error))?);
            number += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Thing;

    fn read(body: &str) -> Result<(Page, Vec<String>), String> {
        let mut names = Vec::new();
        let each = |thing: Thing| names.push(thing.name);
        let page = read_page(body.as_bytes(), &TypeCheck::of(Thing::KIND), each)?;
        Ok((page, names))
    }

    #[test]
    fn reads_objects_version_and_continue_token_in_any_order() {
        let things = format!(
            "{},{}",
            Thing::new("n", "a").json(),
            Thing::new("n", "b").json()
        );
        let meta = r#""metadata":{"remainingItemCount":3,"continue":"more","resourceVersion":"9"}"#;
        for body in [
            format!(r#"{{"kind":"ThingList",{meta},"items":[{things}]}}"#),
            format!(r#"{{ "items" : [{things}] , {meta} }}"#),
        ] {
            let (page, names) = read(&body).unwrap();
            assert_eq!(
                (page.version.as_str(), page.continue_token.as_str()),
                ("9", "more")
            );
            assert_eq!(names, ["a", "b"]);
        }
    }

    #[test]
    fn null_items_are_no_items() {
        let (page, names) = read(r#"{"metadata":{"resourceVersion":"9"},"items":null}"#).unwrap();
        assert!(page.continue_token.is_empty() && names.is_empty());
    }

    #[test]
    fn what_is_not_a_list_is_not_taken_for_an_empty_one() {
        for body in [
            "",
            "null",
            "[]",
            "{}",
            "<html>",
            r#"{"kind":"Status","metadata":{},"status":"Failure"}"#,
            r#"{"metadata":{"resourceVersion":"9"},"items":[]} trailing"#,
            r#"{"metadata":{"resourceVersion":"9"},"items":[{"metadata":"#,
        ] {
            assert!(read(body).is_err(), "{body}");
        }
    }

    #[test]
    fn an_unreadable_object_is_named_by_its_place() {
        let good = Thing::new("n", "a").json();
        let body =
            format!(r#"{{"metadata":{{"resourceVersion":"9"}},"items":[{good},{{"x":1}}]}}"#);
        assert!(read(&body).unwrap_err().contains("item 1:"));
        let other = good.replace("Thing", "Pod");
        let body = format!(r#"{{"metadata":{{"resourceVersion":"9"}},"items":[{other}]}}"#);
        assert!(
            read(&body).unwrap_err().contains("item 0: it is a Pod"),
            "{:?}",
            read(&body)
        );
    }
}
