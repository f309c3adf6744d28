//! Conditions as all newer kinds have them.
//!
//! Upstream: `ValidateConditions` in `apimachinery/pkg/apis/meta/v1/validation/validation.go`.

use std::collections::BTreeSet;

use super::checks;
use super::labels;
use super::spot::{Errors, Spot};

const REASON_MAX: usize = 1024;
const MESSAGE_MAX: usize = 32_768;
const REASON_RULE: &str = "a condition reason must start with alphabetic character, optionally followed by a string \
                           of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' \
                           (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or \
                           'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/// Conditions, each of its own type.
pub(super) fn check(conditions: &Spot, errors: &mut Errors) {
    let mut types = BTreeSet::new();
    for condition in conditions.items() {
        let kind = condition.get("type");
        if !types.insert(kind.text()) {
            errors.push(kind.duplicate());
        }
        labels::check_qualified_name(&kind, errors);
        let status = condition.get("status");
        let known = &["False", "True", "Unknown"];
        if !known.contains(&status.text()) {
            errors.push(status.not_supported(known));
        }
        let generation = condition.get("observedGeneration");
        checks::not_negative(&generation, errors);
        checks::given(&condition.get("lastTransitionTime"), errors);
        let reason = condition.get("reason");
        if checks::required(&reason, errors) {
            if !is_reason(reason.text()) {
                errors.push(reason.invalid(REASON_RULE));
            }
            if reason.text().len() > REASON_MAX {
                errors.push(reason.too_long(REASON_MAX));
            }
        }
        let message = condition.get("message");
        if message.text().len() > MESSAGE_MAX {
            errors.push(message.too_long(MESSAGE_MAX));
        }
    }
}

fn is_reason(text: &str) -> bool {
    let is_end = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = text.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(|byte| is_end(*byte))
        && bytes
            .iter()
            .all(|byte| is_end(*byte) || b",:".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_words() {
        for (text, fits) in [
            ("MyReason", true),
            ("A:B,C_", true),
            ("_A", false),
            ("A:", false),
            ("not a word", false),
        ] {
            assert_eq!(is_reason(text), fits, "{text}");
        }
    }
}
