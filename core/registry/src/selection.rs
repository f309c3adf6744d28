//! Which objects a list or a watch is about.

use std::sync::Arc;

use flyball_api::selector::FieldSelector;
use flyball_api::{Selector, Text};
use flyball_schema::Resource;

use crate::custom::Custom;
use crate::failure::Failure;
use crate::kinds::field_value;
use crate::object::{Object, selectable};
use crate::query::Query;
use crate::served::Kind;
use crate::stored::Stored;

/// Which objects of a collection are meant.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    labels: Option<Selector>,
    fields: Option<FieldSelector>,
    /// What the objects are, if they are custom.
    custom: Option<Arc<Custom>>,
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
                let object: Object = serde_json::from_slice(stored.bare()).unwrap_or_default();
                has_fields(fields, &object, field_value)
            }
        }
    }
}

fn has_fields(fields: &FieldSelector, object: &Object, value: fn(&Object, &str) -> Text) -> bool {
    let values: Vec<_> = fields
        .fields()
        .map(|field| (field, value(object, field)))
        .collect();
    let value_of = |field: &str| values.iter().find(|(one, _)| *one == field);
    fields.matches_with(|field| value_of(field).map(|(_, value)| value.as_str()))
}

fn check(resource: &Kind, fields: &FieldSelector) -> Result<(), Failure> {
    let known = resource.rules().selectable_fields();
    for field in fields.fields() {
        let common =
            field == "metadata.name" || (field == "metadata.namespace" && resource.namespaced);
        let custom = resource.of_definition();
        if custom.is_some_and(|custom| !common && !custom.selects(field)) {
            let message = format!("field label not supported: {field}");
            return Err(Failure::bad_request(message));
        }
        if custom.is_none() && !common && !known.contains(&field) {
            let group_version = resource.api_version();
            let message = format!(
                "Unable to find \"{}\" that match label selector \"\", field selector \"{fields}\": \
                 field label not supported: {field}",
                gvr(resource, &group_version)
            );
            return Err(Failure::bad_request(message));
        }
    }
    Ok(())
}

/// `/v1, Resource=pods`, as upstream prints a resource with its version.
fn gvr(resource: &Resource, group_version: &str) -> String {
    let slash = if resource.group.is_empty() { "/" } else { "" };
    format!("{slash}{group_version}, Resource={}", resource.plural)
}
