//! Groups of the Kubernetes community, whose APIs need an approval.
//!
//! Upstream: `apiextensions-apiserver/pkg/apihelpers/helpers.go`,
//! `apiextensions-apiserver/pkg/controller/apiapproval`.

use crate::object::{Meta, Object, at};

/// The annotation that says where an API was approved.
pub(crate) const ANNOTATION: &str = "api-approved.kubernetes.io";

const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

/// What an annotation says about an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// There is none.
    Missing,
    /// It says that there is no approval.
    Bypassed,
    /// It says where.
    Approved,
    /// It says something else.
    Invalid,
}

impl State {
    /// The status and the reason of the condition that tells it.
    pub(super) fn condition(self) -> (&'static str, &'static str) {
        match self {
            Self::Missing => ("False", "MissingAnnotation"),
            Self::Bypassed => ("False", "UnapprovedAnnotation"),
            Self::Approved => ("True", "ApprovedAnnotation"),
            Self::Invalid => ("False", "InvalidAnnotation"),
        }
    }
}

/// Whether the group of a definition needs an approval.
pub(crate) fn is_needed(definition: &Object) -> bool {
    let group = at(definition, "spec.group").as_str().unwrap_or_default();
    ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| match group.strip_suffix(domain) {
            Some(rest) => rest.is_empty() || rest.ends_with('.'),
            None => false,
        })
}

/// What the annotation of a definition says, and how that is told.
pub(crate) fn state(definition: &Object) -> (State, String) {
    let annotation = definition.meta()["annotations"][ANNOTATION].as_str();
    match annotation.unwrap_or_default() {
        "" => (
            State::Missing,
            format!("protected groups must have approval annotation {ANNOTATION:?}, {SEE}"),
        ),
        text if text.starts_with("unapproved") => {
            (State::Bypassed, format!("not approved: {text:?}"))
        }
        text if is_url(text) => (State::Approved, format!("approved in {text}")),
        _ => (
            State::Invalid,
            format!(
                "protected groups must have approval annotation {ANNOTATION:?} with either a URL or a reason starting \
                 with \"unapproved\", {SEE}"
            ),
        ),
    }
}

fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_scheme)
        && !host.is_empty()
        && !text
            .bytes()
            .any(|byte| byte.is_ascii_control() || byte == b' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn groups_of_the_community_need_a_link_to_an_approval() {
        for (group, annotation, needed, expected) in [
            ("example.com", "", false, State::Missing),
            ("k8s.io", "", true, State::Missing),
            ("notk8s.io", "", false, State::Missing),
            (
                "x.kubernetes.io",
                "unapproved, testing",
                true,
                State::Bypassed,
            ),
            (
                "x.k8s.io",
                "https://github.com/x/y/pull/1",
                true,
                State::Approved,
            ),
            ("x.k8s.io", "nonsense", true, State::Invalid),
            ("x.k8s.io", "https:///x", true, State::Invalid),
        ] {
            let definition = json!({
                "metadata": {"annotations": {ANNOTATION: annotation}}, "spec": {"group": group},
            });
            let definition = definition.as_object().unwrap();
            assert_eq!(is_needed(definition), needed, "{group}");
            assert_eq!(state(definition).0, expected, "{annotation}");
        }
    }
}
