//! Nobody grants by roles and bindings what they do not hold themselves.
//!
//! To upstream this is no plugin but the storage of these kinds; it decides at the same place, after
//! all mutation. Upstream: `pkg/registry/rbac/*/policybased`.

use flyball_rbac::{
    Attributes, PolicyRule, Resource, RoleRef, Target, changes_only_ownership, check_binding_write,
    check_role_write,
};
use serde_json::Value;

use super::{Effects, Operation, Plugin, Review};
use crate::failure::Failure;
use crate::object::{Meta, Object, at};

/// Refuses roles and bindings that would grant more than whoever writes them holds.
pub(super) struct Escalation;

impl Plugin for Escalation {
    fn mutate(
        &self,
        review: &Review<'_>,
        object: &mut Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        let plural = review.resource.plural.as_str();
        if review.resource.group != flyball_rbac::GROUP || !review.subresource.is_empty() {
            return Ok(());
        }
        let unchanged = |old: &Object| {
            let (old, new) = (Value::Object(old.clone()), Value::Object(object.clone()));
            changes_only_ownership(&old, &new)
        };
        if review.old.is_some_and(unchanged) {
            return Ok(());
        }
        // A request to create names nothing.
        let name = match review.operation {
            Operation::Create => "",
            _ => review.name,
        };
        let request = Attributes {
            user: review.user,
            verb: "",
            target: Target::Resource(Resource {
                group: &review.resource.group,
                resource: plural,
                subresource: "",
                namespace: review.namespace,
                name,
            }),
        };
        let roles = review.registry.roles();
        let name = object.name();
        let checked = match plural {
            "roles" | "clusterroles" => {
                let rules: Vec<PolicyRule> = read(object, "rules");
                let collects = collects(object) || review.old.is_some_and(collects);
                check_role_write(&request, name, &rules, collects, roles)
            }
            "rolebindings" | "clusterrolebindings" => {
                let role: RoleRef = read(object, "roleRef");
                check_binding_write(&request, name, &role, roles)
            }
            _ => Ok(()),
        };
        checked.map_err(|status| Failure::of(*status))
    }
}

/// Whether a role gathers the rules of others.
fn collects(role: &Object) -> bool {
    let selectors = at(role, "aggregationRule.clusterRoleSelectors").as_array();
    selectors.is_some_and(|all| !all.is_empty())
}

/// A field in its own terms; what cannot be read grants nothing.
fn read<T: Default + serde::de::DeserializeOwned>(object: &Object, field: &str) -> T {
    let value = object.get(field).filter(|value| !value.is_null());
    let value = value.and_then(|value| serde_json::from_value(value.clone()).ok());
    value.unwrap_or_default()
}
