//! What a body says that it is: its kind and version, which upstream reads before anything else.
//!
//! Upstream: `apimachinery/pkg/runtime/serializer/json/{json,meta}.go`.

use flyball_schema::{Schema, builtin, head_of, read_head};
use serde_json::Value;

use super::wanted::Wanted;
use crate::failure::Failure;

/// How much of a body is shown when nothing is known of it.
const SHOWN_BYTES: usize = 30;

/// The kind and version of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    group: String,
    version: String,
    kind: String,
}

impl Head {
    /// Reads the head of a body of JSON; the error is Go's.
    pub(super) fn read(body: &[u8]) -> Result<Self, String> {
        Self::parse(read_head(body))
    }

    /// The head of a value; the error is Go's.
    pub(super) fn of(value: &Value) -> Result<Self, String> {
        Self::parse(head_of(value))
    }

    fn parse(head: Result<(String, String), String>) -> Result<Self, String> {
        let (api_version, kind) =
            head.map_err(|why| format!("couldn't get version/kind; json parse error: {why}"))?;
        if api_version.matches('/').count() > 1 {
            return Err(format!("unexpected GroupVersion string: {api_version}"));
        }
        let (group, version) = match api_version.split_once('/') {
            Some((group, version)) => (group, version),
            None => ("", api_version.as_str()),
        };
        Ok(Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind,
        })
    }

    /// The same head with what was left out as it is wanted.
    pub(super) fn or_default(mut self, wanted: &Wanted<'_>) -> Self {
        if self.kind.is_empty() {
            self.kind = wanted.kind.to_owned();
        }
        if self.version.is_empty() && self.group.is_empty() {
            self.group = wanted.group.to_owned();
            self.version = wanted.version.to_owned();
        }
        // A group without a version takes the version that is wanted, if it is of the same group.
        if self.version.is_empty() && self.group == wanted.group {
            self.version = wanted.version.to_owned();
        }
        self
    }

    /// What objects of the kind that the body says look like.
    ///
    /// # Errors
    /// Nobody knows that kind.
    pub(super) fn schema<'a>(&self, wanted: &Wanted<'a>) -> Result<Schema<'a>, String> {
        let api_version = self.api_version();
        let is_older = !wanted.older.is_empty() && api_version == wanted.older;
        if self.kind == wanted.kind && (is_older || api_version == wanted.api_version()) {
            return Ok(wanted.schema);
        }
        let known = builtin().kind(&self.group, &self.version, &self.kind);
        let known = known.filter(|_| scheme(&self.group) == scheme(wanted.group));
        known.ok_or_else(|| self.unregistered())
    }

    /// Why the body cannot be turned into what is wanted, if it cannot. Another version of the same kind can be;
    /// whether it is wanted is another question. Events of both groups are the same kind to upstream.
    pub(super) fn misfit(&self, wanted: &Wanted<'_>) -> Option<String> {
        let same_kind = self.kind == wanted.kind && package(&self.group) == package(wanted.group);
        // Upstream can make a ReplicaSet of its predecessor.
        let is_successor = (self.group.as_str(), self.kind.as_str())
            == ("", "ReplicationController")
            && (wanted.group, wanted.kind) == ("apps", "ReplicaSet");
        (!same_kind && !is_successor).then(|| {
            format!(
                "converting ({}.{}) to ({}.{}): unknown conversion",
                self.version,
                self.kind,
                package(wanted.group),
                wanted.kind
            )
        })
    }

    fn unregistered(&self) -> String {
        format!(
            "no kind {:?} is registered for version {:?} in scheme \"pkg/runtime/scheme.go:111\"",
            self.kind,
            self.api_version()
        )
    }

    /// Why the body are not the options of a delete, if they are not.
    pub(super) fn no_delete_options(&self) -> Option<String> {
        if matches!(self.kind.as_str(), "" | "DeleteOptions") {
            return None;
        }
        Some(self.unregistered())
    }

    /// Refuses a body in another version.
    pub(super) fn check_version(&self, wanted: &Wanted<'_>) -> Result<(), Failure> {
        let (sent, expected) = (self.api_version(), wanted.api_version());
        if sent == expected || sent == wanted.older {
            return Ok(());
        }
        Err(Failure::bad_request(format!(
            "the API version in the data ({sent}) does not match the expected API version ({expected})"
        )))
    }

    /// The body cannot be read as what it says that it is.
    pub(super) fn unhandled(&self, wanted: &Wanted<'_>, why: &str) -> Failure {
        Failure::bad_request(format!(
            "{} in version {:?} cannot be handled as a {}: {why}",
            self.kind, self.version, wanted.kind
        ))
    }

    pub(super) fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }
}

/// Which of upstream's servers knows the kinds of a group: definitions and services of the API have one each, which
/// knows no others.
fn scheme(group: &str) -> &str {
    match group {
        "apiextensions.k8s.io" | "apiregistration.k8s.io" => group,
        _ => "",
    }
}

/// The name of upstream's package of a group's types.
pub(crate) fn package(group: &str) -> &str {
    match group {
        "" | "events.k8s.io" => "core",
        group => group.split('.').next().unwrap_or_default(),
    }
}

/// Refuses a body that was not written as JSON and does not say what it is; `sent` is how it was written.
pub(crate) fn check_head(wanted: &Wanted<'_>, body: &[u8], sent: &[u8]) -> Result<(), Failure> {
    let head = Head::read(body);
    head.map(drop)
        .map_err(|why| unrecognized(wanted, &why, sent))
}

/// Nothing is known of the body.
pub(crate) fn unrecognized(wanted: &Wanted<'_>, why: &str, sent: &[u8]) -> Failure {
    Failure::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {why} ({})",
        wanted.kind,
        summary(sent)
    ))
}

/// The start of a body, as text if it looks like JSON.
fn summary(body: &[u8]) -> String {
    let start = body.get(..SHOWN_BYTES).unwrap_or(body);
    let shown = match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(start).into_owned(),
        Some(_) => start.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    let more = if body.len() > SHOWN_BYTES { " ..." } else { "" };
    format!("{shown}{more}")
}
