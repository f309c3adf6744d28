//! Carries out plans. It decides nothing: what to send, in which order and how fast is all in the
//! actions; whether it may still be sent is the term's to say.

use std::sync::Arc;

use flyball_api::discovery::Discovery;
use flyball_api::{ApiError, Kind};
use flyball_client::Client;
use flyball_plan::{Action, Actions, Answer, Listing, Progress, Written, answer_of, request_of};
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::sync::Semaphore;

use crate::clock::Clock;
use crate::events::EventSink;
use crate::recent::{Recent, RecentLists};
use crate::term::Term;

/// Requests of one controller under way at once.
pub(crate) const REQUESTS_MAX: usize = 32;

/// Carries out the plans of one controller.
#[derive(Clone)]
pub(crate) struct Executor {
    pub(crate) client: Client,
    pub(crate) events: EventSink,
    pub(crate) term: Arc<Term>,
    pub(crate) clock: Clock,
    pub(crate) requests: Arc<Semaphore>,
    pub(crate) recent_discovery: Recent<Arc<Discovery>>,
    pub(crate) recent_lists: RecentLists,
}

/// The term ended before the write was sent.
struct TermOver;

impl Executor {
    /// Runs the actions at their pace; one answer for each, in the same order. If the term ends
    /// meanwhile, the answers so far are the error.
    pub(crate) async fn run(&self, actions: &Actions) -> Result<Vec<Answer>, Vec<Answer>> {
        let mut progress = Progress::new(actions);
        while let Some(batch) = progress.batch() {
            let items = &actions.items[batch.clone()];
            let mut answers: Vec<Answer> = items.iter().map(|_| Answer::Skipped).collect();
            let over = self.batch(items, &mut answers).await;
            for (at, answer) in batch.zip(answers) {
                progress.answered(at, answer);
            }
            if over {
                return Err(progress.into_answers());
            }
        }
        Ok(progress.into_answers())
    }

    /// Runs actions all at once; whether the term ended is the result.
    async fn batch(&self, items: &[Action], answers: &mut [Answer]) -> bool {
        if let ([item], [answer]) = (items, &mut *answers) {
            // Most batches have one action: no need for a set of futures.
            return match self.one(item).await {
                Ok(got) => {
                    *answer = got;
                    false
                }
                Err(TermOver) => true,
            };
        }
        let mut running: FuturesUnordered<_> = items
            .iter()
            .enumerate()
            .map(|(i, item)| async move { (i, self.one(item).await) })
            .collect();
        let mut over = false;
        while let Some((i, result)) = running.next().await {
            match result {
                Ok(answer) => answers[i] = answer,
                Err(TermOver) => over = true,
            }
        }
        over
    }

    fn may_write(&self) -> bool {
        self.term.may_write(self.clock.monotonic())
    }

    async fn one(&self, action: &Action) -> Result<Answer, TermOver> {
        if let Action::Record(record) = action {
            self.events.record(record.clone());
            return Ok(Answer::Done(Written::default()));
        }
        if let Action::Discover { age_max } = action {
            let discover = async || self.client.discover().await;
            let found = self.recent_discovery.get(*age_max, discover).await;
            return Ok(found.map_or_else(Answer::Failed, Answer::Discovered));
        }
        if let Action::Survey { kind, age_max, .. } = action {
            let recent = self.recent_lists.of(*kind);
            let listed = recent.get(*age_max, async || self.survey(action, *kind).await);
            return Ok(listed.await.map_or_else(Answer::Failed, Answer::Listed));
        }
        self.one_request(action).await
    }

    /// Lists a whole kind.
    async fn survey(&self, action: &Action, kind: Kind) -> Result<Arc<Listing>, ApiError> {
        match self.one_request(action).await {
            Ok(Answer::Listed(listing)) => Ok(listing),
            Ok(Answer::Failed(error)) => Err(error),
            _ => Err(ApiError::transport(format!("no list of {kind}"))),
        }
    }

    async fn one_request(&self, action: &Action) -> Result<Answer, TermOver> {
        let Some(request) = request_of(action) else {
            return Ok(Answer::Done(Written::default()));
        };
        // Never closed, so this only ever waits.
        let _slot = self.requests.acquire().await;
        let answer = match self.client.send(&request).await {
            Ok(body) => read(action, &body),
            // The client asks for its permit before each write; what it did not send, or lost on
            // the way, is nothing to decide by once the term is over.
            Err(error) if action.is_write() && error.code() == 0 && !self.may_write() => {
                return Err(TermOver);
            }
            Err(error) => Answer::Failed(error),
        };
        Ok(answer)
    }
}

/// What a successful answer says; one that cannot be read is worth knowing.
fn read(action: &Action, body: &[u8]) -> Answer {
    let answer = answer_of(action, body);
    let names_nothing = matches!(action, Action::DeleteCollection { .. });
    if let Answer::Done(written) = &answer
        && written.name.is_empty()
        && !names_nothing
    {
        tracing::warn!(verb = action.verb(), "cannot read the server's answer");
    }
    answer
}
