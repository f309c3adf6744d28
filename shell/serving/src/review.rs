//! Asking the API server: the one way out of this crate, with upstream's retries and a bound on questions in flight.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use http::Request;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::digest::random_fraction;
use crate::options::Backoff;

/// Questions in flight at once. Callers nobody knows yet can cause one question each; this many of them reach the API
/// server at a time, the others wait inside their own request's time.
const REVIEWS_IN_FLIGHT_MAX: usize = 32;

/// A question that got no answer. It never holds the question, which may hold a token.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ReviewFailed(String);

/// A client for reviews.
pub(crate) struct Reviewer {
    client: kube::Client,
    backoff: Backoff,
    try_timeout: Duration,
    permits: Semaphore,
}

impl Reviewer {
    pub(crate) fn new(client: kube::Client, backoff: Backoff, try_timeout: Duration) -> Self {
        Self {
            client,
            backoff,
            try_timeout,
            permits: Semaphore::new(REVIEWS_IN_FLIGHT_MAX),
        }
    }

    /// Posts `review` and reads the answer, trying again while the trouble looks passing. `known` is looked at once
    /// more when it is this question's turn, so that many equal questions at one time become one.
    pub(crate) async fn post<B, T>(
        &self,
        path: &str,
        review: &B,
        known: impl Fn() -> Option<T>,
    ) -> Result<Answered<T>, ReviewFailed>
    where
        B: Serialize,
        T: DeserializeOwned,
    {
        let body = serde_json::to_vec(review).map_err(|error| ReviewFailed(error.to_string()))?;
        let _permit = self
            .permits
            .acquire()
            .await
            .map_err(|_| ReviewFailed("closing".into()))?;
        if let Some(answer) = known() {
            return Ok(Answered::Known(answer));
        }
        let mut pause = self.backoff.first;
        let mut tries = 0;
        loop {
            tries += 1;
            let failure = match timeout(self.try_timeout, self.post_once(path, &body)).await {
                Ok(Ok(answer)) => return Ok(Answered::Fresh(answer)),
                Ok(Err(failure)) => failure,
                Err(_) => Failure::lasting(format!("no answer within {:?}", self.try_timeout)),
            };
            if !failure.is_passing || tries >= self.backoff.tries_max {
                tracing::warn!(path, tries, error = %failure.problem, "review failed");
                return Err(ReviewFailed(failure.problem));
            }
            sleep(pause.mul_f64(1.0 + self.backoff.jitter * random_fraction())).await;
            pause = pause.mul_f64(self.backoff.factor);
        }
    }

    async fn post_once<T: DeserializeOwned>(&self, path: &str, body: &[u8]) -> Result<T, Failure> {
        let request = Request::post(path)
            .header(http::header::CONTENT_TYPE, "application/json")
            .body(body.to_vec())
            .map_err(|error| Failure::lasting(error.to_string()))?;
        // Not `Client::request`: it logs an answer that it cannot decode, and the answer repeats the token.
        let text = self
            .client
            .request_text(request)
            .await
            .map_err(|error| Failure::of(&error))?;
        serde_json::from_str(&text).map_err(|error| {
            Failure::lasting(format!("undecodable answer at column {}", error.column()))
        })
    }
}

/// Where an answer comes from: only a fresh one is put into a cache.
pub(crate) enum Answered<T> {
    Known(T),
    Fresh(T),
}

struct Failure {
    problem: String,
    is_passing: bool,
}

impl Failure {
    fn lasting(problem: String) -> Self {
        Self {
            problem,
            is_passing: false,
        }
    }

    fn of(error: &kube::Error) -> Self {
        let problem = match error {
            kube::Error::Api(status) => status.message.clone(),
            other => other.to_string(),
        };
        Self {
            problem,
            is_passing: is_passing(error),
        }
    }
}

/// Upstream's rule (`apiserver/pkg/util/webhook/webhook.go`): internal errors, timeouts, too many requests, answers
/// that ask to come again, and connections lost on the way. A refused connection is not among them: it fails at once.
fn is_passing(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => {
            matches!(status.code, 429 | 500 | 504)
                || matches!(
                    status.reason.as_str(),
                    "InternalError" | "Timeout" | "TooManyRequests"
                )
                || status
                    .details
                    .as_ref()
                    .is_some_and(|details| details.retry_after_seconds > 0)
        }
        other => {
            let mut cause = other.source();
            while let Some(error) = cause {
                if connection_was_lost(error) {
                    return true;
                }
                cause = error.source();
            }
            false
        }
    }
}

fn connection_was_lost(error: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<hyper::Error>() {
        return error.is_incomplete_message();
    }
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::ConnectionReset)
}
