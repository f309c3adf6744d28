//! Mistakes in the spec of a pod, beside those in its containers and volumes.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use super::containers;
use super::volumes::Volumes;
use crate::field_error::{FieldError, Mistake};
use crate::kinds::NameRule;
use crate::kinds::checks;
use crate::kinds::labels;
use crate::kinds::quantities;
use crate::kinds::spot::{Errors, Spot};

const DNS_POLICIES: &[&str] = &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];
const RESTART_POLICIES: &[&str] = &["Always", "OnFailure", "Never"];

/// The spec of a pod or of a template for pods.
pub(in crate::kinds) fn check(spec: &Spot, is_pod: bool, errors: &mut Errors) {
    let volumes = Volumes::check(spec, errors);
    containers::check(spec, &volumes, errors);
    let resources = spec.get("resources");
    if resources.is_set() {
        quantities::check_requirements(&resources, errors);
    }
    if spec.get("hostNetwork").flag() {
        check_host_network_ports(spec, is_pod, errors);
    }
    checks::one_of(&spec.get("restartPolicy"), RESTART_POLICIES, errors);
    checks::one_of(&spec.get("dnsPolicy"), DNS_POLICIES, errors);
    labels::check_labels(&spec.get("nodeSelector"), errors);
    check_affinity(&spec.get("affinity"), errors);
    let gates = spec.get("readinessGates");
    for gate in gates.items() {
        let kind = gate.get("conditionType");
        errors.extend(
            labels::key_mistakes(kind.text())
                .into_iter()
                .map(|why| kind.invalid(why)),
        );
    }
    check_scheduling_gates(&spec.get("schedulingGates"), errors);
    check_spread(&spec.get("topologySpreadConstraints"), errors);
    for (field, rule) in [
        ("serviceAccountName", NameRule::Subdomain),
        ("nodeName", NameRule::Subdomain),
        ("hostname", NameRule::Label),
        ("subdomain", NameRule::Label),
        ("priorityClassName", NameRule::Subdomain),
    ] {
        let name = spec.get(field);
        if !name.is_empty() {
            checks::name(&name, rule, errors);
        }
    }
    let deadline = spec.get("activeDeadlineSeconds");
    if deadline
        .int()
        .is_some_and(|seconds| !(1..=i64::from(i32::MAX)).contains(&seconds))
    {
        errors.push(deadline.invalid("must be between 1 and 2147483647, inclusive"));
    }
    check_tolerations(&spec.get("tolerations"), errors);
    let class = spec.get("runtimeClassName");
    if class.is_set() {
        checks::name(&class, NameRule::Subdomain, errors);
    }
    let policies = &["PreemptLowerPriority", "Never"];
    checks::one_of_if_set(&spec.get("preemptionPolicy"), policies, errors);
}

/// On the host's network a port has one number.
fn check_host_network_ports(spec: &Spot, is_pod: bool, errors: &mut Errors) {
    let containers = spec.get("containers");
    for container in containers.items() {
        let ports = container.get("ports");
        for port in ports.items() {
            let outer = port.get("hostPort");
            let number = outer.int().unwrap_or(0);
            // A template may leave it to its pods.
            if (is_pod || number != 0) && Some(number) != port.get("containerPort").int() {
                errors.push(outer.invalid("must match `containerPort` when `hostNetwork` is true"));
            }
        }
    }
}

/// What a pod tolerates.
pub(super) fn check_tolerations(tolerations: &Spot, errors: &mut Errors) {
    for toleration in tolerations.items() {
        let [key, operator, value, effect] =
            ["key", "operator", "value", "effect"].map(|field| toleration.get(field));
        if !key.is_empty() {
            errors.extend(
                labels::key_mistakes(key.text())
                    .into_iter()
                    .map(|why| key.invalid(why)),
            );
        } else if operator.text() != "Exists" {
            let why = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.push(FieldError::invalid(operator.path(), operator.text(), why));
        }
        if toleration.get("tolerationSeconds").is_set() && effect.text() != "NoExecute" {
            let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.push(FieldError::invalid(effect.path(), effect.text(), why));
        }
        match operator.text() {
            "" | "Equal" => {
                let wrong = labels::value_mistakes(value.text());
                if !wrong.is_empty() {
                    let why = wrong.join(";");
                    errors.push(FieldError::invalid(operator.path(), value.text(), why));
                }
            }
            "Exists" if !value.is_empty() => {
                let why = "value must be empty when `operator` is 'Exists'";
                errors.push(FieldError::invalid(operator.path(), value.text(), why));
            }
            "Exists" => {}
            "Lt" | "Gt" => errors.push(operator.not_supported(&["Equal", "Exists", "Lt", "Gt"])),
            _ => errors.push(operator.not_supported(&["Equal", "Exists"])),
        }
        if !effect.is_empty() {
            checks::one_of(&effect, EFFECTS, errors);
        }
    }
}

fn check_scheduling_gates(gates: &Spot, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for gate in gates.items() {
        let name = gate.get("name").text();
        for why in labels::key_mistakes(name) {
            errors.push(FieldError::invalid(gate.path(), name, why));
        }
        if !names.insert(name) {
            errors.push(FieldError {
                field: gate.path(),
                mistake: Mistake::Duplicate(name.into()),
                detail: String::new(),
            });
        }
    }
}

fn check_spread(constraints: &Spot, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for constraint in constraints.items() {
        let skew = constraint.get("maxSkew");
        if skew.int().is_none_or(|skew| skew <= 0) {
            errors.push(FieldError::invalid(
                skew.path(),
                skew.int().unwrap_or(0),
                "must be greater than zero",
            ));
        }
        let key = constraint.get("topologyKey");
        if key.is_empty() {
            errors.push(key.required("can not be empty"));
        } else {
            errors.extend(
                labels::key_mistakes(key.text())
                    .into_iter()
                    .map(|why| key.invalid(why)),
            );
        }
        let otherwise = constraint.get("whenUnsatisfiable");
        checks::one_of_if_set(&otherwise, &["DoNotSchedule", "ScheduleAnyway"], errors);
        if !seen.insert((key.text(), otherwise.text())) {
            errors.push(FieldError {
                field: format!("{}.{{topologyKey, whenUnsatisfiable}}", constraint.path()),
                mistake: Mistake::Duplicate(
                    format!("{{{}, {}}}", key.text(), otherwise.text()).into(),
                ),
                detail: String::new(),
            });
        }
        labels::check_selector(&constraint.get("labelSelector"), errors);
    }
}

fn check_affinity(affinity: &Spot, errors: &mut Errors) {
    let nodes = affinity.get("nodeAffinity");
    let required = nodes.get("requiredDuringSchedulingIgnoredDuringExecution");
    let terms = required.get("nodeSelectorTerms");
    if required.is_set() && terms.is_empty() {
        errors.push(terms.required("must have at least one node selector term"));
    }
    for term in terms.items() {
        check_node_term(&term, errors);
    }
    let preferred = nodes.get("preferredDuringSchedulingIgnoredDuringExecution");
    for choice in preferred.items() {
        check_weight(&choice, errors);
        check_node_term(&choice.get("preference"), errors);
    }
    for name in ["podAffinity", "podAntiAffinity"] {
        let pods = affinity.get(name);
        let required = pods.get("requiredDuringSchedulingIgnoredDuringExecution");
        for term in required.items() {
            check_pod_term(&term, errors);
        }
        let preferred = pods.get("preferredDuringSchedulingIgnoredDuringExecution");
        for choice in preferred.items() {
            check_weight(&choice, errors);
            check_pod_term(&choice.get("podAffinityTerm"), errors);
        }
    }
}

fn check_weight(choice: &Spot, errors: &mut Errors) {
    let weight = choice.get("weight");
    if !weight
        .int()
        .is_some_and(|weight| (1..=100).contains(&weight))
    {
        errors.push(weight.invalid("must be in the range 1-100"));
    }
}

fn check_node_term(term: &Spot, errors: &mut Errors) {
    let expressions = term.get("matchExpressions");
    for expression in expressions.items() {
        let (key, values) = (expression.get("key"), expression.get("values"));
        match expression.get("operator").text() {
            "In" | "NotIn" if values.is_empty() => {
                errors
                    .push(values.required("must be specified when `operator` is 'In' or 'NotIn'"));
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                errors.push(values.forbidden(
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                ))
            }
            "Gt" | "Lt" if values.items().count() != 1 => errors.push(
                values.required("must be specified single value when `operator` is 'Lt' or 'Gt'"),
            ),
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            _ => errors.push(
                expression
                    .get("operator")
                    .invalid("not a valid selector operator"),
            ),
        }
        errors.extend(
            labels::key_mistakes(key.text())
                .into_iter()
                .map(|why| key.invalid(why)),
        );
    }
}

fn check_pod_term(term: &Spot, errors: &mut Errors) {
    labels::check_selector(&term.get("labelSelector"), errors);
    labels::check_selector(&term.get("namespaceSelector"), errors);
    let key = term.get("topologyKey");
    if key.is_empty() {
        errors.push(key.required("can not be empty"));
    }
    for why in labels::key_mistakes(key.text()) {
        errors.push(FieldError::invalid(key.path(), key.text(), why));
    }
}
