//! Lists: what a server says of the objects of a kind, in a namespace or in all of them.

use flyball_api::{DecodeError, Opaque, Text, Uid};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::Want;

/// What a list found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The objects, as many as were asked for.
    pub items: Vec<Listed>,
    /// How many more there are.
    pub more: u64,
}

impl Listing {
    /// How many there are altogether.
    pub fn count(&self) -> u64 {
        self.items.len() as u64 + self.more
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }
}

/// What is told of an object that was listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Its namespace.
    pub namespace: Text,
    /// Its name.
    pub name: Text,
    /// Its identity.
    pub uid: Uid,
    /// Whether it has been asked to go away.
    pub deleting: bool,
    /// How long it may take to go, in seconds.
    pub grace_seconds: i64,
    /// What must be cleared before it may go.
    pub finalizers: Vec<Text>,
    /// All of it, if whole objects were wanted.
    pub object: Option<Opaque>,
}

/// Reads a list, of whole objects or of their metadata.
pub(crate) fn listing(body: &[u8], want: Want) -> Result<Listing, DecodeError> {
    let List { metadata, items } = serde_json::from_slice(body).map_err(DecodeError::new)?;
    let cut_off = metadata.token.is_some_and(|token| !token.is_empty());
    // A server that does not count the others says at least that there are some.
    let more = match cut_off {
        true => metadata.remaining_item_count.unwrap_or(1).max(1),
        false => 0,
    };
    let items = items.unwrap_or_default().into_iter();
    let items = items.map(|item| {
        let Item { metadata } = serde_json::from_str(item.get()).map_err(DecodeError::new)?;
        let object = match want {
            Want::Whole => Some(Opaque::new(item.get())?),
            Want::Metadata => None,
        };
        let listed = Listed::from(metadata);
        Ok(Listed { object, ..listed })
    });
    let items = items.collect::<Result<_, DecodeError>>()?;
    Ok(Listing { items, more })
}

#[derive(Deserialize)]
struct List<'a> {
    metadata: ListMeta,
    #[serde(borrow)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMeta {
    #[serde(rename = "continue")]
    token: Option<Text>,
    remaining_item_count: Option<u64>,
}

#[derive(Deserialize)]
struct Item {
    metadata: ItemMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ItemMeta {
    #[serde(default)]
    namespace: Text,
    name: Text,
    #[serde(default)]
    uid: Uid,
    deletion_timestamp: Option<IgnoredAny>,
    deletion_grace_period_seconds: Option<i64>,
    finalizers: Option<Vec<Text>>,
}

impl From<ItemMeta> for Listed {
    fn from(meta: ItemMeta) -> Self {
        Self {
            namespace: meta.namespace,
            name: meta.name,
            uid: meta.uid,
            deleting: meta.deletion_timestamp.is_some(),
            grace_seconds: meta.deletion_grace_period_seconds.unwrap_or(0),
            finalizers: meta.finalizers.unwrap_or_default(),
            object: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_tells_of_some_and_counts_the_others() {
        let body = r#"{"kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"9",
            "continue":"more","remainingItemCount":7},"items":[
            {"metadata":{"namespace":"shop","name":"a","uid":"1","deletionTimestamp":"2026-01-01T00:00:00Z",
              "deletionGracePeriodSeconds":30,"finalizers":["x.io/y"]}},
            {"metadata":{"name":"b","uid":"2","finalizers":null},"spec":{"deep":[1]}}]}"#;
        let found = listing(body.as_bytes(), Want::Metadata).unwrap();
        assert_eq!(found.count(), 9);
        let [a, b] = &found.items[..] else {
            panic!("{found:?}")
        };
        assert_eq!(a.namespace, "shop");
        assert!(a.deleting && a.grace_seconds == 30 && a.finalizers == ["x.io/y"]);
        assert!(!b.deleting && b.uid == "2".into() && b.finalizers.is_empty());
    }

    #[test]
    fn an_empty_list_is_none_and_one_cut_off_is_not() {
        for (body, count) in [
            (r#"{"metadata":{"resourceVersion":"9"},"items":[]}"#, 0),
            (r#"{"metadata":{"continue":""},"items":null}"#, 0),
            (r#"{"metadata":{"continue":"t"},"items":[]}"#, 1),
        ] {
            assert_eq!(
                listing(body.as_bytes(), Want::Metadata).unwrap().count(),
                count,
                "{body}"
            );
        }
        assert!(listing(b"{}", Want::Metadata).is_err() && listing(b"", Want::Metadata).is_err());
    }
}
