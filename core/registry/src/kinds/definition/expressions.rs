//! What is asked of rules in the Common Expression Language, beside being such expressions.

use serde_json::Value;

use super::field_path;
use crate::field_error::FieldError;

const REASONS: &[&str] = &[
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// Adds the mistakes in the rules of one schema.
pub(super) fn check(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let rules = schema["x-kubernetes-validations"].as_array();
    for (at, rule) in rules.into_iter().flatten().enumerate() {
        let below = |field: &str| format!("{path}.x-kubernetes-validations[{at}].{field}");
        let text = |field: &str| rule[field].as_str().unwrap_or_default();
        let has_lines = |text: &str| text.contains(['\n', '\r']);
        let (expression, message) = (text("rule").trim(), text("message"));
        if expression.is_empty() {
            errors.push(FieldError::required(below("rule"), "rule is not specified"));
        } else if !message.is_empty() && message.trim().is_empty() {
            let detail = "must be non-empty if specified";
            errors.push(FieldError::invalid(below("message"), message, detail));
        } else if has_lines(message.trim()) {
            let detail = "must not contain line breaks";
            errors.push(FieldError::invalid(below("message"), message, detail));
        } else if has_lines(expression) && message.trim().is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            errors.push(FieldError::required(below("message"), detail));
        }
        let told = text("messageExpression");
        if !told.is_empty() && told.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(FieldError::required(below("messageExpression"), detail));
        }
        if let Some(odd) = rule["reason"].as_str().filter(|one| !REASONS.contains(one)) {
            errors.push(FieldError::not_supported(below("reason"), odd, REASONS));
        }
        let field = text("fieldPath");
        let mut wrong = |detail: &str| {
            errors.push(FieldError::invalid(below("fieldPath"), field, detail));
        };
        if !field.is_empty() && field.trim().is_empty() {
            wrong("must be non-empty if specified");
        }
        if has_lines(field) {
            wrong("must not contain line breaks");
        }
        // Of a schema that uses what is not supported, paths are not asked.
        let is_asked = !field.is_empty() && super::schema::is_convertible(schema);
        if is_asked && !field_path::is_valid(field, schema) {
            wrong("must be a valid path");
        }
    }
}
