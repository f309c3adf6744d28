//! Suspicion that the older connections are dead.
//!
//! A frozen proxy or load balancer acknowledges every TCP segment and forwards none, so TCP
//! keep-alive does not notice it. HTTP/1.1 has no ping. What remains is evidence: a request was
//! given up without an answer, and later a newer connection did bring an answer.
//!
//! Connections are numbered by generation. A request given up starts the next generation; an
//! answer over a connection of that generation confirms the suspicion against all older ones.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// The shortest wait for an answer that counts against a connection.
const UNANSWERED_MIN: Duration = Duration::from_secs(2);

/// The shortest time between two reports. Each makes the caller open all its watches again.
const REPORT_INTERVAL_MIN: Duration = Duration::from_secs(20);

/// How long a request may wait over a suspect connection. Admission webhooks may take ten seconds
/// by default, so an answer that is later would be a rare one.
const PATIENCE: Duration = Duration::from_secs(10);

/// The evidence against the connections of one pool.
#[derive(Default)]
pub(crate) struct Suspicion {
    state: Mutex<State>,
    /// The generation from which on connections are not suspect.
    reports: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    generation: u64,
    /// Whether this generation still waits for an answer that confirms the suspicion.
    unconfirmed: bool,
    reported: Option<Instant>,
}

impl Suspicion {
    /// The generation of the connections that are opened now.
    pub(crate) fn generation(&self) -> u64 {
        self.state().generation
    }

    /// Records that a request was given up without an answer, over a connection of this
    /// generation. Returns whether that starts the next generation.
    pub(crate) fn given_up(&self, generation: u64, handed_over: Instant) -> bool {
        if handed_over.elapsed() < UNANSWERED_MIN {
            return false;
        }
        let mut state = self.state();
        // Evidence against a connection that is suspect already adds nothing. Nor does more of it
        // before the suspicion is confirmed: an overloaded server would lose all its connections
        // with each request that takes too long.
        if generation < state.generation || state.unconfirmed {
            return false;
        }
        state.generation += 1;
        state.unconfirmed = true;
        true
    }

    /// Records an answer over a connection of this generation.
    pub(crate) fn answered(&self, generation: u64) {
        let mut state = self.state();
        if !state.unconfirmed || generation < state.generation {
            return;
        }
        // A suspicion confirmed too early is reported by a later answer.
        let is_soon = |at: Instant| at.elapsed() < REPORT_INTERVAL_MIN;
        if state.reported.is_some_and(is_soon) {
            return;
        }
        state.unconfirmed = false;
        state.reported = Some(Instant::now());
        self.reports.send_replace(state.generation);
    }

    /// Waits until a request over a connection of this generation has no chance of an answer: the
    /// connection is suspect, and the request has waited long enough.
    pub(crate) async fn is_hopeless(&self, generation: u64, handed_over: Instant) {
        let mut reports = self.reports();
        // An error means that the pool is gone, and then so is the request.
        drop(reports.wait_for(|sound| *sound > generation).await);
        sleep_until(handed_over + PATIENCE).await;
    }

    /// The number of confirmed suspicions.
    pub(crate) fn reports(&self) -> watch::Receiver<u64> {
        self.reports.subscribe()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    /// Gives up a request over a connection of this generation after so many seconds.
    async fn give_up(suspicion: &Suspicion, generation: u64, seconds: u64) -> bool {
        let handed_over = Instant::now();
        advance(Duration::from_secs(seconds)).await;
        suspicion.given_up(generation, handed_over)
    }

    #[tokio::test(start_paused = true)]
    async fn only_an_answer_over_a_newer_connection_confirms_a_suspicion() {
        let suspicion = Suspicion::default();
        let reports = suspicion.reports();
        suspicion.answered(0);
        assert!(give_up(&suspicion, 0, 2).await);
        suspicion.answered(0);
        assert_eq!(*reports.borrow(), 0);
        suspicion.answered(1);
        suspicion.answered(1);
        assert_eq!(*reports.borrow(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn an_impatient_caller_is_no_evidence() {
        let suspicion = Suspicion::default();
        assert!(!give_up(&suspicion, 0, 1).await);
        assert_eq!(suspicion.generation(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_is_suspect_already_adds_no_evidence() {
        let suspicion = Suspicion::default();
        assert!(give_up(&suspicion, 0, 3).await);
        suspicion.answered(1);
        assert!(!give_up(&suspicion, 0, 60).await);
        assert_eq!(suspicion.generation(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_given_up_one_after_the_other_start_one_generation() {
        let suspicion = Suspicion::default();
        assert!(give_up(&suspicion, 0, 3).await);
        for _ in 0..5 {
            assert!(!give_up(&suspicion, 1, 3).await);
        }
        suspicion.answered(1);
        assert!(give_up(&suspicion, 1, 3).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_report_waits_until_twenty_seconds_after_the_one_before() {
        let suspicion = Suspicion::default();
        let reports = suspicion.reports();
        give_up(&suspicion, 0, 2).await;
        suspicion.answered(1);
        give_up(&suspicion, 1, 19).await;
        suspicion.answered(2);
        assert_eq!(*reports.borrow(), 1);
        advance(Duration::from_secs(1)).await;
        suspicion.answered(2);
        assert_eq!(*reports.borrow(), 2);
    }
}
