//! What a sync looks at: an object with its owners and dependents, or an owner nobody has seen.

use flyball_api::{Kind, OwnerReference, Text, Uid};
use flyball_informer::{Brief, Snapshot};
use flyball_plan::{Precondition, Target};

use super::absent::AbsentOwners;
use super::finalizers::{held_by, waits_for_dependents, waits_for_freedom};
use super::item::{Item, place, same_coordinates};
use super::route::seen as owner_seen;

/// How many dependents are set free at once.
pub(super) const FREED_AT_ONCE: usize = 500;

/// All that a sync looks at.
#[derive(Debug)]
pub enum Observation {
    /// An object.
    Object(Box<Seen>),
    /// An owner that no cache shows.
    Owner(Unseen),
}

/// An object as a cache shows it.
#[derive(Debug)]
pub struct Seen {
    pub(super) target: Target,
    pub(super) uid: Uid,
    pub(super) resource_version: Text,
    pub(super) finalizers: Vec<Text>,
    /// The kinds that may hold dependents which no cache shows yet.
    pub(super) unlisted: Vec<Kind>,
    pub(super) state: State,
}

/// What is to be decided about an object.
#[derive(Debug)]
pub(super) enum State {
    /// It is on its way out and waits for nothing that is done here.
    Going,
    /// It waits for its dependents to be set free; the first of them, and whether there are more.
    Freeing(Vec<Dependent>, bool),
    /// It waits for its dependents to be gone; one that blocks it, if any does.
    Waiting(Option<Blocker>),
    /// It stays, if it belongs to nobody or to somebody who lives.
    Staying {
        /// Whom it belongs to, with what is known of each.
        owners: Vec<Owner>,
        /// Whether anything belongs to it.
        has_dependents: bool,
        /// Whether something that belongs to it waits for dependents itself, which may be a circle.
        in_a_circle: bool,
    },
}

/// A dependent that blocks the deletion of its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blocker {
    /// The dependent.
    pub(super) target: Target,
    /// The finalizers that keep it, if it is terminating itself.
    pub(super) finalizers: Vec<Text>,
}

/// An owner, as far as caches and discovery know it.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub(super) reference: OwnerReference,
    pub(super) standing: Standing,
}

impl Owner {
    /// Whether it waits for the object that names it, once it is deleted in the foreground.
    pub(super) fn is_blocked(&self) -> bool {
        self.reference.block_owner_deletion == Some(true)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// A cache shows it alive.
    Alive,
    /// The server is to be asked.
    Doubtful {
        /// For whom.
        target: Target,
        /// Whether one of that identity lives in another namespace.
        elsewhere: bool,
    },
    /// It is known not to exist.
    Absent {
        /// Where it was.
        target: Target,
        /// Whether one of that identity lives in another namespace.
        elsewhere: bool,
    },
    /// Discovery does not name the kind.
    Unknown,
    /// It would live in a namespace, and the dependent lives in none.
    Misplaced,
}

/// Something that is to be set free.
#[derive(Debug)]
pub(super) struct Dependent {
    pub(super) target: Target,
    pub(super) precondition: Precondition,
    /// The owners that stay.
    pub(super) owners: Vec<OwnerReference>,
}

/// An owner that no cache shows.
#[derive(Debug)]
pub struct Unseen {
    pub(super) uid: Uid,
    pub(super) standing: Standing,
    /// Whether objects of its kind are cached, so that it should show up.
    pub(super) cached: bool,
    /// Those who name it so.
    pub(super) dependents: Vec<Item>,
}

pub(super) fn observe(item: &Item, store: &Snapshot, absent: &AbsentOwners) -> Option<Observation> {
    let world = World { store, absent };
    match item {
        Item::Object { kind, name, uid } => {
            let found = store.view_of(*kind)?.brief(&name.namespace, &name.name)?;
            (found.uid == uid).then(|| Observation::Object(Box::new(object(*kind, &found, world))))
        }
        Item::Owner {
            api_version,
            kind,
            namespace,
            name,
            uid,
        } => {
            let reference = OwnerReference {
                api_version: api_version.clone(),
                kind: kind.clone(),
                name: name.clone(),
                uid: uid.clone(),
                controller: None,
                block_owner_deletion: None,
            };
            unseen(&reference, namespace, world).map(Observation::Owner)
        }
    }
}

/// The caches, and what is remembered.
#[derive(Clone, Copy)]
struct World<'a> {
    store: &'a Snapshot,
    absent: &'a AbsentOwners,
}

fn object(kind: Kind, found: &Brief<'_>, world: World<'_>) -> Seen {
    Seen {
        target: Target {
            kind,
            name: found.object_name(),
        },
        uid: found.uid.clone(),
        resource_version: found.resource_version.into(),
        finalizers: found.lineage.finalizers.to_vec(),
        unlisted: world.store.incomplete().to_vec(),
        state: state(found, world),
    }
}

fn state(found: &Brief<'_>, world: World<'_>) -> State {
    let mut dependents = world.store.dependents(found.uid);
    if waits_for_freedom(found) {
        let free = |(kind, dependent): (Kind, Brief<'_>)| freed(kind, &dependent, found);
        let first: Vec<Dependent> = dependents.by_ref().take(FREED_AT_ONCE).map(free).collect();
        return State::Freeing(first, dependents.next().is_some());
    }
    if waits_for_dependents(found) {
        let blocks = |owner: &OwnerReference| {
            owner.uid == *found.uid && owner.block_owner_deletion == Some(true)
        };
        let blocking = dependents.find(|(_, it)| it.lineage.owners.iter().any(blocks));
        return State::Waiting(blocking.map(|(kind, it)| Blocker {
            target: Target {
                kind,
                name: it.object_name(),
            },
            finalizers: held_by(&it).to_vec(),
        }));
    }
    if found.deleting {
        return State::Going;
    }
    let owners = found.lineage.owners.iter().map(|reference| Owner {
        reference: reference.clone(),
        standing: standing(reference, found.namespace, world),
    });
    let owners: Vec<Owner> = owners.collect();
    let mut dependents = dependents.peekable();
    State::Staying {
        has_dependents: dependents.peek().is_some(),
        // Only of interest to those who are about to go, of whom there are few with dependents.
        in_a_circle: owners.iter().all(|it| it.standing != Standing::Alive)
            && dependents.any(|(_, it)| waits_for_dependents(&it)),
        owners,
    }
}

fn freed(kind: Kind, dependent: &Brief<'_>, owner: &Brief<'_>) -> Dependent {
    let stays = |it: &&OwnerReference| it.uid != *owner.uid;
    Dependent {
        target: Target {
            kind,
            name: dependent.object_name(),
        },
        precondition: Precondition {
            uid: Some(dependent.uid.clone()),
            resource_version: Some(dependent.resource_version.into()),
        },
        owners: dependent
            .lineage
            .owners
            .iter()
            .filter(stays)
            .cloned()
            .collect(),
    }
}

/// What is known of an owner that an object of this namespace names.
fn standing(owner: &OwnerReference, namespace: &str, world: World<'_>) -> Standing {
    let World { store, absent } = world;
    let known = store.discovery();
    let known = known.and_then(|known| known.kind(&owner.api_version, &owner.kind));
    let Some(kind) = known else {
        return Standing::Unknown;
    };
    if kind.namespaced && namespace.is_empty() {
        return Standing::Misplaced;
    }
    match owner_seen(owner, namespace, store) {
        Some((_, found)) if !waits_for_dependents(&found) => Standing::Alive,
        Some(_) => Standing::Doubtful {
            target: place(kind, namespace, &owner.name),
            elsewhere: false,
        },
        None => {
            let found = store.cached_as(kind).and_then(|view| view.find(&owner.uid));
            let elsewhere =
                found.is_some_and(|it| !it.namespace.is_empty() && it.namespace != namespace);
            let target = place(kind, namespace, &owner.name);
            match absent.has(&target, &owner.uid) {
                true => Standing::Absent { target, elsewhere },
                false => Standing::Doubtful { target, elsewhere },
            }
        }
    }
}

fn unseen(owner: &OwnerReference, namespace: &str, world: World<'_>) -> Option<Unseen> {
    let store = world.store;
    if owner_seen(owner, namespace, store).is_some() {
        return None;
    }
    let standing = standing(owner, namespace, world);
    let kind = match &standing {
        Standing::Doubtful { target, .. } | Standing::Absent { target, .. } => Some(target.kind),
        _ => None,
    };
    let cached = kind.is_some_and(|kind| store.cached_as(kind).is_some());
    // Where the kind lives in no namespace, dependents of all namespaces mean the same.
    let scoped = kind.is_none_or(|kind| kind.namespaced);
    let names_it = |dependent: &Brief<'_>| {
        let owners = dependent.lineage.owners;
        (!scoped || dependent.namespace == namespace)
            && owners.iter().any(|it| same_coordinates(it, owner))
    };
    let dependents = store.dependents(&owner.uid);
    let dependents: Vec<Item> = dependents
        .filter(|(_, dependent)| names_it(dependent))
        .map(|(kind, dependent)| Item::object(kind, &dependent))
        .collect();
    (!dependents.is_empty()).then(|| Unseen {
        uid: owner.uid.clone(),
        standing,
        cached,
        dependents,
    })
}
