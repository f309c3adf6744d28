//! A namespace goes only when it is empty.
//!
//! Authority: the finalizer `kubernetes` of `v1.NamespaceSpec.finalizers`; what was left behind
//! would belong to whoever makes the next namespace of that name.

use std::time::Duration;

use super::{Happened, Invariant};
use crate::truth::Truth;

pub(super) struct Emptiness;

impl Invariant for Emptiness {
    fn name(&self) -> &'static str {
        "a namespace goes only when it is empty"
    }

    fn check(&mut self, happened: &Happened<'_>, truth: &Truth, _: Duration) -> Result<(), String> {
        let Happened::Committed { changed, .. } = happened else {
            return Ok(());
        };
        if changed.resource != "namespaces" || changed.after.is_some() {
            return Ok(());
        }
        let name = &changed.name.name;
        match truth.things().find(|(_, it)| it.meta().namespace == *name) {
            None => Ok(()),
            Some((key, _)) => Err(format!("{name} is gone, and {key} is still there")),
        }
    }
}
