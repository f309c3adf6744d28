//! Carries out plans. The actions say what to send, in which order and how fast; the permit says
//! whether it may still be sent.

use std::sync::Arc;

use flyball_api::Class;
use flyball_client::Client;
use flyball_plan::{
    Action, Actions, Answer, Progress, Question, Read, Want, Write, Written, answer_of, request_of,
};
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::sync::Semaphore;

use crate::coalesced_reads::CoalescedReads;
use crate::events::Events;
use crate::permission::WritePermit;
use crate::shared::Shared;

/// Requests of one controller under way at once.
pub(crate) const REQUESTS_MAX: usize = 32;

/// What the plans of one controller are carried out with.
#[derive(Clone)]
pub(crate) struct Tools {
    pub(crate) shared: Arc<Shared>,
    pub(crate) client: Client,
    pub(crate) events: Arc<Events>,
    pub(crate) requests: Arc<Semaphore>,
    pub(crate) reads: CoalescedReads,
}

/// Carries out the plans of one controller that were handed out in one round.
pub(crate) struct Executor {
    tools: Tools,
    permit: Arc<WritePermit>,
    pub(crate) round: u64,
}

/// The permission to write ended before the write was sent, or before its answer came.
struct PermitEnded;

impl Executor {
    pub(crate) fn new(tools: &Tools, round: u64) -> Self {
        let permit = Arc::new(WritePermit {
            shared: tools.shared.clone(),
            round: Some(round),
        });
        let client = tools.client.clone().permitted(permit.clone());
        Self {
            tools: Tools {
                client,
                ..tools.clone()
            },
            permit,
            round,
        }
    }

    /// Runs the actions at their pace; one answer for each, in the same order. If the permission
    /// ends meanwhile, the answers so far are the error.
    pub(crate) async fn run(&self, actions: &Actions) -> Result<Vec<Answer>, Vec<Answer>> {
        let mut progress = Progress::new(actions);
        while let Some(batch) = progress.batch() {
            let items = &actions.items[batch.clone()];
            let mut answers: Vec<Answer> = items.iter().map(|_| Answer::Skipped).collect();
            let has_ended = self.batch(items, &mut answers).await;
            for (at, answer) in batch.zip(answers) {
                progress.answered(at, answer);
            }
            if has_ended {
                return Err(progress.into_answers());
            }
        }
        Ok(progress.into_answers())
    }

    /// Runs actions all at once. Returns whether the permission ended.
    async fn batch(&self, items: &[Action], answers: &mut [Answer]) -> bool {
        if let ([item], [answer]) = (items, &mut *answers) {
            // Most batches have one action: no need for a set of futures.
            return match self.one(item).await {
                Ok(got) => {
                    *answer = got;
                    false
                }
                Err(PermitEnded) => true,
            };
        }
        let mut running: FuturesUnordered<_> = items
            .iter()
            .enumerate()
            .map(|(i, item)| async move { (i, self.one(item).await) })
            .collect();
        let mut has_ended = false;
        while let Some((i, result)) = running.next().await {
            match result {
                Ok(answer) => answers[i] = answer,
                Err(PermitEnded) => has_ended = true,
            }
        }
        has_ended
    }

    async fn one(&self, action: &Action) -> Result<Answer, PermitEnded> {
        match action {
            Action::Record(record) => {
                let now = self.tools.shared.clock.now();
                self.tools.events.record(record, now);
                Ok(Answer::Done(Written::default()))
            }
            Action::Read(Read {
                question: Question::Discovery,
                ..
            }) => {
                let discover = async || {
                    let found = self.tools.client.discover().await;
                    found.map_or_else(Answer::Failed, Answer::Discovered)
                };
                Ok(Box::pin(self.tools.reads.get(action, discover)).await)
            }
            Action::Read(_) => {
                // A read needs no permission.
                let list = async || self.request(action).await.unwrap_or(Answer::Skipped);
                Ok(Box::pin(self.tools.reads.get(action, list)).await)
            }
            Action::Write(_) => self.request(action).await,
        }
    }

    async fn request(&self, action: &Action) -> Result<Answer, PermitEnded> {
        let Some(request) = request_of(action) else {
            return Ok(Answer::Done(Written::default()));
        };
        // Never closed, so this only ever waits.
        let _slot = self.tools.requests.acquire().await;
        let ends = self.tools.shared.permissions.ends();
        // Boxed, as are the reads above: an action that waits for its slot costs little memory.
        let answer = Box::pin(self.tools.client.send(&request)).await;
        let error = match answer {
            Ok(body) => return Ok(read(action, &body)),
            Err(error) => error,
        };
        // What was kept back or given up is no answer to decide by.
        let is_unanswered = action.is_write() && error.code() == 0;
        let is_kept_back = error.class() == Class::Terminal;
        match is_unanswered && (is_kept_back || self.permit.has_ended_since(ends)) {
            true => Err(PermitEnded),
            false => Ok(Answer::Failed(error)),
        }
    }
}

/// The meaning of a successful answer. One that cannot be read is logged.
fn read(action: &Action, body: &[u8]) -> Answer {
    let answer = answer_of(action, body);
    // Collections and reviews have no name.
    let names_one = |write: &Write| !write.is_of_collection() && write.want != Want::Whole;
    if let Answer::Done(written) = &answer
        && written.name.is_empty()
        && action.write().is_some_and(names_one)
    {
        tracing::warn!(verb = action.verb(), "cannot read the server's answer");
    }
    answer
}
