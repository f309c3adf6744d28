//! Nothing is written by what is of a lost history.
//!
//! Authority: `docs/decisions/0045-runtime-as-a-value.md`: after a server was restored from an
//! older backup, objects that it never had must neither be counted nor missed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use flyball_api::Uid;

use super::{Happened, Invariant};
use crate::truth::Truth;

/// How long after a restore writes are looked at: to look at all objects at every write is slow.
const LOOK: Duration = Duration::from_secs(300);

/// The objects of the server's present history, and of its backups, whether they still exist or not:
/// one that was deleted before the backup was made may still be cached.
#[derive(Default)]
pub(super) struct Histories {
    known: BTreeSet<Uid>,
    backups: BTreeMap<usize, BTreeSet<Uid>>,
    looks_until: Duration,
}

impl Invariant for Histories {
    fn name(&self) -> &'static str {
        "nothing is written by a lost history"
    }

    fn check(
        &mut self,
        happened: &Happened<'_>,
        truth: &Truth,
        now: Duration,
    ) -> Result<(), String> {
        let stored = || truth.things().map(|(_, thing)| thing.meta().uid.clone());
        match happened {
            Happened::BackedUp(at) => {
                self.backups.insert(*at, self.known.clone());
            }
            Happened::Restored(at) => {
                self.known = self.backups.remove(at).unwrap_or_default();
                self.known.extend(stored());
                self.looks_until = now + LOOK;
            }
            Happened::Committed { by, changed } => {
                let after = changed.after.as_ref().map(|thing| thing.meta());
                self.known.extend(after.map(|meta| meta.uid.clone()));
                let (true, Some((flight, Some(controller)))) = (now < self.looks_until, by) else {
                    return Ok(());
                };
                for view in flight.seen.iter().flat_map(|seen| seen.views()) {
                    let is_watched = flight.watches.iter().any(|one| one.kind() == view.kind());
                    let mut all = view.all().filter(|_| is_watched);
                    if let Some(lost) = all.find(|one| !self.known.contains(one.uid)) {
                        let (kind, name, key) = (view.kind(), lost.name, &flight.key);
                        return Err(format!(
                            "{controller} {key}: wrote by {kind} {name} of a lost history"
                        ));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}
