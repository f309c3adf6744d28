//! Documents that describe an API to its clients: OpenAPI v3, one per group and version, and OpenAPI v2, one for all.
//!
//! kubectl reads them to explain fields, to compute patches and to learn which parameters a server knows. Built-in
//! kinds and custom resources go through the same functions: what is described is an [`Offered`] resource, whatever
//! its types come from. Parts that belong to every document (`Status`, `DeleteOptions`, lists) come from the built-in
//! types, which must be [`described`](crate::described) for descriptions to appear.

mod custom;
mod enums;
mod operations;
mod parameters;
mod protobuf;
mod rules;
mod schemas;
mod v2;
mod v3;

use flyball_api::Text;

use crate::{BuiltIn, Resource, Schema, Types};

pub use protobuf::{MEDIA_TYPE as V2_PROTOBUF, MEDIA_TYPE_ASKED as V2_PROTOBUF_ASKED, v2_protobuf};
pub use v2::document as v2;
pub use v3::{document as v3, index as v3_index};

/// A resource with the arena of its types.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    /// The resource.
    pub resource: &'a Resource,
    /// Where its type is.
    pub types: &'a Types,
    /// The fields of a custom resource that selectors may name.
    pub selectable: &'a [Text],
}

impl<'a> Offered<'a> {
    fn schema(self) -> Schema<'a> {
        self.types.schema(self.resource.of)
    }
}

impl BuiltIn {
    /// The built-in resources of a group and version, as documents take them.
    pub fn offered(&self, group: &str, version: &str) -> Vec<Offered<'_>> {
        let all = self.all_offered().into_iter();
        let of = |of: &Offered<'_>| of.resource.group == group && of.resource.version == version;
        all.filter(of).collect()
    }

    /// All built-in resources, as documents take them.
    pub fn all_offered(&self) -> Vec<Offered<'_>> {
        let offered = |resource| Offered {
            resource,
            types: &self.types,
            selectable: &[],
        };
        self.resources.iter().map(offered).collect()
    }
}

/// The path under which a group and version is served, without a leading slash: `api/v1`, `apis/apps/v1`.
pub fn root(group: &str, version: &str) -> String {
    match group {
        "" => format!("api/{version}"),
        group => format!("apis/{group}/{version}"),
    }
}

#[cfg(test)]
mod tests;
