//! The roles and bindings that kube-apiserver v1.36.4 creates when it starts.
//!
//! They are kept as three small tables that expand to objects; `tests/bootstrap` proves that the
//! objects are exactly those of a real server with its default feature gates. [`policy`] expands
//! the tables, the `reconcile_` functions say what to write when some of it is stored already.

mod reconcile;
pub(crate) mod table;

use flyball_api::{LabelSelector, Labels, LeanMeta, Meta};

use crate::{
    AggregationRule, ClusterRole, ClusterRoleBinding, GROUP, Role, RoleBinding, RoleRef, Subject,
};
use table::Entry;

pub use reconcile::{
    Reconciliation, reconcile_cluster_role, reconcile_cluster_role_binding, reconcile_role,
    reconcile_role_binding,
};

/// The annotation that, with the value `false`, keeps an object from being reconciled.
pub const AUTOUPDATE: &str = "rbac.authorization.kubernetes.io/autoupdate";

const BOOTSTRAPPING: (&str, &str) = ("kubernetes.io/bootstrapping", "rbac-defaults");
const AGGREGATE_TO: &str = "rbac.authorization.k8s.io/aggregate-to-";
const CONTROLLER: &str = "system:controller:";

const ROLES: &str = include_str!("roles.txt");
const CONTROLLERS: &str = include_str!("controllers.txt");
const BINDINGS: &str = include_str!("bindings.txt");

/// What a fresh cluster has. Roles are to be written before bindings.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The ClusterRoles. Those with an `aggregationRule` have no rules yet.
    pub cluster_roles: Vec<ClusterRole>,
    /// The ClusterRoleBindings.
    pub cluster_role_bindings: Vec<ClusterRoleBinding>,
    /// The Roles, in `kube-system` and `kube-public`.
    pub roles: Vec<Role>,
    /// The RoleBindings, in the same namespaces.
    pub role_bindings: Vec<RoleBinding>,
}

/// Expands the tables.
pub fn policy() -> Policy {
    let mut policy = Policy::default();
    for entry in table::entries(ROLES) {
        match entry.name.split_once('/') {
            None => policy.cluster_roles.push(cluster_role(entry.name, &entry)),
            Some((namespace, name)) => policy.roles.push(Role {
                metadata: metadata(namespace, name),
                rules: entry.rules(),
            }),
        }
    }
    for entry in table::entries(CONTROLLERS) {
        let name = format!("{CONTROLLER}{}", entry.name);
        let account = format!("account=kube-system/{}", entry.name);
        policy.cluster_roles.push(cluster_role(&name, &entry));
        let binding = cluster_role_binding(&name, vec![subject(&account)]);
        policy.cluster_role_bindings.push(binding);
    }
    for entry in table::entries(BINDINGS) {
        let words = || entry.lines.iter().map(String::as_str);
        let subjects = words()
            .filter(|word| !word.starts_with("role="))
            .map(subject)
            .collect();
        let Some((namespace, name)) = entry.name.split_once('/') else {
            let binding = cluster_role_binding(entry.name, subjects);
            policy.cluster_role_bindings.push(binding);
            continue;
        };
        let role = words().find_map(|word| word.strip_prefix("role="));
        policy.role_bindings.push(RoleBinding {
            metadata: metadata(namespace, name),
            subjects,
            role_ref: role_ref("Role", role.unwrap_or(name)),
        });
    }
    policy
}

fn metadata(namespace: &str, name: &str) -> Meta {
    let known = LeanMeta {
        namespace: namespace.into(),
        name: name.into(),
        labels: Labels::from_iter([BOOTSTRAPPING]),
        annotations: Labels::from_iter([(AUTOUPDATE, "true")]),
        ..LeanMeta::default()
    };
    known.into()
}

fn cluster_role(name: &str, entry: &Entry<'_>) -> ClusterRole {
    let mut role = ClusterRole {
        metadata: metadata("", name),
        rules: entry.rules(),
        aggregation_rule: None,
    };
    for mark in &entry.marks {
        if let Some(target) = mark.strip_prefix("part-of=") {
            let label = format!("{AGGREGATE_TO}{target}");
            role.metadata.labels = role.metadata.labels.with(&label, "true");
        }
        if let Some(source) = mark.strip_prefix("collects=") {
            let label = format!("{AGGREGATE_TO}{source}").into();
            let selector = LabelSelector {
                match_labels: [(label, "true".into())].into(),
                ..LabelSelector::default()
            };
            role.aggregation_rule = Some(AggregationRule {
                cluster_role_selectors: vec![selector],
            });
        }
    }
    role
}

fn cluster_role_binding(name: &str, subjects: Vec<Subject>) -> ClusterRoleBinding {
    ClusterRoleBinding {
        metadata: metadata("", name),
        subjects,
        role_ref: role_ref("ClusterRole", name),
    }
}

fn role_ref(kind: &str, name: &str) -> RoleRef {
    RoleRef {
        api_group: GROUP.into(),
        kind: kind.into(),
        name: name.into(),
    }
}

/// `user=<name>`, `group=<name>` or `account=<namespace>/<name>`.
pub(crate) fn subject(word: &str) -> Subject {
    let (kind, name) = word.split_once('=').unwrap_or(("", word));
    let named = |kind: &str| Subject {
        kind: kind.into(),
        api_group: GROUP.into(),
        name: name.into(),
        ..Subject::default()
    };
    match kind {
        "user" => named("User"),
        "group" => named("Group"),
        _ => {
            let (namespace, name) = name.split_once('/').unwrap_or(("", name));
            Subject {
                kind: "ServiceAccount".into(),
                namespace: namespace.into(),
                name: name.into(),
                ..Subject::default()
            }
        }
    }
}
