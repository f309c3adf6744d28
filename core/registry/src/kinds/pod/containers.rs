//! Mistakes in the containers of a pod.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use super::probes;
use super::volumes::Volumes;
use crate::field_error::{FieldError, Mistake};
use crate::kinds::NameRule;
use crate::kinds::checks::{self, PROTOCOLS};
use crate::kinds::quantities;
use crate::kinds::spot::{Errors, Spot};

const ENV_NAME_RULE: &str = "a valid environment variable name must consist only of printable ASCII characters other \
                             than '='";
const ENV_SOURCES: [&str; 5] = [
    "fieldRef",
    "resourceFieldRef",
    "configMapKeyRef",
    "secretKeyRef",
    "fileKeyRef",
];
const ENV_FIELD_PATHS: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
/// What only containers that keep running can have.
const KEEPERS: [&str; 4] = [
    "lifecycle",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
];

/// The three lists of containers, whose names must all differ.
pub(super) fn check(spec: &Spot, volumes: &Volumes, errors: &mut Errors) {
    let containers = spec.get("containers");
    if containers.is_empty() {
        errors.push(containers.required(""));
    }
    let mut names = BTreeSet::new();
    let mut host_ports = BTreeSet::new();
    for container in containers.items() {
        check_one(&container, volumes, errors);
        check_name_is_unique(&container, &mut names, errors);
        probes::check(&container, errors);
    }
    for container in containers.items() {
        check_host_ports(&container, &mut host_ports, errors);
    }
    let containers = spec.get("initContainers");
    for container in containers.items() {
        check_one(&container, volumes, errors);
        check_name_is_unique(&container, &mut names, errors);
        check_host_ports(&container, &mut BTreeSet::new(), errors);
        if container.get("restartPolicy").text() == "Always" {
            probes::check(&container, errors);
            continue;
        }
        for field in KEEPERS
            .map(|field| container.get(field))
            .iter()
            .filter(|field| field.is_set())
        {
            errors.push(
                field.forbidden("may not be set for init containers without restartPolicy=Always"),
            );
        }
    }
    let others = names.clone();
    let containers = spec.get("ephemeralContainers");
    for container in containers.items() {
        check_one(&container, volumes, errors);
        check_name_is_unique(&container, &mut names, errors);
        let target = container.get("targetContainerName");
        if !target.is_empty() && !others.contains(target.text()) {
            errors.push(target.not_found());
        }
        for field in [container.get("ports"), container.get("resources")] {
            if !field.is_empty() {
                errors.push(field.forbidden("cannot be set for an Ephemeral Container"));
            }
        }
        for field in [
            "livenessProbe",
            "readinessProbe",
            "startupProbe",
            "lifecycle",
        ]
        .map(|field| container.get(field))
        .iter()
        .filter(|field| field.is_set())
        {
            errors.push(field.forbidden("cannot be set for an Ephemeral Container"));
        }
    }
}

fn check_name_is_unique<'v>(
    container: &Spot<'_, 'v>,
    names: &mut BTreeSet<&'v str>,
    errors: &mut Errors,
) {
    let name = container.get("name");
    if !name.is_empty() && !names.insert(name.text()) {
        errors.push(name.duplicate());
    }
}

fn check_one(container: &Spot, volumes: &Volumes, errors: &mut Errors) {
    checks::required_name(&container.get("name"), NameRule::Label, errors);
    checks::required(&container.get("image"), errors);
    let policies = &["File", "FallbackToLogsOnError"];
    checks::one_of(&container.get("terminationMessagePolicy"), policies, errors);
    check_ports(&container.get("ports"), errors);
    check_env(&container.get("env"), errors);
    check_env_from(&container.get("envFrom"), errors);
    volumes.check_mounts(container, errors);
    let policies = &["Always", "IfNotPresent", "Never"];
    checks::one_of(&container.get("imagePullPolicy"), policies, errors);
    quantities::check_requirements(&container.get("resources"), errors);
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
        match inner.int() {
            None | Some(0) => errors.push(inner.required("")),
            _ => checks::port_number(&inner, errors),
        }
        if outer.int().is_some_and(|number| number != 0) {
            checks::port_number(&outer, errors);
        }
        checks::one_of(&port.get("protocol"), PROTOCOLS, errors);
    }
}

/// No two containers can have the same port of the host.
fn check_host_ports(container: &Spot, taken: &mut BTreeSet<String>, errors: &mut Errors) {
    let ports = container.get("ports");
    for port in ports.items() {
        let number = port.get("hostPort");
        let Some(outer) = number.int().filter(|outer| *outer != 0) else {
            continue;
        };
        let (protocol, address) = (port.get("protocol").text(), port.get("hostIP").text());
        let whole = format!("{protocol}/{address}/{outer}");
        if taken.contains(&whole) {
            errors.push(FieldError {
                field: number.path(),
                mistake: Mistake::Duplicate(whole.into()),
                detail: String::new(),
            });
        } else {
            taken.insert(whole);
        }
    }
}

fn check_env(env: &Spot, errors: &mut Errors) {
    for variable in env.items() {
        let name = variable.get("name");
        if checks::required(&name, errors) {
            check_env_name(&name, errors);
        }
        let from = variable.get("valueFrom");
        if !from.is_set() {
            continue;
        }
        let sources = ENV_SOURCES
            .iter()
            .filter(|source| from.get(source).is_set())
            .count();
        check_env_source(&from, errors);
        let wrong = if sources == 0 {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        } else if !variable.get("value").is_empty() {
            "may not be specified when `value` is not empty"
        } else if sources > 1 {
            "may not have more than one field specified at a time"
        } else {
            continue;
        };
        errors.push(FieldError::invalid(from.path(), "", wrong));
    }
}

fn check_env_name(name: &Spot, errors: &mut Errors) {
    if !name
        .text()
        .bytes()
        .all(|byte| (b' '..=b'~').contains(&byte) && byte != b'=')
    {
        errors.push(name.invalid(ENV_NAME_RULE));
    }
}

fn check_env_source(from: &Spot, errors: &mut Errors) {
    for source in ["configMapKeyRef", "secretKeyRef"] {
        let source = from.get(source);
        if source.is_set() {
            checks::name(&source.get("name"), NameRule::Subdomain, errors);
            let key = source.get("key");
            if checks::required(&key, errors) {
                checks::config_key(&key, key.text(), errors);
            }
        }
    }
    let field = from.get("fieldRef");
    if field.is_set() {
        let path = field.get("fieldPath");
        let is_subscripted = path.text().ends_with(']');
        if checks::required(&path, errors)
            && !is_subscripted
            && !ENV_FIELD_PATHS.contains(&path.text())
        {
            match path.text() {
                "metadata.labels" | "metadata.annotations" | "spec.host" => {
                    errors.push(path.not_supported(ENV_FIELD_PATHS));
                }
                other => {
                    let detail =
                        format!("error converting fieldPath: field label not supported: {other}");
                    errors.push(path.invalid(detail));
                }
            }
        }
    }
    let resource = from.get("resourceFieldRef");
    if resource.is_set() {
        checks::required(&resource.get("resource"), errors);
    }
}

fn check_env_from(env_from: &Spot, errors: &mut Errors) {
    for source in env_from.items() {
        let prefix = source.get("prefix");
        check_env_name(&prefix, errors);
        let given = ["configMapRef", "secretRef"];
        let given = given.iter().filter(|field| source.get(field).is_set());
        let mut count = 0;
        for field in given {
            count += 1;
            let reference = source.get(field);
            checks::required_name(&reference.get("name"), NameRule::Subdomain, errors);
        }
        let wrong = match count {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        errors.push(FieldError::invalid(env_from.path(), "", wrong));
    }
}
