//! Nobody grants what they do not hold, unless a role says that they may.
//!
//! Rules: `pkg/registry/rbac/escalation_check.go` and the `policybased` storage of each of the four
//! kinds. Where a role is missing, upstream's messages call it by the kind that is being written, and
//! so do these. No check is made for an update that [`changes_only_ownership`], because the garbage
//! collector must be able to let roles go.

use flyball_api::Status;
use serde_json::Value;

use crate::coverage::{Held, breadth, description};
use crate::quote::{Quoted, QuotedList};
use crate::refusal::{missing as missing_role, not_found, refused};
use crate::rule::ALL;
use crate::source::{RoleSource, joined};
use crate::{Attributes, PolicyRule, Resource, RoleRef, Target, authorize};

#[cfg(test)]
mod tests;

/// How many single permissions a check looks at. Upstream has no such bound; a role of a megabyte
/// could keep it busy for minutes.
pub const BREADTH_MAX: usize = 16_384;
/// How many words of rules a check compares. A role of many rules checked against as many held ones could keep it busy
/// for as long.
const COMPARISONS_MAX: usize = 20_000_000;

/// Whether the user who wants to create or update a Role or ClusterRole may grant its rules: those
/// that the user holds, or any with the verb `escalate`. `collects` tells that the object, or the
/// one it replaces, has selectors in its `aggregationRule`, for which one must hold everything.
///
/// `request` is the request as it was authorized; `name` is the object's.
pub fn check_role_write(
    request: &Attributes<'_>,
    name: &str,
    rules: &[PolicyRule],
    collects: bool,
    roles: &impl RoleSource,
) -> Result<(), Box<Status>> {
    let Target::Resource(resource) = request.target else {
        return Ok(());
    };
    let subresource = "";
    let escalate = Attributes {
        verb: "escalate",
        target: Target::Resource(Resource {
            subresource,
            ..resource
        }),
        ..*request
    };
    if authorize(&escalate, roles).allowed {
        return Ok(());
    }
    let refuse = |cause: String| Box::new(refused(&resource, name, &cause));
    check_held(request, &resource, rules, roles).map_err(refuse)?;
    if collects && check_held(request, &resource, &everything(), roles).is_err() {
        let cause = "must have cluster-admin privileges to use the aggregationRule";
        return Err(refuse(cause.to_owned()));
    }
    Ok(())
}

/// Whether the user who wants to create or update a RoleBinding or ClusterRoleBinding may grant the
/// role: one whose rules the user holds, or any with the verb `bind` on that role.
///
/// `request` is the request as it was authorized; `name` is the object's.
pub fn check_binding_write(
    request: &Attributes<'_>,
    name: &str,
    role: &RoleRef,
    roles: &impl RoleSource,
) -> Result<(), Box<Status>> {
    let Target::Resource(resource) = request.target else {
        return Ok(());
    };
    let plural = match role.kind.as_str() {
        "ClusterRole" => Some("clusterroles"),
        "Role" => Some("roles"),
        _ => None,
    };
    // A master may bind what does not even exist.
    let may_bind = |plural| {
        let target = Target::Resource(Resource {
            group: &role.api_group,
            resource: plural,
            subresource: "",
            namespace: resource.namespace,
            name: &role.name,
        });
        let verb = "bind";
        let bind = Attributes {
            verb,
            target,
            ..*request
        };
        authorize(&bind, roles).allowed
    };
    if request.user.is_master() || plural.is_some_and(may_bind) {
        return Ok(());
    }
    let rules = roles
        .rules(role, resource.namespace)
        .map_err(|unresolved| match unresolved.name() {
            Some(name) => not_found(&resource, name),
            None => Status::failure(500, "", &unresolved.to_string()),
        })?;
    check_held(request, &resource, rules, roles)
        .map_err(|cause| Box::new(refused(&resource, name, &cause)))
}

/// Whether an update changes nothing but what the garbage collector must be able to change: owner
/// references and finalizers, and the record of who wrote what.
pub fn changes_only_ownership(old: &Value, new: &Value) -> bool {
    let rest = |object: &Value| {
        let mut rest = object.clone();
        if let Some(Value::Object(metadata)) = rest.get_mut("metadata") {
            for field in ["ownerReferences", "finalizers", "managedFields", "selfLink"] {
                metadata.remove(field);
            }
        }
        rest
    };
    rest(old) == rest(new)
}

/// What nobody but an administrator holds.
fn everything() -> [PolicyRule; 2] {
    let all = || vec![ALL.into()];
    let on_objects = PolicyRule {
        verbs: all(),
        api_groups: all(),
        resources: all(),
        ..PolicyRule::default()
    };
    let on_paths = PolicyRule {
        verbs: all(),
        non_resource_urls: all(),
        ..PolicyRule::default()
    };
    [on_objects, on_paths]
}

/// Whether the user holds the rules where the request is; if not, what is missing.
fn check_held(
    request: &Attributes<'_>,
    resource: &Resource<'_>,
    wanted: &[PolicyRule],
    roles: &impl RoleSource,
) -> Result<(), String> {
    let user = request.user;
    let (held, unresolved) = roles.rules_for(user, request.namespace());
    let held = Held::new(held.iter().copied(), COMPARISONS_MAX);
    let too_many = |_| {
        "the rules and those that are held have too many words to compare: use several roles"
            .to_owned()
    };
    let open = held.open(wanted).map_err(too_many)?;
    if breadth(open.iter().copied()) > BREADTH_MAX {
        return Err(format!(
            "the rules spell out more than {BREADTH_MAX} permissions to check: use several roles"
        ));
    }
    let missing = held.missing(open).map_err(too_many)?;
    if missing.is_empty() {
        return Ok(());
    }
    let (name, groups) = (Quoted(&user.name), QuotedList(&user.groups));
    let mut cause = format!(
        "user {name} (groups={groups}) is attempting to grant RBAC permissions not currently \
         held:\n{}",
        description(missing)
    );
    if !unresolved.is_empty() {
        let unresolved = unresolved.iter().map(|one| match one.name() {
            Some(name) => missing_role(resource, name),
            None => one.to_string(),
        });
        cause += &format!("; resolution errors: [{}]", joined(unresolved));
    }
    Err(cause)
}
