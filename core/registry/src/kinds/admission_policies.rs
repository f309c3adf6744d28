//! Policies of admission: what they and their bindings may say. Their expressions are not compiled.
//!
//! Upstream: `pkg/apis/admissionregistration/{v1/defaults.go,validation/validation.go}`.

use std::collections::BTreeSet;

use serde_json::json;

use super::NameRule;
use super::checks::{self, same};
use super::fill::Fill::{Empty, OptionalText};
use super::fill::{Line, fill_each};
use super::labels;
use super::metrics::version_mistake;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use super::webhooks::{
    self, FAILURE_POLICIES, MATCH_POLICIES, REINVOCATION_POLICIES, check_conditions,
};
use crate::field_error::FieldError;
use crate::names;
use crate::object::{Meta, Object, at};

const MATCH_RESOURCES: &[Line] = &[
    ("matchPolicy", OptionalText("Equivalent")),
    ("namespaceSelector", Empty),
    ("objectSelector", Empty),
    ("resourceRules[].scope", OptionalText("*")),
    ("excludeResourceRules[].scope", OptionalText("*")),
];
const REASONS: &[&str] = &["Forbidden", "Invalid", "RequestEntityTooLarge"];
const MUTATING_OPERATIONS: &[&str] = &["*", "CONNECT", "CREATE", "UPDATE"];
const ANNOTATIONS_MAX: usize = 20;
const ANNOTATION_MAX: usize = 5 << 10;
/// Words of the language of expressions that are no names.
const RESERVED: &[&str] = &[
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

pub(super) static VALIDATING_POLICY: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.failurePolicy", OptionalText("Fail")),
    ],
    default: |policy| fill_each(policy, "spec.matchConstraints", MATCH_RESOURCES),
    create: |policy, _| drop(policy.insert("status".to_owned(), json!({}))),
    generation: &["spec"],
    check: |policy, errors| check_validating(policy, None, errors),
    check_whole_update: Some(|new, old, errors| check_validating(new, Some(old), errors)),
    ..Sheet::PLAIN
};

pub(super) static MUTATING_POLICY: Sheet = Sheet {
    create: |_, _| {},
    check: |policy, errors| check_mutating(policy, None, errors),
    check_whole_update: Some(|new, old, errors| check_mutating(new, Some(old), errors)),
    ..VALIDATING_POLICY
};

pub(super) static VALIDATING_BINDING: Sheet = Sheet {
    defaults: &[("spec", Empty)],
    default: |binding| fill_each(binding, "spec.matchResources", MATCH_RESOURCES),
    generation: &["spec"],
    check: |binding, errors| {
        check_binding(binding, errors);
        let spec = Spot::of(binding, "spec");
        check_actions(&spec.get("validationActions"), errors);
    },
    ..Sheet::PLAIN
};

pub(super) static MUTATING_BINDING: Sheet = Sheet {
    check: |binding, errors| {
        check_binding(binding, errors);
        let spec = Spot::of(binding, "spec");
        check_operations(&spec.get("matchResources"), errors);
    },
    ..VALIDATING_BINDING
};

fn check_policy(spec: &Spot, errors: &mut Errors) {
    let policy = spec.get("failurePolicy");
    checks::given(&policy, errors);
    checks::one_of_if_set(&policy, FAILURE_POLICIES, errors);
    let kind = spec.get("paramKind");
    if kind.is_set() {
        check_param_kind(&kind, errors);
    }
    let constraints = spec.get("matchConstraints");
    if !constraints.is_set() {
        errors.push(constraints.required(""));
        return;
    }
    check_match(&constraints, errors);
    checks::required(&constraints.get("resourceRules"), errors);
}

/// Conditions that stay as they are have been looked at before.
fn checks_conditions(new: &Object, old: Option<&Object>) -> bool {
    old.is_none_or(|old| {
        let differs = |path| !same(at(new, path), at(old, path));
        differs("spec.paramKind") || differs("spec.matchConditions")
    })
}

fn check_validating(policy: &Object, old: Option<&Object>, errors: &mut Errors) {
    let spec = Spot::of(policy, "spec");
    check_policy(&spec, errors);
    if checks_conditions(policy, old) {
        check_conditions(&spec.get("matchConditions"), errors);
    }
    check_variables(&spec.get("variables"), errors);
    let (validations, annotations) = (spec.get("validations"), spec.get("auditAnnotations"));
    if validations.is_empty() && annotations.is_empty() {
        let why = "validations or auditAnnotations must contain at least one item";
        errors.push(validations.required(why));
        errors.push(annotations.required(why));
        return;
    }
    for validation in validations.items() {
        check_validation(&validation, errors);
    }
    check_annotations(&annotations, policy.name(), errors);
}

fn check_mutating(policy: &Object, old: Option<&Object>, errors: &mut Errors) {
    let spec = Spot::of(policy, "spec");
    check_policy(&spec, errors);
    check_operations(&spec.get("matchConstraints"), errors);
    if checks_conditions(policy, old) {
        check_conditions(&spec.get("matchConditions"), errors);
    }
    check_variables(&spec.get("variables"), errors);
    let mutations = spec.get("mutations");
    if mutations.is_empty() {
        errors.push(mutations.required("mutations must contain at least one item"));
    }
    for mutation in mutations.items() {
        check_mutation(&mutation, errors);
    }
    checks::one_of(
        &spec.get("reinvocationPolicy"),
        REINVOCATION_POLICIES,
        errors,
    );
}

/// Operations that a mutation cannot be about are told of as of all rules at once.
fn check_operations(matched: &Spot, errors: &mut Errors) {
    let rules = matched.get("resourceRules");
    for rule in rules.items() {
        let operations = rule.get("operations");
        for operation in operations.items() {
            if !MUTATING_OPERATIONS.contains(&operation.text()) {
                let told = rules.told_as("operations", operation.value());
                errors.push(told.not_supported(MUTATING_OPERATIONS));
            }
        }
    }
}

fn check_param_kind(kind: &Spot, errors: &mut Errors) {
    let version = kind.get("apiVersion");
    if checks::required(&version, errors) {
        let invalid = |value: &str, why: String| FieldError::invalid(version.path(), value, why);
        match version_mistake(version.text(), false) {
            Some(why) => errors.push(version.invalid(why)),
            None => {
                let parts = version.text().split_once('/');
                let (group, number) = parts.unwrap_or(("", version.text()));
                let wrong = names::mistakes(NameRule::Subdomain, group, false);
                if !group.is_empty() && !wrong.is_empty() {
                    errors.push(invalid(group, wrong.join(",")));
                }
                let wrong = names::mistakes(NameRule::Label1035, number, false);
                if number.is_empty() {
                    errors.push(version.invalid("version must be specified"));
                } else if !wrong.is_empty() {
                    errors.push(invalid(number, wrong.join(",")));
                }
            }
        }
    }
    let name = kind.get("kind");
    if checks::required(&name, errors) {
        let lower = name.text().to_lowercase();
        let wrong = names::mistakes(NameRule::Label1035, &lower, false);
        if !wrong.is_empty() {
            let why = "may have mixed case, but should otherwise match: ".to_owned();
            errors.push(name.invalid(why + &wrong.join(",")));
        }
    }
}

fn check_match(matched: &Spot, errors: &mut Errors) {
    let policy = matched.get("matchPolicy");
    checks::given(&policy, errors);
    checks::one_of_if_set(&policy, MATCH_POLICIES, errors);
    for field in ["namespaceSelector", "objectSelector"] {
        let selector = matched.get(field);
        checks::given(&selector, errors);
        labels::check_selector(&selector, errors);
    }
    for field in ["resourceRules", "excludeResourceRules"] {
        let rules = matched.get(field);
        for rule in rules.items() {
            let mut seen = BTreeSet::new();
            let names = rule.get("resourceNames");
            for name in names.items() {
                checks::name(&name, NameRule::PathSegment, errors);
                if !seen.insert(name.text()) {
                    errors.push(name.duplicate());
                }
            }
            webhooks::check_rule(&rule, errors);
        }
    }
}

fn check_variables(variables: &Spot, errors: &mut Errors) {
    for variable in variables.items() {
        let (name, expression) = (variable.get("name"), variable.get("expression"));
        if name.text().trim().is_empty() {
            errors.push(name.required("name is not specified"));
        } else if !is_identifier(name.text()) {
            errors.push(name.invalid("must be a valid CEL identifier"));
        }
        if expression.text().trim().is_empty() {
            errors.push(expression.required("expression is not specified"));
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let is_first = |first: char| first == '_' || first.is_ascii_alphabetic();
    name.starts_with(is_first)
        && name
            .bytes()
            .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
        && !RESERVED.contains(&name)
}

fn check_validation(validation: &Spot, errors: &mut Errors) {
    let expression = validation.get("expression");
    if expression.text().trim().is_empty() {
        errors.push(expression.required("expression is not specified"));
    }
    let (computed, message) = (
        validation.get("messageExpression"),
        validation.get("message"),
    );
    if !computed.is_empty() && computed.text().trim().is_empty() {
        errors.push(computed.invalid("must be non-empty if specified"));
    }
    let trimmed = message.text().trim();
    if !message.is_empty() && trimmed.is_empty() {
        errors.push(message.invalid("must be non-empty if specified"));
    } else if trimmed.contains(['\n', '\r']) {
        errors.push(message.invalid("must not contain line breaks"));
    }
    checks::one_of_if_set(&validation.get("reason"), REASONS, errors);
}

fn check_annotations(annotations: &Spot, policy: &str, errors: &mut Errors) {
    if annotations.items().count() > ANNOTATIONS_MAX {
        let why = format!("must not have more than {ANNOTATIONS_MAX} auditAnnotations");
        errors.push(annotations.invalid(why));
    }
    let mut seen = BTreeSet::new();
    for annotation in annotations.items() {
        let (key, value) = (annotation.get("key"), annotation.get("valueExpression"));
        if policy.is_empty() {
            errors.push(key.invalid_text("requires metadata.name be non-empty"));
        } else {
            let whole = format!("{policy}/{}", key.text());
            let wrong = labels::key_mistakes(&whole).into_iter();
            errors.extend(wrong.map(|why| FieldError::invalid(key.path(), whole.as_str(), why)));
        }
        let trimmed = value.text().trim();
        if trimmed.is_empty() {
            errors.push(value.required("valueExpression is not specified"));
        } else if trimmed.len() > ANNOTATION_MAX {
            let why = format!("must not exceed {ANNOTATION_MAX} bytes in length");
            errors.push(value.required(&why));
        }
        if !seen.insert(key.text()) {
            errors.push(key.duplicate());
        }
    }
}

fn check_mutation(mutation: &Spot, errors: &mut Errors) {
    let kind = mutation.get("patchType");
    let fields = [
        ("JSONPatch", "jsonPatch"),
        ("ApplyConfiguration", "applyConfiguration"),
    ];
    let Some((own, field)) = fields.iter().find(|(one, _)| *one == kind.text()) else {
        checks::one_of(&kind, &["ApplyConfiguration", "JSONPatch"], errors);
        return;
    };
    let patch = mutation.get(field);
    let expression = patch.get("expression");
    if !patch.is_set() {
        errors.push(patch.required(&format!("must be specified when patchType is {own}")));
    } else if expression.text().trim().is_empty() {
        errors.push(expression.required(""));
    }
    for (_, other) in fields.iter().filter(|(one, _)| one != own) {
        let patch = mutation.get(other);
        if patch.is_set() {
            let why = format!("must not be specified when patchType is {own}");
            errors.push(FieldError::invalid(
                patch.path(),
                format!("{{{other}}}"),
                why,
            ));
        }
    }
}

fn check_binding(binding: &Object, errors: &mut Errors) {
    let spec = Spot::of(binding, "spec");
    checks::required_name(&spec.get("policyName"), NameRule::Subdomain, errors);
    let reference = spec.get("paramRef");
    if reference.is_set() {
        check_param_ref(&reference, errors);
    }
    let matched = spec.get("matchResources");
    if matched.is_set() {
        check_match(&matched, errors);
    }
}

fn check_param_ref(reference: &Spot, errors: &mut Errors) {
    let (name, selector) = (reference.get("name"), reference.get("selector"));
    let both = "name and selector are mutually exclusive";
    if !name.is_empty() {
        checks::name(&name, NameRule::PathSegment, errors);
        if selector.is_set() {
            errors.push(name.forbidden(both));
        }
    }
    if selector.is_set() {
        labels::check_selector(&selector, errors);
        if !name.is_empty() {
            errors.push(selector.forbidden(both));
        }
    }
    if name.is_empty() && !selector.is_set() {
        errors.push(reference.required("one of name or selector must be specified"));
    }
    checks::one_of(
        &reference.get("parameterNotFoundAction"),
        &["Deny", "Allow"],
        errors,
    );
}

fn check_actions(actions: &Spot, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for action in actions.items() {
        checks::one_of_if_set(&action, &["Audit", "Deny", "Warn"], errors);
        if !seen.insert(action.text()) {
            errors.push(action.duplicate());
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        errors.push(actions.invalid(
            "must not contain both Deny and Warn (repeating the same validation failure information in the API \
             response and headers serves no purpose)",
        ));
    }
    if seen.is_empty() {
        errors.push(actions.required("at least one validation action is required"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variables_are_words_of_the_language() {
        for (name, fits) in [
            ("x", true),
            ("_a1", true),
            ("1a", false),
            ("in", false),
            ("a-b", false),
        ] {
            assert_eq!(is_identifier(name), fits, "{name}");
        }
    }
}
