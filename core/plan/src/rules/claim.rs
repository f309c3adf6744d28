//! Adoption and release: which children belong to a parent.
//!
//! Upstream: `pkg/controller/controller_ref_manager.go`. A child with another controller is left
//! alone; one of ours that no longer matches is released; an orphan that matches is adopted,
//! after the server itself confirmed that the parent still lives.

use flyball_api::{Kind, LeanMeta, Object, OwnerReference, Uid, patch};

use crate::{Action, Answer, Precondition, Read, Target, Write};

/// What to do about one child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Not ours, or not ours to touch.
    Ignore,
    /// Ours.
    Keep,
    /// Ours, but no longer matching: let go.
    Release,
    /// Nobody's, and matching: take over.
    Adopt,
}

/// Decides about one child of `parent`. `matches` says whether the parent's selector matches it.
pub fn claim(parent: &LeanMeta, child: &LeanMeta, matches: bool) -> Claim {
    match child.controller() {
        Some(owner) if owner.uid != parent.uid => Claim::Ignore,
        Some(_) if matches => Claim::Keep,
        Some(_) if parent.is_deleting() => Claim::Ignore,
        Some(_) => Claim::Release,
        None if parent.is_deleting() || !matches => Claim::Ignore,
        None if child.is_deleting() || !may_own(parent, child) => Claim::Ignore,
        None => Claim::Adopt,
    }
}

/// Owners live in the namespace of what they own, or in none.
fn may_own(parent: &LeanMeta, child: &LeanMeta) -> bool {
    parent.namespace.is_empty() || parent.namespace == child.namespace
}

/// Makes `parent` the controller of `child`, of which this must hold.
pub fn adopt(
    parent_kind: Kind,
    parent: &LeanMeta,
    child_kind: Kind,
    child: &LeanMeta,
    precondition: Precondition,
) -> Action {
    let owner = OwnerReference::controller_of(parent_kind, &parent.name, &parent.uid);
    let patch = patch::adopt(&child.uid, &owner, &[]);
    Write::patch(Target::of(child_kind, child), precondition, patch).into()
}

/// Takes `parent` off the owners of `child`, of which this must hold.
pub fn release(
    parent: &Uid,
    child_kind: Kind,
    child: &LeanMeta,
    precondition: Precondition,
) -> Action {
    let patch = patch::release(&child.uid, &[parent], &[]);
    Write::patch(Target::of(child_kind, child), precondition, patch).into()
}

/// Reads the parent past all caches, which must happen before the first adoption of a sync: a
/// cache may still show a parent that was deleted and made anew.
pub fn recheck(parent_kind: Kind, parent: &LeanMeta) -> Action {
    Read::get(Target::of(parent_kind, parent)).into()
}

/// Whether the server's word allows adoptions; if not, why not.
pub fn may_adopt<T: Object>(parent: &LeanMeta, answer: &Answer) -> Result<(), String> {
    let name = parent.object_name();
    match answer {
        Answer::Read(json) => {
            let live = T::decode(json.json().as_bytes()).map_err(|error| error.to_string())?;
            if *live.uid() != parent.uid {
                return Err(format!(
                    "original {} {name} is gone: got uid {}, wanted {}",
                    T::kind().kind,
                    live.uid(),
                    parent.uid
                ));
            }
            if live.is_deleting() {
                return Err(format!("{name} has just been deleted"));
            }
            Ok(())
        }
        Answer::Failed(error) => Err(error.to_string()),
        _ => Err(format!("{name} was not read")),
    }
}

#[cfg(test)]
mod tests;
