//! Mistakes in the spec of a pod, beside those in its containers and volumes.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::containers;
use super::volumes::Volumes;
use super::{dns, env, level, placement, security, windows};
use crate::field_error::FieldError;
use crate::kinds::NameRule;
use crate::kinds::checks;
use crate::kinds::labels;
use crate::kinds::quantities;
use crate::kinds::sources::Of;
use crate::kinds::spot::{Errors, Spot};

const DNS_POLICIES: &[&str] = &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const RESTART_POLICIES: &[&str] = &["Always", "OnFailure", "Never"];

/// The spec of a pod with this name, or of a template for pods, which has none.
/// What the spec was before may have what a new one cannot.
pub(in crate::kinds) fn check(
    spec: &Spot,
    pod: Option<&str>,
    old: Option<&Value>,
    errors: &mut Errors,
) {
    let of = match pod {
        Some(_) => Of::Pod,
        None => Of::Template,
    };
    checks::given(&spec.get("terminationGracePeriodSeconds"), errors);
    let volumes = Volumes::check(spec, pod, of, errors);
    check_claims(&spec.get("resourceClaims"), errors);
    containers::check(spec, &volumes, errors);
    level::check(spec, errors);
    if spec.get("hostNetwork").flag() {
        check_host_network_ports(spec, of, errors);
    }
    checks::one_of(&spec.get("restartPolicy"), RESTART_POLICIES, errors);
    checks::one_of(&spec.get("dnsPolicy"), DNS_POLICIES, errors);
    labels::check_labels(&spec.get("nodeSelector"), errors);
    security::check_pod(spec, old, errors);
    placement::check_affinity(&spec.get("affinity"), errors);
    dns::check_config(spec, errors);
    let gates = spec.get("readinessGates");
    for gate in gates.items() {
        labels::check_qualified_name(&gate.get("conditionType"), errors);
    }
    placement::check_scheduling_gates(&spec.get("schedulingGates"), errors);
    placement::check_spread(&spec.get("topologySpreadConstraints"), errors);
    windows::check_host_process(spec, errors);
    check_host_users(spec, errors);
    dns::check_host_name(spec, errors);
    check_names(
        spec,
        &[
            ("serviceAccountName", NameRule::Subdomain),
            ("nodeName", NameRule::Subdomain),
        ],
        errors,
    );
    checks::within(
        &spec.get("activeDeadlineSeconds"),
        1,
        i64::from(i32::MAX),
        errors,
    );
    check_names(
        spec,
        &[
            ("hostname", NameRule::Label),
            ("subdomain", NameRule::Label),
        ],
        errors,
    );
    placement::check_tolerations(&spec.get("tolerations"), errors);
    dns::check_aliases(&spec.get("hostAliases"), errors);
    check_names(spec, &[("priorityClassName", NameRule::Subdomain)], errors);
    let class = spec.get("runtimeClassName");
    if class.is_set() {
        checks::name(&class, NameRule::Subdomain, errors);
    }
    let preemption = spec.get("preemptionPolicy");
    if preemption.is_set() {
        checks::one_of(&preemption, &["PreemptLowerPriority", "Never"], errors);
    }
    quantities::check_overhead(&spec.get("overhead"), errors);
    windows::check_os(spec, errors);
    env::check_files(spec, errors);
}

fn check_names(spec: &Spot, fields: &[(&'static str, NameRule)], errors: &mut Errors) {
    for (field, rule) in fields {
        let name = spec.get(field);
        if !name.is_empty() {
            checks::name(&name, *rule, errors);
        }
    }
}

/// On the host's network a port has one number.
fn check_host_network_ports(spec: &Spot, of: Of, errors: &mut Errors) {
    let containers = spec.get("containers");
    for container in containers.items() {
        let ports = container.get("ports");
        for port in ports.items() {
            let (outer, inner) = (port.get("hostPort"), port.get("containerPort"));
            // A template may leave it to its pods.
            if (of == Of::Pod || outer.number() != 0) && outer.number() != inner.number() {
                let why = "must match `containerPort` when `hostNetwork` is true";
                errors.push(outer.invalid_number(why));
            }
        }
    }
}

/// What does not go with users of the pod's own.
fn check_host_users(spec: &Spot, errors: &mut Errors) {
    let users = spec.get("hostUsers");
    if !users.is_set() || users.flag() {
        return;
    }
    let why = "when `hostUsers` is false";
    // Upstream writes the names of the fields as its type has them.
    for (field, told) in [
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ] {
        let value = spec.get(field);
        if value.flag() {
            errors.push(spec.told_as(told, value.value()).forbidden(why));
        }
    }
    for field in super::defaults::VISITED {
        let containers = spec.get(field);
        for container in containers.items() {
            let devices = container.get("volumeDevices");
            if !devices.is_empty() {
                errors.push(devices.forbidden(why));
            }
        }
    }
}

/// Claims of devices, which containers refer to by name.
fn check_claims(claims: &Spot, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for claim in claims.items() {
        let name = claim.get("name");
        if checks::required(&name, errors) {
            if names.contains(name.text()) {
                errors.push(name.duplicate());
            } else {
                checks::name(&name, NameRule::Label, errors);
                names.insert(name.text());
            }
        }
        let sources =
            ["resourceClaimName", "resourceClaimTemplateName"].map(|field| claim.get(field));
        match sources.iter().filter(|source| source.is_set()).count() {
            1 => {}
            0 => errors.push(claim.invalid(
                "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            )),
            _ => errors.push(claim.invalid(
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
            )),
        }
        for source in sources.iter().filter(|source| source.is_set()) {
            checks::name(source, NameRule::Subdomain, errors);
        }
    }
}

/// Volumes that hold a token of the pod's account need one.
pub(super) fn check_tokens(spec: &Spot, errors: &mut Errors) {
    if !spec.get("serviceAccountName").is_empty() {
        return;
    }
    let volumes = spec.get("volumes");
    for volume in volumes.items() {
        let projected = volume.get("projected");
        let sources = projected.get("sources");
        for source in sources.items() {
            let token = source.get("serviceAccountToken");
            if token.is_set() {
                let why = "must not be specified when serviceAccountName is not set";
                errors.push(FieldError::forbidden(token.path(), why));
            }
        }
    }
}
