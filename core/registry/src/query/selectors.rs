//! Selectors of a query, and what is said of those that cannot be read.
//!
//! Upstream: `apimachinery/pkg/labels/selector.go`, `apimachinery/pkg/fields/selector.go`.

use flyball_api::Selector;
use flyball_api::selector::{FieldSelector, SelectorInvalid};

use crate::failure::Failure;
use crate::kinds::{label_key_mistakes, label_value_mistakes};

/// A selector by labels; `None` if it asks for nothing.
pub(super) fn labels(text: &str) -> Result<Option<Selector>, Failure> {
    let parsed = Selector::parse(text).map_err(|error| Failure::bad_request(told(&error)))?;
    Ok((!parsed.is_empty()).then_some(parsed))
}

/// A selector by fields; `None` if it asks for nothing.
pub(super) fn fields(text: &str) -> Result<Option<FieldSelector>, Failure> {
    let parsed = FieldSelector::parse(text);
    let parsed = parsed.map_err(|error| Failure::bad_request(error.to_string()))?;
    Ok((!parsed.is_empty()).then_some(parsed))
}

fn told(error: &SelectorInvalid) -> String {
    match error {
        SelectorInvalid::BadLabel { key, source } => {
            let (place, mistakes) = match source.part {
                "key" => ("<nil>".to_owned(), label_key_mistakes(&source.text)),
                _ => (
                    format!("values[0][{key}]"),
                    label_value_mistakes(&source.text),
                ),
            };
            let why = mistakes.join("; ");
            format!(
                "unable to parse requirement: {place}: Invalid value: {:?}: {why}",
                source.text
            )
        }
        SelectorInvalid::ValuesMisfit { requirement, .. } => {
            let value = requirement.split(['<', '>']).nth(1).unwrap_or_default();
            format!(
                "unable to parse requirement: values[0]: Invalid value: {value:?}: for 'Gt', 'Lt' operators, the value \
                 must be an integer"
            )
        }
        other => other.to_string(),
    }
}
