//! Roles and bindings, indexed by whom they are granted to.
//!
//! A user's grants are found through its name and its groups, so what a request costs depends on
//! the user's own bindings and not on how many there are. A change of a role costs one entry, a
//! change of a binding one entry per subject: nothing is ever rebuilt.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use flyball_api::Text;

use crate::source::{Binding, Grant, RoleSource, RoleUnresolved, Who};
use crate::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, User};

#[cfg(test)]
mod tests;

/// All roles and bindings of a cluster, ready to be asked.
///
/// Putting an object replaces the one with its name; removing one that is not there does nothing.
#[derive(Clone, Debug, Default)]
pub struct RoleIndex {
    cluster: Scope,
    namespaces: HashMap<Text, Scope>,
}

/// What is in one namespace, or in none.
#[derive(Clone, Debug, Default)]
struct Scope {
    roles: HashMap<Text, Arc<[PolicyRule]>>,
    bindings: Bindings,
}

#[derive(Clone, Debug, Default)]
struct Bindings {
    by_name: HashMap<Text, Arc<Binding>>,
    by_user: HashMap<Text, Places>,
    by_group: HashMap<Text, Places>,
}

/// The bindings that somebody is in, and the first subject that says so.
type Places = BTreeMap<Text, usize>;

impl RoleIndex {
    /// Adds or replaces a ClusterRole.
    pub fn put_cluster_role(&mut self, role: &ClusterRole) {
        let rules = role.rules.as_slice().into();
        self.cluster.roles.insert(role.metadata.name.clone(), rules);
    }

    /// Forgets a ClusterRole.
    pub fn remove_cluster_role(&mut self, name: &str) {
        self.cluster.roles.remove(name);
    }

    /// Adds or replaces a ClusterRoleBinding.
    pub fn put_cluster_role_binding(&mut self, binding: &ClusterRoleBinding) {
        self.cluster.bindings.put(binding.into());
    }

    /// Forgets a ClusterRoleBinding.
    pub fn remove_cluster_role_binding(&mut self, name: &str) {
        self.cluster.bindings.remove(name);
    }

    /// Adds or replaces a Role. One without a namespace is nowhere and stays out.
    pub fn put_role(&mut self, role: &Role) {
        if let Some(scope) = self.scope_mut(&role.metadata.namespace) {
            let rules = role.rules.as_slice().into();
            scope.roles.insert(role.metadata.name.clone(), rules);
        }
    }

    /// Forgets a Role.
    pub fn remove_role(&mut self, namespace: &str, name: &str) {
        self.shrink(namespace, |scope| {
            scope.roles.remove(name);
        });
    }

    /// Adds or replaces a RoleBinding. One without a namespace is nowhere and stays out.
    pub fn put_role_binding(&mut self, binding: &RoleBinding) {
        if let Some(scope) = self.scope_mut(&binding.metadata.namespace) {
            scope.bindings.put(binding.into());
        }
    }

    /// Forgets a RoleBinding.
    pub fn remove_role_binding(&mut self, namespace: &str, name: &str) {
        self.shrink(namespace, |scope| scope.bindings.remove(name));
    }

    fn scope_mut(&mut self, namespace: &Text) -> Option<&mut Scope> {
        let named = !namespace.is_empty();
        named.then(|| self.namespaces.entry(namespace.clone()).or_default())
    }

    /// Takes something out of a namespace, and the namespace with it if that was the last.
    fn shrink(&mut self, namespace: &str, take: impl FnOnce(&mut Scope)) {
        if let Some(scope) = self.namespaces.get_mut(namespace) {
            take(scope);
            if scope.roles.is_empty() && scope.bindings.by_name.is_empty() {
                self.namespaces.remove(namespace);
            }
        }
    }

    fn visit_scope<'a>(
        &'a self,
        scope: &'a Scope,
        user: &User,
        visit: &mut dyn FnMut(Grant<'a>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for (binding, subject) in scope.bindings.of(user) {
            let rules = self.rules(&binding.role, &binding.namespace);
            let subject = &binding.subjects[subject];
            visit(Grant {
                binding,
                subject,
                rules,
            })?;
        }
        ControlFlow::Continue(())
    }
}

impl RoleSource for RoleIndex {
    fn visit<'a>(
        &'a self,
        user: &User,
        namespace: &str,
        visit: &mut dyn FnMut(Grant<'a>) -> ControlFlow<()>,
    ) {
        if self.visit_scope(&self.cluster, user, visit).is_continue()
            && let Some(scope) = self.namespaces.get(namespace)
        {
            let _ = self.visit_scope(scope, user, visit);
        }
    }

    fn rules(&self, role: &RoleRef, namespace: &str) -> Result<&[PolicyRule], RoleUnresolved> {
        let (scope, missing) = match role.kind.as_str() {
            "Role" => (
                self.namespaces.get(namespace),
                RoleUnresolved::NoRole as fn(Text) -> _,
            ),
            "ClusterRole" => (Some(&self.cluster), RoleUnresolved::NoClusterRole as _),
            _ => return Err(RoleUnresolved::UnsupportedKind(role.kind.clone())),
        };
        scope
            .and_then(|scope| scope.roles.get(&role.name))
            .map(|rules| &**rules)
            .ok_or_else(|| missing(role.name.clone()))
    }
}

impl Bindings {
    fn put(&mut self, binding: Binding) {
        self.remove(&binding.name);
        for (at, subject) in binding.subjects.iter().enumerate() {
            let places = match binding.who(subject) {
                Who::User(name) => self.by_user.entry(name).or_default(),
                Who::Group(name) => self.by_group.entry(name).or_default(),
                Who::Nobody => continue,
            };
            places.entry(binding.name.clone()).or_insert(at);
        }
        self.by_name.insert(binding.name.clone(), binding.into());
    }

    fn remove(&mut self, name: &str) {
        let Some(binding) = self.by_name.remove(name) else {
            return;
        };
        for subject in &binding.subjects {
            let (subjects, who) = match binding.who(subject) {
                Who::User(who) => (&mut self.by_user, who),
                Who::Group(who) => (&mut self.by_group, who),
                Who::Nobody => continue,
            };
            if let Some(places) = subjects.get_mut(&who) {
                places.remove(name);
                if places.is_empty() {
                    subjects.remove(&who);
                }
            }
        }
    }

    /// The bindings that the user is in, by name, each with the first subject that says so.
    fn of(&self, user: &User) -> Vec<(&Binding, usize)> {
        let groups = user
            .groups
            .iter()
            .filter_map(|name| self.by_group.get(name));
        let places = self.by_user.get(&user.name).into_iter().chain(groups);
        let mut found: Vec<(&Text, usize)> = places
            .flatten()
            .map(|(name, subject)| (name, *subject))
            .collect();
        found.sort_unstable();
        found.dedup_by_key(|(name, _)| *name);
        let found = found.into_iter();
        found
            .filter_map(|(name, subject)| Some((&**self.by_name.get(name)?, subject)))
            .collect()
    }
}
