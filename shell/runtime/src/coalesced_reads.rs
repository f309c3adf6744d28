//! Reads that several syncs of a controller share: one request serves all that ask at a time.

use std::pin::pin;
use std::sync::Arc;

use flyball_api::ApiError;
use flyball_plan::{Action, Answer};
use flyball_process::{ControllerId, Question, Reading};
use tokio::sync::Notify;

use crate::shared::Shared;

/// The shared reads of one controller; cheap to clone.
#[derive(Clone)]
pub(crate) struct CoalescedReads {
    shared: Arc<Shared>,
    controller: ControllerId,
    answered: Arc<Notify>,
}

impl CoalescedReads {
    pub(crate) fn new(shared: Arc<Shared>, controller: ControllerId) -> Self {
        Self {
            shared,
            controller,
            answered: Arc::default(),
        }
    }

    fn answer(&self, question: Question, answer: Answer) -> Answer {
        let answer = self.shared.act(|process, moment| {
            let now = moment.now.monotonic;
            process.read_answered(self.controller, question, answer, now)
        });
        self.answered.notify_waiters();
        answer
    }

    /// The answer to a read, from the server if no recent one is known. `ask` asks the server.
    pub(crate) async fn get(&self, action: &Action, ask: impl AsyncFnOnce() -> Answer) -> Answer {
        let question = loop {
            let mut answered = pin!(self.answered.notified());
            // From here on no answer goes unnoticed.
            answered.as_mut().enable();
            let reading = self.shared.act(|process, moment| {
                let now = moment.now.monotonic;
                process.read(self.controller, action, now)
            });
            match reading {
                Some(Reading::Known(answer)) => return answer,
                Some(Reading::Wait(_)) => answered.await,
                Some(Reading::Ask(question)) => break question,
                // Not a read that is shared.
                None => return ask().await,
            }
        };
        let asking = Asking {
            reads: self,
            question: Some(question),
        };
        asking.answer(ask().await)
    }
}

/// A question under way. Dropped without an answer it counts as failed, so that the syncs that
/// wait for it go on.
struct Asking<'a> {
    reads: &'a CoalescedReads,
    question: Option<Question>,
}

impl Asking<'_> {
    /// Passes the answer on. Returns what the sync that asked hears of it.
    fn answer(mut self, answer: Answer) -> Answer {
        match self.question.take() {
            Some(question) => self.reads.answer(question, answer),
            None => answer,
        }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if let Some(question) = self.question.take() {
            let given_up = ApiError::transport("the request was given up");
            self.reads.answer(question, Answer::Failed(given_up));
        }
    }
}
