//! Checks of single values that many kinds share.
//!
//! Upstream: `apimachinery/pkg/util/validation/validation.go`, `pkg/apis/core/validation/validation.go`.

use flyball_api::Quantity;
use serde_json::Value;

use super::spot::{Errors, Spot};
use crate::kinds::NameRule;
use crate::names;

/// Protocols in the order of upstream's messages.
pub(super) const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];

const PORT_RULE: &str = "must be between 1 and 65535, inclusive";
const PORT_NAME_MAX: usize = 15;

/// There must be something.
pub(super) fn required(spot: &Spot, errors: &mut Errors) -> bool {
    if spot.is_empty() {
        errors.push(spot.required(""));
    }
    !spot.is_empty()
}

/// There must be something, though it may be empty.
pub(super) fn given(spot: &Spot, errors: &mut Errors) {
    if !spot.is_set() {
        errors.push(spot.required(""));
    }
}

/// A number that must not be below zero; may be left out.
pub(super) fn not_negative(spot: &Spot, errors: &mut Errors) {
    if spot.int().is_some_and(|number| number < 0) {
        errors.push(spot.invalid("must be greater than or equal to 0"));
    }
}

/// One of the known texts, which must be given.
pub(super) fn one_of(spot: &Spot, known: &[&str], errors: &mut Errors) {
    if required(spot, errors) && !known.contains(&spot.text()) {
        errors.push(spot.not_supported(known));
    }
}

/// One of the known texts if there is one.
pub(super) fn one_of_if_set(spot: &Spot, known: &[&str], errors: &mut Errors) {
    if spot.is_set() && !known.contains(&spot.text()) {
        errors.push(spot.not_supported(known));
    }
}

/// A name by a rule.
pub(super) fn name(spot: &Spot, rule: NameRule, errors: &mut Errors) {
    let is_subdomain = || names::mistakes(NameRule::Subdomain, spot.text(), false).is_empty();
    if rule == NameRule::Label && spot.text().contains('.') && is_subdomain() {
        errors.push(spot.invalid("must not contain dots"));
        return;
    }
    let wrong = names::mistakes(rule, spot.text(), false);
    errors.extend(wrong.into_iter().map(|why| spot.invalid(why)));
}

/// A name by a rule, which must be given.
pub(super) fn required_name(spot: &Spot, rule: NameRule, errors: &mut Errors) {
    if required(spot, errors) {
        name(spot, rule, errors);
    }
}

/// The number of a port.
pub(super) fn port_number(spot: &Spot, errors: &mut Errors) {
    if !spot.int().is_some_and(|port| (1..=65535).contains(&port)) {
        errors.push(spot.invalid(PORT_RULE));
    }
}

/// The name of a port.
pub(super) fn port_name(spot: &Spot, errors: &mut Errors) {
    let name = spot.text();
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let mut say = |wrong: bool, why: &str| {
        if wrong {
            errors.push(spot.invalid(why));
        }
    };
    say(
        name.len() > PORT_NAME_MAX,
        "must be no more than 15 characters",
    );
    say(
        !name.bytes().all(fits) || name.is_empty(),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    );
    say(
        !name.bytes().any(|byte| byte.is_ascii_lowercase()),
        "must contain at least one letter (a-z)",
    );
    say(name.contains("--"), "must not contain consecutive hyphens");
    say(
        name.starts_with('-') || name.ends_with('-'),
        "must not begin or end with a hyphen",
    );
}

/// A port by its number or its name.
pub(super) fn port_number_or_name(spot: &Spot, errors: &mut Errors) {
    if spot.value().is_string() {
        port_name(spot, errors);
    } else {
        port_number(spot, errors);
    }
}

/// A whole number or a percentage, neither below zero.
pub(super) fn number_or_percent(spot: &Spot, errors: &mut Errors) {
    match spot.value() {
        Value::String(text) => {
            let digits = text.strip_suffix('%').unwrap_or_default();
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                errors.push(spot.invalid(
                    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  \
                     or '93%', regex used for validation is '[0-9]+%')",
                ));
            }
        }
        _ => not_negative(spot, errors),
    }
}

/// A percentage must not be above 100.
pub(super) fn at_most_hundred_percent(spot: &Spot, errors: &mut Errors) {
    let percent = spot
        .text()
        .strip_suffix('%')
        .and_then(|digits| digits.parse::<i64>().ok());
    if percent.is_some_and(|percent| percent > 100) {
        errors.push(spot.invalid("must not be greater than 100%"));
    }
}

/// Whether a number or percentage is none of anything.
pub(super) fn is_zero_share(spot: &Spot) -> bool {
    spot.int() == Some(0) || (!spot.is_empty() && spot.text().trim_start_matches('0') == "%")
}

/// A field of an update that must be as it was.
pub(super) fn immutable(new: &Spot, old: &Value, errors: &mut Errors) {
    if !same(new.value(), old) {
        errors.push(new.invalid("field is immutable"));
    }
}

/// Whether two values mean the same: nothing, an empty text, list or map and `false` count as one.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let rest = other.iter().filter(|(key, _)| !one.contains_key(*key));
            one.iter()
                .all(|(key, value)| same(value, other.get(key).unwrap_or(&Value::Null)))
                && rest.into_iter().all(|(_, value)| is_nothing(value))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        _ => one == other || (is_nothing(one) && is_nothing(other)),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.values().all(is_nothing),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// The amount of a resource, if it is one.
pub(super) fn quantity(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

/// An amount that must not be below zero.
pub(super) fn quantity_not_negative(spot: &Spot, errors: &mut Errors) {
    if quantity(spot.value()).is_some_and(|amount| amount < Quantity::ZERO) {
        errors.push(spot.invalid("must be greater than or equal to 0"));
    }
}

/// The key of a ConfigMap or Secret.
pub(super) fn config_key(spot: &Spot, key: &str, errors: &mut Errors) {
    let mut say = |why: String| {
        errors.push(crate::field_error::FieldError::invalid(
            spot.path(),
            key,
            why,
        ));
    };
    if key.len() > 253 {
        say("must be no more than 253 characters".to_owned());
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if key.is_empty() || !key.bytes().all(fits) {
        say("a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
             'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
            .to_owned());
    } else if key == "." || key == ".." {
        say(format!("must not be '{key}'"));
    } else if key.starts_with("..") {
        say("must not start with '..'".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn mistakes(value: Value, check: fn(&Spot, &mut Errors)) -> usize {
        let mut errors = Vec::new();
        check(&Spot::root("x", &value), &mut errors);
        errors.len()
    }

    #[test]
    fn port_names_are_short_lower_case_and_have_a_letter() {
        for (name, count) in [
            ("http", 0),
            ("http-2", 0),
            ("Http", 1),
            ("80", 1),
            ("a--b", 1),
            ("-a", 1),
            ("a-very-long-name-of-a-port", 1),
            ("", 2),
        ] {
            assert_eq!(mistakes(json!(name), port_name), count, "{name}");
        }
    }

    #[test]
    fn a_share_is_a_number_or_a_percentage() {
        for (share, count) in [
            (json!(0), 0),
            (json!(-1), 1),
            (json!("25%"), 0),
            (json!("25"), 1),
            (json!("-1%"), 1),
            (json!("%"), 1),
        ] {
            assert_eq!(mistakes(share.clone(), number_or_percent), count, "{share}");
        }
        assert_eq!(mistakes(json!("101%"), at_most_hundred_percent), 1);
    }

    #[test]
    fn nothing_has_many_notations() {
        assert!(same(
            &json!({"a": [], "b": 1}),
            &json!({"b": 1, "c": "", "d": {"e": null}})
        ));
        assert!(!same(&json!({"a": 0}), &json!({})));
        assert!(!same(&json!([1]), &json!([1, 2])));
    }

    #[test]
    fn none_of_anything_is_zero_in_both_notations() {
        for (share, zero) in [
            (json!(0), true),
            (json!("0%"), true),
            (json!("00%"), true),
            (json!("10%"), false),
            (json!(1), false),
            (json!(null), false),
        ] {
            assert_eq!(is_zero_share(&Spot::root("x", &share)), zero, "{share}");
        }
    }
}
