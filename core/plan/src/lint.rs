//! The plan linter: what no plan of any controller may contain.

use crate::{Action, Actions, Precondition};

/// Something wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lint {
    /// A delete that would hit whatever has that name now.
    DeleteWithoutUid(usize),
    /// A delete of a collection in all namespaces.
    DeleteWithoutNamespace(usize),
    /// A binding that would assign whatever has that name now.
    BindWithoutUid(usize),
    /// A binding to no node.
    BindWithoutNode(usize),
    /// A question about nobody in particular.
    ConfirmWithoutUid(usize),
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
            Action::Delete { precondition, .. } => {
                if !names_incarnation(precondition) {
                    found.push(Lint::DeleteWithoutUid(i));
                }
            }
            Action::Bind {
                precondition, node, ..
            } => {
                if !names_incarnation(precondition) {
                    found.push(Lint::BindWithoutUid(i));
                }
                if node.is_empty() {
                    found.push(Lint::BindWithoutNode(i));
                }
            }
            Action::Patch {
                precondition, body, ..
            }
            | Action::Merge {
                precondition, body, ..
            }
            | Action::Update {
                precondition, body, ..
            } => {
                if !guards(precondition) {
                    found.push(Lint::WriteWithoutPrecondition(i));
                } else {
                    found.extend(lint_body(i, precondition, body.json()));
                }
            }
            Action::Create { body, .. } => {
                if !matches!(
                    serde_json::from_str(body.json()),
                    Ok(serde_json::Value::Object(_))
                ) {
                    found.push(Lint::BodyNotAnObject(i));
                }
            }
            Action::Confirm { uid, .. } if uid.is_empty() => {
                found.push(Lint::ConfirmWithoutUid(i));
            }
            Action::DeleteCollection {
                kind, namespace, ..
            } => {
                if namespace.is_empty() || !kind.namespaced {
                    found.push(Lint::DeleteWithoutNamespace(i));
                }
            }
            Action::Ask { .. }
            | Action::Confirm { .. }
            | Action::List { .. }
            | Action::Survey { .. }
            | Action::Discover { .. }
            | Action::Record(_) => {}
        }
    }
    found
}

/// Whether it demands anything: the server takes an empty value for none at all.
fn guards(precondition: &Precondition) -> bool {
    let version = precondition
        .resource_version
        .as_ref()
        .is_some_and(|version| !version.is_empty());
    names_incarnation(precondition) || version
}

fn names_incarnation(precondition: &Precondition) -> bool {
    precondition.uid.as_ref().is_some_and(|uid| !uid.is_empty())
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
