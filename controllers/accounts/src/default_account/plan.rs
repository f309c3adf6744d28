//! What is to be done about a namespace: given its account, or left alone.

use flyball_plan::{Action, Actions, Answers, Body, Step};
use serde_json::json;

use super::{NAME, Observation, status};
use crate::views::ServiceAccount;

pub(super) fn step(seen: &Observation, answers: &Answers) -> Step {
    let namespace = &seen.namespace.metadata.name;
    if seen.namespace.status.phase != "Active" {
        return Step::rest(status::not_active());
    }
    if seen.has_account {
        return Step::rest(status::complete());
    }
    let report = status::missing(seen);
    let Some(round) = answers.stage("account") else {
        let body = json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": NAME, "namespace": namespace},
        });
        let create = Action::Create {
            kind: ServiceAccount::KIND,
            namespace: namespace.clone(),
            body: Body::of(&body),
        };
        return Step::Do(Actions::in_order("account", vec![create]));
    };
    match round.first_error() {
        None => Step::rest(report),
        Some(error) if error.is_already_exists() => {
            Step::rest(report.waits_for("the account to be seen"))
        }
        Some(error) if error.has_cause("NamespaceTerminating") => {
            Step::rest(report.waits_for("the namespace to go"))
        }
        Some(error) => Step::retry(error, report),
    }
}
