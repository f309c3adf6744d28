//! Health: what runs, what is ready, and if not, why not.

use std::sync::Arc;
use std::time::Duration;

use flyball_informer::Readiness;

use crate::caches::Caches;
use crate::clock::Clock;
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

    /// Whether each kind has been listed and is being watched, by resource: one that is not names
    /// itself and why. A watch that is merely being opened again is no trouble yet.
    pub fn ready(&self) -> Vec<Check> {
        let now = self.clock.monotonic();
        let readiness = self.caches.readiness(now).into_iter();
        readiness
            .map(|(kind, ready)| Check {
                name: format!("informer/{kind}"),
                result: judge(ready),
            })
            .collect()
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
