//! The pod that a template describes, as the text to be sent.
//!
//! Upstream: `GetPodFromTemplate` in `pkg/controller/controller_utils.go`. Of the template's
//! metadata a pod gets labels, annotations and finalizers; the spec is spliced in as it stands, so
//! that a field nobody here has heard of arrives byte for byte.

use std::fmt;

use flyball_api::{Kind, Labels, LeanMeta, Opaque, OwnerReference, Template, Text};
use serde::Serialize;

use crate::Body;

#[cfg(test)]
mod tests;

/// The longest name the server takes for a pod.
const NAME_LENGTH_MAX: usize = 253;

/// Why no pod is made from a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodRefused {
    /// A pod without labels could never be found again by a selector.
    NoLabels,
}

impl fmt::Display for PodRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLabels => f.write_str("unable to create pods, no labels"),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NamelessPod<'a> {
    api_version: &'static str,
    kind: &'static str,
    metadata: NamelessMeta<'a>,
    spec: Opaque,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NamelessMeta<'a> {
    generate_name: Text,
    labels: &'a Labels,
    #[serde(skip_serializing_if = "Labels::is_empty")]
    annotations: &'a Labels,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    finalizers: &'a [Text],
    owner_references: [OwnerReference; 1],
}

/// The body of a pod from `template`, owned and controlled by `owner`. The server makes up the
/// name, so that one body serves any number of creates.
pub fn pod_body(
    template: &Template,
    owner_kind: Kind,
    owner: &LeanMeta,
) -> Result<Body, PodRefused> {
    if template.labels().is_empty() {
        return Err(PodRefused::NoLabels);
    }
    let carried = template.meta();
    Ok(Body::of(&NamelessPod {
        api_version: "v1",
        kind: "Pod",
        metadata: NamelessMeta {
            generate_name: name_prefix(&owner.name),
            labels: template.labels(),
            annotations: &carried.annotations,
            finalizers: &carried.finalizers,
            owner_references: [OwnerReference::controller_of(
                owner_kind,
                &owner.name,
                &owner.uid,
            )],
        },
        spec: template.spec(),
    }))
}

/// What the names of an owner's pods begin with: its own name and a dash, or the bare name where
/// the dash would make a prefix that no pod name may have.
pub fn name_prefix(owner: &str) -> Text {
    let mut prefix = Text::from(owner);
    // The server judges a prefix by a stand-in: the dash and the character before it become one
    // letter.
    let mut stand_in = Text::from(owner);
    stand_in.pop();
    stand_in.push('a');
    if is_dns_subdomain(&stand_in) {
        prefix.push('-');
    }
    prefix
}

fn is_dns_subdomain(name: &str) -> bool {
    name.len() <= NAME_LENGTH_MAX && name.split('.').all(is_dns_label)
}

fn is_dns_label(label: &str) -> bool {
    let alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = label.as_bytes();
    bytes.first().is_some_and(alphanumeric)
        && bytes.last().is_some_and(alphanumeric)
        && bytes.iter().all(|byte| alphanumeric(byte) || *byte == b'-')
}
