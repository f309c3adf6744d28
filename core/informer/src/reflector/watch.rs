//! Watching, and listing by way of a watch: requests and events.

use std::time::Duration;

use flyball_api::{Object, Text};

use super::event::{Event, read_event};
use super::{
    Command, Delta, Moment, Outcome, Problem, Reflector, Sign, State, WatchRequest, admit, shared,
};
use crate::StoreView;
use crate::store::objects::Objects;

/// A watch is asked to last for between this many seconds and twice as many.
const TIMEOUT_SECONDS_MIN: u32 = 300;
/// How long a server may take to accept a watch, and to say the next thing in a streamed list.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// How much longer than asked for a watch may last before it is taken for dead.
const GRACE: Duration = Duration::from_secs(30);
/// How long a watch that has had bookmarks, which come about once a minute, may be silent.
const SILENCE_MAX: Duration = Duration::from_secs(180);

/// A watch under way.
pub(super) struct Watching<T> {
    /// What a streamed list has brought so far; `None` once it is complete, and for plain watches.
    pub(super) gathered: Option<Objects<T>>,
    pub(super) asked_at: Duration,
    pub(super) started_at: Option<Duration>,
    pub(super) heard_at: Duration,
    timeout: Duration,
    has_bookmarks: bool,
    /// Whether the version has advanced since the watch began.
    pub(super) has_progressed: bool,
}

impl<T> Watching<T> {
    pub(super) fn start(&mut self, now: Duration) {
        self.started_at = Some(now);
        self.heard_at = now;
    }

    /// Whether a list is being streamed, and is not complete yet.
    pub(super) fn is_streamed_list(&self) -> bool {
        self.gathered.is_some()
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
        let version = self.not_older_than().unwrap_or_default().to_owned();
        self.watch_from(version, Some(Objects::default()), moment)
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
            self.contact.regain();
            return Outcome::nothing();
        }
        let event = read_event::<T>(line, &self.types);
        match &event {
            // An error ends the watch: whether there is contact shows the request that follows.
            Ok(Event::Failure(_)) | Err(_) => self.contact.refute(moment.now),
            Ok(_) => self.contact.regain(),
        }
        match event {
            Err(what) => self.list_again(Problem::MalformedEvent(what), moment),
            Ok(Event::Foreign(found)) => {
                Outcome::nothing().with_notice(self.kind, Problem::ForeignObject(found), None)
            }
            Ok(Event::Failure(error)) => self.watch_given_up(error, moment),
            Ok(Event::Bookmark {
                version,
                ends_initial,
            }) => self.bookmark(version, ends_initial, moment),
            Ok(Event::Put { object, added }) => {
                let version = Text::from(object.resource_version());
                let cached = self.shareable(cached);
                let Self { state, pool, .. } = self;
                match gathered(state) {
                    Some(gathered) => {
                        gathered.put(admit(object, pool, cached));
                        Outcome::nothing()
                    }
                    None => {
                        let delta = Delta::Put(shared(object, pool));
                        // A watch from nowhere begins with what there is, in no order of versions.
                        match added && matches!(self.version.as_str(), "" | "0") {
                            true => Outcome::delta(delta),
                            false => self.watched(Some(delta), version, moment),
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
                    let version = object.resource_version().into();
                    self.watched(Some(Delta::Delete(object.into())), version, moment)
                }
            },
        }
    }

    fn bookmark(&mut self, version: Text, ends_initial: bool, moment: Moment) -> Outcome<T> {
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
            None => self.watched(None, version, moment),
        }
    }

    /// Takes an event or bookmark of a plain watch. One of a lower version than the last belongs to
    /// another history: it is dropped, and everything is listed again.
    fn watched(&mut self, delta: Option<Delta<T>>, version: Text, moment: Moment) -> Outcome<T> {
        if let Some(sign) = Sign::went_back(&self.version, &version) {
            let problem = Problem::VersionWentBack {
                seen: self.version.clone(),
                told: version,
            };
            return self.list_newest(problem, moment).with_sign(Some(sign));
        }
        Outcome {
            delta,
            seen: self.advance(version),
            ..Outcome::nothing()
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
}

/// What a streamed list has brought so far, while one is under way.
pub(super) fn gathered<T>(state: &mut State<T>) -> Option<&mut Objects<T>> {
    match state {
        State::Watching(watching) => watching.gathered.as_mut(),
        _ => None,
    }
}
