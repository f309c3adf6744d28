//! The answer to an object with validation errors.
//!
//! Upstream: `NewInvalid` in `apimachinery/pkg/api/errors/errors.go`. Unlike upstream, an answer has at most
//! [`ERRORS_MAX`] errors and [`BYTES_MAX`] bytes of them, and says how many more there are: the answer to a large object
//! with a mistake in each of its items is not larger than people read.

use std::collections::HashSet;

use flyball_api::{StatusCause, StatusDetails};

use super::Failure;
use crate::field_error::FieldError;
use crate::quoted::quoted;

/// The errors that one answer lists.
pub(crate) const ERRORS_MAX: usize = 1_000;
/// The bytes after which an answer lists no more errors.
const BYTES_MAX: usize = 256 << 10;

impl Failure {
    /// The object has mistakes; `kind` and `group` name what was sent.
    pub fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let listed = Listed::of(errors);
        let told = match listed.messages.as_slice() {
            [one] => one.clone(),
            all => format!("[{}]", all.join(", ")),
        };
        let kind_told = match group {
            "" => kind.to_owned(),
            group => format!("{kind}.{group}"),
        };
        let mut failure = Self::new(
            422,
            "Invalid",
            format!("{kind_told} {} is invalid: {told}", quoted(name)),
        );
        failure.0.details = Some(StatusDetails {
            name: name.into(),
            group: group.into(),
            kind: kind.into(),
            causes: listed.causes,
            ..StatusDetails::default()
        });
        failure
    }
}

/// The errors that an answer lists.
struct Listed {
    /// Each message once.
    messages: Vec<String>,
    /// All of them.
    causes: Vec<StatusCause>,
}

impl Listed {
    fn of(errors: &[FieldError]) -> Self {
        let (mut messages, mut causes) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        let mut bytes = 0;
        for error in errors {
            if causes.len() == ERRORS_MAX || bytes > BYTES_MAX {
                messages.push(format!("and {} more errors", errors.len() - causes.len()));
                break;
            }
            let message = error.to_string();
            bytes += message.len();
            causes.push(error.cause());
            if seen.insert(message.clone()) {
                messages.push(message);
            }
        }
        Self { messages, causes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(count: usize, value: &str) -> Vec<FieldError> {
        let error = |at| FieldError::invalid(format!("spec.items[{at}]"), value, "wrong");
        (0..count).map(error).collect()
    }

    fn causes(failure: &Failure) -> usize {
        failure.0.details.as_ref().unwrap().causes.len()
    }

    #[test]
    fn what_is_found_twice_is_told_once() {
        let error = FieldError::required("spec.a", "");
        let failure = Failure::invalid("", "Pod", "a", &[error.clone(), error]);
        assert_eq!(
            &*failure.0.message,
            "Pod \"a\" is invalid: spec.a: Required value"
        );
        assert_eq!(causes(&failure), 2);
    }

    #[test]
    fn an_answer_lists_no_more_errors_than_people_read() {
        let failure = Failure::invalid("", "Pod", "a", &errors(ERRORS_MAX, "x"));
        assert_eq!(causes(&failure), ERRORS_MAX);
        assert!(!failure.0.message.contains("more errors"));
        let failure = Failure::invalid("", "Pod", "a", &errors(30_000, "x"));
        assert_eq!(causes(&failure), ERRORS_MAX);
        assert!(failure.0.message.ends_with(", and 29000 more errors]"));
        let long = "x".repeat(200 << 10);
        let failure = Failure::invalid("", "Pod", "a", &errors(100, &long));
        assert_eq!(causes(&failure), 2);
        assert!(failure.0.message.ends_with(", and 98 more errors]"));
    }
}
