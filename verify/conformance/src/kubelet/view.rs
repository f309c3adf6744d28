//! The few fields of a pod that the kubelet reads, borrowed from the line they came in.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

type Text<'a> = Cow<'a, str>;

#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow, default)]
    pub(super) object: Pod<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Pod<'a> {
    #[serde(borrow)]
    pub(super) metadata: Metadata<'a>,
    #[serde(borrow)]
    pub(super) spec: Spec<'a>,
    #[serde(borrow, deserialize_with = "text_or_object")]
    pub(super) status: Status<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) namespace: Text<'a>,
    #[serde(borrow)]
    pub(super) uid: Text<'a>,
    #[serde(borrow)]
    pub(super) annotations: BTreeMap<Text<'a>, Text<'a>>,
    pub(super) deletion_timestamp: Option<IgnoredAny>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Spec<'a> {
    #[serde(borrow)]
    pub(super) node_name: Text<'a>,
    #[serde(borrow)]
    /// `null` in a bookmark, which carries a pod without content.
    pub(super) containers: Option<Vec<Container<'a>>>,
    pub(super) scheduling_gates: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
pub(super) struct Container<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow, default)]
    pub(super) image: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Status<'a> {
    #[serde(borrow)]
    pub(super) phase: Text<'a>,
    #[serde(borrow)]
    pub(super) conditions: Vec<Condition<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Condition<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
}

impl Status<'_> {
    pub(super) fn is_ready(&self) -> bool {
        self.conditions
            .iter()
            .any(|known| known.kind == "Ready" && known.status == "True")
    }
}

/// In an ERROR event the object is a `Status` whose `status` is a word; it is read as an empty pod status.
fn text_or_object<'de: 'a, 'a, D>(deserializer: D) -> Result<Status<'a>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either<'a> {
        #[serde(borrow)]
        Object(Status<'a>),
        Other(IgnoredAny),
    }
    Ok(match Either::deserialize(deserializer)? {
        Either::Object(status) => status,
        Either::Other(_) => Status::default(),
    })
}
