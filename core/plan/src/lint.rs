//! The plan linter: what no plan of any controller may contain.

use crate::verb::{Demands, Guard};
use crate::{Action, Actions, Precondition, Question, Read, Target, Write};

/// Something wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lint {
    /// A write that would hit whatever has that name now.
    WriteWithoutUid(usize),
    /// A delete of a collection in all namespaces.
    DeleteWithoutNamespace(usize),
    /// A question about no incarnation in particular.
    ExistsWithoutUid(usize),
    /// A write that would land on another incarnation or state than the one judged.
    WriteWithoutPrecondition(usize),
    /// A precondition that is not in the body, where the server would look for it.
    PreconditionNotSent(usize),
    /// A body that is no JSON object.
    BodyNotAnObject(usize),
    /// More actions at once than any controller may ask for.
    TooMany(usize),
    /// A stage without actions or without a name never ends.
    EmptyStage,
}

/// The most actions one stage may hold.
const ACTIONS_MAX: usize = 2_000;

/// Everything wrong with a stage; empty for every correct controller.
pub fn lint(actions: &Actions) -> Vec<Lint> {
    let mut found = Vec::new();
    if actions.items.is_empty() || actions.stage.is_empty() {
        found.push(Lint::EmptyStage);
    }
    if actions.items.len() > ACTIONS_MAX {
        found.push(Lint::TooMany(actions.items.len()));
    }
    for (i, action) in actions.items.iter().enumerate() {
        match action {
            Action::Write(write) => found.extend(lint_write(i, write)),
            Action::Read(Read {
                question: Question::Exists { uid, .. },
                ..
            }) if uid.is_empty() => found.push(Lint::ExistsWithoutUid(i)),
            Action::Read(_) | Action::Record(_) => {}
        }
    }
    found
}

fn lint_write(i: usize, write: &Write) -> Option<Lint> {
    let (facts, precondition) = (write.facts(), &write.precondition);
    let guards = precondition.has_uid() || precondition.has_version();
    match facts.guard {
        Guard::Uid if !precondition.has_uid() => return Some(Lint::WriteWithoutUid(i)),
        Guard::Either if !guards => return Some(Lint::WriteWithoutPrecondition(i)),
        Guard::Namespace => {
            let Target { kind, name } = &write.target;
            let is_one = kind.namespaced && !name.namespace.is_empty();
            return (!is_one).then_some(Lint::DeleteWithoutNamespace(i));
        }
        _ => {}
    }
    match facts.demands {
        Demands::Body => lint_body(i, precondition, write.body.json()),
        Demands::DeleteOptions => None,
    }
}

fn lint_body(i: usize, precondition: &Precondition, body: &str) -> Option<Lint> {
    let Ok(body @ serde_json::Value::Object(_)) = serde_json::from_str::<serde_json::Value>(body)
    else {
        return Some(Lint::BodyNotAnObject(i));
    };
    let metadata = &body["metadata"];
    let uid_sent = precondition
        .uid
        .as_ref()
        .is_none_or(|uid| metadata["uid"].as_str() == Some(&uid.to_string()));
    let version_sent = precondition
        .resource_version
        .as_ref()
        .is_none_or(|version| metadata["resourceVersion"].as_str() == Some(version));
    (!(uid_sent && version_sent)).then_some(Lint::PreconditionNotSent(i))
}

#[cfg(test)]
mod tests;
