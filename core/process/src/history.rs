//! Histories: whether the server is still the one whose past is cached.
//!
//! A server that was restored from an older backup has another history. It takes a watch from a
//! version of the lost history and stays silent. So signs are sought: a version that goes back, a
//! Lease that lacks our last renewal. After a lost connection a leader writes nothing until a
//! renewal that was sent later has succeeded, which shows that the Lease is as we left it.
//!
//! The API server's own storage holds all built-in kinds and custom resources. Kinds of aggregated
//! servers have histories of their own: they are listed anew after every lost connection.

use std::collections::BTreeMap;
use std::time::Duration;

use flyball_api::Kind;
use flyball_informer::{AnyView, Input, Sign};
use flyball_plan::{Action, Actions, Answer, SyncId, Work};

use crate::begin::is_custom;
use crate::cache::CacheId;
use crate::controllers::ControllerId;
use crate::effect::{Effect, News};
use crate::flaws::{Flaw, Flaws};
use crate::process::{Moment, Process};

/// How often a kind is listed without a wait.
const LIST_AT_ONCE: Duration = Duration::from_secs(10);

/// For how long after a doubt another one is taken for its continuation: connections to a server
/// that went away are not all found lost in the same moment.
const LATE: Duration = Duration::from_secs(2);

/// Whether the server's history is still the same is not known, on a leader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doubt {
    /// Since when. Only a renewal that is sent later ends it.
    pub(crate) since: Duration,
    /// The version of our last renewal before that; 0 if versions of the Lease say nothing about
    /// other kinds. Renewals in doubt are of the present history: they prove nothing of the past.
    pub(crate) base: u64,
    /// The base for connections that are found lost only now: that of the doubt before, if it has
    /// just ended.
    pub(crate) late_base: u64,
}

/// What is known of the server's history.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) doubt: Option<Doubt>,
    /// When the last doubt ended, and its base.
    last_doubt: Option<(Duration, u64)>,
    /// The newest version seen in the API server's own storage.
    pub(crate) newest: u64,
    /// For each stage that creates objects, how far their kinds had come when it was planned.
    planned: BTreeMap<(ControllerId, SyncId), Vec<(Kind, u64)>>,
    state: HistoryState,
}

/// What is known of the server's history, for health checks and metrics.
#[derive(Clone, Debug, Default)]
pub struct HistoryState {
    /// How often the server turned out to have another history.
    pub changes: u64,
    /// When that was noticed last, and by what.
    pub last: Option<(Duration, String)>,
    /// Since when writing waits for a sign that the history is the same.
    pub doubt: Option<Duration>,
}

impl<F: Flaws> Process<F> {
    /// What is known of the server's history.
    pub fn history(&self) -> HistoryState {
        HistoryState {
            // A standby writes nothing anyway.
            doubt: self
                .history
                .doubt
                .filter(|_| self.is_announced_leader())
                .map(|doubt| doubt.since),
            ..self.history.state.clone()
        }
    }

    /// Whether a kind is kept in the API server's own storage. Custom resources are, if their
    /// definition is known.
    fn is_own_storage(&self, kind: Kind) -> bool {
        !is_custom(kind.group) || self.is_defined(kind)
    }

    /// Whether the definition of a custom resource is known.
    pub(crate) fn is_defined(&self, kind: Kind) -> bool {
        let name = format!("{}.{}", kind.plural, kind.group);
        let definitions = self.definitions();
        definitions.is_some_and(|view| view.brief("", &name).is_some())
    }

    /// The cache of CustomResourceDefinitions, if there is one.
    pub(crate) fn definitions(&self) -> Option<&AnyView> {
        let mut views = self.caches.snapshot.views().iter();
        views.find(|view| view.kind().plural == "customresourcedefinitions")
    }

    /// Notes how far a cache has come.
    pub(crate) fn note_version(&mut self, id: CacheId) {
        let Some(cache) = self.caches.get(id) else {
            return;
        };
        let version = cache.informer.version().parse::<u64>();
        if let Ok(version) = version
            && version > self.history.newest
            && self.is_own_storage(cache.kind)
        {
            self.history.newest = version;
        }
    }

    /// An informer has noticed that versions do not fit what it saw before. `listed_in` is the round
    /// of its last list before that.
    pub(crate) fn notice_sign(
        &mut self,
        id: CacheId,
        sign: &Sign,
        listed_in: Option<u64>,
        moment: &mut Moment<'_>,
    ) {
        let Some(cache) = self.caches.get(id) else {
            return;
        };
        let kind = cache.kind;
        match sign {
            Sign::WentBack { .. } if self.flaws.has(Flaw::LowerVersionTaken) => {}
            // The first list of a round may well be older than what was cached before: that is what
            // the round is for.
            Sign::WentBack { .. } if listed_in < Some(self.caches.round) => {}
            Sign::WentBack { seen, told } if self.is_own_storage(kind) => {
                let why = format!("{kind}: version {told} after {seen}");
                self.change_history(why, moment);
            }
            Sign::WentBack { .. } => self.renew_kind(id, moment),
            // The server lags, or was restored: a consistent list shows which.
            Sign::TooNew => {
                self.lost_connection(Some(id), moment);
                self.list_at_once(id, moment);
            }
        }
    }

    /// Lists a kind consistently without the wait that its informer would make, but not again and
    /// again.
    fn list_at_once(&mut self, id: CacheId, moment: &mut Moment<'_>) {
        let (now, jitter, round) = (moment.now.monotonic, moment.jitter(), self.caches.round);
        let Some(cache) = self.caches.get_mut(id) else {
            return;
        };
        if now.saturating_sub(cache.waited_since) >= LIST_AT_ONCE && cache.is_current(round) {
            let command = cache.ask(round, Input::Relist, now, jitter);
            self.carry(id, command);
        }
    }

    /// The server has another history: nothing is written before everything it holds is known.
    pub(crate) fn change_history(&mut self, why: String, moment: &mut Moment<'_>) {
        self.history.state.changes += 1;
        self.history.state.last = Some((moment.now.monotonic, why.clone()));
        self.history.newest = 0;
        (self.history.doubt, self.history.last_doubt) = (None, None);
        self.history.planned.clear();
        self.forget_term();
        self.effects.push(Effect::Tell(News::HistoryChanged(why)));
        // In this history the Lease may be another's: only a renewal from now on shows it.
        let now = moment.now.monotonic;
        if self.standing.is_some() && self.leads(now) {
            self.begin_doubt(now, now);
            self.renew_soon(now);
        }
        self.begin_round(moment);
        self.wake_all();
    }

    /// Lists a kind of another storage anew, with all that was known of it dropped.
    fn renew_kind(&mut self, id: CacheId, moment: &mut Moment<'_>) {
        let (now, jitter, round) = (moment.now.monotonic, moment.jitter(), self.caches.round);
        let Some(cache) = self.caches.get_mut(id) else {
            return;
        };
        let kind = cache.kind;
        (cache.listed, cache.published) = (None, None);
        let command = cache.ask(round, Input::Relist, now, jitter);
        self.carry(id, command);
        for slot in &mut self.controllers {
            slot.driver.forget_kind(kind);
        }
    }

    /// A connection was lost. What was restored meanwhile cannot be known yet.
    pub(crate) fn lost_connection(&mut self, id: Option<CacheId>, moment: &mut Moment<'_>) {
        let cache = id.and_then(|id| self.caches.get(id));
        let round = self.caches.round;
        if let (Some(id), Some(cache)) = (id, cache)
            && !self.is_own_storage(cache.kind)
        {
            if cache.is_current(round) {
                self.renew_kind(id, moment);
            }
            return;
        }
        let was_current = cache.is_none_or(|cache| cache.is_current(round));
        if self.flaws.has(Flaw::NeverInDoubt) {
            return;
        }
        if self.standing.is_none() {
            // Without a Lease there is no witness: everything is listed anew, once.
            if was_current && cache.is_some() {
                self.begin_round(moment);
            }
            return;
        }
        let now = moment.now.monotonic;
        if self.leads(now) && self.history.doubt.is_none() {
            let what = cache.map_or("a request".to_owned(), |cache| {
                format!("the watch of {}", cache.kind)
            });
            self.begin_doubt(now, now);
            self.effects.push(Effect::Tell(News::Doubt(what)));
            self.effects.push(Effect::Term);
            self.renew_soon(now);
        }
    }

    /// Begins a doubt about everything that came after our last renewal.
    pub(crate) fn begin_doubt(&mut self, since: Duration, now: Duration) {
        if self.history.doubt.is_some() {
            return;
        }
        let renewed = self.renewed_version();
        let last = self.history.last_doubt;
        let last = last.filter(|(ended, _)| now.saturating_sub(*ended) < LATE);
        self.history.doubt = Some(Doubt {
            since,
            base: renewed,
            late_base: last.map_or(renewed, |(_, base)| base.min(renewed)),
        });
    }

    /// The history is the same as before, up to the base of the doubt. A kind whose connection was
    /// lost and that had seen more than that is listed again: of what came later nothing is known.
    pub(crate) fn end_doubt(&mut self, moment: &mut Moment<'_>) {
        let Some(doubt) = self.history.doubt.take() else {
            return;
        };
        self.history.last_doubt = Some((moment.now.monotonic, doubt.late_base));
        let (mut renews, round) = (false, self.caches.round);
        for id in self.caches.ids() {
            let now = moment.now.monotonic;
            let Some(cache) = self.caches.get_mut(id).filter(|one| one.is_unproven) else {
                continue;
            };
            // One that is still out of touch is looked at when it is back.
            cache.is_unproven = cache.informer.readiness(now).out_of_touch.is_some();
            let seen = cache.informer.version().parse::<u64>();
            let base = match cache.is_judged {
                true => doubt.base,
                false => doubt.late_base,
            };
            cache.is_judged = cache.is_unproven;
            let is_past = seen.is_ok_and(|seen| seen > base);
            let is_listed = cache.is_current(round);
            if is_past && is_listed {
                renews = true;
                self.renew_kind(id, moment);
            }
        }
        if renews {
            for slot in &mut self.controllers {
                slot.driver.void_syncs();
            }
        }
        self.effects.push(Effect::Term);
        self.wake_all();
        self.retry_waiting(moment);
    }

    /// Forgets what was noted of a stage that came to nothing.
    pub(crate) fn forget_planned(&mut self, at: ControllerId, id: SyncId) {
        self.history.planned.remove(&(at, id));
    }

    /// Notes how far the kinds had come of which a stage creates objects.
    pub(crate) fn note_planned(&mut self, at: ControllerId, work: &Work) {
        let mut creates: Vec<(Kind, u64)> = Vec::new();
        for action in &work.actions.items {
            if let Some(kind) = created(action)
                && creates.iter().all(|(known, _)| *known != kind)
                && let Some(seen) = self.caches.snapshot.seen_kind(kind)
                && let Ok(seen) = seen.parse()
            {
                creates.push((kind, seen));
            }
        }
        match creates.is_empty() {
            true => self.history.planned.remove(&(at, work.id)),
            false => self.history.planned.insert((at, work.id), creates),
        };
    }

    /// Learns from the answers to a stage. What was created has a version newer than all that was
    /// seen of its kind when the stage was planned.
    pub(crate) fn learn(
        &mut self,
        planned: (ControllerId, SyncId),
        actions: &Actions,
        answers: &[Answer],
        moment: &mut Moment<'_>,
    ) {
        let seen = self.history.planned.remove(&planned).unwrap_or_default();
        let mut is_lost = false;
        for (action, answer) in actions.items.iter().zip(answers) {
            match (created(action), answer) {
                (Some(kind), Answer::Done(written)) => {
                    let told = written.resource_version.parse::<u64>();
                    let seen = seen.iter().find(|(known, _)| *known == kind);
                    if let (Ok(told), Some((_, seen))) = (told, seen)
                        && told < *seen
                        && !self.flaws.has(Flaw::LowerVersionTaken)
                    {
                        let why = format!("{kind}: created at version {told} after {seen}");
                        return self.change_history(why, moment);
                    }
                }
                (_, Answer::Failed(error)) if action.is_write() && error.code() == 0 => {
                    is_lost = true;
                }
                _ => {}
            }
        }
        if is_lost {
            self.lost_connection(None, moment);
        }
    }
}

/// The kind of which an action creates an object.
fn created(action: &Action) -> Option<Kind> {
    let write = action.write().filter(|write| write.is_create())?;
    Some(write.target.kind)
}
