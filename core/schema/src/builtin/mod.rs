//! The kinds that every cluster has, with types taken from k8s-openapi when this crate is built.

mod file;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use flyball_api::Text;

use crate::{Resource, Schema, TypeId, Types};

static TYPES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/types.bin"));
static DESCRIPTIONS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptions.bin"));

/// The built-in kinds.
#[derive(Debug, Default)]
pub struct BuiltIn {
    /// The types of all of them.
    pub types: Types,
    /// The resources that a server offers, in order of group, version and plural name.
    pub resources: Vec<Resource>,
    kinds: BTreeMap<[Text; 3], TypeId>,
    names: BTreeMap<Text, TypeId>,
}

/// The built-in kinds, without descriptions.
///
/// They are decoded at the first call and stay in memory.
pub fn builtin() -> &'static BuiltIn {
    static BUILTIN: OnceLock<BuiltIn> = OnceLock::new();
    // A test reads the file that is embedded, so there is always something to read.
    BUILTIN.get_or_init(|| BuiltIn::read(TYPES).unwrap_or_default())
}

/// A number that changes with what is built in.
pub fn digest() -> u64 {
    static DIGEST: OnceLock<u64> = OnceLock::new();
    *DIGEST.get_or_init(|| {
        // FNV-1a.
        let bytes = TYPES.iter().chain(DESCRIPTIONS);
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    })
}

/// The built-in kinds with descriptions, for documents.
///
/// They are decoded at every call, because documents are made seldom and descriptions are most of the memory. Ids are
/// those of [`builtin`].
pub fn described() -> BuiltIn {
    let mut described = BuiltIn::read(TYPES).unwrap_or_default();
    let _ = file::describe(&mut described.types, DESCRIPTIONS);
    described
}

impl BuiltIn {
    fn read(file: &[u8]) -> Option<Self> {
        let content = file::read(file)?;
        let mut names = BTreeMap::new();
        for (id, of) in content.types.iter() {
            if !of.name.is_empty() {
                // The first of a name is the one that documents show.
                names.entry(of.name.clone()).or_insert(id);
            }
        }
        Some(Self {
            types: content.types,
            resources: content.resources,
            kinds: content.kinds.into_iter().collect(),
            names,
        })
    }

    /// The resource with this name in paths.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<&Resource> {
        let wanted = (group, version, plural);
        let key = |of: &Resource| {
            let of = (of.group.as_str(), of.version.as_str(), of.plural.as_str());
            of.cmp(&wanted)
        };
        let at = self.resources.binary_search_by(key).ok()?;
        self.resources.get(at)
    }

    /// The resource whose objects are of this kind.
    pub fn resource_of(&self, group: &str, version: &str, kind: &str) -> Option<&Resource> {
        let of = |of: &&Resource| of.group == group && of.version == version && of.kind == kind;
        self.resources.iter().find(of)
    }

    /// The type of a kind, which need not be a resource: `Scale` and `Eviction` are found as well.
    pub fn kind(&self, group: &str, version: &str, kind: &str) -> Option<Schema<'_>> {
        let key = [group, version, kind].map(Text::from);
        self.kinds.get(&key).map(|id| self.types.schema(*id))
    }

    pub(crate) fn kind_ids(&self) -> impl Iterator<Item = (&[Text; 3], TypeId)> {
        self.kinds.iter().map(|(kind, id)| (kind, *id))
    }

    /// The type with this name in documents, such as `io.k8s.api.core.v1.PodSpec`.
    pub fn named(&self, name: &str) -> Option<Schema<'_>> {
        self.names.get(name).map(|id| self.types.schema(*id))
    }
}

#[cfg(test)]
mod tests;
