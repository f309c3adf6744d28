//! Which objects a list or a watch is about.

use std::sync::Arc;

use flyball_api::selector::FieldSelector;
use flyball_api::{Selector, Text};

use crate::custom::Custom;
use crate::failure::Failure;
use crate::kinds::field_value;
use crate::object::{Object, selectable};
use crate::query::Query;
use crate::served::Kind;
use crate::stored::Stored;
use crate::versions::{self, Version};

/// Which objects of a collection are meant.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    labels: Option<Selector>,
    fields: Option<FieldSelector>,
    /// What the objects are, if they are custom.
    custom: Option<Arc<Custom>>,
    /// How the names of fields are turned, if they are of another version than the one that is kept.
    version: Option<&'static Version>,
}

impl Selection {
    /// What a query selects. `name` narrows it to one object.
    pub(crate) fn new(resource: &Kind, query: &Query, name: &str) -> Result<Self, Failure> {
        let mut fields = query.fields.clone();
        if let Some(fields) = &fields {
            check(resource, fields)?;
        }
        if !name.is_empty() {
            if let Some(asked) = &fields
                && asked
                    .required_value("metadata.name")
                    .is_some_and(|asked| asked != name)
            {
                return Err(Failure::bad_request(
                    "fieldSelector metadata.name doesn't match requested name",
                ));
            }
            fields = Some(FieldSelector::equal("metadata.name", name));
        }
        Ok(Self {
            labels: query.labels.clone(),
            fields,
            custom: resource.of_definition().cloned(),
            version: versions::of(resource),
        })
    }

    /// Whether every object is meant.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_none() && self.fields.is_none()
    }

    /// Whether this object is meant.
    pub(crate) fn has(&self, stored: &Stored) -> bool {
        if let Some(labels) = &self.labels
            && !labels.matches_with(|key| stored.labels().get(key))
        {
            return false;
        }
        let Some(fields) = &self.fields else {
            return true;
        };
        match &self.custom {
            Some(custom) => has_fields(fields, &custom.shown(stored), selectable),
            None => {
                let object = stored.bare_object();
                let value = |object: &Object, field: &str| match self.version {
                    Some(version) => field_value(object, version.kept_field(field)),
                    None => field_value(object, field),
                };
                has_fields(fields, &object, value)
            }
        }
    }
}

fn has_fields(
    fields: &FieldSelector,
    object: &Object,
    value: impl Fn(&Object, &str) -> Text,
) -> bool {
    let values: Vec<_> = fields
        .fields()
        .map(|field| (field, value(object, field)))
        .collect();
    let value_of = |field: &str| values.iter().find(|(one, _)| *one == field);
    fields.matches_with(|field| value_of(field).map(|(_, value)| value.as_str()))
}

/// Refuses fields that objects of the kind cannot be selected by. Upstream words it in two ways: kinds that convert
/// the names of fields themselves say less.
fn check(resource: &Kind, fields: &FieldSelector) -> Result<(), Failure> {
    let known = resource.rules().selectable_fields();
    let converts = match resource.group.as_str() {
        "" => CONVERTING.contains(&resource.plural.as_str()),
        "certificates.k8s.io" | "events.k8s.io" => true,
        _ => resource.of_definition().is_some(),
    };
    let custom = resource.of_definition();
    for field in fields.fields() {
        let is_shared = match field {
            "metadata.name" => true,
            "metadata.namespace" => !converts || resource.namespaced,
            _ => false,
        };
        let is_custom = custom.is_some_and(|custom| custom.selects(field));
        if is_shared || is_custom || known.contains(&field) {
            continue;
        }
        let is_job = resource.group == "batch" && resource.plural == "jobs";
        return Err(Failure::bad_request(match converts {
            true => format!("field label not supported: {field}"),
            false if is_job => format!("field label {field:?} not supported for Job"),
            false => format!(
                "{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            ),
        }));
    }
    Ok(())
}

/// Kinds of the core group that convert the names of fields themselves.
const CONVERTING: &[&str] = &[
    "events",
    "namespaces",
    "nodes",
    "pods",
    "replicationcontrollers",
    "secrets",
    "services",
];
