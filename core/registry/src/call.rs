//! A request whose words have been understood: what it is about, in which version, by which rules.

use std::sync::Arc;

use bytes::Bytes;
use flyball_schema::{Resource, Schema};
use serde_json::json;

use crate::field_error::FieldError;
use crate::object::{Meta, Object};
use crate::path::ResourcePath;
use crate::query::Query;
use crate::request::{Representation, Request};
use crate::served::Kind;
use crate::stored::{Stored, text, whole};
use crate::{kinds, versions};

/// A request whose words have been understood.
pub(crate) struct Call<'a> {
    pub(crate) request: Request<'a>,
    pub(crate) path: ResourcePath,
    pub(crate) resource: Arc<Kind>,
    pub(crate) query: Query,
    pub(crate) representation: Representation,
}

impl Call<'_> {
    /// What is particular about the objects, as they are kept.
    pub(crate) fn rules(&self) -> &dyn kinds::Rules {
        match versions::kept(&self.resource) {
            Some(kept) => kinds::of(kept),
            None => self.resource.rules(),
        }
    }

    /// The resource in the version that is kept.
    pub(crate) fn kept(&self) -> &Resource {
        versions::kept(&self.resource).unwrap_or(&self.resource)
    }

    /// A stored object as it is kept, with what is not told of it: what a write begins with.
    pub(crate) fn kept_object(&self, stored: &Stored) -> Object {
        let mut object = self.resource.object(stored);
        if self.resource.of_definition().is_none() {
            self.rules().reveal(&mut object, stored.hidden());
        }
        // It says that it is of the version in which it is kept, as what it is compared with.
        if let Some(kept) = versions::kept(&self.resource) {
            object.insert("apiVersion".to_owned(), kept.api_version().into());
        }
        object
    }

    /// An object that was sent, as it is kept.
    pub(crate) fn to_kept(&self, object: Object) -> Object {
        match versions::of(&self.resource) {
            Some(version) => version.to_kept(object),
            None => object,
        }
    }

    /// An object that is kept, in the version of the call.
    pub(crate) fn as_told(&self, object: Object) -> Object {
        match versions::of(&self.resource) {
            Some(version) => version.as_told(object),
            None => object,
        }
    }

    /// Fills in what was left out, and says where something empty was held. An object of another version was filled in
    /// when it was turned.
    pub(crate) fn default(&self, object: &mut Object) -> Vec<String> {
        if versions::of(&self.resource).is_none() {
            self.rules().default(object);
        }
        // Owners that are none are a wish: that all be forgotten.
        let forgets = object.meta().get("managedFields") == Some(&json!([]));
        let emptied = self.resource.settle(object);
        if forgets {
            object
                .meta_mut()
                .insert("managedFields".to_owned(), json!([]));
        }
        emptied
    }

    /// Makes of a valid object what is kept of it, if something empty was held at these places.
    pub(crate) fn conclude(&self, object: &mut Object, emptied: &[String]) {
        self.rules().conclude(object);
        if !emptied.is_empty() {
            self.resource.store(object);
            // What was empty is not there when it is read again, and is filled in then.
            self.default(object);
        }
    }

    /// The mistakes in an object that is about to be kept, beside those in its metadata.
    pub(crate) fn mistakes(&self, new: &Object, old: Option<&Object>) -> Vec<FieldError> {
        let judge = versions::of(&self.resource).filter(|version| version.judges);
        match (judge, old) {
            (None, None) => self.rules().validate_create(new),
            (None, Some(old)) => self.rules().validate_update(new, old),
            (Some(version), None) => {
                let rules = self.resource.rules();
                rules.validate_create(&version.as_told(new.clone()))
            }
            (Some(version), Some(old)) => {
                let old = version.as_told(old.clone());
                let rules = self.resource.rules();
                rules.validate_update(&version.as_told(new.clone()), &old)
            }
        }
    }

    /// An object as it is told after it has been kept, although it is not.
    pub(crate) fn as_if_kept(&self, object: &Object) -> Bytes {
        match self.resource.of_definition() {
            // What is kept is of another version, whose schema has other fields and defaults.
            Some(_) => {
                let stored = self.resource.stored(object);
                whole(&self.resource, &self.resource.bare(&stored))
            }
            None => self.told(object),
        }
    }

    /// The text of an object without what is kept of it and not told.
    pub(crate) fn told(&self, object: &Object) -> Bytes {
        match self.rules().hide(object) {
            Some((told, _)) => text(&told),
            None => text(object),
        }
    }

    pub(crate) fn schema(&self) -> Schema<'_> {
        self.resource.schema()
    }
}
