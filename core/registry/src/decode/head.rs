//! What a body says that it is: its kind and version, which upstream reads before anything else.
//!
//! Upstream: `apimachinery/pkg/runtime/serializer/json/{json,meta}.go`.

use flyball_schema::{builtin, read_head};
use serde_json::Value;

use crate::failure::Failure;
use crate::registry::Call;

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
        let (api_version, kind) = read_head(body)
            .map_err(|why| format!("couldn't get version/kind; json parse error: {why}"))?;
        if api_version.matches('/').count() > 1 {
            return Err(format!("unexpected GroupVersion string: {api_version}"));
        }
        Ok(Self::new(&api_version, kind))
    }

    /// The head of a value.
    pub(super) fn of(value: &Value) -> Self {
        let text = |field: &str| value[field].as_str().unwrap_or_default();
        Self::new(text("apiVersion"), text("kind").to_owned())
    }

    fn new(api_version: &str, kind: String) -> Self {
        let (group, version) = match api_version.split_once('/') {
            Some((group, version)) => (group, version),
            None => ("", api_version),
        };
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind,
        }
    }

    /// The same head with what was left out as the path says it.
    pub(super) fn or_default(mut self, call: &Call<'_>) -> Self {
        if self.kind.is_empty() {
            self.kind = call.resource.kind.to_string();
        }
        if self.version.is_empty() && self.group.is_empty() {
            self.group = call.resource.group.to_string();
            self.version = call.resource.version.to_string();
        }
        // A group without a version takes the version of the path, if it is of the same group.
        if self.version.is_empty() && self.group == call.resource.group {
            self.version = call.resource.version.to_string();
        }
        self
    }

    /// Why the body cannot be what its path says, if it cannot.
    pub(super) fn misfit(&self, call: &Call<'_>) -> Option<String> {
        let resource = &call.resource;
        let same_kind =
            self.kind == resource.kind.as_str() && self.group == resource.group.as_str();
        if same_kind && self.version == resource.version.as_str() {
            return None;
        }
        let known = builtin().kind(&self.group, &self.version, &self.kind);
        if known.is_none() {
            return Some(format!(
                "no kind {:?} is registered for version {:?} in scheme \"pkg/runtime/scheme.go:111\"",
                self.kind,
                self.api_version()
            ));
        }
        // Another version of the same kind can be converted; whether it is wanted is another question.
        (!same_kind).then(|| {
            format!(
                "converting ({}.{}) to ({}.{}): unknown conversion",
                self.version,
                self.kind,
                package(&resource.group),
                resource.kind
            )
        })
    }

    /// Why the body are not the options of a delete, if they are not.
    pub(super) fn no_delete_options(&self) -> Option<String> {
        if matches!(self.kind.as_str(), "" | "DeleteOptions") {
            return None;
        }
        Some(format!(
            "no kind {:?} is registered for version {:?} in scheme \"pkg/runtime/scheme.go:111\"",
            self.kind,
            self.api_version()
        ))
    }

    /// Refuses a body of another kind.
    pub(super) fn check_kind(&self, call: &Call<'_>) -> Result<(), Failure> {
        match self.misfit(call) {
            Some(why) => Err(self.unhandled(call, &why)),
            None => Ok(()),
        }
    }

    /// Refuses a body in another version.
    pub(super) fn check_version(&self, call: &Call<'_>) -> Result<(), Failure> {
        let (sent, expected) = (self.api_version(), call.resource.api_version());
        if sent == expected {
            return Ok(());
        }
        Err(Failure::bad_request(format!(
            "the API version in the data ({sent}) does not match the expected API version ({expected})"
        )))
    }

    /// The body cannot be read as what it says that it is.
    pub(super) fn unhandled(&self, call: &Call<'_>, why: &str) -> Failure {
        Failure::bad_request(format!(
            "{} in version {:?} cannot be handled as a {}: {why}",
            self.kind, self.version, call.resource.kind
        ))
    }

    fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }
}

/// The name of upstream's package of a group's types.
pub(crate) fn package(group: &str) -> &str {
    match group {
        "" | "events.k8s.io" => "core",
        group => group.split('.').next().unwrap_or_default(),
    }
}

/// Nothing is known of the body.
pub(super) fn unrecognized(call: &Call<'_>, why: &str) -> Failure {
    let shown = summary(call.request.body);
    Failure::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {why} ({shown})",
        call.resource.kind
    ))
}

/// The start of a body, as text if it looks like JSON.
pub(crate) fn summary(body: &[u8]) -> String {
    let start = body.get(..SHOWN_BYTES).unwrap_or(body);
    let shown = match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(start).into_owned(),
        Some(_) => start.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    let more = if body.len() > SHOWN_BYTES { " ..." } else { "" };
    format!("{shown}{more}")
}
