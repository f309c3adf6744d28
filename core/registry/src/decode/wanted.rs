//! What a body has to be: an object of the kind that its path is about, or of the kind of a part.

use flyball_schema::{Schema, builtin};

use crate::registry::Call;

/// The kind that a body must have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(super) group: &'a str,
    pub(super) version: &'a str,
    pub(crate) kind: &'a str,
    /// An older version that is read as well.
    pub(super) older: &'static str,
    pub(super) schema: Schema<'a>,
}

impl<'a> Wanted<'a> {
    /// What is wanted as the body of a call.
    pub(crate) fn of(call: &'a Call<'_>) -> Self {
        let (group, version, kind, older) = match call.path.subresource.as_str() {
            "binding" => ("", "v1", "Binding", ""),
            "eviction" => ("policy", "v1", "Eviction", "policy/v1beta1"),
            "scale" => ("autoscaling", "v1", "Scale", ""),
            "token" => ("authentication.k8s.io", "v1", "TokenRequest", ""),
            _ => return Self::own(call),
        };
        match builtin().kind(group, version, kind) {
            Some(schema) => Self {
                group,
                version,
                kind,
                older,
                schema,
            },
            None => Self::own(call),
        }
    }

    fn own(call: &'a Call<'_>) -> Self {
        Self {
            group: &call.resource.group,
            version: &call.resource.version,
            kind: &call.resource.kind,
            older: "",
            schema: call.schema(),
        }
    }

    /// What such objects look like.
    pub(crate) fn schema(&self) -> Schema<'a> {
        self.schema
    }

    /// The version as written in objects.
    pub(crate) fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// The kind as upstream writes it in messages.
    pub(crate) fn in_messages(&self) -> String {
        format!("{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}
