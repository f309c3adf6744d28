//! Checks of single values that many kinds share.
//!
//! Upstream: `apimachinery/pkg/util/validation/validation.go`, `pkg/apis/core/validation/validation.go`.

use flyball_api::Quantity;
use serde_json::{Map, Value};

use super::ip;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::kinds::NameRule;
use crate::names;

/// Protocols in the order of upstream's messages.
pub(super) const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];

const SUBDOMAIN_MAX: usize = 253;
/// A domain, a slash, a namespace, a dot and a name.
const SIGNER_NAME_MAX: usize = 571;
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
    errors.extend(wrong.into_iter().map(|why| spot.invalid_text(why)));
}

/// A number within bounds, both included; may be left out.
pub(super) fn within(spot: &Spot, least: i64, most: i64, errors: &mut Errors) {
    if spot
        .int()
        .is_some_and(|number| !(least..=most).contains(&number))
    {
        errors.push(spot.invalid(format!("must be between {least} and {most}, inclusive")));
    }
}

/// The id of a user or a group; may be left out.
pub(super) fn id(spot: &Spot, errors: &mut Errors) {
    within(spot, 0, i64::from(i32::MAX), errors);
}

/// A number above zero, where none is zero.
pub(super) fn positive(spot: &Spot, errors: &mut Errors) {
    if spot.number() <= 0 {
        errors.push(spot.invalid_number("must be greater than zero"));
    }
}

/// A path that leads nowhere but down from where it starts, in itself.
pub(super) fn no_steps_back(path: &Spot, errors: &mut Errors) {
    if path.text().split('/').any(|part| part == "..") {
        errors.push(path.invalid("must not contain '..'"));
    }
}

/// A path that leads down from somewhere.
pub(super) fn descending_path(path: &Spot, errors: &mut Errors) {
    if path.text().starts_with('/') {
        errors.push(path.invalid("must be a relative path"));
    }
    no_steps_back(path, errors);
}

/// A path below a volume whose names with two dots are not taken.
pub(super) fn local_path(path: &Spot, errors: &mut Errors) {
    descending_path(path, errors);
    if path.text().starts_with("..") && !path.text().starts_with("../") {
        errors.push(path.invalid("must not start with '..'"));
    }
}

/// The permissions of a file.
pub(super) fn file_mode(mode: &Spot, errors: &mut Errors) {
    if mode.int().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        errors.push(mode.invalid("must be a number between 0 and 0777 (octal), both inclusive"));
    }
}

/// An address, unless the object had it before.
pub(super) fn address(spot: &Spot, before: &[&str], errors: &mut Errors) {
    if !before.contains(&spot.text())
        && let Some(why) = ip::mistake(spot.text())
    {
        errors.push(spot.invalid_text(why));
    }
}

/// A range of addresses, unless the object had it before.
pub(super) fn range(spot: &Spot, before: &[&str], errors: &mut Errors) {
    if !before.contains(&spot.text())
        && let Some(why) = ip::range_mistake(spot.text())
    {
        errors.push(spot.invalid_text(why));
    }
}

/// A domain and a path, such as `acme.io/foo`.
pub(super) fn domain_prefixed_path(spot: &Spot, errors: &mut Errors) {
    if !required(spot, errors) {
        return;
    }
    let parts = spot.text().split_once('/');
    let Some((host, path)) = parts.filter(|(host, path)| !host.is_empty() && !path.is_empty())
    else {
        let why = "must be a domain-prefixed path (such as \"acme.io/foo\")";
        errors.push(spot.invalid(why));
        return;
    };
    for why in names::mistakes(NameRule::Subdomain, host, false) {
        errors.push(FieldError::invalid(spot.path(), host, why));
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte);
    if !path.bytes().all(fits) {
        let why = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
        errors.push(FieldError::invalid(spot.path(), path, why));
    }
}

/// The name of a signer: a domain of at least two labels, and a path.
pub(super) fn signer_name(signer: &Spot, errors: &mut Errors) {
    let name = signer.text();
    if !required(signer, errors) {
        return;
    }
    let parts: Vec<&str> = name.split('/').collect();
    let &[domain, path] = parts.as_slice() else {
        let why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        errors.push(signer.invalid(why));
        return;
    };
    if domain.len() > SUBDOMAIN_MAX {
        errors.push(signer.too_long(SUBDOMAIN_MAX));
    }
    first_wrong_label(signer, domain, NameRule::Label, errors);
    if !domain.contains('.') {
        let why = "should be a domain with at least two segments separated by dots";
        errors.push(FieldError::invalid(signer.path(), domain, why));
    }
    first_wrong_label(signer, path, NameRule::Subdomain, errors);
    if name.len() > SIGNER_NAME_MAX {
        errors.push(signer.too_long(SIGNER_NAME_MAX));
    }
}

/// Of several labels with dots between them only the first wrong one is told.
fn first_wrong_label(spot: &Spot, whole: &str, rule: NameRule, errors: &mut Errors) {
    for label in whole.split('.') {
        let wrong = names::mistakes(rule, label, false);
        if !wrong.is_empty() {
            let told = wrong.into_iter().map(|why| {
                let why = format!("validating label {label:?}: {why}");
                FieldError::invalid(spot.path(), whole, why)
            });
            errors.extend(told);
            return;
        }
    }
}

/// An amount that must be above zero.
pub(super) fn quantity_positive(spot: &Spot, errors: &mut Errors) {
    if quantity(spot.value()).is_some_and(|amount| amount <= Quantity::ZERO) {
        errors.push(spot.invalid("must be greater than zero"));
    }
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
    match spot.value() {
        // What is no number counts as none, as Go reads it.
        Value::String(text) => {
            let digits = text.strip_suffix('%').unwrap_or(text);
            digits.parse::<i64>().unwrap_or(0) == 0
        }
        _ => spot.int() == Some(0),
    }
}

/// A field of an update that must be as it was.
pub(super) fn immutable(new: &Spot, old: &Value, errors: &mut Errors) {
    if !same(new.value(), old) {
        errors.push(new.invalid("field is immutable"));
    }
}

/// A text of an update that must be as it was, where none is the empty one.
pub(super) fn immutable_text(new: &Spot, old: &Value, errors: &mut Errors) {
    if new.text() != old.as_str().unwrap_or_default() {
        errors.push(new.invalid_text("field is immutable"));
    }
}

/// Fields whose members have names of the user's: there a member that is empty is not the same as none.
const MAPS: [&str; 6] = [
    "annotations",
    "labels",
    "matchLabels",
    "nodeSelector",
    "parameters",
    "volumeAttributes",
];

/// Whether two values mean the same: nothing and an empty text, list or map count as one.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let rest = other.keys().filter(|key| !one.contains_key(*key));
            one.keys().chain(rest).all(|key| {
                let null = &Value::Null;
                let (one, other) = (one.get(key).unwrap_or(null), other.get(key).unwrap_or(null));
                match MAPS.contains(&key.as_str()) {
                    true => one == other || (has_none(one) && has_none(other)),
                    false => same(one, other),
                }
            })
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        _ => one == other || (is_nothing(one) && is_nothing(other)),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        // An empty map is not kept, so this is a structure that somebody gave.
        Value::Object(map) => {
            !map.is_empty()
                && map
                    .iter()
                    .all(|(key, value)| match MAPS.contains(&key.as_str()) {
                        true => has_none(value),
                        false => is_nothing(value),
                    })
        }
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a map has no members.
fn has_none(map: &Value) -> bool {
    map.as_object().is_none_or(Map::is_empty)
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
        errors.push(FieldError::invalid(spot.path(), key, why));
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
        let empty = json!({"matchLabels": {"app": ""}});
        assert!(!same(&empty, &json!({"matchExpressions": [1]})));
        assert!(!same(&empty, &json!({})));
        assert!(same(&json!({"matchLabels": {}}), &json!({})));
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
