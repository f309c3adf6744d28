//! A request whose words have been understood: what it is about, in which version, by which rules.

use std::sync::Arc;

use flyball_schema::{Resource, Schema};

use crate::field_error::FieldError;
use crate::object::Object;
use crate::path::ResourcePath;
use crate::query::Query;
use crate::request::{Representation, Request};
use crate::served::Kind;
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

    /// Fills in what was left out. An object of another version was filled in when it was turned.
    pub(crate) fn default(&self, object: &mut Object) {
        if versions::of(&self.resource).is_none() {
            self.rules().default(object);
        }
        self.resource.settle(object);
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

    pub(crate) fn schema(&self) -> Schema<'_> {
        self.resource.schema()
    }
}
