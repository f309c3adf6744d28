//! Too many pods: delete those that cost least to lose, all at once.

use flyball_api::views::Pod;
use flyball_plan::rules::ranking::{Ranking, victims};
use flyball_plan::{Action, Answer, Failure, Round, Write};

use super::Owner;
use super::outcome::{Outcome, Refusal, normal, warning};

pub(super) const STAGE: &str = "delete";
const FAILED: &str = "FailedDelete";

/// The deletes for `excess` of these pods.
pub(super) fn deletes(pods: &[&Pod], excess: usize, ranking: Ranking<'_>) -> Vec<Action> {
    let chosen = victims(pods, excess, ranking);
    let delete = |pod: &Pod| Write::delete(Pod::KIND, &pod.metadata).into();
    chosen.into_iter().map(delete).collect()
}

/// What became of the deletes.
pub(super) fn outcome(round: &Round) -> Outcome {
    let error = round
        .answers
        .iter()
        .filter_map(Answer::error)
        .find(|error| !error.is_gone_or_replaced());
    Outcome {
        deleted: round
            .answers
            .iter()
            .filter(|answer| succeeded(answer))
            .count(),
        refusal: error.map(|error| Refusal {
            reason: FAILED,
            failure: Failure::of(error, round.failed_namespace())
                .in_words(format!("unable to delete pods: {error}")),
        }),
        ..Outcome::default()
    }
}

/// What to tell people about the deletes.
pub(super) fn records(owner: &Owner<'_>, round: &Round) -> Vec<Action> {
    let tell = |(action, answer): (&Action, &Answer)| match (action, answer) {
        (Action::Write(delete), Answer::Done(_)) => {
            let message = format!("Deleted pod: {}", delete.target.name.name);
            Some(normal(owner, "SuccessfulDelete", message))
        }
        (_, Answer::Failed(error)) if !error.is_gone_or_replaced() => {
            Some(warning(owner, FAILED, format!("Error deleting: {error}")))
        }
        _ => None,
    };
    round
        .actions
        .items
        .iter()
        .zip(&round.answers)
        .filter_map(tell)
        .collect()
}

fn succeeded(answer: &Answer) -> bool {
    match answer {
        Answer::Done(_) => true,
        Answer::Failed(error) => error.is_gone_or_replaced(),
        _ => false,
    }
}
