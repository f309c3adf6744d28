//! "What may I do here": the answer of a SelfSubjectRulesReview.

use flyball_api::Text;
use serde::Serialize;

use crate::source::{RoleSource, joined};
use crate::{PolicyRule, User};

/// The rules of a user in a namespace: `authorizationv1.SubjectRulesReviewStatus`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RulesReview {
    /// The rules about objects.
    pub resource_rules: Vec<ResourceRule>,
    /// The rules about other paths.
    pub non_resource_rules: Vec<NonResourceRule>,
    /// Whether there may be more rules than could be told.
    pub incomplete: bool,
    /// What was wrong with the user's bindings.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub evaluation_error: String,
}

/// A rule about objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRule {
    /// What may be done.
    pub verbs: Vec<Text>,
    /// The API groups of the resources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_groups: Vec<Text>,
    /// The resources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Text>,
    /// The objects meant; all if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_names: Vec<Text>,
}

/// A rule about paths that are no objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NonResourceRule {
    /// What may be done.
    pub verbs: Vec<Text>,
    /// The paths.
    #[serde(rename = "nonResourceURLs", skip_serializing_if = "Vec::is_empty")]
    pub non_resource_urls: Vec<Text>,
}

/// What the user may do in the namespace, the cluster's rules included.
///
/// As upstream, the privilege of `system:masters` shows only through the roles bound to it.
pub fn rules_review(user: &User, namespace: &str, roles: &impl RoleSource) -> RulesReview {
    let (rules, unresolved) = roles.rules_for(user, namespace);
    let evaluation_error = match unresolved.as_slice() {
        [] => String::new(),
        _ => joined(&unresolved),
    };
    let on_objects = rules.iter().filter(|rule| !rule.resources.is_empty());
    let on_paths = rules
        .iter()
        .filter(|rule| !rule.non_resource_urls.is_empty());
    RulesReview {
        resource_rules: on_objects.map(|rule| ResourceRule::of(rule)).collect(),
        non_resource_rules: on_paths.map(|rule| NonResourceRule::of(rule)).collect(),
        incomplete: false,
        evaluation_error,
    }
}

impl ResourceRule {
    fn of(rule: &PolicyRule) -> Self {
        Self {
            verbs: rule.verbs.clone(),
            api_groups: rule.api_groups.clone(),
            resources: rule.resources.clone(),
            resource_names: rule.resource_names.clone(),
        }
    }
}

impl NonResourceRule {
    fn of(rule: &PolicyRule) -> Self {
        Self {
            verbs: rule.verbs.clone(),
            non_resource_urls: rule.non_resource_urls.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster_role, index};
    use serde_json::json;

    #[test]
    fn rules_are_told_apart_by_what_they_are_about() {
        let roles = [cluster_role("a", &["get core: pods", "get url: /version"])];
        let index = index(&roles, &[], &["a user=eve", "nope user=eve"]);
        let review = rules_review(&User::of_groups("eve", &[]), "default", &index);
        assert_eq!(
            serde_json::to_value(review).unwrap(),
            json!({
                "resourceRules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}],
                "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/version"]}],
                "incomplete": false,
                "evaluationError": "clusterrole.rbac.authorization.k8s.io \"nope\" not found",
            })
        );
    }

    #[test]
    fn whoever_may_do_nothing_gets_empty_lists() {
        let review = rules_review(&User::default(), "default", &index(&[], &[], &[]));
        assert_eq!(
            serde_json::to_value(review).unwrap(),
            json!({"resourceRules": [], "nonResourceRules": [], "incomplete": false})
        );
    }
}
