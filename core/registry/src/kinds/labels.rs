//! Labels and the selectors over them: how both must look.
//!
//! Upstream: `apimachinery/pkg/api/validate/content/kube.go`,
//! `apimachinery/pkg/apis/meta/v1/validation/validation.go`.

use flyball_api::{LabelSelector, Selector};
use serde_json::Value;

use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::kinds::NameRule;
use crate::names;

const NAME_MAX: usize = 63;
/// What all annotations together may weigh.
const ANNOTATIONS_BYTES_MAX: usize = 256 << 10;
const NAME_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                         alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
                         validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
                          and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or \
                          '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// What is wrong with a qualified name such as `example.com/role`.
pub(crate) fn key_mistakes(key: &str) -> Vec<String> {
    let mut mistakes = Vec::new();
    let name = match key.split_once('/') {
        None => key,
        Some((_, name)) if name.contains('/') => {
            return vec![format!(
                "a valid label key {NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
        Some((prefix, name)) => {
            if prefix.is_empty() {
                mistakes.push("prefix part must be non-empty".to_owned());
            } else {
                let wrong = names::mistakes(NameRule::Subdomain, prefix, false);
                mistakes.extend(wrong.into_iter().map(|why| format!("prefix part {why}")));
            }
            name
        }
    };
    if name.is_empty() {
        mistakes.push("name part must be non-empty".to_owned());
    } else if name.len() > NAME_MAX {
        mistakes.push(format!("name part must be no more than {NAME_MAX} bytes"));
    }
    if !is_name(name) {
        mistakes.push(format!("name part {NAME_RULE}"));
    }
    mistakes
}

/// What is wrong with the value of a label.
pub(crate) fn value_mistakes(value: &str) -> Vec<String> {
    let mut mistakes = Vec::new();
    if value.len() > NAME_MAX {
        mistakes.push(format!("must be no more than {NAME_MAX} bytes"));
    }
    if !value.is_empty() && !is_name(value) {
        mistakes.push(VALUE_RULE.to_owned());
    }
    mistakes
}

fn is_name(text: &str) -> bool {
    let ends_well = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    ends_well(bytes.first())
        && ends_well(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

/// A name with an optional domain in front, as labels have for keys.
pub(super) fn check_qualified_name(name: &Spot, errors: &mut Errors) {
    let mistakes = key_mistakes(name.text()).into_iter();
    errors.extend(mistakes.map(|why| name.invalid_text(why)));
}

/// Labels as a map of texts.
pub(super) fn check_labels(labels: &Spot, errors: &mut Errors) {
    for (key, value) in labels.entries() {
        let path = || labels.path();
        for why in key_mistakes(key) {
            errors.push(FieldError::invalid(path(), key.as_str(), why));
        }
        let value = value.as_str().unwrap_or_default();
        for why in value_mistakes(value) {
            errors.push(FieldError::invalid(path(), value, why));
        }
    }
}

/// Annotations as a map of texts: keys of either case, and not too much in all.
pub(super) fn check_annotations(annotations: &Spot, errors: &mut Errors) {
    let mut weight = 0;
    for (key, value) in annotations.entries() {
        for why in key_mistakes(&key.to_lowercase()) {
            errors.push(FieldError::invalid(annotations.path(), key.as_str(), why));
        }
        weight += key.len() + value.as_str().unwrap_or_default().len();
    }
    if weight > ANNOTATIONS_BYTES_MAX {
        errors.push(annotations.too_long(ANNOTATIONS_BYTES_MAX));
    }
}

/// A selector with `matchLabels` and `matchExpressions`.
pub(super) fn check_selector(selector: &Spot, errors: &mut Errors) {
    check_labels(&selector.get("matchLabels"), errors);
    let expressions = selector.get("matchExpressions");
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
                ));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => errors.push(
                expression
                    .get("operator")
                    .invalid("not a valid selector operator"),
            ),
        }
        errors.extend(
            key_mistakes(key.text())
                .into_iter()
                .map(|why| key.invalid(why)),
        );
        for value in values.items() {
            errors.extend(
                value_mistakes(value.text())
                    .into_iter()
                    .map(|why| value.invalid(why)),
            );
        }
    }
}

/// The selector as it selects, which is nothing if there is no selector; none if it makes no sense.
pub(super) fn compiled(selector: &Value) -> Option<Selector> {
    if selector.is_null() {
        return Some(Selector::nothing());
    }
    serde_json::from_value::<LabelSelector>(selector.clone())
        .ok()?
        .compile()
        .ok()
}

/// Whether a selector accepts these labels.
pub(super) fn accepts(selector: &Selector, labels: &Value) -> bool {
    selector.matches_with(|key| labels[key].as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_names_with_an_optional_subdomain() {
        for (key, mistakes) in [
            ("app", 0),
            ("example.com/app.v1_x", 0),
            ("", 2),
            ("-app", 1),
            ("a/b/c", 1),
            ("/app", 1),
            ("Example.com/app", 1),
        ] {
            assert_eq!(key_mistakes(key).len(), mistakes, "{key}");
        }
        assert_eq!(key_mistakes(&"a".repeat(64)).len(), 1);
    }

    #[test]
    fn values_may_be_empty_but_not_odd() {
        for (value, fits) in [("", true), ("v1.2_3", true), ("a b", false), ("-", false)] {
            assert_eq!(value_mistakes(value).is_empty(), fits, "{value}");
        }
    }

    #[test]
    fn operators_say_whether_they_have_values() {
        let selector = json!({"matchExpressions": [
            {"key": "a", "operator": "In"},
            {"key": "a", "operator": "Exists", "values": ["x"]},
            {"key": "a", "operator": "Near"},
            {"key": "a", "operator": "NotIn", "values": ["x"]},
        ]});
        let mut errors = Vec::new();
        check_selector(&Spot::root("s", &selector), &mut errors);
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
                "s.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                "s.matchExpressions[2].operator: Invalid value: \"Near\": not a valid selector operator",
            ]
        );
    }
}
