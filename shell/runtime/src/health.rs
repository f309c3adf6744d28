//! Health: what runs, what is ready, and if not, why not.

use std::sync::Arc;
use std::time::Duration;

use flyball_informer::Snapshot;
use flyball_plan::{Descriptor, Sight};
use flyball_process::{CacheState, ControllerId, Process};

use crate::shared::Shared;

/// Trouble shorter than this is not shown.
const TROUBLE_MIN: Duration = Duration::from_secs(5);

/// A leader that has not seen a declared kind for so long is not ready.
const OUT_OF_TOUCH_MAX: Duration = Duration::from_secs(30);

/// How late the end of a term may be announced. A busy event loop is not a stuck one.
const ANNOUNCEMENT_MAX: Duration = Duration::from_secs(1);

/// One named check and what it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// What is wrong, if anything.
    pub result: Result<(), String>,
    /// Whether the process as a whole is not well without it; otherwise it is shown, and no more.
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

    fn shown(name: impl Into<String>, result: Result<(), String>) -> Self {
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
    pub(crate) shared: Arc<Shared>,
}

impl Health {
    /// Whether the process is alive: the end of a term is announced in time, and controllers run.
    /// A standby is alive, and so is a process whose server is away.
    pub fn alive(&self) -> Vec<Check> {
        self.shared.look(|process, now| {
            let is_late = |until| now.monotonic >= until + ANNOUNCEMENT_MAX;
            let is_stuck =
                process.is_announced_leader() && process.leads_until().is_some_and(is_late);
            let election = match is_stuck {
                true => Err("the term is over and its end was not announced".to_owned()),
                false => Ok(()),
            };
            let mut checks = vec![Check::needed("leaderElection", election)];
            let controllers = process.descriptors();
            checks.extend(controllers.map(|one| Check::needed(one.name, Ok(()))));
            checks
        })
    }

    /// Whether the controller of this name runs.
    pub fn runs(&self, controller: &str) -> bool {
        self.shared
            .look(|process, _| process.descriptors().any(|one| one.name == controller))
    }

    /// The caches as they are now.
    pub fn snapshot(&self) -> Snapshot {
        self.shared.look(|process, _| process.snapshot().clone())
    }

    /// Whether each controller has all it needs, and each kind is listed and watched. What is not
    /// names the reason.
    ///
    /// A discovered kind or group that is broken is shown only: there is always one. So is what
    /// keeps a standby from planning after it was ready once.
    pub fn ready(&self) -> Vec<Check> {
        self.shared.look(|process, now| {
            let now = now.monotonic;
            let leads = process.leads(now);
            let caches = process.caches(now);
            let controllers = process.descriptors().enumerate().map(|(at, descriptor)| {
                let begun = begun(process, at, descriptor, &caches, leads);
                Check::needed(descriptor.name, begun)
            });
            let mut checks: Vec<Check> = controllers.collect();
            checks.extend(caches.iter().map(|cache| informer(cache, leads)));
            checks.extend(discovery(process));
            checks.push(history(process, now));
            checks
        })
    }
}

/// Whether a controller has begun. A standby does not begin; it is ready once its kinds were listed.
fn begun(
    process: &Process,
    at: ControllerId,
    descriptor: Descriptor,
    caches: &[CacheState],
    leads: bool,
) -> Result<(), String> {
    if process.has_begun(at) {
        return Ok(());
    }
    let all = |is_so: fn(&CacheState) -> bool| {
        let mut kinds = descriptor.watches.iter().map(|watch| watch.kind());
        kinds.all(|kind| caches.iter().any(|one| one.kind == kind && is_so(one)))
    };
    let knows_resources =
        process.sight(at) == Sight::Named || process.snapshot().discovery().is_some();
    let were_listed = knows_resources && all(|one| one.readiness.synced);
    match leads {
        _ if !were_listed => Err("waiting for the first lists".to_owned()),
        false => Ok(()),
        true if !all(|one| one.is_current) => Err("listing again".to_owned()),
        true => Err("waiting for the lists of all kinds".to_owned()),
    }
}

/// Whether a kind is listed in the present round and watched.
fn informer(cache: &CacheState, leads: bool) -> Check {
    let name = format!("informer/{}", cache.kind);
    let is_declared = !cache.is_partial;
    let ready = &cache.readiness;
    let check = |is_needed, result| match is_needed {
        true => Check::needed(name, result),
        false => Check::shown(name, result),
    };
    let error = ready.last_error.as_deref();
    if !ready.synced {
        let why = error.or(ready.why.as_deref()).unwrap_or("not listed yet");
        return check(is_declared, Err(why.to_owned()));
    }
    let because = error.unwrap_or("no answer yet");
    match ready.out_of_touch {
        Some(time) if time >= TROUBLE_MIN => {
            let seconds = time.as_secs();
            let is_needed = is_declared && leads && time >= OUT_OF_TOUCH_MAX;
            let why = format!("out of touch with the server for {seconds} s: {because}");
            check(is_needed, Err(why))
        }
        _ if !cache.is_current && cache.waited >= TROUBLE_MIN => {
            let seconds = cache.waited.as_secs();
            let is_needed = is_declared && leads && cache.waited >= OUT_OF_TOUCH_MAX;
            check(is_needed, Err(format!("listing again for {seconds} s")))
        }
        None if error.is_some() && ready.since >= TROUBLE_MIN => {
            let seconds = ready.since.as_secs();
            check(false, Err(format!("in trouble for {seconds} s: {because}")))
        }
        _ => check(is_declared, Ok(())),
    }
}

/// Whether the server says which resources it has. A group that it cannot answer for names itself.
fn discovery(process: &Process) -> Vec<Check> {
    let Some(state) = process.discovery() else {
        return Vec::new();
    };
    let result = match &state.trouble {
        Some(trouble) => Err(trouble.clone()),
        None if state.asked == 0 => Err("not answered yet".to_owned()),
        None => Ok(()),
    };
    let whole = Check::shown("discovery", result);
    let failures = state.failures.iter();
    let failures = failures
        .map(|(group, reason)| Check::shown(format!("discovery/{group}"), Err(reason.clone())));
    [whole].into_iter().chain(failures).collect()
}

/// Whether the server is known to have the history that is cached, and when that changed last.
fn history(process: &Process, now: Duration) -> Check {
    let state = process.history();
    let ago = |at: Duration| now.saturating_sub(at).as_secs();
    let result = match (state.doubt, state.last) {
        (Some(since), _) => Err(format!(
            "waiting for a sign that the server's history is the same, for {} s",
            ago(since)
        )),
        (None, Some((at, why))) => Err(format!("changed {} s ago: {why}", ago(at))),
        (None, None) => Ok(()),
    };
    Check::shown("history", result)
}
