//! What is answered when something is not done: Status objects in upstream's words.
//!
//! Upstream: `apimachinery/pkg/api/errors/errors.go`.

mod invalid;

use flyball_api::{Status, StatusCause, StatusDetails};
use flyball_schema::Resource;

pub(crate) use self::invalid::ERRORS_MAX;
use crate::quoted::quoted;

/// A refusal, as it is answered, and what is told beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure(pub Box<Status>, Vec<String>);

impl Failure {
    /// A failure with these words and nothing more.
    pub fn new(code: u16, reason: &str, message: impl AsRef<str>) -> Self {
        Self::of(Status::failure(code, reason, message.as_ref()))
    }

    /// A failure that is answered like this.
    pub fn of(status: Status) -> Self {
        Self(Box::new(status), Vec::new())
    }

    /// The same refusal with these warnings: what was found before it is told all the same.
    pub(crate) fn warned(mut self, warnings: Vec<String>) -> Self {
        self.1.extend(warnings);
        self
    }

    /// What is told beside the refusal.
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.1)
    }

    /// The request makes no sense.
    pub fn bad_request(message: impl AsRef<str>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// There is no such object.
    pub fn not_found(resource: &Resource, name: &str) -> Self {
        let message = format!("{} {} not found", qualified(resource), quoted(name));
        Self::new(404, "NotFound", message).about(resource, name)
    }

    /// There is nothing behind the path.
    pub fn no_such_path() -> Self {
        let message = "the server could not find the requested resource";
        let mut failure = Self::new(404, "NotFound", message);
        failure.0.details = Some(StatusDetails::default());
        failure
    }

    /// The resource cannot do what is asked of it.
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        let mut failure = Self::new(405, "MethodNotAllowed", message);
        failure.0.details = Some(StatusDetails::default());
        failure
    }

    /// The resource does not know this verb.
    pub fn verb_not_supported(resource: &Resource, verb: &str) -> Self {
        let kind = qualified(resource);
        let message = format!("{verb} is not supported on resources of kind {kind:?}");
        let mut failure = Self::new(405, "MethodNotAllowed", message);
        failure.0.details = Some(StatusDetails {
            group: resource.group.as_str().into(),
            kind: resource.plural.as_str().into(),
            ..StatusDetails::default()
        });
        failure
    }

    /// There is an object of this name already.
    pub fn already_exists(resource: &Resource, name: &str) -> Self {
        let message = format!("{} {} already exists", qualified(resource), quoted(name));
        Self::new(409, "AlreadyExists", message).about(resource, name)
    }

    /// The object is not what the request took it for.
    pub fn conflict(resource: &Resource, name: &str, why: &str) -> Self {
        Self::conflict_on(&resource.group, &resource.plural, name, why)
    }

    /// The same, about what is named so, which in some of upstream's messages is the kind.
    pub fn conflict_on(group: &str, what: &str, name: &str, why: &str) -> Self {
        let told = match group {
            "" => what.to_owned(),
            group => format!("{what}.{group}"),
        };
        let name_told = quoted(name);
        let message = format!("Operation cannot be fulfilled on {told} {name_told}: {why}");
        let mut failure = Self::new(409, "Conflict", message);
        failure.0.details = Some(StatusDetails {
            name: name.into(),
            group: group.into(),
            kind: what.into(),
            ..StatusDetails::default()
        });
        failure
    }

    /// The object was written by somebody else in between.
    pub fn modified(resource: &Resource, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(resource, name, why)
    }

    /// What was asked for cannot be said in the protobuf that it was asked for in.
    pub fn not_in_protobuf(kind: &str) -> Self {
        let message = format!(
            "object {kind} does not implement the protobuf marshalling interface and cannot be encoded to a protobuf \
             message"
        );
        Self::new(406, "NotAcceptable", message)
    }

    /// Whoever asks may not do this.
    pub fn forbidden(resource: &Resource, name: &str, why: &str) -> Self {
        let message = match name {
            "" => format!("{} is forbidden: {why}", qualified(resource)),
            name => format!(
                "{} {} is forbidden: {why}",
                qualified(resource),
                quoted(name)
            ),
        };
        Self::new(403, "Forbidden", message).about(resource, name)
    }

    /// Something went wrong that whoever asked cannot mend.
    pub fn internal(why: &str) -> Self {
        let mut failure = Self::new(
            500,
            "InternalError",
            format!("Internal error occurred: {why}"),
        );
        failure.0.details = Some(StatusDetails {
            causes: vec![StatusCause {
                cause_type: "".into(),
                message: why.into(),
                field: "".into(),
            }],
            ..StatusDetails::default()
        });
        failure
    }

    /// A resourceVersion or continue token is too old.
    pub fn expired(message: impl AsRef<str>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// The server is not as far yet as the request wants it to be.
    pub fn too_large_version(asked: u64, current: u64) -> Self {
        let message = format!("Too large resource version: {asked}, current: {current}");
        let mut failure = Self::new(504, "Timeout", format!("Timeout: {message}"));
        failure.0.details = Some(StatusDetails {
            causes: vec![StatusCause {
                cause_type: "ResourceVersionTooLarge".into(),
                message: "Too large resource version".into(),
                field: "".into(),
            }],
            retry_after_seconds: 1,
            ..StatusDetails::default()
        });
        failure
    }

    /// The body is in a language that is not spoken here.
    pub fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// The same failure, about this object.
    fn about(mut self, resource: &Resource, name: &str) -> Self {
        self.0.details = Some(StatusDetails {
            name: name.into(),
            group: resource.group.as_str().into(),
            kind: resource.plural.as_str().into(),
            ..StatusDetails::default()
        });
        self
    }

    /// The same failure, about something that upstream calls so.
    pub(crate) fn about_named(mut self, group: &str, kind: &str, name: &str) -> Self {
        let details = self.0.details.get_or_insert_default();
        details.name = name.into();
        details.group = group.into();
        details.kind = kind.into();
        self
    }

    /// The same failure, with the advice to come back after so many seconds.
    pub(crate) fn retry_after(mut self, seconds: u32) -> Self {
        let details = self.0.details.get_or_insert_default();
        details.retry_after_seconds = seconds;
        self
    }

    /// The same failure with one more cause.
    pub fn with_cause(mut self, kind: &str, message: &str, field: &str) -> Self {
        let details = self.0.details.get_or_insert_default();
        details.causes.push(StatusCause {
            cause_type: kind.into(),
            message: message.into(),
            field: field.into(),
        });
        self
    }

    /// The HTTP status.
    pub fn code(&self) -> u16 {
        self.0.code
    }

    /// The answer's body.
    pub fn body(&self) -> Vec<u8> {
        let mut body = br#"{"kind":"Status","apiVersion":"v1","metadata":{},"#.to_vec();
        let status = serde_json::to_vec(&self.0).unwrap_or_default();
        body.extend_from_slice(status.get(1..).unwrap_or_default());
        body
    }
}

/// `pods` or `deployments.apps`.
pub(crate) fn qualified(resource: &Resource) -> String {
    match resource.group.as_str() {
        "" => resource.plural.to_string(),
        group => format!("{}.{group}", resource.plural),
    }
}
