//! What can be done with a resource.

use std::fmt;

/// Something that can be done with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Read one object.
    Get,
    /// Read all of them.
    List,
    /// Follow their changes.
    Watch,
    /// Make one.
    Create,
    /// Replace one.
    Update,
    /// Change parts of one.
    Patch,
    /// Delete one.
    Delete,
    /// Delete many.
    DeleteCollection,
}

const NAMES: &[(Verb, &str)] = &[
    (Verb::Get, "get"),
    (Verb::List, "list"),
    (Verb::Watch, "watch"),
    (Verb::Create, "create"),
    (Verb::Update, "update"),
    (Verb::Patch, "patch"),
    (Verb::Delete, "delete"),
    (Verb::DeleteCollection, "deletecollection"),
];

/// A set of verbs.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Verbs(u8);

impl Verbs {
    /// The verbs of these names; what is unknown is passed over.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let bit = |name: &str| {
            let known = NAMES.iter().find(|(_, known)| *known == name);
            known.map_or(0, |(verb, _)| 1 << *verb as u8)
        };
        Self(names.into_iter().fold(0, |set, name| set | bit(name)))
    }

    /// Every verb there is.
    pub fn all() -> Self {
        Self::named(NAMES.iter().map(|(_, name)| *name))
    }

    /// Whether this can be done.
    pub fn has(self, verb: Verb) -> bool {
        self.0 & (1 << verb as u8) != 0
    }
}

impl fmt::Debug for Verbs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = NAMES.iter().filter(|(verb, _)| self.has(*verb));
        f.debug_set().entries(names.map(|(_, name)| name)).finish()
    }
}
