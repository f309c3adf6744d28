//! Properties that users of the library state of their own controllers.

use std::sync::Arc;
use std::time::Duration;

use super::{Happened, Invariant};
use crate::truth::Truth;

/// What is said of all that is stored.
type Property = dyn Fn(&Truth) -> Result<(), String> + Send + Sync;

/// A property of what is stored, with its name.
#[derive(Clone)]
pub struct Always {
    pub(crate) name: &'static str,
    pub(crate) holds: Arc<Property>,
}

impl Invariant for Always {
    fn name(&self) -> &'static str {
        self.name
    }

    fn check(&mut self, happened: &Happened<'_>, truth: &Truth, _: Duration) -> Result<(), String> {
        match happened {
            Happened::Committed { .. } => (self.holds)(truth),
            _ => Ok(()),
        }
    }
}
