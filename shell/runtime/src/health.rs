//! Health: what runs, what is ready, and if not, why not.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flyball_informer::{Readiness, Snapshot};

use crate::caches::Caches;
use crate::clock::{Clock, lock};
use crate::discovery::Discovered;
use crate::loops::Loops;
use crate::term::Term;

/// One named check and what it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// What is wrong, if anything.
    pub result: Result<(), String>,
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
        let mut checks = vec![Check {
            name: "leaderElection".to_owned(),
            result: election,
        }];
        checks.extend(self.loops.iter().map(|each| Check {
            name: each.descriptor.name.into(),
            result: Ok(()),
        }));
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

    /// Whether each kind has been listed and is being watched, by resource: one that is not names
    /// itself and why. A watch that is merely being opened again is no trouble yet.
    pub fn ready(&self) -> Vec<Check> {
        let now = self.clock.monotonic();
        let readiness = self.caches.readiness(now).into_iter();
        let mut checks: Vec<Check> = readiness
            .map(|(kind, ready)| Check {
                name: format!("informer/{kind}"),
                result: judge(ready),
            })
            .collect();
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
        let whole = Check {
            name: "discovery".to_owned(),
            result,
        };
        let failures = fares.failures.iter().map(|(group, reason)| Check {
            name: format!("discovery/{group}"),
            result: Err(reason.clone()),
        });
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
