//! Roles and bindings as views: the four kinds of `rbac.authorization.k8s.io/v1`.
//!
//! They hold every field that upstream has, because they are written back as well as read.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{null_default, object};
use crate::{Kind, LabelSelector, Meta, Text};

/// The API group of roles and bindings.
pub const RBAC_GROUP: &str = "rbac.authorization.k8s.io";

/// A rule of a role: `rbacv1.PolicyRule`.
///
/// A request falls under it if each of its parts is in the list for it. Absent, null and empty
/// lists are the same; an empty list matches nothing, but for `resource_names`, where it matches
/// every name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicyRule {
    /// What may be done; `*` is anything.
    #[serde(deserialize_with = "null_default")]
    pub verbs: Vec<Text>,
    /// The API groups of the resources; empty is the core group, `*` is any.
    #[serde(
        rename = "apiGroups",
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_default"
    )]
    pub api_groups: Vec<Text>,
    /// `pods`, `pods/log`, `*/scale`, or `*` for all resources and subresources.
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_default"
    )]
    pub resources: Vec<Text>,
    /// The objects meant; all if empty.
    #[serde(
        rename = "resourceNames",
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_default"
    )]
    pub resource_names: Vec<Text>,
    /// Paths that are no resources; a `*` at the end stands for any rest.
    #[serde(
        rename = "nonResourceURLs",
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_default"
    )]
    pub non_resource_urls: Vec<Text>,
}

/// Rules that a binding can grant within a namespace.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Role {
    /// Metadata.
    pub metadata: Meta,
    /// What is allowed.
    #[serde(default, deserialize_with = "null_default")]
    pub rules: Vec<PolicyRule>,
}

/// Rules that a binding can grant everywhere, or in its own namespace.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRole {
    /// Metadata.
    pub metadata: Meta,
    /// What is allowed.
    #[serde(default, deserialize_with = "null_default")]
    pub rules: Vec<PolicyRule>,
    /// Where the rules come from, if they are collected from other ClusterRoles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregation_rule: Option<AggregationRule>,
}

/// Which ClusterRoles lend their rules to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AggregationRule {
    /// A ClusterRole that one of these selects is collected.
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_default"
    )]
    pub cluster_role_selectors: Vec<LabelSelector>,
}

/// Grants a role to subjects within a namespace.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RoleBinding {
    /// Metadata.
    pub metadata: Meta,
    /// Who gets the role.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_default"
    )]
    pub subjects: Vec<Subject>,
    /// The role: a Role of the namespace, or a ClusterRole.
    pub role_ref: RoleRef,
}

/// Grants a ClusterRole to subjects everywhere.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRoleBinding {
    /// Metadata.
    pub metadata: Meta,
    /// Who gets the role.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_default"
    )]
    pub subjects: Vec<Subject>,
    /// The role: a ClusterRole.
    pub role_ref: RoleRef,
}

/// Somebody that a role is granted to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Subject {
    /// `User`, `Group` or `ServiceAccount`; anything else is nobody.
    #[serde(deserialize_with = "null_default")]
    pub kind: Text,
    /// [`RBAC_GROUP`] for users and groups, empty for service accounts.
    #[serde(
        skip_serializing_if = "Text::is_empty",
        deserialize_with = "null_default"
    )]
    pub api_group: Text,
    /// The name.
    #[serde(deserialize_with = "null_default")]
    pub name: Text,
    /// The namespace of a service account; if empty, that of the RoleBinding.
    #[serde(
        skip_serializing_if = "Text::is_empty",
        deserialize_with = "null_default"
    )]
    pub namespace: Text,
}

/// The role that a binding grants; it never changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RoleRef {
    /// [`RBAC_GROUP`].
    #[serde(deserialize_with = "null_default")]
    pub api_group: Text,
    /// `Role` or `ClusterRole`.
    #[serde(deserialize_with = "null_default")]
    pub kind: Text,
    /// The name.
    #[serde(deserialize_with = "null_default")]
    pub name: Text,
}

/// Implements what informers and writers need of a view.
macro_rules! document {
    ($view:ty, $kind:expr) => {
        object!($view, $kind);

        impl $view {
            /// The whole object as JSON, with its kind and API version.
            pub fn document(&self) -> Value {
                // Strings, lists and maps with strings as keys: writing them cannot fail.
                let mut document = serde_json::to_value(self).unwrap_or_default();
                if let Value::Object(fields) = &mut document {
                    fields.insert("apiVersion".to_owned(), Self::KIND.api_version().into());
                    fields.insert("kind".to_owned(), Self::KIND.kind.into());
                }
                document
            }
        }
    };
}

document!(Role, Kind::namespaced(RBAC_GROUP, "v1", "Role", "roles"));
document!(
    ClusterRole,
    Kind::cluster(RBAC_GROUP, "v1", "ClusterRole", "clusterroles")
);
document!(
    RoleBinding,
    Kind::namespaced(RBAC_GROUP, "v1", "RoleBinding", "rolebindings")
);
document!(
    ClusterRoleBinding,
    Kind::cluster(
        RBAC_GROUP,
        "v1",
        "ClusterRoleBinding",
        "clusterrolebindings"
    )
);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Object;

    #[test]
    fn lists_may_be_null_and_a_role_without_rules_is_written_with_an_empty_list() {
        let role = ClusterRole::decode(br#"{"metadata":{"name":"a"},"rules":null}"#).unwrap();
        let expected = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "a"},
            "rules": [],
        });
        assert_eq!(role.document(), expected);
    }

    #[test]
    fn an_unknown_field_of_the_metadata_survives() {
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "a", "namespace": "b", "fromTheFuture": {"c": [1]}},
            "roleRef": {"apiGroup": RBAC_GROUP, "kind": "Role", "name": "d"},
        });
        let decoded = RoleBinding::decode(binding.to_string().as_bytes()).unwrap();
        assert_eq!(decoded.document(), binding);
        assert_eq!(decoded.object_name().to_string(), "b/a");
    }

    #[test]
    fn what_is_no_role_is_an_error() {
        for text in [
            "",
            "[]",
            r#"{"rules":[]}"#,
            r#"{"metadata":{},"rules":[{"verbs":"get"}]}"#,
        ] {
            assert!(Role::decode(text.as_bytes()).is_err(), "{text}");
        }
    }
}
