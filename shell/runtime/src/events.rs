//! Sends what recorders make of records: in the background, bounded, never in anybody's way.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flyball_api::views::Event;
use flyball_api::{ApiError, Class};
use flyball_client::{Client, Method, Request};
use flyball_plan::Record;
use flyball_recorder::{EventWrite, Recorder};
use tokio::sync::mpsc;

use crate::clock::{Clock, jitter};
use crate::stop::Stop;
use crate::term::Term;

/// Records waiting to be told; beyond it they are dropped and counted, as upstream does.
const WAITING_MAX: usize = 1000;
/// How often a write is tried when no answer comes, and how long between tries.
const TRIES_MAX: u32 = 12;
const PAUSE: Duration = Duration::from_secs(10);

/// Takes records of one component.
#[derive(Clone)]
pub(crate) struct EventSink {
    sender: mpsc::Sender<Record>,
    dropped: Arc<AtomicU64>,
}

/// Tells what an [`EventSink`] takes.
pub(crate) struct EventTeller {
    receiver: mpsc::Receiver<Record>,
    recorder: Recorder,
    client: Client,
    term: Arc<Term>,
    clock: Clock,
}

impl EventSink {
    /// A sink and the teller that empties it.
    pub(crate) fn new(
        component: &str,
        client: Client,
        term: Arc<Term>,
        clock: Clock,
    ) -> (Self, EventTeller) {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        let sink = Self {
            sender,
            dropped: Arc::default(),
        };
        let recorder = Recorder::new(component);
        (
            sink,
            EventTeller {
                receiver,
                recorder,
                client,
                term,
                clock,
            },
        )
    }

    /// Takes a record, or drops it if too many are waiting.
    pub(crate) fn record(&self, record: Record) {
        if self.sender.try_send(record).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many records were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl EventTeller {
    /// Tells records until told to stop, then what is still waiting, without second tries.
    pub(crate) async fn run(mut self, mut stop: Stop) {
        loop {
            let record = tokio::select! {
                biased;
                () = stop.asked() => break,
                record = self.receiver.recv() => record,
            };
            let Some(record) = record else { return };
            if let Some(write) = self.recorder.record(&record, self.clock.now()) {
                tokio::select! {
                    () = stop.asked() => {
                        self.tell_once(&write).await;
                        break;
                    }
                    () = self.tell(&write) => {}
                }
            }
        }
        while let Ok(record) = self.receiver.try_recv() {
            if let Some(write) = self.recorder.record(&record, self.clock.now()) {
                self.tell_once(&write).await;
            }
        }
    }

    async fn tell(&mut self, write: &EventWrite) {
        for attempt in 1..=TRIES_MAX {
            if self.tell_once(write).await {
                return;
            }
            // The first pause is random, so that many components do not come back at once.
            let pause = if attempt == 1 {
                PAUSE.mul_f64(jitter())
            } else {
                PAUSE
            };
            tokio::time::sleep(pause).await;
        }
        tracing::warn!("event dropped: the server did not answer");
    }

    /// Tries once; `false` if no answer came and it is worth another try.
    async fn tell_once(&mut self, write: &EventWrite) -> bool {
        if !self.term.may_write(self.clock.monotonic()) {
            return true;
        }
        if let Some((name, body)) = &write.patch {
            let path = Event::KIND.object_path(&write.namespace, name);
            let body = body.json().to_owned();
            let answer = self
                .client
                .send(&Request::with(Method::StrategicPatch, path, body).metadata_only())
                .await;
            match answer {
                Err(error) if error.class() == Class::NotFound => {}
                answer => return settled(answer.map(drop)),
            }
        }
        let path = Event::KIND.collection_path(&write.namespace);
        let body = write.create.json().to_owned();
        settled(
            self.client
                .send(&Request::with(Method::Post, path, body).metadata_only())
                .await
                .map(drop),
        )
    }
}

/// An answer of the server is final, whatever it says; silence is not.
fn settled(answer: Result<(), ApiError>) -> bool {
    match answer {
        Ok(()) => true,
        Err(error) if error.code() == 0 => false,
        Err(error) => {
            tracing::debug!(err = %error, "the server refused an event");
            true
        }
    }
}
