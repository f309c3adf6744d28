//! Too few pods: make the missing ones.
//!
//! In growing batches, because what stops one pod (a quota, a bad template) mostly stops them all.

use flyball_api::views::Pod;
use flyball_api::{Class, Remedy, Selector};
use flyball_plan::rules::pod_body::pod_body;
use flyball_plan::{Action, Answer, Round, Write};

use super::Owner;
use super::observe::selects;
use super::outcome::{Failure, Outcome, normal, warning};

pub(super) const STAGE: &str = "create";
const FAILED: &str = "FailedCreate";

/// The creation of a pod; why there is none, if the template cannot be used.
pub(super) fn create(owner: &Owner<'_>, selector: &Selector) -> Result<Action, Failure> {
    // Only another template or selector helps.
    let refuse = |message: String| Failure {
        reason: FAILED,
        message,
        remedy: Remedy::Edit,
    };
    let body = pod_body(owner.template, owner.kind, owner.meta)
        .map_err(|refused| refuse(refused.to_string()))?;
    // No server accepts such an owner. Were there one, each sync would release the pods that the
    // sync before it made, and make as many more.
    if !selects(selector, owner.template.labels()) {
        return Err(refuse(
            "unable to create pods, the selector does not match them".to_owned(),
        ));
    }
    Ok(Write::create(Pod::KIND, &owner.meta.namespace, body).into())
}

/// What became of the creates. A namespace on its way out is no failure: nothing that is tried
/// again could succeed.
pub(super) fn outcome(round: &Round) -> Outcome {
    let error = round
        .answers
        .iter()
        .filter_map(Answer::error)
        .find(|error| !is_hopeless(error));
    Outcome {
        created: round.written().count(),
        namespace_terminating: round
            .answers
            .iter()
            .filter_map(Answer::error)
            .any(is_hopeless),
        failure: error.map(|error| Failure {
            reason: FAILED,
            message: error.to_string(),
            remedy: error.remedy(),
        }),
        ..Outcome::default()
    }
}

/// What to tell people about the creates.
pub(super) fn records(owner: &Owner<'_>, round: &Round) -> Vec<Action> {
    let tell = |answer: &Answer| match answer {
        Answer::Done(written) => {
            let message = format!("Created pod: {}", written.name);
            Some(normal(owner, "SuccessfulCreate", message))
        }
        Answer::Failed(error) if !is_hopeless(error) => {
            Some(warning(owner, FAILED, format!("Error creating: {error}")))
        }
        _ => None,
    };
    round.answers.iter().filter_map(tell).collect()
}

fn is_hopeless(error: &flyball_api::ApiError) -> bool {
    error.class() == Class::NamespaceTerminating
}
