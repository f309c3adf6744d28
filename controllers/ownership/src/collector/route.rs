//! Which items a change concerns.

use std::collections::HashSet;

use flyball_api::{Kind, OwnerReference};
use flyball_informer::{Brief, Change, Snapshot};
use flyball_plan::Keys;

use super::finalizers::{held_by, waits_for_dependents, waits_for_freedom};
use super::item::{Item, place};

pub(super) fn route(change: &Change, store: &Snapshot) -> Keys<Item> {
    let mut keys = Keys::new();
    let (old, new) = (change.before(), change.after());
    let is_new = |old: &Brief<'_>| new.is_none_or(|new| new.uid != old.uid);
    if let Some(gone) = old.filter(is_new) {
        left(change.kind, &gone, store, &mut keys);
    }
    if let Some(new) = new {
        // A second look takes nothing for known.
        let before = old.filter(|old| !is_new(old) && !change.resync);
        came(change.kind, before.as_ref(), &new, store, &mut keys);
    }
    keys
}

/// An object is gone: what belonged to it may have to go, and who waited for it may go on.
fn left(kind: Kind, gone: &Brief<'_>, store: &Snapshot, keys: &mut Keys<Item>) {
    keys.extend(dependents(gone, store));
    let owners = gone.lineage.owners;
    keys.extend(
        owners
            .iter()
            .filter_map(|owner| waiting(owner, gone.namespace, store)),
    );
    // Whoever has written to it learns that the write was seen.
    if !owners.is_empty() || !gone.lineage.finalizers.is_empty() {
        keys.push(Item::object(kind, gone));
    }
}

/// An object came or changed.
fn came(
    kind: Kind,
    before: Option<&Brief<'_>>,
    now: &Brief<'_>,
    store: &Snapshot,
    keys: &mut Keys<Item>,
) {
    let itself = || Item::object(kind, now);
    let owners_before = before.map_or(&[][..], |before| before.lineage.owners);
    let owners_now = now.lineage.owners;
    let mut looked_at = false;
    if owners_now != owners_before {
        // What is on its way out, or never to be collected, needs no owners to be looked for.
        let judged = !now.deleting && !names_the_impossible(now, store);
        for owner in only_in(owners_now, owners_before) {
            match seen(owner, now.namespace, store) {
                None if !judged => {}
                None => keys.push(Item::owner(owner, now.namespace)),
                Some((owner_kind, found)) if waits_for_dependents(&found) => {
                    keys.push(Item::object(owner_kind, &found));
                    looked_at = true;
                }
                Some(_) => {}
            }
        }
        for owner in only_in(owners_before, owners_now) {
            keys.extend(waiting(owner, now.namespace, store));
        }
    }
    // An owner that waits reports which finalizers hold its dependent.
    let holding = held_by(now);
    if !holding.is_empty() && before.is_some_and(|before| held_by(before) != holding) {
        let owners = owners_now.iter();
        keys.extend(owners.filter_map(|owner| waiting(owner, now.namespace, store)));
    }
    let begins = |waits: fn(&Brief<'_>) -> bool| waits(now) && !before.is_some_and(waits);
    if begins(waits_for_freedom) {
        looked_at = true;
    }
    if begins(waits_for_dependents) {
        keys.extend(dependents(now, store));
        looked_at = true;
    }
    if looked_at {
        keys.push(itself());
    }
}

/// Whether a cluster-scoped object names an owner that would live in a namespace.
fn names_the_impossible(object: &Brief<'_>, store: &Snapshot) -> bool {
    let known = store.discovery().filter(|_| object.namespace.is_empty());
    known.is_some_and(|known| {
        let kind = |owner: &OwnerReference| known.kind(&owner.api_version, &owner.kind);
        let mut owners = object.lineage.owners.iter();
        owners.any(|owner| kind(owner).is_some_and(|kind| kind.namespaced))
    })
}

/// The references of one list that are not in another; there may be thousands of them.
fn only_in<'a>(
    these: &'a [OwnerReference],
    others: &'a [OwnerReference],
) -> impl Iterator<Item = &'a OwnerReference> {
    let others: HashSet<&OwnerReference> = others.iter().collect();
    these.iter().filter(move |it| !others.contains(it))
}

/// All objects that name this one as an owner.
fn dependents<'a>(owner: &Brief<'_>, store: &'a Snapshot) -> impl Iterator<Item = Item> + use<'a> {
    let dependents = store.dependents(owner.uid);
    dependents.map(|(kind, dependent)| Item::object(kind, &dependent))
}

/// The owner that an object of this namespace names, if a cache shows exactly that one.
pub(super) fn seen<'a>(
    owner: &OwnerReference,
    namespace: &str,
    store: &'a Snapshot,
) -> Option<(Kind, Brief<'a>)> {
    let kind = store.discovery()?.kind(&owner.api_version, &owner.kind)?;
    let view = store.cached_as(kind)?;
    let place = place(kind, namespace, &owner.name);
    let found = view.brief(&place.name.namespace, &place.name.name)?;
    (*found.uid == owner.uid).then(|| (view.kind(), found))
}

/// The owner, if it waits for its dependents in either way. It waits for whoever names its identity,
/// even if they are wrong about the rest.
fn waiting(owner: &OwnerReference, namespace: &str, store: &Snapshot) -> Option<Item> {
    let found = seen(owner, namespace, store).or_else(|| store.find(&owner.uid));
    let (kind, found) = found?;
    let waits = waits_for_dependents(&found) || waits_for_freedom(&found);
    waits.then(|| Item::object(kind, &found))
}
