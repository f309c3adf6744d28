//! Short ways to write roles and bindings in tests.

pub(crate) use crate::bootstrap::table::rule;

use flyball_api::{LeanMeta, Meta};

use crate::bootstrap::subject;
use crate::{ClusterRole, ClusterRoleBinding, GROUP, Role, RoleBinding, RoleIndex, RoleRef};

/// `namespace/name`, or `name`.
pub(crate) fn metadata(place: &str) -> Meta {
    let (namespace, name) = place.split_once('/').unwrap_or(("", place));
    let known = LeanMeta {
        namespace: namespace.into(),
        name: name.into(),
        ..LeanMeta::default()
    };
    known.into()
}

pub(crate) fn role_ref(kind: &str, name: &str) -> RoleRef {
    RoleRef {
        api_group: GROUP.into(),
        kind: kind.into(),
        name: name.into(),
    }
}

pub(crate) fn cluster_role(name: &str, rules: &[&str]) -> ClusterRole {
    ClusterRole {
        metadata: metadata(name),
        rules: rules.iter().map(|row| rule(row)).collect(),
        aggregation_rule: None,
    }
}

pub(crate) fn role(place: &str, rules: &[&str]) -> Role {
    Role {
        metadata: metadata(place),
        rules: rules.iter().map(|row| rule(row)).collect(),
    }
}

/// A binding called like its role: `role subject subject ...`.
pub(crate) fn cluster_role_binding(row: &str) -> ClusterRoleBinding {
    let mut words = row.split_whitespace();
    let name = words.next().unwrap();
    ClusterRoleBinding {
        metadata: metadata(name),
        subjects: words.map(subject).collect(),
        role_ref: role_ref("ClusterRole", name),
    }
}

/// A binding called like its role: `namespace/Role:name subject ...`, or `ClusterRole:name`.
pub(crate) fn role_binding(row: &str) -> RoleBinding {
    let mut words = row.split_whitespace();
    let (namespace, role) = words.next().unwrap().split_once('/').unwrap();
    let (kind, name) = role.split_once(':').unwrap();
    RoleBinding {
        metadata: metadata(&format!("{namespace}/{name}")),
        subjects: words.map(subject).collect(),
        role_ref: role_ref(kind, name),
    }
}

/// An index of roles and of bindings, those with a slash being RoleBindings.
pub(crate) fn index(cluster_roles: &[ClusterRole], roles: &[Role], bindings: &[&str]) -> RoleIndex {
    let mut index = RoleIndex::default();
    cluster_roles
        .iter()
        .for_each(|role| index.put_cluster_role(role));
    roles.iter().for_each(|role| index.put_role(role));
    for row in bindings {
        if row.split_whitespace().next().unwrap().contains('/') {
            index.put_role_binding(&role_binding(row));
        } else {
            index.put_cluster_role_binding(&cluster_role_binding(row));
        }
    }
    index
}
