//! Label sets: sorted pairs behind one shared pointer.

use std::fmt;
use std::sync::Arc;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Text;

/// Labels or annotations: pairs sorted by key, each key once.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Labels(pub(crate) Arc<[(Text, Text)]>);

impl Labels {
    /// The value of a label.
    pub fn get(&self, key: &str) -> Option<&str> {
        let at = self.0.binary_search_by(|(k, _)| k.as_str().cmp(key)).ok()?;
        Some(&self.0[at].1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All pairs in key order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }

    /// Whether every pair of `part` is in this set.
    pub fn contains_all(&self, part: &Labels) -> bool {
        part.iter().all(|(k, v)| self.get(k) == Some(v))
    }

    /// This set with one pair added or replaced.
    pub fn with(&self, key: &str, value: &str) -> Labels {
        self.iter()
            .filter(|(k, _)| *k != key)
            .chain([(key, value)])
            .collect()
    }

    /// This set without one key.
    pub fn without(&self, key: &str) -> Labels {
        self.iter().filter(|(k, _)| *k != key).collect()
    }

    fn from_pairs(mut pairs: Vec<(Text, Text)>) -> Self {
        // The last of two equal keys wins, as it does for the server.
        pairs.reverse();
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        pairs.dedup_by(|later, kept| later.0 == kept.0);
        Self(pairs.into())
    }
}

impl Default for Labels {
    fn default() -> Self {
        Self(Arc::from([]))
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Labels {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Self {
        Self::from_pairs(
            pairs
                .into_iter()
                .map(|(k, v)| (k.into(), v.into()))
                .collect(),
        )
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_labels(deserializer, |_| true)
    }
}

/// Reads a map of strings and keeps the keys asked for; null counts as empty.
pub(crate) fn read_labels<'de, D: Deserializer<'de>>(
    deserializer: D,
    keep: fn(&str) -> bool,
) -> Result<Labels, D::Error> {
    struct Pairs(fn(&str) -> bool);
    impl<'de> Visitor<'de> for Pairs {
        type Value = Labels;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map of strings")
        }
        fn visit_unit<E>(self) -> Result<Labels, E> {
            Ok(Labels::default())
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Labels, A::Error> {
            let mut pairs = Vec::new();
            while let Some(key) = map.next_key::<Text>()? {
                if self.0(&key) {
                    pairs.push((key, map.next_value::<Option<Text>>()?.unwrap_or_default()));
                } else {
                    map.next_value::<serde::de::IgnoredAny>()?;
                }
            }
            Ok(Labels::from_pairs(pairs))
        }
    }
    deserializer.deserialize_any(Pairs(keep))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_null_and_keeps_the_last_of_two_equal_keys() {
        let none: Labels = serde_json::from_str("null").unwrap();
        assert!(none.is_empty());
        let some: Labels = serde_json::from_str(r#"{"b":"1","a":"2","b":"3"}"#).unwrap();
        assert_eq!(some.iter().collect::<Vec<_>>(), [("a", "2"), ("b", "3")]);
    }

    #[test]
    fn with_replaces_and_without_removes() {
        let labels = Labels::from_iter([("a", "1"), ("b", "2")]);
        assert_eq!(labels.with("a", "3").get("a"), Some("3"));
        assert_eq!(labels.without("a").get("a"), None);
        assert!(labels.contains_all(&labels.without("b")));
        assert!(!labels.without("b").contains_all(&labels));
    }
}
