//! Discovery: when the server is asked for its resources, and what is cached of the answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use flyball_api::Kind;
use flyball_api::discovery::{Discovery, Failure};
use flyball_informer::Input;
use flyball_plan::{Following, Sight};

use crate::effect::Effect;
use crate::flaws::Flaws;
use crate::process::{Moment, Process};

/// How long a defined resource that discovery lacks counts as one that could not be discovered. A
/// definition may never come to be served, and must not hold up everything for ever.
const UNDISCOVERED_MAX: Duration = Duration::from_secs(30);

/// How long a group counts as undiscovered of which discovery fails and nothing is known yet.
/// There is always a broken one.
const FAILED_MAX: Duration = Duration::from_secs(5);

/// How soon discovery is asked again while it lacks a defined resource.
const UNDISCOVERED_PAUSE: Duration = Duration::from_secs(5);

/// Stands for all resources of a group of which none is known.
const ALL: &str = "*";

/// Follows which resources the server has.
pub(crate) struct Follower {
    following: Following,
    look_at: Duration,
    /// The round in which an answer is under way.
    asking: Option<u64>,
    /// The round of the last answer.
    answered: Option<u64>,
    /// Custom resources that are defined and that discovery lacks, and since when.
    undiscovered: BTreeMap<Kind, Duration>,
    state: DiscoveryState,
}

/// How discovery is doing, for health checks and metrics.
#[derive(Clone, Debug, Default)]
pub struct DiscoveryState {
    /// What went wrong the last time, if anything did.
    pub trouble: Option<String>,
    /// The versions of groups that the server could not tell about, and why.
    pub failures: Vec<(String, String)>,
    /// How often it went wrong, wholly or in part.
    pub errors: u64,
    /// How often the server was asked.
    pub asked: u64,
}

impl Follower {
    pub(crate) fn new(sight: Sight) -> Self {
        Self {
            following: Following::new(sight),
            look_at: Duration::MAX,
            asking: None,
            answered: None,
            undiscovered: BTreeMap::new(),
            state: DiscoveryState::default(),
        }
    }
}

impl<F: Flaws> Process<F> {
    /// How discovery is doing; `None` if no controller asks for it.
    pub fn discovery(&self) -> Option<&DiscoveryState> {
        self.follower.as_ref().map(|follower| &follower.state)
    }

    /// When the server is to be asked; `None` if it is not, or an answer is under way.
    pub fn discovery_due(&self) -> Option<Duration> {
        let follower = self.follower.as_ref()?;
        let is_free = follower.asking.is_none() && follower.look_at < Duration::MAX;
        is_free.then_some(follower.look_at)
    }

    /// The server is being asked.
    pub fn discovery_asked(&mut self) {
        let round = self.caches.round;
        if let Some(follower) = self.follower.as_mut() {
            follower.asking = Some(round);
            follower.look_at = Duration::MAX;
        }
    }

    /// Custom resources that are defined and that discovery lacks, and groups of which it fails,
    /// for as long as they are waited for.
    pub(crate) fn undiscovered(&self, now: Duration) -> Vec<Kind> {
        let all = self.follower.iter().flat_map(|one| &one.undiscovered);
        let waited = all.filter(|(kind, since)| {
            let patience = match kind.plural {
                ALL => FAILED_MAX,
                _ => UNDISCOVERED_MAX,
            };
            now.saturating_sub(**since) < patience
        });
        waited.map(|(kind, _)| *kind).collect()
    }

    /// Whether the resources of the present round are known.
    pub(crate) fn has_discovered(&self, now: Duration) -> bool {
        if !self.undiscovered(now).is_empty() {
            return false;
        }
        let follower = self.follower.as_ref();
        let answered = follower.and_then(|follower| follower.answered);
        self.caches.snapshot.discovery().is_some() && answered >= Some(self.caches.round)
    }

    /// Asks soon: the server needs a moment to serve what was just defined, and definitions come
    /// in groups.
    pub(crate) fn discover_soon(&mut self, now: Duration) {
        self.discover_at(now + Following::SETTLING);
    }

    /// Asks at a moment, unless that is planned earlier anyway.
    pub(crate) fn discover_at(&mut self, at: Duration) {
        let Some(follower) = self.follower.as_mut() else {
            return;
        };
        if at < follower.look_at {
            follower.look_at = at;
            self.effects.push(Effect::Discover);
        }
    }

    /// Takes the server's answer: adds what came, replaces what changed its version, and doubts
    /// what is missing.
    pub fn discovered(&mut self, found: Result<Arc<Discovery>, String>, moment: &mut Moment<'_>) {
        let now = moment.now.monotonic;
        let Some(follower) = self.follower.as_mut() else {
            return;
        };
        let round = follower.asking.take();
        follower.state.asked += 1;
        let told = found.as_ref().ok().cloned();
        let found = found.map(|found| self.completed(&found, now));
        let Some(follower) = self.follower.as_mut() else {
            return;
        };
        let taken = found.and_then(|found| {
            let failures = found.failures().iter();
            let failures = failures.map(|one| (one.group_version(), one.reason.clone()));
            follower.state.failures = failures.collect();
            let taken = follower.following.take((*found).clone());
            taken.map_err(str::to_owned)
        });
        let failed = taken.is_err() || !follower.state.failures.is_empty();
        follower.state.errors += u64::from(failed);
        follower.state.trouble = taken.as_ref().err().cloned();
        if taken.is_ok() {
            follower.answered = follower.answered.max(round);
        }
        let known = follower.following.known().clone();
        let mut pause = follower.following.pause();
        let wanted: Vec<_> = follower.following.wanted().collect();
        if taken.is_ok() {
            if taken == Ok(true) {
                self.caches.snapshot = self.caches.snapshot.discovered(known);
            }
            for kind in &wanted {
                self.add(*kind, moment);
            }
            if let Some(told) = told {
                self.doubt_omitted(&told, moment);
            }
            self.wake_waiting();
        }
        if !self.undiscovered(now).is_empty() {
            pause = pause.min(UNDISCOVERED_PAUSE);
        }
        // It may have become due again while the answer was under way.
        self.discover_at(now + pause);
        if self.needs_resync {
            self.resync(moment);
        }
    }

    /// A kind that discovery does not name may be gone, or the answer may lack it by mistake. Its
    /// own path decides: the watch is opened again, and only a 404 there removes the kind.
    fn doubt_omitted(&mut self, told: &Discovery, moment: &mut Moment<'_>) {
        for id in self.caches.ids() {
            let (now, jitter) = (moment.now.monotonic, moment.jitter());
            let Some(cache) = self.caches.get_mut(id).filter(|one| one.is_discovered) else {
                continue;
            };
            let is_failing = told
                .failures()
                .iter()
                .any(|one| one.group == cache.kind.group);
            let mut named = told.resources().iter();
            let is_named = named.any(|one| one.kind.is_same_resource(&cache.kind));
            cache.is_omitted = !is_named && !is_failing;
            if cache.is_omitted {
                let command = cache.informer.step(Input::Reopen, now, jitter).command;
                self.carry(id, command);
            }
        }
    }

    /// An answer with the resources that it lacks although they are there: those that are still
    /// cached, or whose definition is still known where not everything is cached. What is defined
    /// and was never discovered counts as a failure for a while.
    pub(crate) fn completed(&mut self, found: &Arc<Discovery>, now: Duration) -> Arc<Discovery> {
        let Some(follower) = self.follower.as_ref() else {
            return found.clone();
        };
        let sees_all = follower.following.sight() == Sight::Everything;
        let known = follower.following.known();
        let completed = (**found)
            .clone()
            .with_omitted(known, |kind| match sees_all {
                true => self.caches.serving(kind).is_some(),
                false => self.is_defined(kind),
            });
        self.note_undiscovered(&completed, now);
        let mut lacking = self.undiscovered(now);
        lacking.retain(|kind| kind.plural != ALL);
        if lacking.is_empty() {
            return Arc::new(completed);
        }
        let failures = lacking.iter().map(|kind| Failure {
            group: kind.group.into(),
            version: kind.version.into(),
            reason: format!("discovery lacks {kind}, which is defined"),
        });
        let failures = failures.chain(completed.failures().iter().cloned());
        let failures: Vec<Failure> = failures.collect();
        let resources = completed.resources().iter().copied();
        Arc::new(Discovery::of(resources, failures))
    }

    /// Notes which defined resources an answer lacks.
    fn note_undiscovered(&mut self, found: &Discovery, now: Duration) {
        let mut lacking: Vec<Kind> = Vec::new();
        let is_named = |plural: &str, group: &str| {
            let failed = found.failures().iter().any(|one| one.group == group);
            let mut named = found.resources().iter();
            failed || named.any(|one| one.kind.plural == plural && one.kind.group == group)
        };
        for definition in self.definitions().into_iter().flat_map(|view| view.all()) {
            if let Some((plural, group)) = definition.name.split_once('.')
                && !is_named(plural, group)
            {
                lacking.extend(Kind::learnt(group, "", plural, plural, true));
            }
        }
        for failure in found.failures() {
            let mut named = found.resources().iter();
            if named.all(|one| one.kind.group != failure.group) {
                lacking.extend(Kind::learnt(
                    &failure.group,
                    &failure.version,
                    ALL,
                    ALL,
                    true,
                ));
            }
        }
        if let Some(follower) = self.follower.as_mut() {
            follower
                .undiscovered
                .retain(|kind, _| lacking.contains(kind));
            for kind in lacking {
                follower.undiscovered.entry(kind).or_insert(now);
            }
        }
    }
}
