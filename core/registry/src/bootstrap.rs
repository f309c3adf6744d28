//! What every cluster has from its start: namespaces, priority classes and roles; and roles as authorization sees them.
//!
//! Upstream: `pkg/controlplane/controller/systemnamespaces`, `pkg/registry/rbac/rest/storage_rbac.go`.

use std::sync::Arc;

use flyball_api::Timestamp;
use flyball_rbac::{ClusterRole, ClusterRoleBinding, Role, RoleBinding, User, bootstrap};
use flyball_schema::{Resource, builtin};
use flyball_storage::{Event, Query as Range};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::managed::Note;
use crate::object::{Meta, Object};
use crate::registry::{Call, Registry, key, prefix};
use crate::request::{Chance, Method, Representation, Request};
use crate::services;
use crate::stored::Stored;

const NAMESPACES: &[&str] = &["default", "kube-node-lease", "kube-public", "kube-system"];
const RBAC: &str = "rbac.authorization.k8s.io";

/// Makes what is missing.
pub(crate) fn run(registry: &mut Registry, now: Timestamp, chance: &mut Chance<'_>) {
    for name in NAMESPACES {
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        ensure(registry, "", "namespaces", namespace, now, chance);
    }
    for class in priority_classes() {
        ensure(
            registry,
            "scheduling.k8s.io",
            "priorityclasses",
            class,
            now,
            chance,
        );
    }
    services::ensure_kubernetes(registry, now, chance);
    let policy = bootstrap::policy();
    let roles = policy
        .cluster_roles
        .iter()
        .map(|one| ("clusterroles", one.document()));
    let roles = roles.chain(policy.roles.iter().map(|one| ("roles", one.document())));
    let bindings = policy.cluster_role_bindings.iter();
    let bindings = bindings.map(|one| ("clusterrolebindings", one.document()));
    let bindings = bindings.chain(
        policy
            .role_bindings
            .iter()
            .map(|one| ("rolebindings", one.document())),
    );
    for (plural, object) in roles.chain(bindings) {
        ensure(registry, RBAC, plural, object, now, chance);
    }
}

/// The classes of pods that a cluster cannot do without.
fn priority_classes() -> [Value; 2] {
    let class = |name: &str, value: i64, description: &str| {
        json!({
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "description": description,
        })
    };
    [
        class(
            "system-node-critical",
            2_000_001_000,
            "Used for system critical pods that must not be moved from their current node.",
        ),
        class(
            "system-cluster-critical",
            2_000_000_000,
            "Used for system critical pods that must run in the cluster, but can be moved to another \
             node if necessary.",
        ),
    ]
}

/// Creates an object unless one of its name is there.
fn ensure(
    registry: &mut Registry,
    group: &str,
    plural: &str,
    object: Value,
    now: Timestamp,
    chance: &mut Chance<'_>,
) {
    let resource = registry.served().find(group, "v1", plural).cloned();
    let (Some(resource), Value::Object(mut object)) = (resource, object) else {
        return;
    };
    // Rules that are put together from other roles are none, not an empty list.
    if object.get("rules").is_some_and(|rules| rules == &json!([])) {
        object.remove("rules");
    }
    if registry
        .store()
        .get(&key(&resource, object.namespace(), object.name()))
        .is_some()
    {
        return;
    }
    let user = User::of_groups("system:apiserver", &["system:masters"]);
    let request = Request {
        method: Method::Post,
        path: "",
        query: &[],
        body: &[],
        content_type: "",
        accept: "",
        user: &user,
        agent: "kube-apiserver",
        now,
    };
    let call = Call {
        request,
        path: crate::ResourcePath {
            namespace: object.namespace().into(),
            ..crate::ResourcePath::default()
        },
        resource,
        query: crate::query::Query::default(),
        representation: Representation::Whole,
    };
    // Only a mistake in this program could make one of these invalid; a test creates them all.
    let _ = registry.insert(&call, object, Note::Update, chance);
}

impl Registry {
    /// Reads all roles and bindings that are stored.
    pub(crate) fn read_roles(&mut self) {
        for plural in [
            "roles",
            "rolebindings",
            "clusterroles",
            "clusterrolebindings",
        ] {
            let Some(resource) = builtin().resource(RBAC, "v1", plural) else {
                continue;
            };
            let place = prefix(resource, "");
            let found = self.store().range(&Range::prefix(&place));
            let all: Vec<Arc<Stored>> = found
                .map(|page| page.items.iter().map(|item| item.value.clone()).collect())
                .unwrap_or_default();
            for stored in all {
                self.put_role(resource, &stored);
            }
        }
    }

    /// Takes note of a change of a role or a binding.
    pub(crate) fn note_role(&mut self, event: &Event<Arc<Stored>>) {
        let Some(rest) = event.key().strip_prefix("/registry/") else {
            return;
        };
        let Some((plural, _)) = rest.split_once(".rbac.authorization.k8s.io/") else {
            return;
        };
        let Some(resource) = builtin().resource(RBAC, "v1", plural) else {
            return;
        };
        match (&event.item, &event.previous) {
            (Some(item), _) => self.put_role(resource, &item.value),
            (None, Some(last)) => {
                let object = last.value.object(resource);
                let (namespace, name) = (object.namespace(), object.name());
                let roles = self.roles_mut();
                match plural {
                    "roles" => roles.remove_role(namespace, name),
                    "rolebindings" => roles.remove_role_binding(namespace, name),
                    "clusterroles" => roles.remove_cluster_role(name),
                    _ => roles.remove_cluster_role_binding(name),
                }
            }
            (None, None) => {}
        }
    }

    fn put_role(&mut self, resource: &Resource, stored: &Stored) {
        let object = stored.object(resource);
        let roles = self.roles_mut();
        match resource.plural.as_str() {
            "roles" => read::<Role>(object).map(|role| roles.put_role(&role)),
            "rolebindings" => read::<RoleBinding>(object).map(|one| roles.put_role_binding(&one)),
            "clusterroles" => read::<ClusterRole>(object).map(|role| roles.put_cluster_role(&role)),
            _ => read::<ClusterRoleBinding>(object).map(|one| roles.put_cluster_role_binding(&one)),
        };
    }
}

/// A role or binding that cannot be read grants nothing.
fn read<T: DeserializeOwned>(object: Object) -> Option<T> {
    serde_json::from_value(Value::Object(object)).ok()
}
