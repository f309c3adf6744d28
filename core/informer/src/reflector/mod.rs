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
//! - **Consistent lists.** The first list of a process asks for the newest state, without a
//!   resourceVersion. So does each list after [`Input::Relist`] and after a sign of another history,
//!   until one list is complete. So does a list after one whose version had expired, be it for the
//!   list itself or for the watch that follows: the server's cache was stuck.
//! - **Other lists** ask for a state not older than the last version seen.
//! - **Another history.** A server restored from a backup gives the same versions to other states.
//!   A consistent list therefore replaces the whole cache, even if its version is lower. It also
//!   replaces objects of equal UID and resourceVersion. The step names each [`Sign`] of a restore:
//!   a version that went back, or one that is too new for the server.
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
mod contact;
mod event;
mod fault;
mod gather;
mod list;
mod notice;
mod outcome;
mod page;
mod sign;
mod type_check;
mod watch;
mod watch_failure;

#[cfg(test)]
mod tests;

use std::time::Duration;

use flyball_api::{Kind, Object, Pool, Text};

use crate::StoreView;
use crate::store::objects::Objects;
use backoff::Backoff;
use contact::Contact;
use gather::{admit, shared};
use list::Listing;
use type_check::TypeCheck;
use watch::Watching;

pub use command::{Command, Input, ListRequest, WatchRequest};
pub use notice::{Notice, Problem};
pub(crate) use outcome::{Delta, Outcome};
pub use sign::Sign;

/// Keeps one kind's cache in step with the server; says what to ask and what to change.
pub(crate) struct Reflector<T: Object> {
    kind: Kind,
    state: State<T>,
    /// The newest version seen; empty before the first list.
    version: Text,
    /// The next list is consistent: it asks for the newest state, and trusts no cached object.
    newest_only: bool,
    /// The version is that of a list; no watch has shown yet that it can go on from there.
    version_unproven: bool,
    /// The server does not stream lists.
    streaming_refused: bool,
    /// The last streamed list failed: page this time.
    page_next: bool,
    /// Watches in a row that brought nothing.
    fruitless: u32,
    backoff: Backoff,
    contact: Contact,
    types: TypeCheck,
    pool: Pool,
}

enum State<T> {
    Idle,
    Listing(Listing<T>),
    Watching(Watching<T>),
    Waiting {
        until: Duration,
        then: Next,
        /// Whether the server asked for the wait.
        is_asked: bool,
    },
}

/// What to do after a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// List, by streaming or paging.
    List,
    /// Watch on from where the last watch ended.
    Watch,
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
            newest_only: true,
            version_unproven: false,
            streaming_refused: false,
            page_next: false,
            fruitless: 0,
            backoff: Backoff::default(),
            contact: Contact::default(),
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
        self.note_contact(&input, is_due, now);
        match (&mut self.state, input) {
            (_, Input::Start) => self.begin(moment),
            (State::Idle, Input::Relist) => Outcome::nothing(),
            (_, Input::Relist) => {
                self.newest_only = true;
                self.begin(moment)
            }
            (_, Input::Reopen) => self.reopen(moment),
            (
                State::Waiting {
                    is_asked: false, ..
                },
                Input::Retry,
            ) => self.deadline_passed(moment),
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

    /// Makes the request under way once more; a list begins with its first page.
    fn reopen(&mut self, moment: Moment) -> Outcome<T> {
        match &self.state {
            State::Idle | State::Waiting { .. } => Outcome::nothing(),
            State::Listing(listing) => self.list_by(listing.first_page().clone(), moment),
            State::Watching(watching) if watching.is_streamed_list() => self.stream(moment),
            State::Watching(_) => self.watch(moment),
        }
    }

    /// The version that the next list must not be older than; `None` for a consistent list.
    fn not_older_than(&self) -> Option<&str> {
        // `0` is no version: it stands for any state at all.
        let usable = !self.newest_only && !matches!(self.version.as_str(), "" | "0");
        usable.then_some(self.version.as_str())
    }

    /// Waits, about as long as the server asked for, and then goes on.
    fn wait(
        &mut self,
        then: Next,
        problem: Problem,
        at_least: Option<Duration>,
        moment: Moment,
    ) -> Outcome<T> {
        let wait = self.backoff.next(moment.now, moment.jitter, at_least);
        self.state = State::Waiting {
            until: moment.now + wait,
            then,
            is_asked: at_least.is_some(),
        };
        Outcome::command(Command::Wait(wait)).with_notice(self.kind, problem, Some(wait))
    }

    /// Lists again: at once if all was well lately, so that the cache is not stale for longer than
    /// it must be, and otherwise after a wait.
    fn list_again(&mut self, problem: Problem, moment: Moment) -> Outcome<T> {
        if !self.backoff.is_fresh(moment.now) {
            return self.wait(Next::List, problem, None, moment);
        }
        self.backoff.next(moment.now, moment.jitter, None);
        self.begin(moment).with_notice(self.kind, problem, None)
    }

    /// Lists again, consistently.
    fn list_newest(&mut self, problem: Problem, moment: Moment) -> Outcome<T> {
        self.newest_only = true;
        self.list_again(problem, moment)
    }

    /// A list is complete.
    fn listed(&mut self, objects: Objects<T>, version: Text) -> Outcome<T> {
        let sign = Sign::went_back(&self.version, &version);
        self.version = version.clone();
        self.newest_only = false;
        self.version_unproven = true;
        self.fruitless = 0;
        let delta = Some(Delta::Replace(objects));
        Outcome {
            delta,
            seen: Some(version),
            sign,
            ..Outcome::nothing()
        }
    }
}
