//! What is to be done about a namespace: given its account, or left alone.

use flyball_api::views::ServiceAccount;
use flyball_plan::{Body, Flow, Pace, Step, Sync, Write};
use serde_json::json;

use super::{NAME, Observation, report};

pub(super) fn plan(sync: &Sync<'_, Observation>) -> Flow<Step> {
    let seen = sync.seen;
    let namespace = &seen.namespace.metadata.name;
    if seen.namespace.status.phase != "Active" {
        return Ok(Step::rest(report::not_active()));
    }
    if seen.has_account {
        return Ok(Step::rest(report::complete()));
    }
    let report = report::missing(seen);
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
            Step::rest(report.waits_for(report::unseen(seen)))
        }
        Some(error) if error.is_namespace_terminating() => {
            Step::rest(report.waits_for(report::terminating(seen)))
        }
        Some(error) => Step::retry(error, report),
    })
}
