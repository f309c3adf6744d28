//! The reflector: keeps a cache in step with a server by lists and watches.
//!
//! ```text
//!            ┌─────────── streamed list ── refused ──┐
//! Start ─────┤                │                      ▼
//!            └── (refused) ───┼──────────────→ list, page by page
//!                             │ complete             │ complete
//!                             ▼                      ▼
//!                        ┌── watch ←─────────────────┘
//!     ended: at once,    │    │
//!     busy: after a wait └────┤ expired, malformed: list again
//! ```
//!
//! - **Streamed list first.** A watch with `sendInitialEvents` brings what there is, a bookmark says
//!   when it is complete, and the same watch goes on. What it brings is gathered aside and replaces
//!   the cache in one step; until then the cache serves what it had. A server that refuses such a
//!   watch (400, 422) is asked for pages from then on: a server does not learn to stream while it
//!   runs, and a restart of this program asks anew. Any other failure of a streamed list makes the
//!   next try a paged one, and the try after that a streamed one again.
//! - **Versions.** The first list takes any state (`0`), later ones a state not older than the last
//!   seen, so that the cache never goes back in time. A list for which that version is too old, or
//!   any request for which it is too new (the server was restored, or lags), makes the next list ask
//!   for the newest state. So does a list whose own version is too old to watch from: it came from a
//!   cache that is stuck, and another like it would end the same way.
//! - **Watches** begin where the last one ended. As long as that place exists, nothing is listed
//!   again: not when the connection breaks, nor when the server is busy or away for a while.
//! - **Doubt.** A line that cannot be read leaves the state unknown, so everything is listed again.
//!   A list that cannot be read changes nothing. Both are named in a [`Notice`].
//! - **Silence.** Every request has a deadline. A watch that outlives the time it was given, or
//!   misses several bookmarks after having had some, is taken for dead and begun again.
//!
//! Upstream: client-go `tools/cache/reflector.go`. Different here: a watch that breaks for reasons
//! that have nothing to do with its version is never answered with a list.

mod backoff;
mod command;
mod event;
mod fault;
mod list;
mod notice;
mod page;
mod type_check;
mod watch;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use flyball_api::{Kind, Object, Pool, Text};

use crate::StoreView;
use crate::store::is_same_state;
use crate::store::objects::Objects;
use backoff::Backoff;
use list::Listing;
use type_check::TypeCheck;
use watch::Watching;

pub use command::{Command, Input, ListRequest, WatchRequest};
pub use notice::{Notice, Problem};

/// Keeps one kind's cache in step with the server; says what to ask and what to change.
pub(crate) struct Reflector<T: Object> {
    kind: Kind,
    state: State<T>,
    /// The newest version seen; empty before the first list.
    version: Text,
    /// The server said that `version` is of no use: ask for the newest state instead.
    version_unusable: bool,
    /// The version is that of a list; no watch has shown yet that it can go on from there.
    version_unproven: bool,
    /// The server does not stream lists.
    streaming_refused: bool,
    /// The last streamed list failed: page this time.
    page_next: bool,
    /// The server gave pages even of a list of any state, so it has no cache to spare.
    server_pages: bool,
    /// Watches in a row that brought nothing.
    fruitless: u32,
    backoff: Backoff,
    types: TypeCheck,
    pool: Pool,
}

enum State<T> {
    Idle,
    Listing(Listing<T>),
    Watching(Watching<T>),
    Waiting { until: Duration, then: Next },
}

/// What to do after a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// List, by streaming or paging.
    List,
    /// Watch on from where the last watch ended.
    Watch,
}

/// What a step leads to.
pub(crate) struct Outcome<T> {
    pub(crate) command: Option<Command>,
    pub(crate) delta: Option<Delta<T>>,
    /// Once the delta, if any, is applied, the cache is complete up to this version.
    pub(crate) seen: Option<Text>,
    pub(crate) notice: Option<Notice>,
}

/// What is to change in the cache.
pub(crate) enum Delta<T> {
    /// An object came or changed.
    Put(Arc<T>),
    /// An object went; this is its final state.
    Delete(Arc<T>),
    /// These and no others are the objects there are.
    Replace(Objects<T>),
}

/// The instant and the random number of a step.
#[derive(Clone, Copy)]
struct Moment {
    now: Duration,
    jitter: f64,
}

impl<T: Object> Default for Reflector<T> {
    fn default() -> Self {
        Self::with(T::kind(), TypeCheck::of(T::kind()))
    }
}

impl<T: Object> Reflector<T> {
    /// A reflector of a kind known only at run time. A server may tell of its objects in full or
    /// in part, so what they say of their type is not looked at.
    pub(crate) fn of(kind: Kind) -> Self {
        Self::with(kind, TypeCheck::of_any())
    }

    fn with(kind: Kind, types: TypeCheck) -> Self {
        Self {
            kind,
            state: State::Idle,
            version: Text::default(),
            version_unusable: false,
            version_unproven: false,
            streaming_refused: false,
            page_next: false,
            server_pages: false,
            fruitless: 0,
            backoff: Backoff::default(),
            types,
            pool: Pool::default(),
        }
    }
}

impl<T: Object> Reflector<T> {
    /// Takes one input. `now` counts from any fixed instant; `jitter` is drawn from 0 to 1 for this
    /// step; `cached` is the cache as all outcomes so far have made it. An input that does not
    /// belong to the request under way is ignored.
    pub(crate) fn step(
        &mut self,
        input: Input<'_>,
        now: Duration,
        jitter: f64,
        cached: &StoreView<T>,
    ) -> Outcome<T> {
        let moment = Moment { now, jitter };
        let is_due = self.deadline().is_some_and(|at| now >= at);
        match (&mut self.state, input) {
            (_, Input::Start) => self.begin(moment),
            (State::Listing(_), Input::Page(body)) => self.page(body, moment, cached),
            (State::Listing(_), Input::Failed(error)) => self.list_failed(error, moment),
            (State::Watching(watching), Input::WatchStarted) => {
                watching.start(now);
                Outcome::nothing()
            }
            (State::Watching(_), Input::Event(line)) => self.event(line, moment, cached),
            (State::Watching(_), Input::WatchEnded) => self.watch_ended(None, moment),
            (State::Watching(_), Input::Failed(error)) => self.watch_failed(error, moment),
            (_, Input::Elapsed) if is_due => self.deadline_passed(moment),
            _ => Outcome::nothing(),
        }
    }

    /// When [`Input::Elapsed`] is due, unless another step changes it; `None` before the start.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        match &self.state {
            State::Idle => None,
            State::Listing(listing) => Some(listing.deadline()),
            State::Watching(watching) => Some(watching.deadline()),
            State::Waiting { until, .. } => Some(*until),
        }
    }

    fn deadline_passed(&mut self, moment: Moment) -> Outcome<T> {
        match &self.state {
            State::Idle => Outcome::nothing(),
            State::Listing(_) => self.wait(
                Next::List,
                Problem::ListTimedOut(list::PATIENCE),
                None,
                moment,
            ),
            State::Watching(_) => self.watch_silent(moment),
            State::Waiting {
                then: Next::List, ..
            } => self.begin(moment),
            State::Waiting {
                then: Next::Watch, ..
            } => self.watch(moment),
        }
    }

    /// Asks for everything there is.
    fn begin(&mut self, moment: Moment) -> Outcome<T> {
        if self.streaming_refused || std::mem::take(&mut self.page_next) {
            self.list(moment)
        } else {
            self.stream(moment)
        }
    }

    /// Waits, at least as long as the server asked for, and then goes on.
    fn wait(
        &mut self,
        then: Next,
        problem: Problem,
        at_least: Option<Duration>,
        moment: Moment,
    ) -> Outcome<T> {
        let wait = self
            .backoff
            .next(moment.now, moment.jitter)
            .max(at_least.unwrap_or_default());
        self.state = State::Waiting {
            until: moment.now + wait,
            then,
        };
        Outcome::command(Command::Wait(wait)).with_notice(self.kind, problem, Some(wait))
    }

    /// Lists again: at once if all was well lately, so that the cache is not stale for longer than
    /// it must be, and otherwise after a wait.
    fn list_again(&mut self, problem: Problem, moment: Moment) -> Outcome<T> {
        if !self.backoff.is_fresh(moment.now) {
            return self.wait(Next::List, problem, None, moment);
        }
        self.backoff.next(moment.now, moment.jitter);
        self.begin(moment).with_notice(self.kind, problem, None)
    }

    /// A list is complete.
    fn listed(&mut self, objects: Objects<T>, version: Text) -> Outcome<T> {
        self.version = version.clone();
        self.version_unusable = false;
        self.version_unproven = true;
        self.fruitless = 0;
        let delta = Some(Delta::Replace(objects));
        Outcome {
            delta,
            seen: Some(version),
            ..Outcome::nothing()
        }
    }
}

/// Readies an object for the cache. A state that is cached already is not kept a second time.
fn admit<T: Object>(object: T, pool: &mut Pool, cached: &StoreView<T>) -> Arc<T> {
    match cached.get(object.namespace(), object.name()) {
        Some(known) if is_same_state(&**known, &object) => known.clone(),
        _ => shared(object, pool),
    }
}

/// An object that shares with others what it has in common with them.
fn shared<T: Object>(mut object: T, pool: &mut Pool) -> Arc<T> {
    object.share(pool);
    Arc::new(object)
}

impl<T> Outcome<T> {
    fn nothing() -> Self {
        Self {
            command: None,
            delta: None,
            seen: None,
            notice: None,
        }
    }

    fn command(command: Command) -> Self {
        Self {
            command: Some(command),
            ..Self::nothing()
        }
    }

    fn with_notice(self, kind: Kind, problem: Problem, retry_in: Option<Duration>) -> Self {
        Self {
            notice: Some(Notice {
                kind,
                problem,
                retry_in,
            }),
            ..self
        }
    }
}
