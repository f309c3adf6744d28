//! Second versions: kinds that are kept in one version and told in another too.
//!
//! Everything between reading a request and answering it sees objects as they are kept. At the edges
//! they are turned: what was sent is read in its own version, defaulted by the rules of the kept one,
//! patched and applied in its own again, and answers and watches are told in the version they were
//! asked for. Who owns which field is remembered in the version in which it was set.
//!
//! Upstream: `pkg/apis/autoscaling/v1/conversion.go`, `pkg/apis/events/v1/conversion.go`.

mod autoscalers;
mod behavior;
mod events;
mod metrics;
mod notation;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use flyball_schema::{Resource, Schema, builtin};
use serde_json::Value;

use crate::answer::Answer;
use crate::depth;
use crate::object::Object;
use crate::stored::{Stored, text};

/// How a version is turned into the one that is kept.
#[derive(Debug)]
pub(crate) struct Version {
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    kept: Kept,
    /// The object as it is kept.
    to_kept: fn(Object) -> Object,
    /// The object as this version tells it.
    from_kept: fn(Object) -> Object,
    /// What fields are called in this version, and in the one that is kept.
    fields: &'static [(&'static str, &'static str)],
    /// Whether this version has its own idea of what is valid.
    pub(crate) judges: bool,
}

/// The version that is kept.
#[derive(Debug)]
struct Kept {
    group: &'static str,
    version: &'static str,
}

static VERSIONS: [Version; 2] = [
    Version {
        group: "autoscaling",
        version: "v1",
        plural: "horizontalpodautoscalers",
        kept: Kept {
            group: "autoscaling",
            version: "v2",
        },
        to_kept: autoscalers::to_kept,
        from_kept: autoscalers::from_kept,
        fields: &[],
        judges: false,
    },
    Version {
        group: "events.k8s.io",
        version: "v1",
        plural: "events",
        kept: Kept {
            group: "",
            version: "v1",
        },
        to_kept: events::to_kept,
        from_kept: events::from_kept,
        fields: events::FIELDS,
        judges: true,
    },
];

/// How a resource is turned; nothing if it is kept as it is.
pub(crate) fn of(resource: &Resource) -> Option<&'static Version> {
    VERSIONS.iter().find(|one| {
        one.plural == resource.plural
            && one.group == resource.group
            && one.version == resource.version
    })
}

/// The resource whose objects are kept for this one.
pub(crate) fn kept(resource: &Resource) -> Option<&'static Resource> {
    let version = of(resource)?;
    let Kept {
        group,
        version: kept,
    } = version.kept;
    builtin().resource(group, kept, version.plural)
}

impl Version {
    /// The object as it is kept.
    pub(crate) fn to_kept(&self, object: Object) -> Object {
        let mut kept = (self.to_kept)(object);
        let version = api_version(self.kept.group, self.kept.version);
        kept.insert("apiVersion".to_owned(), version.into());
        kept
    }

    /// The object as this version tells it.
    pub(crate) fn as_told(&self, object: Object) -> Object {
        let mut told = (self.from_kept)(object);
        let version = api_version(self.group, self.version);
        told.insert("apiVersion".to_owned(), version.into());
        told
    }

    /// The text of a kept object as this version tells it, without `apiVersion` and `kind`.
    pub(crate) fn bare(&self, stored: &Stored) -> Bytes {
        let mut told = (self.from_kept)(stored.bare_object());
        told.remove("apiVersion");
        told.remove("kind");
        text(&told)
    }

    /// What a field is called where it is kept.
    pub(crate) fn kept_field<'a>(&self, field: &'a str) -> &'a str {
        let found = self.fields.iter().find(|(own, _)| *own == field);
        found.map_or(field, |(_, kept)| kept)
    }

    /// Turns the objects in an answer.
    pub(crate) fn tell_answer(&self, answer: &mut Answer) {
        let Ok(mut body) = depth::read(&answer.body) else {
            return;
        };
        let kind = body.get("kind").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "Status" | "PartialObjectMetadata" | "PartialObjectMetadataList" => return,
            "Table" => self.tell_rows(&mut body),
            kind if kind.ends_with("List") => {
                let items = body.get_mut("items").and_then(Value::as_array_mut);
                for item in items.into_iter().flatten() {
                    self.tell(item);
                    // Items of a list do not say what they are.
                    if let Some(item) = item.as_object_mut() {
                        item.remove("apiVersion");
                        item.remove("kind");
                    }
                }
            }
            _ => body = self.as_told(body),
        }
        answer.body = text(&body);
    }

    /// Turns the objects in the rows of a table, where they are whole.
    pub(crate) fn tell_rows(&self, table: &mut Object) {
        let rows = table.get_mut("rows").and_then(Value::as_array_mut);
        for row in rows.into_iter().flatten() {
            if let Some(object) = row.get_mut("object")
                && !object.is_null()
                && object["kind"] != "PartialObjectMetadata"
            {
                self.tell(object);
            }
        }
    }

    fn tell(&self, value: &mut Value) {
        if let Value::Object(object) = value {
            *value = Value::Object(self.as_told(std::mem::take(object)));
        }
    }
}

fn api_version(group: &str, version: &str) -> String {
    match group {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    }
}

/// An object of a kind in another of its versions, with the type it has there.
pub(crate) fn in_version(
    resource: &Resource,
    object: &Value,
    wanted: &str,
) -> Option<(Value, Schema<'static>)> {
    // Owners of another group are forgotten, as upstream forgets them.
    let is_same = |one: &Version| {
        let kept = (one.kept.group, one.kept.version);
        let own = (one.group, one.version);
        let asked = (resource.group.as_str(), resource.version.as_str());
        one.plural == resource.plural && one.group == one.kept.group && [kept, own].contains(&asked)
    };
    let version = VERSIONS.iter().find(|one| is_same(one))?;
    let own = api_version(version.group, version.version);
    let kept = api_version(version.kept.group, version.kept.version);
    let is_kept = resource.api_version() == kept;
    let object = object.as_object()?.clone();
    let (turned, group, name) = if wanted == own && is_kept {
        (version.as_told(object), version.group, version.version)
    } else if wanted == kept && !is_kept {
        let Kept {
            group,
            version: name,
        } = version.kept;
        (version.to_kept(object), group, name)
    } else {
        return None;
    };
    let schema = builtin().kind(group, name, &resource.kind)?;
    Some((Value::Object(turned), schema))
}
