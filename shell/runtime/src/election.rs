//! Takes part in an election: sends what the process asks for and announces the end of a term.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flyball_api::views::{Lease, ObjectReference};
use flyball_api::{ApiError, Class, Object};
use flyball_client::{Client, Method, Request};
use flyball_election::Settings;
use flyball_plan::{Record, RecordKind};
use flyball_process::Elect;
use tokio::time::{sleep_until, timeout_at};

use crate::shared::Shared;

/// The Lease of an election, and its timing.
#[derive(Clone, Debug)]
pub struct ElectionOptions {
    /// The namespace of the Lease.
    pub namespace: String,
    /// The name of the Lease.
    pub name: String,
    /// Identity and timing.
    pub settings: Settings,
    /// Whether a clean stop gives the Lease up at once.
    pub release_on_exit: bool,
}

impl ElectionOptions {
    /// A record about the Lease.
    pub(crate) fn record(&self, kind: RecordKind, reason: &'static str, message: String) -> Record {
        Record {
            about: ObjectReference {
                kind: "Lease".into(),
                namespace: self.namespace.as_str().into(),
                name: self.name.as_str().into(),
                api_version: "coordination.k8s.io/v1".into(),
                ..ObjectReference::default()
            },
            kind,
            reason,
            message,
        }
    }
}

/// The task of the election. Its client needs no permission to write.
pub(crate) struct ElectionTask {
    pub(crate) shared: Arc<Shared>,
    pub(crate) client: Client,
}

impl ElectionTask {
    /// Takes part until the task is aborted.
    pub(crate) async fn run(self) {
        let shared = &self.shared;
        loop {
            match shared.act(|process, moment| process.elect(moment)) {
                Elect::Send(request, until) => {
                    let Some(answer) = self.ask(&request, until).await else {
                        continue;
                    };
                    self.log(&request, &answer);
                    let answer = answer.as_deref();
                    shared.act(|process, moment| process.election_answered(answer, moment));
                    shared.wakeups.stop.notify_one();
                }
                Elect::Wait(at) => {
                    tokio::select! {
                        () = sleep_until(shared.clock.instant(at)) => {}
                        () = shared.wakeups.election.notified() => {}
                    }
                }
            }
        }
    }

    /// Sends a request and waits for the answer; `None` if it is not waited for any more. The end
    /// of the term is announced when it comes, although the answer is still under way.
    async fn ask(&self, request: &Request, until: Duration) -> Option<Result<Bytes, ApiError>> {
        let shared = &self.shared;
        let asked = shared.clock.monotonic();
        let answer = timeout_at(shared.clock.instant(until), self.client.send_once(request));
        let mut answer = pin!(answer);
        loop {
            let term_end = shared.look(|process, now| {
                let ends = process.leads_until();
                ends.filter(|ends| now.monotonic < *ends)
            });
            let term_end = shared.clock.instant(term_end.unwrap_or(Duration::MAX));
            tokio::select! {
                answer = &mut answer => return Some(answer.unwrap_or_else(|_| {
                    let seconds = until.saturating_sub(asked).as_secs_f32();
                    Err(ApiError::timeout(format!("no answer within {seconds} s")))
                })),
                () = shared.wakeups.election.notified() => {
                    if !shared.look(|process, _| process.is_election_asked()) {
                        return None;
                    }
                }
                () = sleep_until(term_end) => {
                    // While a request is under way it only announces.
                    shared.act(|process, moment| process.elect(moment));
                }
            }
        }
    }

    /// Logs a failure. To lose a race or to find no Lease is part of any election.
    fn log(&self, request: &Request, answer: &Result<Bytes, ApiError>) {
        let why = match answer {
            Ok(body) => match Lease::decode(body) {
                Ok(_) => return,
                Err(error) => format!("not a Lease: {error}"),
            },
            Err(error) => match error.class() {
                Class::Conflict | Class::AlreadyExists => return,
                Class::NotFound if request.method == Method::Get => return,
                _ => error.to_string(),
            },
        };
        let lease = self.shared.news.lease_name();
        tracing::warn!(lease, err = why, "leader election request failed");
    }
}
