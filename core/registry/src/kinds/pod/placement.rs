//! Mistakes in where a pod may run: affinities, spread and tolerations.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use std::collections::{BTreeMap, BTreeSet};

use crate::field_error::{FieldError, Mistake};
use crate::kinds::NameRule;
use crate::kinds::checks;
use crate::kinds::labels;
use crate::kinds::spot::{Errors, Spot};

pub(in crate::kinds) const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// What a pod tolerates.
pub(in crate::kinds) fn check_tolerations(tolerations: &Spot, errors: &mut Errors) {
    for toleration in tolerations.items() {
        let [key, operator, value, effect] =
            ["key", "operator", "value", "effect"].map(|field| toleration.get(field));
        if !key.is_empty() {
            labels::check_qualified_name(&key, errors);
        } else if operator.text() != "Exists" {
            let why = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.push(operator.invalid_text(why));
        }
        if toleration.get("tolerationSeconds").is_set() && effect.text() != "NoExecute" {
            let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.push(effect.invalid_text(why));
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

/// How evenly pods are spread.
pub(super) fn check_spread<'v>(constraints: &Spot<'_, 'v>, errors: &mut Errors) {
    let pair = |constraint: &Spot<'_, 'v>| {
        let key = constraint.get("topologyKey").text();
        (key, constraint.get("whenUnsatisfiable").text())
    };
    let all = constraints.items().enumerate();
    let last: BTreeMap<_, usize> = all.map(|(at, one)| (pair(&one), at)).collect();
    for (at, constraint) in constraints.items().enumerate() {
        checks::positive(&constraint.get("maxSkew"), errors);
        let key = constraint.get("topologyKey");
        if key.is_empty() {
            errors.push(key.required("can not be empty"));
        }
        let otherwise = constraint.get("whenUnsatisfiable");
        let known = &["DoNotSchedule", "ScheduleAnyway"];
        if !known.contains(&otherwise.text()) {
            errors.push(otherwise.not_supported(known));
        }
        let is_again = |last: &usize| *last > at;
        if last
            .get(&(key.text(), otherwise.text()))
            .is_some_and(is_again)
        {
            let pair = format!("{{{}, {}}}", key.text(), otherwise.text());
            errors.push(FieldError {
                field: format!("{}.{{topologyKey, whenUnsatisfiable}}", constraint.path()),
                mistake: Mistake::Duplicate(pair.into()),
                detail: String::new(),
            });
        }
        let domains = constraint.get("minDomains");
        if domains.is_set() {
            checks::positive(&domains, errors);
            if otherwise.text() != "DoNotSchedule" {
                errors.push(domains.invalid(format!(
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                    otherwise.text()
                )));
            }
        }
        for policy in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            checks::one_of_if_set(&constraint.get(policy), &["Honor", "Ignore"], errors);
        }
        check_label_keys(&constraint, errors);
        labels::check_selector(&constraint.get("labelSelector"), errors);
    }
}

/// Keys whose values the pod's own labels give, beside the selector that they become part of.
fn check_label_keys(term: &Spot, errors: &mut Errors) {
    let selector = term.get("labelSelector");
    let (matching, other) = (term.get("matchLabelKeys"), term.get("mismatchLabelKeys"));
    for keys in [&matching, &other] {
        if !keys.is_empty() && !selector.is_set() {
            errors.push(keys.forbidden("must not be specified when labelSelector is not set"));
        } else {
            keys.items()
                .for_each(|key| labels::check_qualified_name(&key, errors));
        }
    }
    let pairs = selector.get("matchLabels");
    let mut seen: BTreeSet<&str> = pairs.entries().map(|(key, _)| key.as_str()).collect();
    let expressions = selector.get("matchExpressions");
    let places = matching.items().enumerate();
    let places: BTreeMap<&str, usize> = places.map(|(at, one)| (one.text(), at)).collect();
    for expression in expressions.items() {
        let key = expression.get("key").text();
        if let Some(at) = places.get(key).filter(|_| seen.contains(key)) {
            // Upstream leaves out which list it is.
            let field = format!("{}[{at}]", term.path());
            let why = "exists in both matchLabelKeys and labelSelector";
            errors.push(FieldError::invalid(field, key, why));
        }
        seen.insert(key);
    }
    let other: BTreeSet<&str> = other.items().map(|one| one.text()).collect();
    for key in matching.items() {
        if other.contains(key.text()) {
            errors.push(key.invalid("exists in both matchLabelKeys and mismatchLabelKeys"));
        }
    }
}

/// Which nodes and which neighbours a pod wants.
pub(super) fn check_affinity(affinity: &Spot, errors: &mut Errors) {
    let nodes = affinity.get("nodeAffinity");
    let required = nodes.get("requiredDuringSchedulingIgnoredDuringExecution");
    if required.is_set() {
        check_node_selector(&required, errors);
    }
    let preferred = nodes.get("preferredDuringSchedulingIgnoredDuringExecution");
    for choice in preferred.items() {
        check_weight(&choice, errors);
        check_node_term(&choice.get("preference"), false, errors);
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
    if !(1..=100).contains(&weight.number()) {
        errors.push(weight.invalid_number("must be in the range 1-100"));
    }
}

/// Nodes by alternatives, of which there must be one.
pub(in crate::kinds) fn check_node_selector(selector: &Spot, errors: &mut Errors) {
    let terms = selector.get("nodeSelectorTerms");
    if terms.is_empty() {
        errors.push(terms.required("must have at least one node selector term"));
    }
    for term in terms.items() {
        check_node_term(&term, true, errors);
    }
}

fn check_node_term(term: &Spot, checks_values: bool, errors: &mut Errors) {
    let expressions = term.get("matchExpressions");
    for expression in expressions.items() {
        check_node_expression(&expression, checks_values, errors);
    }
    let fields = term.get("matchFields");
    for field in fields.items() {
        check_node_field(&field, errors);
    }
}

fn check_node_expression(expression: &Spot, checks_values: bool, errors: &mut Errors) {
    let (operator, values) = (expression.get("operator"), expression.get("values"));
    match operator.text() {
        "In" | "NotIn" if values.is_empty() => {
            errors.push(values.required("must be specified when `operator` is 'In' or 'NotIn'"));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => errors.push(
            values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        ),
        "Gt" | "Lt" if values.items().count() != 1 => errors.push(
            values.required("must be specified single value when `operator` is 'Lt' or 'Gt'"),
        ),
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        _ => errors.push(operator.invalid_text("not a valid selector operator")),
    }
    labels::check_qualified_name(&expression.get("key"), errors);
    if checks_values {
        for value in values.items() {
            let wrong = labels::value_mistakes(value.text()).into_iter();
            errors.extend(wrong.map(|why| value.invalid(why)));
        }
    }
}

fn check_node_field(field: &Spot, errors: &mut Errors) {
    let (operator, values, key) = (field.get("operator"), field.get("values"), field.get("key"));
    match operator.text() {
        "In" | "NotIn" if values.items().count() != 1 => errors.push(values.required(
            "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        )),
        "In" | "NotIn" => {}
        _ => errors.push(operator.invalid_text("not a valid selector operator")),
    }
    if key.text() == "metadata.name" {
        values
            .items()
            .for_each(|value| checks::name(&value, NameRule::Subdomain, errors));
    } else {
        errors.push(key.invalid_text("not a valid field selector key"));
    }
}

fn check_pod_term(term: &Spot, errors: &mut Errors) {
    labels::check_selector(&term.get("labelSelector"), errors);
    labels::check_selector(&term.get("namespaceSelector"), errors);
    let namespaces = term.get("namespaces");
    for namespace in namespaces.items() {
        // Upstream tells of each as if there were only one.
        let told = term.told_as("namespace", namespace.value());
        checks::name(&told, NameRule::Label, errors);
    }
    check_label_keys(term, errors);
    let key = term.get("topologyKey");
    if key.is_empty() {
        errors.push(key.required("can not be empty"));
    }
    labels::check_qualified_name(&key, errors);
}

/// Gates by which a pod is held back.
pub(super) fn check_scheduling_gates(gates: &Spot, errors: &mut Errors) {
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
