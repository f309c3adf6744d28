//! What is to be done about a namespace: given its account, or left alone.

use flyball_api::views::ServiceAccount;
use flyball_plan::{Body, Flow, Pace, Step, Sync, Write};
use serde_json::json;

use super::{NAME, Observation, status};

pub(super) fn plan(sync: &Sync<'_, Observation>) -> Flow<Step> {
    let seen = sync.seen;
    let namespace = &seen.namespace.metadata.name;
    if seen.namespace.status.phase != "Active" {
        return Ok(Step::rest(status::not_active()));
    }
    if seen.has_account {
        return Ok(Step::rest(status::complete()));
    }
    let report = status::missing(seen);
    let round = sync.run("account", Pace::InOrder, || {
        let body = json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": NAME, "namespace": namespace},
        });
        vec![Write::create(ServiceAccount::KIND, namespace, Body::of(&body)).into()]
    })?;
    Ok(match round.first_error() {
        None => Step::rest(report),
        Some(error) if error.is_already_exists() => {
            Step::rest(report.waits_for("the account to be seen"))
        }
        Some(error) if error.is_namespace_terminating() => {
            Step::rest(report.waits_for("the namespace to go"))
        }
        Some(error) => Step::retry(error, report),
    })
}
