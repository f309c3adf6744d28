//! Watching, and listing by way of a watch.

use std::time::Duration;

use flyball_api::{ApiError, Object, Text};

use super::event::{Event, read_event};
use super::fault::Fault;
use super::{
    Command, Delta, Moment, Next, Outcome, Problem, Reflector, State, WatchRequest, admit, shared,
};
use crate::StoreView;
use crate::store::objects::Objects;

/// A watch is asked to last for between this many seconds and twice as many.
const TIMEOUT_SECONDS_MIN: u32 = 300;
/// How long a server may take to accept a watch, and to say the next thing in a streamed list.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much longer than asked for a watch may last before it is taken for dead.
const GRACE: Duration = Duration::from_secs(30);
/// How long a watch that has had bookmarks, which come about once a minute, may be silent.
const SILENCE_MAX: Duration = Duration::from_secs(180);
/// A watch that ends sooner, and brought nothing, is an error.
const TOO_SHORT: Duration = Duration::from_secs(1);
/// After so many watches in a row that brought nothing, the place they begin at is suspect.
const FRUITLESS_MAX: u32 = 5;

/// A watch under way.
pub(super) struct Watching<T> {
    /// What a streamed list has brought so far; `None` once it is complete, and for plain watches.
    gathered: Option<Objects<T>>,
    asked_at: Duration,
    started_at: Option<Duration>,
    heard_at: Duration,
    timeout: Duration,
    has_bookmarks: bool,
    /// Whether the version has advanced since the watch began.
    has_progressed: bool,
}

impl<T> Watching<T> {
    pub(super) fn start(&mut self, now: Duration) {
        self.started_at = Some(now);
        self.heard_at = now;
    }

    pub(super) fn deadline(&self) -> Duration {
        let Some(started_at) = self.started_at else {
            return self.asked_at + PATIENCE;
        };
        let end = started_at + self.timeout + GRACE;
        let silence_max = match (&self.gathered, self.has_bookmarks) {
            (Some(_), _) => PATIENCE,
            (None, true) => SILENCE_MAX,
            (None, false) => return end,
        };
        end.min(self.heard_at + silence_max)
    }
}

impl<T: Object> Reflector<T> {
    /// Asks for everything there is and what happens next, in one watch.
    pub(super) fn stream(&mut self, moment: Moment) -> Outcome<T> {
        let version = if self.version_unusable {
            ""
        } else {
            self.version.as_str()
        };
        self.watch_from(version.to_owned(), Some(Objects::default()), moment)
    }

    /// Goes on watching where the last watch, or the last list, ended.
    pub(super) fn watch(&mut self, moment: Moment) -> Outcome<T> {
        self.watch_from(self.version.as_str().to_owned(), None, moment)
    }

    fn watch_from(
        &mut self,
        resource_version: String,
        gathered: Option<Objects<T>>,
        moment: Moment,
    ) -> Outcome<T> {
        let spread = f64::from(TIMEOUT_SECONDS_MIN) * moment.jitter.clamp(0.0, 1.0);
        let timeout_seconds = TIMEOUT_SECONDS_MIN + (spread as u32).min(TIMEOUT_SECONDS_MIN - 1);
        let send_initial_events = gathered.is_some();
        self.state = State::Watching(Watching {
            gathered,
            asked_at: moment.now,
            started_at: None,
            heard_at: moment.now,
            timeout: Duration::from_secs(timeout_seconds.into()),
            has_bookmarks: false,
            has_progressed: false,
        });
        let request = WatchRequest {
            resource_version,
            send_initial_events,
            timeout_seconds,
        };
        Outcome::command(Command::Watch(request))
    }

    /// A line came.
    pub(super) fn event(
        &mut self,
        line: &[u8],
        moment: Moment,
        cached: &StoreView<T>,
    ) -> Outcome<T> {
        let State::Watching(watching) = &mut self.state else {
            return Outcome::nothing();
        };
        watching.heard_at = moment.now;
        if line.trim_ascii().is_empty() {
            return Outcome::nothing();
        }
        match read_event::<T>(line, &self.types) {
            Err(what) => self.list_again(Problem::MalformedEvent(what), moment),
            Ok(Event::Foreign(found)) => {
                Outcome::nothing().with_notice(self.kind, Problem::ForeignObject(found), None)
            }
            Ok(Event::Failure(error)) => self.watch_given_up(error, moment),
            Ok(Event::Bookmark {
                version,
                ends_initial,
            }) => self.bookmark(version, ends_initial),
            Ok(Event::Put { object, added }) => {
                let version = Text::from(object.resource_version());
                let Self { state, pool, .. } = self;
                match gathered(state) {
                    Some(gathered) => {
                        gathered.put(admit(object, pool, cached));
                        Outcome::nothing()
                    }
                    None => {
                        let object = shared(object, pool);
                        // A watch from nowhere begins with what there is, in no order of versions.
                        let ordered = !(added && matches!(self.version.as_str(), "" | "0"));
                        let seen = ordered.then(|| self.advance(version)).flatten();
                        Outcome {
                            delta: Some(Delta::Put(object)),
                            seen,
                            ..Outcome::nothing()
                        }
                    }
                }
            }
            Ok(Event::Deleted(object)) => match gathered(&mut self.state) {
                Some(gathered) => {
                    gathered.remove(object.namespace(), object.name());
                    Outcome::nothing()
                }
                None => {
                    let seen = self.advance(object.resource_version().into());
                    Outcome {
                        delta: Some(Delta::Delete(object.into())),
                        seen,
                        ..Outcome::nothing()
                    }
                }
            },
        }
    }

    fn bookmark(&mut self, version: Text, ends_initial: bool) -> Outcome<T> {
        let State::Watching(watching) = &mut self.state else {
            return Outcome::nothing();
        };
        watching.has_bookmarks = true;
        match watching.gathered.take() {
            Some(gathered) if ends_initial => {
                watching.has_progressed = true;
                self.listed(gathered, version)
            }
            // The version counts only when everything up to it is there.
            Some(gathered) => {
                watching.gathered = Some(gathered);
                Outcome::nothing()
            }
            None => Outcome {
                seen: self.advance(version),
                ..Outcome::nothing()
            },
        }
    }

    fn advance(&mut self, version: Text) -> Option<Text> {
        if version.is_empty() || version == self.version {
            return None;
        }
        if let State::Watching(watching) = &mut self.state {
            watching.has_progressed = true;
        }
        self.fruitless = 0;
        self.version_unproven = false;
        self.version = version.clone();
        Some(version)
    }

    /// The server ended the watch with an error.
    fn watch_given_up(&mut self, error: ApiError, moment: Moment) -> Outcome<T> {
        if gathered(&mut self.state).is_some() {
            return self.stream_failed(&error, moment);
        }
        let retry_after = error.retry_after();
        match Fault::of(&error) {
            Fault::Expired => {
                self.version_unusable |= self.version_unproven;
                self.list_again(Problem::WatchExpired(error), moment)
            }
            Fault::TooNew => {
                self.version_unusable = true;
                self.list_again(Problem::WatchFailed(error), moment)
            }
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
            Fault::Expired | Fault::TooNew => {
                self.version_unusable = true;
                self.list_again(problem, moment)
            }
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

/// What a streamed list has brought so far, while one is under way.
fn gathered<T>(state: &mut State<T>) -> Option<&mut Objects<T>> {
    match state {
        State::Watching(watching) => watching.gathered.as_mut(),
        _ => None,
    }
}
