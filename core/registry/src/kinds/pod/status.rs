//! Mistakes in what nodes report of a pod.
//!
//! Upstream: `ValidatePodStatusUpdate` in `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use core::net::IpAddr;

use serde_json::Value;

use crate::field_error::{FieldError, Mistake};
use crate::kinds::NameRule;
use crate::kinds::checks;
use crate::kinds::ip;
use crate::kinds::labels;
use crate::kinds::spot::{Errors, Spot};
use crate::object::{Object, at};

const LISTS: [&str; 3] = [
    "containerStatuses",
    "initContainerStatuses",
    "ephemeralContainerStatuses",
];

/// The mistakes in an update of a pod's status.
pub(super) fn check(new: &Object, old: &Object, errors: &mut Errors) {
    let (status, before) = (Spot::of(new, "status"), at(old, "status"));
    check_conditions(&status.get("conditions"), errors);
    check_nomination(&status, old, errors);
    let generation = status.get("observedGeneration");
    if generation.number() < 0 {
        errors.push(generation.invalid("must be a non-negative integer"));
    }
    checks::immutable(&status.get("qosClass"), &before["qosClass"], errors);
    for (list, containers) in LISTS.iter().zip(["containers", "initContainers", ""]) {
        check_restarts(
            &status.get(list),
            &before[*list],
            at(old, "spec"),
            containers,
            errors,
        );
    }
    check_claims(&status.get("resourceClaimStatuses"), new, errors);
    check_addresses(&status.get("podIPs"), &before["podIPs"], errors);
    let hosts = status.get("hostIPs");
    if let Some(first) = hosts.items().next() {
        let address = first.get("ip");
        if address.text() != status.get("hostIP").text() {
            errors.push(address.invalid_text("must be equal to `hostIP`"));
        }
        check_addresses(&hosts, &before["hostIPs"], errors);
    }
    let os = at(new, "spec.os.name").as_str().unwrap_or("linux");
    for list in LISTS {
        check_users(&status.get(list), os, errors);
    }
}

fn check_conditions(conditions: &Spot, errors: &mut Errors) {
    for condition in conditions.items() {
        let generation = condition.get("observedGeneration");
        if generation.number() < 0 {
            errors.push(generation.invalid("must be a non-negative integer"));
        }
        let kind = condition.get("type");
        if !["PodScheduled", "Ready", "Initialized"].contains(&kind.text()) {
            // Upstream writes the field as its type has it.
            labels::check_qualified_name(&condition.told_as("Type", kind.value()), errors);
        }
    }
}

fn check_nomination(status: &Spot, old: &Object, errors: &mut Errors) {
    let node = status.get("nominatedNodeName");
    let before = at(old, "status.nominatedNodeName").as_str();
    if node.is_empty() || node.text() == before.unwrap_or_default() {
        return;
    }
    checks::name(&node, NameRule::Subdomain, errors);
    let is_bound = at(old, "spec.nodeName")
        .as_str()
        .is_some_and(|name| !name.is_empty());
    if is_bound {
        errors.push(node.forbidden("may not be set on pods that are already bound to a node"));
    }
}

/// A container that has ended for good stays ended.
fn check_restarts(
    statuses: &Spot,
    before: &Value,
    spec: &Value,
    containers: &str,
    errors: &mut Errors,
) {
    if is_restarted_as_a_whole(spec) && !containers.is_empty() {
        return;
    }
    for (index, old) in before.as_array().into_iter().flatten().enumerate() {
        let ended = &old["state"]["terminated"];
        if ended.is_null() {
            continue;
        }
        let all = spec[containers].as_array().into_iter().flatten();
        let container = all.into_iter().find(|one| one["name"] == old["name"]);
        let code = ended["exitCode"].as_i64().unwrap_or(0);
        let runs_again = statuses.items().any(|new| {
            new.get("name").value() == &old["name"] && new.value()["state"]["terminated"].is_null()
        });
        if runs_again && !container.is_some_and(|one| may_restart(one, spec, code)) {
            let field = format!("{}[{index}].state", statuses.path());
            let why = "may not be transitioned to non-terminated state";
            errors.push(FieldError::forbidden(field, why));
        }
    }
}

/// Whether a rule of some container restarts all of them.
fn is_restarted_as_a_whole(spec: &Value) -> bool {
    ["containers", "initContainers"].iter().any(|list| {
        let all = spec[*list].as_array().into_iter().flatten();
        all.into_iter().any(|container| {
            let rules = container["restartPolicyRules"]
                .as_array()
                .into_iter()
                .flatten();
            rules
                .into_iter()
                .any(|rule| rule["action"] == "RestartAllContainers")
        })
    })
}

/// Whether a container that ended with a code is started again.
fn may_restart(container: &Value, spec: &Value, code: i64) -> bool {
    for rule in container["restartPolicyRules"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let codes = rule["exitCodes"]["values"].as_array();
        let is_listed = codes.is_some_and(|codes| codes.iter().any(|one| *one == code));
        let fits = match rule["exitCodes"]["operator"].as_str() {
            Some("In") => is_listed,
            Some("NotIn") => !is_listed,
            _ => false,
        };
        if fits {
            return rule["action"] == "Restart";
        }
    }
    let policy = match &container["restartPolicy"] {
        Value::Null => &spec["restartPolicy"],
        own => own,
    };
    match policy.as_str() {
        Some("Never") => false,
        Some("OnFailure") => code != 0,
        _ => true,
    }
}

fn check_claims(statuses: &Spot, pod: &Object, errors: &mut Errors) {
    let claims = at(pod, "spec.resourceClaims")
        .as_array()
        .into_iter()
        .flatten();
    let names: BTreeSet<&str> = claims.filter_map(|claim| claim["name"].as_str()).collect();
    let mut seen = BTreeSet::new();
    for status in statuses.items() {
        let (name, claim) = (status.get("name"), status.get("resourceClaimName"));
        if !names.contains(name.text()) {
            let why = "must match the name of an entry in `spec.resourceClaims`";
            errors.push(name.invalid_text(why));
        }
        if !seen.insert(name.text()) {
            errors.push(name.duplicate());
        }
        if claim.is_set() {
            checks::name(&claim, NameRule::Subdomain, errors);
        }
    }
}

/// Addresses, at most one of each family.
fn check_addresses(addresses: &Spot, before: &Value, errors: &mut Errors) {
    let before = before.as_array().into_iter().flatten();
    let before: Vec<&str> = before.filter_map(|one| one["ip"].as_str()).collect();
    for address in addresses.items() {
        // Upstream tells of the whole entry.
        let ip = address.get("ip");
        checks::address(&address.told_as_whole(ip.value()), &before, errors);
    }
    let parsed: Vec<Option<IpAddr>> = addresses
        .items()
        .map(|address| ip::sloppy(address.get("ip").text()))
        .collect();
    if parsed.len() < 2 {
        return;
    }
    let odd = addresses
        .items()
        .zip(&parsed)
        .position(|(_, ip)| ip.is_none());
    if let Some(at) = odd {
        let text = addresses
            .items()
            .nth(at)
            .map(|one| one.get("ip").text().to_owned());
        errors.push(FieldError {
            field: addresses.path(),
            mistake: Mistake::Told {
                reason: "InternalError",
                message: "Internal error".to_owned(),
            },
            detail: format!(
                "failed to check for dual stack with error:invalid IP[{at}]: {}",
                text.unwrap_or_default()
            ),
        });
    }
    let families: BTreeSet<bool> = parsed.iter().flatten().map(IpAddr::is_ipv4).collect();
    if odd.is_some() || families.len() < 2 || parsed.len() > 2 {
        errors.push(addresses.invalid("may specify no more than one IP for each IP family"));
    }
}

fn check_users(statuses: &Spot, os: &str, errors: &mut Errors) {
    for status in statuses.items() {
        let user = status.get("user");
        let linux = user.get("linux");
        if !linux.is_set() {
            continue;
        }
        if os == "windows" {
            errors.push(linux.forbidden("cannot be set for a windows pod"));
            continue;
        }
        for field in ["uid", "gid"] {
            checks::id(&linux.get(field), errors);
        }
        let groups = linux.get("supplementalGroups");
        groups.items().for_each(|group| checks::id(&group, errors));
    }
}
