//! Every plan names what it was judged by.
//!
//! Authority: `docs/decisions/0003-controller-trait.md`; the linter of `core/plan`.

use std::time::Duration;

use flyball_plan::lint;

use super::{Happened, Invariant};
use crate::truth::Truth;

pub(super) struct Preconditions;

impl Invariant for Preconditions {
    fn name(&self) -> &'static str {
        "every write names what it was judged by"
    }

    fn check(&mut self, happened: &Happened<'_>, _: &Truth, _: Duration) -> Result<(), String> {
        let Happened::Decided(decided) = happened else {
            return Ok(());
        };
        match lint(decided.actions).first() {
            None => Ok(()),
            Some(lint) => Err(format!(
                "{} {}: {lint:?} in stage {}",
                decided.controller, decided.key, decided.actions.stage
            )),
        }
    }
}
