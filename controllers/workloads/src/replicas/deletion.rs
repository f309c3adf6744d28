//! Too many pods: delete those that cost least to lose, all at once.

use flyball_api::ApiError;
use flyball_api::views::Pod;
use flyball_plan::rules::ranking::{Ranking, victims};
use flyball_plan::{Action, Actions, Answer, Round};

use super::outcome::{Failure, Outcome, normal, warning};
use super::{BURST, Owner};

pub(super) const STAGE: &str = "delete";
const FAILED: &str = "FailedDelete";

/// The deletes for `excess` of these pods, as many as one sync makes.
pub(super) fn actions(pods: &[&Pod], excess: usize, ranking: Ranking<'_>) -> Actions {
    let chosen = victims(pods, excess.min(BURST), ranking);
    let delete = |pod: &Pod| Action::delete(Pod::KIND, &pod.metadata);
    Actions::together(STAGE, chosen.into_iter().map(delete).collect())
}

/// What became of the deletes.
pub(super) fn outcome(round: &Round) -> Outcome {
    let error = round
        .answers
        .iter()
        .filter_map(Answer::error)
        .find(|error| !is_gone(error));
    Outcome {
        deleted: round
            .answers
            .iter()
            .filter(|answer| succeeded(answer))
            .count(),
        failure: error.map(|error| Failure {
            reason: FAILED,
            message: format!("unable to delete pods: {error}"),
        }),
        ..Outcome::default()
    }
}

/// What to tell people about the deletes.
pub(super) fn records(owner: &Owner<'_>, round: &Round) -> Vec<Action> {
    let tell = |(action, answer): (&Action, &Answer)| match (action, answer) {
        (Action::Delete { target, .. }, Answer::Done(_)) => {
            let message = format!("Deleted pod: {}", target.name.name);
            Some(normal(owner, "SuccessfulDelete", message))
        }
        (_, Answer::Failed(error)) if !is_gone(error) => {
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
        Answer::Failed(error) => is_gone(error),
        _ => false,
    }
}

/// Whether the incarnation that was to be deleted is gone anyway: there is none of that name, or
/// another one.
fn is_gone(error: &ApiError) -> bool {
    error.is_not_found() || error.is_other_incarnation()
}
