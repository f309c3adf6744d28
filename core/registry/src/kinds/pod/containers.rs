//! Mistakes in the containers of a pod.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use super::volumes::Volumes;
use super::{env, probes, restarts, security};
use crate::field_error::{FieldError, Mistake};
use crate::kinds::NameRule;
use crate::kinds::checks::{self, PROTOCOLS};
use crate::kinds::quantities;
use crate::kinds::spot::{Errors, Spot};

/// What only containers that keep running can have.
const KEEPERS: [&str; 4] = [
    "lifecycle",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
];
/// What containers that come later cannot have, in the order of upstream's type.
const NOT_SET: &str = "cannot be set for an Ephemeral Container";
const NOT_EPHEMERAL: [&str; 7] = [
    "ports",
    "resources",
    "resizePolicy",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];

/// The three lists of containers, whose names must all differ.
pub(super) fn check(spec: &Spot, volumes: &Volumes, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    check_lasting(spec, volumes, &mut names, errors);
    let containers = spec.get("initContainers");
    for container in containers.items() {
        check_one(spec, &container, volumes, errors);
        let restart = container.get("restartPolicy");
        if restart.is_set() || !container.get("restartPolicyRules").is_empty() {
            restarts::check_policy(&container, errors);
        }
        check_name_is_unique(&container, &mut names, errors);
        // Each is alone when it runs. Upstream counts from the first all the same.
        check_host_ports(&containers, &container, 0, &mut BTreeSet::new(), errors);
        let is_sidecar = restart.text() == "Always";
        if is_sidecar {
            probes::check(spec, &container, errors);
        } else {
            let kept = KEEPERS.map(|field| container.get(field));
            for field in kept.iter().filter(|field| field.is_set()) {
                let why = "may not be set for init containers without restartPolicy=Always";
                errors.push(field.forbidden(why));
            }
            let policies = container.get("resizePolicy");
            for policy in policies.items() {
                let restart = policy.get("restartPolicy");
                if restart.text() == "RestartContainer" {
                    let why =
                        "must not be set to 'RestartContainer' for non-sidecar initContainers";
                    errors.push(restart.invalid(why));
                }
            }
        }
    }
    check_ephemeral(spec, volumes, names, errors);
}

fn check_lasting<'v>(
    spec: &Spot<'_, 'v>,
    volumes: &Volumes,
    names: &mut BTreeSet<&'v str>,
    errors: &mut Errors,
) {
    let containers = spec.get("containers");
    if containers.is_empty() {
        errors.push(containers.required(""));
    }
    for container in containers.items() {
        check_one(spec, &container, volumes, errors);
        check_name_is_unique(&container, names, errors);
        probes::check(spec, &container, errors);
        restarts::check_policy(&container, errors);
    }
    let mut host_ports = BTreeSet::new();
    for (at, container) in containers.items().enumerate() {
        check_host_ports(&containers, &container, at, &mut host_ports, errors);
    }
}

fn check_ephemeral<'v>(
    spec: &Spot<'_, 'v>,
    volumes: &Volumes,
    mut names: BTreeSet<&'v str>,
    errors: &mut Errors,
) {
    let others = names.clone();
    let containers = spec.get("ephemeralContainers");
    for container in containers.items() {
        check_one(spec, &container, volumes, errors);
        check_image(&container, errors);
        check_name_is_unique(&container, &mut names, errors);
        let target = container.get("targetContainerName");
        if !target.is_empty() && !others.contains(target.text()) {
            errors.push(target.not_found());
        }
        let fields = NOT_EPHEMERAL.map(|field| container.get(field));
        for (at, field) in fields.iter().enumerate() {
            // Lists and amounts may be there without anything in them.
            let is_given = match at {
                0..3 => !field.is_empty(),
                _ => field.is_set(),
            };
            if is_given {
                errors.push(field.forbidden(NOT_SET));
            }
        }
        let mounts = container.get("volumeMounts");
        for mount in mounts.items() {
            for path in [mount.get("subPath"), mount.get("subPathExpr")] {
                if !path.is_empty() {
                    errors.push(path.forbidden(NOT_SET));
                }
            }
        }
    }
}

/// Lists without anything in them that an ephemeral container cannot have all the same.
pub(super) fn emptied_mistakes(emptied: &[String]) -> Vec<FieldError> {
    let is_list = |place: &&String| {
        let field = place.strip_prefix("spec.ephemeralContainers[");
        let field = field
            .and_then(|rest| rest.split_once("]."))
            .map(|(_, field)| field);
        matches!(field, Some("ports" | "resizePolicy"))
    };
    let lists = emptied.iter().filter(is_list);
    lists
        .map(|place| FieldError::forbidden(place.as_str(), NOT_SET))
        .collect()
}

fn check_name_is_unique<'v>(
    container: &Spot<'_, 'v>,
    names: &mut BTreeSet<&'v str>,
    errors: &mut Errors,
) {
    let name = container.get("name");
    if !names.insert(name.text()) {
        errors.push(name.duplicate());
    }
}

/// An image whose name has spaces around it; templates may have such.
pub(super) fn check_image(container: &Spot, errors: &mut Errors) {
    let image = container.get("image");
    if image.text().trim() != image.text() {
        errors.push(image.invalid("must not have leading or trailing whitespace"));
    }
}

fn check_one(spec: &Spot, container: &Spot, volumes: &Volumes, errors: &mut Errors) {
    checks::required_name(&container.get("name"), NameRule::Label, errors);
    checks::required(&container.get("image"), errors);
    let policies = &["File", "FallbackToLogsOnError"];
    checks::one_of(&container.get("terminationMessagePolicy"), policies, errors);
    check_ports(&container.get("ports"), errors);
    env::check(&container.get("env"), errors);
    env::check_from(&container.get("envFrom"), errors);
    volumes.check_mounts(container, errors);
    let policies = &["Always", "IfNotPresent", "Never"];
    checks::one_of(&container.get("imagePullPolicy"), policies, errors);
    let resources = container.get("resources");
    quantities::check_requirements(&resources, quantities::Asker::Container, errors);
    quantities::check_claims(&resources.get("claims"), &volumes.claims, errors);
    let policy = spec.get("restartPolicy").text();
    restarts::check_resize(&container.get("resizePolicy"), policy, errors);
    let host_users = spec.get("hostUsers");
    let host_users = !host_users.is_set() || host_users.flag();
    security::check_container(&container.get("securityContext"), host_users, errors);
}

fn check_ports(ports: &Spot, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let name = port.get("name");
        if !name.is_empty() {
            let before = errors.len();
            checks::port_name(&name, errors);
            if errors.len() == before && !names.insert(name.text()) {
                errors.push(name.duplicate());
            }
        }
        let (inner, outer) = (port.get("containerPort"), port.get("hostPort"));
        match inner.number() {
            0 => errors.push(inner.required("")),
            _ => checks::port_number(&inner, errors),
        }
        if outer.number() != 0 {
            checks::port_number(&outer, errors);
        }
        checks::one_of(&port.get("protocol"), PROTOCOLS, errors);
    }
}

/// No two containers can have the same port of the host.
fn check_host_ports(
    containers: &Spot,
    container: &Spot,
    at: usize,
    taken: &mut BTreeSet<String>,
    errors: &mut Errors,
) {
    let ports = container.get("ports");
    for (index, port) in ports.items().enumerate() {
        let outer = port.get("hostPort").number();
        if outer == 0 {
            continue;
        }
        let (protocol, address) = (port.get("protocol").text(), port.get("hostIP").text());
        let whole = format!("{protocol}/{address}/{outer}");
        if taken.contains(&whole) {
            errors.push(FieldError {
                field: format!("{}[{at}].ports[{index}].hostPort", containers.path()),
                mistake: Mistake::Duplicate(whole.into()),
                detail: String::new(),
            });
        } else {
            taken.insert(whole);
        }
    }
}
