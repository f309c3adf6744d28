//! Events of one component: sent one after the other, in the background, a bounded number of times.

use std::collections::VecDeque;
use std::time::Duration;

use flyball_api::ApiError;
use flyball_api::request::{Method, Request};
use flyball_api::views::Event;
use flyball_plan::{Now, Record};
use flyball_recorder::{EventWrite, Recorder};

/// Events that may wait. Beyond it they are dropped and counted, as upstream does.
const WAITING_MAX: usize = 1000;
/// How often an event is sent while no answer comes, and how long between tries.
const TRIES_MAX: u32 = 12;
const PAUSE: Duration = Duration::from_secs(10);

/// Sends the events of one component.
#[derive(Debug)]
pub struct Teller {
    recorder: Recorder,
    /// Records and when they were made, until it is their turn: an Event is several times as large.
    waiting: VecDeque<(Record, Now)>,
    /// The Event whose turn it is.
    current: Option<EventWrite>,
    /// Whether a request is under way.
    is_busy: bool,
    /// Whether the Event to count up was found to be gone, so that another is created.
    is_gone: bool,
    tries: u32,
    resumes_at: Duration,
    /// Whether nothing is sent a second time any more.
    is_hurried: bool,
    dropped: u64,
}

/// What is to be done about events.
#[derive(Clone, Debug)]
pub enum Told {
    /// Send this, and pass what comes of it to [`Teller::answered`].
    Send(Request),
    /// Look again at this moment.
    Wait(Duration),
    /// Nothing before the next event, or the answer under way.
    Idle,
}

impl Teller {
    /// Sends the events of this component.
    pub fn new(component: &str) -> Self {
        Self {
            recorder: Recorder::new(component),
            waiting: VecDeque::new(),
            current: None,
            is_busy: false,
            is_gone: false,
            tries: 0,
            resumes_at: Duration::ZERO,
            is_hurried: false,
            dropped: 0,
        }
    }

    /// Takes a record, or drops it if too many wait.
    pub fn record(&mut self, record: &Record, now: Now) {
        if self.waiting.len() + usize::from(self.current.is_some()) >= WAITING_MAX {
            self.dropped += 1;
            return;
        }
        self.waiting.push_back((record.clone(), now));
    }

    /// How many records were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Whether nothing waits and nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.current.is_none()
    }

    /// Sends what is left without second tries.
    pub fn hurry(&mut self) {
        self.is_hurried = true;
        self.resumes_at = Duration::ZERO;
    }

    /// What is to be done now. Without the permission to write, what waits is dropped: the next
    /// leader has events of its own.
    pub fn next(&mut self, may_write: bool, now: Duration) -> Told {
        if self.is_busy {
            return Told::Idle;
        }
        if !may_write {
            self.waiting.clear();
            self.forget_current();
        }
        if now < self.resumes_at {
            return Told::Wait(self.resumes_at);
        }
        // Some records lead to no Event.
        while self.current.is_none()
            && let Some((record, made)) = self.waiting.pop_front()
        {
            self.current = self.recorder.record(&record, made);
        }
        let Some(write) = &self.current else {
            return Told::Idle;
        };
        let request = match &write.patch {
            Some((name, body)) if !self.is_gone => Request::with(
                Method::StrategicPatch,
                Event::KIND.object_path(&write.namespace, name),
                body.json().to_owned(),
            ),
            _ => Request::with(
                Method::Post,
                Event::KIND.collection_path(&write.namespace),
                write.create.json().to_owned(),
            ),
        };
        self.is_busy = true;
        Told::Send(request.metadata_only())
    }

    /// Takes what came of a request. Any answer of the server is final; silence is not.
    pub fn answered(&mut self, answer: Result<(), &ApiError>, now: Duration, jitter: f64) {
        self.is_busy = false;
        let was_patch = !self.is_gone && self.current.as_ref().is_some_and(|it| it.patch.is_some());
        match answer {
            Err(error) if error.is_not_found() && was_patch => {
                self.is_gone = true;
                return;
            }
            Err(error) if error.code() == 0 && self.tries + 1 < TRIES_MAX && !self.is_hurried => {
                // The first pause is random, so that many components do not come back at once.
                let pause = match self.tries {
                    0 => PAUSE.mul_f64(jitter.clamp(0.0, 1.0)),
                    _ => PAUSE,
                };
                self.tries += 1;
                self.resumes_at = now + pause;
                return;
            }
            _ => {}
        }
        self.forget_current();
    }

    fn forget_current(&mut self) {
        self.current = None;
        self.tries = 0;
        self.is_gone = false;
        self.resumes_at = Duration::ZERO;
    }
}
