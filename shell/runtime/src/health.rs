//! Health: what runs, what is ready, and if not, why not.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flyball_informer::{Readiness, Snapshot};

use crate::caches::Caches;
use crate::clock::{Clock, lock};
use crate::discovery::Discovered;
use crate::loops::{Loop, Loops};
use crate::term::Term;

/// One named check and what it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// What is wrong, if anything.
    pub result: Result<(), String>,
    /// Whether the process as a whole is not well without it; otherwise it is told, and no more.
    pub needed: bool,
}

impl Check {
    fn needed(name: impl Into<String>, result: Result<(), String>) -> Self {
        Self {
            name: name.into(),
            result,
            needed: true,
        }
    }

    fn told(name: impl Into<String>, result: Result<(), String>) -> Self {
        Self {
            needed: false,
            ..Self::needed(name, result)
        }
    }

    /// Whether nothing is wrong that matters to the process as a whole.
    pub fn is_well(&self) -> bool {
        self.result.is_ok() || !self.needed
    }
}

/// Answers questions about the health of a running process.
#[derive(Clone)]
pub struct Health {
    pub(crate) caches: Arc<Caches>,
    pub(crate) discovered: Arc<Mutex<Discovered>>,
    pub(crate) loops: Arc<Loops>,
    pub(crate) term: Arc<Term>,
    pub(crate) clock: Clock,
}

impl Health {
    /// Whether the process is alive: the election's clock is honoured and controllers run. A
    /// standby is healthy.
    pub fn alive(&self) -> Vec<Check> {
        let leads = *self.term.leading().borrow();
        let stuck = leads && !self.term.may_write(self.clock.monotonic());
        let election = if stuck {
            Err("the lease was not renewed in time and writing has stopped".to_owned())
        } else {
            Ok(())
        };
        let mut checks = vec![Check::needed("leaderElection", election)];
        let loops = self.loops.iter();
        checks.extend(loops.map(|each| Check::needed(each.descriptor.name, Ok(()))));
        checks
    }

    /// Whether the controller of this name runs.
    pub fn runs(&self, controller: &str) -> bool {
        let mut all = self.loops.iter();
        all.any(|each| each.descriptor.name == controller)
    }

    /// The caches as they are now, for whoever shows them.
    pub fn snapshot(&self) -> Snapshot {
        self.caches.snapshot()
    }

    /// Whether each controller has seen enough to begin, and each kind has been listed and is being
    /// watched: what is not names itself and why. A watch that is merely being opened again is no
    /// trouble yet.
    ///
    /// A kind that nobody watches by name, or a group that could not be discovered, is told and
    /// no more: there is always a broken one among those of other people.
    pub fn ready(&self) -> Vec<Check> {
        let now = self.clock.monotonic();
        let begun = |each: &Arc<Loop>| match each.has_begun() {
            true => Ok(()),
            false => Err("waiting for the first lists".to_owned()),
        };
        let loops = self.loops.iter();
        let mut checks: Vec<Check> = loops
            .map(|each| Check::needed(each.descriptor.name, begun(each)))
            .collect();
        checks.extend(self.caches.slots().iter().map(|slot| {
            let (name, result) = (
                format!("informer/{}", slot.kind),
                judge(slot.readiness(now)),
            );
            match slot.partial {
                true => Check::told(name, result),
                false => Check::needed(name, result),
            }
        }));
        checks.extend(self.discovery());
        checks
    }

    /// Whether the server tells which resources it has, if anybody wants to know; a group that it
    /// cannot tell about names itself.
    fn discovery(&self) -> Vec<Check> {
        let fares = lock(&self.discovered);
        if !fares.needed {
            return Vec::new();
        }
        let result = match &fares.trouble {
            Some(trouble) => Err(trouble.clone()),
            None if fares.asked == 0 => Err("not answered yet".to_owned()),
            None => Ok(()),
        };
        let whole = Check::told("discovery", result);
        let failures = fares.failures.iter();
        let failures = failures
            .map(|(group, reason)| Check::told(format!("discovery/{group}"), Err(reason.clone())));
        [whole].into_iter().chain(failures).collect()
    }
}

/// Trouble shorter than this is not worth telling.
const TROUBLE_MIN: Duration = Duration::from_secs(5);

fn judge(ready: Readiness) -> Result<(), String> {
    if !ready.synced {
        let why = ready.last_error.or(ready.why);
        return Err(why.unwrap_or_else(|| "not listed yet".to_owned()));
    }
    match ready.last_error {
        Some(error) if ready.since >= TROUBLE_MIN => {
            let seconds = ready.since.as_secs();
            Err(format!(
                "out of touch with the server for {seconds} s: {error}"
            ))
        }
        _ => Ok(()),
    }
}
