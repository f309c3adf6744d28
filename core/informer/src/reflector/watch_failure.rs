//! How watches and streamed lists end, and what follows.

use std::time::Duration;

use flyball_api::{ApiError, Object};

use super::fault::Fault;
use super::watch::{PATIENCE, gathered};
use super::{Moment, Next, Outcome, Problem, Reflector, Sign, State};

/// A watch that ends sooner, and brought nothing, is an error.
const TOO_SHORT: Duration = Duration::from_secs(1);
/// After so many watches in a row that brought nothing, the place they begin at is suspect.
const FRUITLESS_MAX: u32 = 5;

impl<T: Object> Reflector<T> {
    /// The server ended the watch with an error.
    pub(super) fn watch_given_up(&mut self, error: ApiError, moment: Moment) -> Outcome<T> {
        if gathered(&mut self.state).is_some() {
            return self.stream_failed(&error, moment);
        }
        let retry_after = error.retry_after();
        match Fault::of(&error) {
            Fault::Expired => {
                self.newest_only |= self.version_unproven;
                self.list_again(Problem::WatchExpired(error), moment)
            }
            Fault::TooNew => self
                .list_newest(Problem::WatchFailed(error), moment)
                .with_sign(Some(Sign::TooNew)),
            Fault::Busy => self.wait(
                Next::Watch,
                Problem::WatchFailed(error),
                retry_after,
                moment,
            ),
            _ => self.wait(Next::List, Problem::WatchFailed(error), retry_after, moment),
        }
    }

    /// The request failed, or the connection broke.
    pub(super) fn watch_failed(&mut self, error: &ApiError, moment: Moment) -> Outcome<T> {
        let State::Watching(watching) = &self.state else {
            return Outcome::nothing();
        };
        if watching.gathered.is_some() {
            return self.stream_failed(error, moment);
        }
        let problem = Problem::WatchFailed(error.clone());
        match Fault::of(error) {
            Fault::Expired | Fault::TooNew => self.watch_given_up(error.clone(), moment),
            _ if watching.started_at.is_some() => self.watch_ended(Some(error), moment),
            Fault::Busy | Fault::Down => {
                self.wait(Next::Watch, problem, error.retry_after(), moment)
            }
            // Who may watch says nothing about the version; a server that starts refuses everyone.
            _ if matches!(error.code(), 401 | 403) => {
                self.wait(Next::Watch, problem, error.retry_after(), moment)
            }
            _ => self.wait(Next::List, problem, error.retry_after(), moment),
        }
    }

    /// A streamed list failed, at its beginning or before it was complete.
    fn stream_failed(&mut self, error: &ApiError, moment: Moment) -> Outcome<T> {
        let started =
            matches!(&self.state, State::Watching(watching) if watching.started_at.is_some());
        let problem = Problem::StreamedListFailed(error.clone());
        match Fault::of(error) {
            Fault::Refused => {
                self.streaming_refused = true;
                let refused = Problem::StreamedListRefused(error.clone());
                self.list(moment).with_notice(self.kind, refused, None)
            }
            fault @ (Fault::Expired | Fault::TooNew) => self
                .list_newest(problem, moment)
                .with_sign(Sign::of_fault(fault)),
            Fault::Busy => self.wait(Next::List, problem, error.retry_after(), moment),
            // A server that cannot be reached says nothing about streaming; any other failure may
            // be one of streaming alone.
            Fault::Down | Fault::Other => {
                self.page_next = error.code() != 0 || started;
                self.wait(Next::List, problem, error.retry_after(), moment)
            }
        }
    }

    /// The watch is over, in good order or because its connection broke.
    pub(super) fn watch_ended(&mut self, broken: Option<&ApiError>, moment: Moment) -> Outcome<T> {
        let State::Watching(watching) = &self.state else {
            return Outcome::nothing();
        };
        if watching.gathered.is_some() {
            self.page_next = true;
            return self.wait(Next::List, Problem::StreamedListIncomplete, None, moment);
        }
        let lasted = moment
            .now
            .saturating_sub(watching.started_at.unwrap_or(watching.asked_at));
        if watching.has_progressed || lasted >= TOO_SHORT {
            let on = self.watch(moment);
            return match broken {
                Some(error) => on.with_notice(self.kind, Problem::WatchBroken(error.clone()), None),
                None => on,
            };
        }
        self.fruitless += 1;
        let next = if self.fruitless < FRUITLESS_MAX {
            Next::Watch
        } else {
            Next::List
        };
        let failed = |error: &ApiError| Problem::WatchFailed(error.clone());
        self.wait(
            next,
            broken.map_or(Problem::WatchTooShort, failed),
            None,
            moment,
        )
    }

    /// The deadline of the watch has come.
    pub(super) fn watch_silent(&mut self, moment: Moment) -> Outcome<T> {
        let State::Watching(watching) = &self.state else {
            return Outcome::nothing();
        };
        let silent = moment.now.saturating_sub(watching.heard_at);
        match (&watching.gathered, watching.started_at) {
            (Some(_), _) => {
                self.page_next = true;
                self.wait(Next::List, Problem::StreamedListIncomplete, None, moment)
            }
            (None, None) => self.wait(Next::Watch, Problem::WatchTimedOut(PATIENCE), None, moment),
            (None, Some(_)) => {
                self.watch(moment)
                    .with_notice(self.kind, Problem::WatchSilent(silent), None)
            }
        }
    }
}
