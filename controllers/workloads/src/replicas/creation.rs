//! Too few pods: make the missing ones.
//!
//! In growing batches, because what stops one pod (a quota, a bad template) mostly stops them all.

use flyball_api::views::Pod;
use flyball_api::{ApiError, Class, Remedy, Selector};
use flyball_plan::rules::pod_body::pod_body;
use flyball_plan::{Action, Answer, Failure, Round, Target, Wait, Write};

use super::Owner;
use super::observe::selects;
use super::outcome::{Outcome, Refusal, normal, warning};

pub(super) const STAGE: &str = "create";
const FAILED: &str = "FailedCreate";

/// The creation of a pod; why there is none, if the template cannot be used.
pub(super) fn create(owner: &Owner<'_>, selector: &Selector) -> Result<Action, Refusal> {
    let refuse = |message: String| Refusal {
        reason: FAILED,
        failure: Failure::until_edited(message, another_template(owner)),
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

/// Only another template helps, where the pods made from this one are refused.
fn another_template(owner: &Owner<'_>) -> Wait {
    Wait::edit(Target::of(owner.kind, owner.meta), "spec.template")
}

/// What became of the creates. A terminating namespace is no failure: nothing that is tried again
/// could succeed.
pub(super) fn outcome(owner: &Owner<'_>, round: &Round) -> Outcome {
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
        refusal: error.map(|error| Refusal {
            reason: FAILED,
            failure: failure(owner, error),
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

fn failure(owner: &Owner<'_>, error: &ApiError) -> Failure {
    match error.remedy() {
        Remedy::Edit => Failure::until_edited(error.to_string(), another_template(owner)),
        Remedy::Retry | Remedy::LookAgain => Failure::of(error, &owner.meta.namespace),
    }
}

fn is_hopeless(error: &ApiError) -> bool {
    error.class() == Class::NamespaceTerminating
}
