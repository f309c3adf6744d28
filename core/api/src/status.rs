//! What the API server answers when it does not do what was asked.
//!
//! A failed request is classified once, here, when its answer arrives: afterwards code asks for the
//! [`Class`] of an [`ApiError`] and never looks at status codes and reasons again. The message is
//! kept word for word, because it goes into events (`Error creating: <message>`) that people read.
//!
//! Rules: apimachinery `pkg/api/errors` (a known reason wins over the code, the code decides where
//! the reason is unknown) and client-go `rest/request.go` (answers that are no `Status` at all).

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use crate::{Kind, Text};

#[cfg(test)]
mod tests;

/// The API's answer to a request that failed, as it is on the wire: `metav1.Status`.
///
/// Decoding takes what it finds: unknown fields are skipped, null and absent are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// `Failure` or `Success`.
    #[serde(skip_serializing_if = "str::is_empty", deserialize_with = "or_default")]
    pub status: Box<str>,
    /// What went wrong, for people.
    #[serde(skip_serializing_if = "str::is_empty", deserialize_with = "or_default")]
    pub message: Box<str>,
    /// What went wrong, as one word for programs.
    #[serde(skip_serializing_if = "str::is_empty", deserialize_with = "or_default")]
    pub reason: Box<str>,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<StatusDetails>,
    /// The HTTP status; 0 if not told.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "or_default")]
    pub code: u16,
}

/// What a [`Status`] is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct StatusDetails {
    /// Name of the object.
    #[serde(skip_serializing_if = "str::is_empty", deserialize_with = "or_default")]
    pub name: Box<str>,
    /// API group of the object.
    #[serde(skip_serializing_if = "str::is_empty", deserialize_with = "or_default")]
    pub group: Box<str>,
    /// Kind or resource of the object.
    #[serde(skip_serializing_if = "str::is_empty", deserialize_with = "or_default")]
    pub kind: Box<str>,
    /// Identity of the object.
    #[serde(skip_serializing_if = "str::is_empty", deserialize_with = "or_default")]
    pub uid: Box<str>,
    /// The single mistakes.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub causes: Vec<StatusCause>,
    /// How long to wait before asking again; 0 if not told.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "or_default")]
    pub retry_after_seconds: u32,
}

/// One of the mistakes that make up a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusCause {
    /// The kind of mistake, as one word for programs.
    #[serde(rename = "reason")]
    #[serde(skip_serializing_if = "str::is_empty", deserialize_with = "or_default")]
    pub cause_type: Box<str>,
    /// The mistake, for people.
    #[serde(skip_serializing_if = "str::is_empty", deserialize_with = "or_default")]
    pub message: Box<str>,
    /// Path of the field that is wrong.
    #[serde(skip_serializing_if = "str::is_empty", deserialize_with = "or_default")]
    pub field: Box<str>,
}

fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

impl Status {
    /// A failure with these words and nothing more.
    pub fn failure(code: u16, reason: &str, message: &str) -> Status {
        let (reason, message) = (reason.into(), message.into());
        Status {
            status: "Failure".into(),
            message,
            reason,
            details: None,
            code,
        }
    }
}

/// The cause that marks a write into a namespace that is being deleted.
pub const NAMESPACE_TERMINATING: &str = "NamespaceTerminating";

/// What a failure means for whoever asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// There is no such object.
    NotFound,
    /// The object is not what the request took it for: a precondition or resourceVersion failed.
    Conflict,
    /// There is already an object of this name.
    AlreadyExists,
    /// The server refuses the content.
    Invalid,
    /// The server refuses the asker, or a quota or policy refuses the request.
    Forbidden,
    /// The server does not know the asker.
    Unauthorized,
    /// The resourceVersion or continue token is too old: list again.
    Gone,
    /// The server is busy.
    TooManyRequests {
        /// How long it asks to be left alone, if it says.
        retry_after: Option<Duration>,
    },
    /// The namespace is being deleted, so nothing can be created in it.
    NamespaceTerminating,
    /// No answer in time, from the server or at all. A write may have happened.
    Timeout,
    /// The server or the way to it failed; the same request may succeed. A write may have happened.
    Transient,
    /// Nothing but another request will help.
    Terminal,
}

/// What helps after a failed write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// The same request again, later.
    Retry,
    /// Another look: the object has changed since it was seen.
    LookAgain,
    /// Another object: the server's validation names a field of the one that was sent.
    Edit,
}

/// A request that failed, classified.
///
/// Printing it gives the server's message and nothing else, as upstream's errors do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    class: Class,
    // Boxed, because a result is moved around far more often than an error is looked at.
    status: Box<Status>,
}

impl ApiError {
    /// From a `Status`, be it the body of an answer or the object of a watch event.
    pub fn from_status(status: Status) -> ApiError {
        ApiError {
            class: classify(&status),
            status: Box::new(status),
        }
    }

    /// From an HTTP answer that is not a success.
    ///
    /// A body that is no `Status` (a proxy's page, half a document) is replaced by the words
    /// upstream uses for the code. `retry_after` is the header; only whole seconds are understood,
    /// and what the body says goes before it.
    pub fn from_response(code: u16, retry_after: Option<&str>, body: &[u8]) -> ApiError {
        let mut status = match serde_json::from_slice::<Status>(body) {
            Ok(status) if says_something(&status) => status,
            _ => unstructured(code, body),
        };
        if status.code == 0 {
            status.code = code;
        }
        let header = retry_after.and_then(|seconds| seconds.trim().parse::<u32>().ok());
        if let Some(seconds) = header {
            let details = status.details.get_or_insert_default();
            if details.retry_after_seconds == 0 {
                details.retry_after_seconds = seconds;
            }
        }
        ApiError::from_status(status)
    }

    /// There is no object of this name, in a server's words.
    pub fn not_found(kind: Kind, name: &str) -> ApiError {
        let mut status = Status::failure(404, "NotFound", &format!("{kind} {name:?} not found"));
        status.details = Some(StatusDetails {
            name: name.into(),
            group: kind.group.into(),
            kind: kind.plural.into(),
            ..StatusDetails::default()
        });
        ApiError::from_status(status)
    }

    /// The request was not answered: connection refused, reset, cut off, unreadable answer.
    pub fn transport(text: impl fmt::Display) -> ApiError {
        ApiError::without_answer(Class::Transient, &text.to_string())
    }

    /// The request was given up because its time was over.
    pub fn timeout(text: impl fmt::Display) -> ApiError {
        ApiError::without_answer(Class::Timeout, &text.to_string())
    }

    /// The request could not even be made; trying again is of no use.
    pub fn terminal(text: impl fmt::Display) -> ApiError {
        ApiError::without_answer(Class::Terminal, &text.to_string())
    }

    fn without_answer(class: Class, text: &str) -> ApiError {
        ApiError {
            class,
            status: Box::new(Status::failure(0, "", text)),
        }
    }

    /// What the failure means.
    pub fn class(&self) -> Class {
        self.class
    }

    /// The HTTP status; 0 if there was no answer.
    pub fn code(&self) -> u16 {
        self.status.code
    }

    /// The server's one word for it; empty if it gave none.
    pub fn reason(&self) -> &str {
        &self.status.reason
    }

    /// The server's words, or those of the transport.
    pub fn message(&self) -> &str {
        &self.status.message
    }

    /// What the failure is about, if the server told.
    pub fn details(&self) -> Option<&StatusDetails> {
        self.status.details.as_ref()
    }

    /// The whole answer.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Whether the server named this cause, for example [`NAMESPACE_TERMINATING`].
    pub fn has_cause(&self, cause_type: &str) -> bool {
        has_cause(&self.status, cause_type)
    }

    /// Whether the very same request may succeed later, without anything else changing. A conflict
    /// is not retryable in this sense: the object must be read again first.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self.class,
            Class::TooManyRequests { .. } | Class::Timeout | Class::Transient
        )
    }

    /// How long the server asks to wait before the next try, whatever the class.
    pub fn retry_after(&self) -> Option<Duration> {
        retry_after(&self.status)
    }

    /// What helps. A webhook or policy that refuses an object may change its mind; validation that
    /// names a field does not. The UID of a patch is a precondition, so that a refusal of it means
    /// that the object was recreated.
    pub fn remedy(&self) -> Remedy {
        let causes = self.details().map_or(&[][..], |about| &about.causes);
        let names = |wanted: fn(&str) -> bool| causes.iter().any(|cause| wanted(&cause.field));
        match self.class {
            Class::Conflict => Remedy::LookAgain,
            Class::Invalid if names(|field| field == "metadata.uid") => Remedy::LookAgain,
            Class::Invalid if names(|field| !field.is_empty()) => Remedy::Edit,
            _ => Remedy::Retry,
        }
    }

    /// Whether there is no such object.
    pub fn is_not_found(&self) -> bool {
        self.class == Class::NotFound
    }

    /// Whether a server that knows the kind says that there is no such object. One that does not
    /// (any more, or not yet) answers with the same code, names no object, and proves nothing.
    pub fn is_object_not_found(&self) -> bool {
        self.is_not_found() && self.details().is_some_and(|about| !about.name.is_empty())
    }

    /// Whether a precondition or resourceVersion failed.
    pub fn is_conflict(&self) -> bool {
        self.class == Class::Conflict
    }

    /// Whether the namespace is terminating, so that nothing can be created in it.
    pub fn is_namespace_terminating(&self) -> bool {
        self.class == Class::NamespaceTerminating
    }

    /// Whether the incarnation that a request was meant for is no more: there is no object of its
    /// name, or another one.
    pub fn is_gone_or_replaced(&self) -> bool {
        self.is_not_found() || self.is_other_incarnation()
    }

    /// Whether a UID precondition failed: what has that name is another incarnation. A server says
    /// so in words only, by one of its two checks; any other conflict, such as one that a webhook
    /// or a quota speaks of, says nothing about incarnations.
    ///
    /// Upstream: `staging/src/k8s.io/apiserver/pkg/registry/rest/delete.go` and
    /// `pkg/storage/interfaces.go` beside it.
    pub fn is_other_incarnation(&self) -> bool {
        let words = ["UID in the precondition", "UID in precondition"];
        self.is_conflict() && words.iter().any(|words| self.message().contains(words))
    }

    /// The ResourceQuota that refused a request, and the resources it has too little of. A server
    /// says so in words only: upstream, `pkg/quota/v1` users in
    /// `apiserver/pkg/admission/plugin/resourcequota/controller.go`.
    pub fn exceeded_quota(&self) -> Option<(String, Vec<Text>)> {
        let (_, quota) = self.message().split_once("exceeded quota: ")?;
        let (name, rest) = quota.split_once(", requested: ")?;
        let (requested, _) = rest.split_once(", used: ")?;
        let resources = requested.split(',').filter_map(|one| one.split_once('='));
        let resources = resources
            .map(|(resource, _)| Text::from(resource))
            .collect();
        (self.code() == 403).then(|| (name.to_owned(), resources))
    }

    /// Whether there is already an object of this name.
    pub fn is_already_exists(&self) -> bool {
        self.class == Class::AlreadyExists
    }

    /// Whether the server refuses the content.
    pub fn is_invalid(&self) -> bool {
        self.class == Class::Invalid
    }

    /// Whether a list or watch must start anew.
    pub fn is_gone(&self) -> bool {
        self.class == Class::Gone
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.status.message)
    }
}

impl std::error::Error for ApiError {}

fn classify(status: &Status) -> Class {
    if has_cause(status, NAMESPACE_TERMINATING) {
        return Class::NamespaceTerminating;
    }
    // 429 says it all, even under another reason.
    if status.code == 429 {
        return Class::TooManyRequests {
            retry_after: retry_after(status),
        };
    }
    match &*status.reason {
        "NotFound" => Class::NotFound,
        "AlreadyExists" => Class::AlreadyExists,
        "Conflict" => Class::Conflict,
        "Invalid" => Class::Invalid,
        "Forbidden" => Class::Forbidden,
        "Unauthorized" => Class::Unauthorized,
        "Gone" | "Expired" => Class::Gone,
        "TooManyRequests" => Class::TooManyRequests {
            retry_after: retry_after(status),
        },
        "Timeout" | "ServerTimeout" => Class::Timeout,
        "InternalError" | "ServiceUnavailable" | "StorageReadError" => Class::Transient,
        "BadRequest"
        | "MethodNotAllowed"
        | "NotAcceptable"
        | "RequestEntityTooLarge"
        | "UnsupportedMediaType" => Class::Terminal,
        _ => class_of_code(status.code),
    }
}

fn class_of_code(code: u16) -> Class {
    match code {
        401 => Class::Unauthorized,
        403 => Class::Forbidden,
        404 => Class::NotFound,
        408 | 504 => Class::Timeout,
        409 => Class::Conflict,
        410 => Class::Gone,
        422 => Class::Invalid,
        500..=599 => Class::Transient,
        _ => Class::Terminal,
    }
}

fn has_cause(status: &Status, cause_type: &str) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes
        .into_iter()
        .any(|cause| &*cause.cause_type == cause_type)
}

fn retry_after(status: &Status) -> Option<Duration> {
    let seconds = status.details.as_ref()?.retry_after_seconds;
    (seconds > 0).then(|| Duration::from_secs(seconds.into()))
}

/// Whether this is a failure the server described, and not some other document or an empty one.
fn says_something(status: &Status) -> bool {
    &*status.status != "Success" && !(status.message.is_empty() && status.reason.is_empty())
}

/// The longest piece of a foreign body that goes into a message.
const FOREIGN_TEXT_BYTES_MAX: usize = 2048;

fn unstructured(code: u16, body: &[u8]) -> Status {
    let body = &body[..body.len().min(FOREIGN_TEXT_BYTES_MAX)];
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    let (reason, message) = words_for_code(code, text);
    let mut status = Status::failure(code, reason, &message);
    let cause_type = "UnexpectedServerResponse".into();
    let cause = StatusCause {
        cause_type,
        message: text.into(),
        field: "".into(),
    };
    status.details.get_or_insert_default().causes.push(cause);
    status
}

/// Upstream's reason and words for a code that came without a `Status`.
fn words_for_code(code: u16, text: &str) -> (&'static str, String) {
    let (reason, words) = match code {
        400 => (
            "BadRequest",
            "the server rejected our request for an unknown reason",
        ),
        401 => (
            "Unauthorized",
            "the server has asked for the client to provide credentials",
        ),
        403 => ("Forbidden", text),
        404 => (
            "NotFound",
            "the server could not find the requested resource",
        ),
        405 => (
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        ),
        406 if text.is_empty() => (
            "NotAcceptable",
            "the server was unable to respond with a content type that the client supports",
        ),
        406 => ("NotAcceptable", text),
        409 => ("Conflict", "the server reported a conflict"),
        415 => ("UnsupportedMediaType", text),
        422 => (
            "Invalid",
            "the server rejected our request due to an error in our request",
        ),
        429 => (
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later",
        ),
        503 => (
            "ServiceUnavailable",
            "the server is currently unable to handle the request",
        ),
        504 => (
            "Timeout",
            "the server was unable to return a response in the time allotted, but may still be \
             processing the request",
        ),
        500.. => {
            let words = format!(
                "an error on the server ({text:?}) has prevented the request from succeeding"
            );
            return ("InternalError", words);
        }
        _ => ("", ""),
    };
    if words.is_empty() {
        let more = "but did not return more information";
        return (
            reason,
            format!("the server responded with the status code {code} {more}"),
        );
    }
    (reason, words.to_owned())
}
