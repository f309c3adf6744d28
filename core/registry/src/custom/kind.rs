//! What one version of a definition makes of its objects.

use std::sync::Arc;

use bytes::Bytes;
use flyball_api::Text;
use flyball_schema::{
    Resource, Schema, TypeId, Types, apply_defaults, custom_resource, drop_nulls, prune,
};
use serde_json::Value;

use super::patterns::Patterns;
use super::scale::Scale;
use crate::object::{Object, at};
use crate::stored::{Stored, text};

/// A version of a custom resource.
#[derive(Debug)]
pub(crate) struct Custom {
    /// The name of the definition.
    pub(super) definition: Text,
    /// Tells objects that were stored as this schema says from others; see [`Stored::schema`].
    id: u64,
    digest: u64,
    versions: Arc<Versions>,
    /// Which of the versions this is.
    own: usize,
    /// The `additionalPrinterColumns`.
    columns: Vec<Value>,
    /// The fields that selectors may name, such as `spec.size`.
    fields: Box<[Text]>,
    pub(super) scale: Option<Scale>,
    pub(super) has_status: bool,
    /// What whoever uses this version is told.
    warnings: Vec<String>,
    pub(super) patterns: Patterns,
}

/// The types of all versions of a definition.
#[derive(Debug)]
struct Versions {
    group: Text,
    all: Vec<Version>,
    /// Which of them objects are stored in.
    storage: usize,
}

#[derive(Debug)]
struct Version {
    name: Text,
    types: Types,
    of: TypeId,
}

impl Version {
    fn schema(&self) -> Schema<'_> {
        self.types.schema(self.of)
    }
}

/// All versions of a definition that can be served.
///
/// Objects of a definition that wants its versions converted by a webhook are served in the version that
/// they are stored in, and in no other.
pub(super) fn of_definition(definition: &Object, id: u64) -> Vec<(Resource, Arc<Custom>)> {
    // What is served goes by the names that were given, not by those that were asked for.
    let mut named = definition.clone();
    let names = at(definition, "status.acceptedNames").clone();
    if let Some(spec) = named.get_mut("spec") {
        spec["names"] = names;
    }
    let named = Value::Object(named);
    let spec = &named["spec"];
    let group: Text = spec["group"].as_str().unwrap_or_default().into();
    let listed = spec["versions"].as_array().map_or(&[][..], Vec::as_slice);
    let mut resources = Vec::new();
    let mut all = Vec::new();
    for version in listed {
        let name = version["name"].as_str().unwrap_or_default();
        // A definition that was accepted has all that it takes.
        let Some((types, resource)) = custom_resource(&named, name) else {
            return Vec::new();
        };
        all.push(Version {
            name: name.into(),
            types,
            of: resource.of,
        });
        resources.push(resource);
    }
    let storage = listed.iter().position(|version| version["storage"] == true);
    let versions = Arc::new(Versions {
        group,
        all,
        storage: storage.unwrap_or_default(),
    });
    let digest = fnv_1a(spec.to_string().as_bytes());
    let converts = spec["conversion"]["strategy"] == "Webhook";
    let mut served = Vec::new();
    for (own, (version, resource)) in listed.iter().zip(resources).enumerate() {
        if version["served"] != true || converts && own != versions.storage {
            continue;
        }
        let fields = version["selectableFields"].as_array().into_iter().flatten();
        let fields = fields.filter_map(|field| field["jsonPath"].as_str());
        let custom = Custom {
            definition: named["metadata"]["name"]
                .as_str()
                .unwrap_or_default()
                .into(),
            id,
            digest,
            versions: versions.clone(),
            own,
            columns: version["additionalPrinterColumns"]
                .as_array()
                .cloned()
                .unwrap_or_default(),
            fields: fields
                .map(|path| path.strip_prefix('.').unwrap_or(path).into())
                .collect(),
            scale: Scale::read(&version["subresources"]["scale"]),
            has_status: version["subresources"]["status"].is_object(),
            warnings: super::deprecation::warning(spec, version)
                .into_iter()
                .collect(),
            patterns: Patterns::of(&versions.all[own].types),
        };
        served.push((resource, Arc::new(custom)));
    }
    served
}

/// The 64-bit hash that is easily written: it tells schemas apart, and protects nothing.
fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

impl Custom {
    /// Where the scale of its objects is, if they have one.
    pub(crate) fn scale(&self) -> Option<&Scale> {
        self.scale.as_ref()
    }

    fn own(&self) -> &Version {
        &self.versions.all[self.own]
    }

    fn storage(&self) -> &Version {
        &self.versions.all[self.versions.storage]
    }

    fn is_storage(&self) -> bool {
        self.own == self.versions.storage
    }

    /// What objects of this version look like.
    pub(crate) fn schema(&self) -> Schema<'_> {
        self.own().schema()
    }

    /// What objects of a version look like, if there is one of this name.
    pub(crate) fn schema_of(&self, version: &str) -> Option<Schema<'_>> {
        let mut versions = self.versions.all.iter();
        let found = versions.find(|one| one.name == version)?;
        Some(found.schema())
    }

    /// Where the types of this version are.
    pub(crate) fn types(&self) -> &Types {
        &self.own().types
    }

    /// The fields that selectors may name.
    pub(crate) fn selectable(&self) -> &[Text] {
        &self.fields
    }

    /// A hash of what its definition says.
    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }

    /// The columns of its tables, beside the name.
    pub(crate) fn columns(&self) -> &[Value] {
        &self.columns
    }

    /// What whoever uses this version is told.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether selectors may name this field.
    pub(crate) fn selects(&self, field: &str) -> bool {
        self.fields.iter().any(|one| one == field)
    }

    /// Whether its definition has this name.
    pub(crate) fn is_named(&self, definition: &str) -> bool {
        self.definition == definition
    }

    /// Whether this is another version of the same definition, as it was when this was made.
    pub(crate) fn is_of(&self, other: &Self) -> bool {
        self.id == other.id
    }

    /// An object of this version as it is stored.
    pub(crate) fn stored(&self, object: &Object) -> Arc<Stored> {
        let storage = self.storage();
        if self.is_storage() {
            return Stored::in_version(object, &storage.name, self.id);
        }
        let mut value = Value::Object(object.clone());
        prune(storage.schema(), &mut value);
        match &value {
            Value::Object(pruned) => Stored::in_version(pruned, &storage.name, 0),
            _ => Stored::in_version(object, &storage.name, 0),
        }
    }

    /// A stored object as this version shows it, without `apiVersion` and `kind`.
    pub(crate) fn bare(&self, stored: &Stored) -> Bytes {
        match self.is_storage() && stored.schema() == self.id {
            true => stored.bare().clone(),
            false => text(&self.shown(stored)),
        }
    }

    /// The same as an object.
    ///
    /// The schema may have changed since it was stored: fields that the version in which it was stored
    /// does not have any more are left out, and defaults are filled in. Then it is what this version has
    /// of it.
    pub(crate) fn shown(&self, stored: &Stored) -> Object {
        let object = stored.bare_object();
        if self.is_storage() && stored.schema() == self.id {
            return object;
        }
        let mut value = Value::Object(object);
        let mut versions = self.versions.all.iter();
        let of = versions.find(|version| version.name == stored.version());
        let of = of.unwrap_or(self.storage());
        prune(of.schema(), &mut value);
        drop_nulls(of.schema(), &mut value);
        apply_defaults(of.schema(), &mut value);
        if of.name != self.own().name {
            prune(self.schema(), &mut value);
        }
        match value {
            Value::Object(object) => object,
            _ => Object::new(),
        }
    }

    /// The first field of an object that a version in which somebody owns some of it does not have, as
    /// upstream tells it: owners of versions that differ so much cannot be kept apart.
    pub(crate) fn misfit(&self, object: &Value) -> Option<String> {
        let owners = object["metadata"]["managedFields"].as_array()?;
        let mut versions = owners
            .iter()
            .filter_map(|owner| owner["apiVersion"].as_str());
        versions.find_map(|version| {
            let (group, name) = version.split_once('/')?;
            if name == self.own().name.as_str() {
                return None;
            }
            let mut all = self.versions.all.iter();
            let of = all.find(|of| of.name == name && self.versions.group == group)?;
            let unknown = prune(of.schema(), &mut object.clone());
            let first = unknown.first()?;
            Some(format!(".{}: field not declared in schema", first.path()))
        })
    }

    /// An object of this version in another one, with the type that it has there.
    pub(crate) fn in_version(
        &self,
        object: &Value,
        api_version: &str,
    ) -> Option<(Value, Schema<'_>)> {
        let (group, name) = api_version.split_once('/')?;
        let mut all = self.versions.all.iter();
        let version = all.find(|version| version.name == name && self.versions.group == group)?;
        let mut value = object.clone();
        value["apiVersion"] = api_version.into();
        prune(version.schema(), &mut value);
        Some((value, version.schema()))
    }
}
