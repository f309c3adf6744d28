//! What is to be done about a role that collects: write its rules, or leave it alone.

use flyball_api::Object;
use flyball_plan::{Action, Flow, Pace, Precondition, Report, Step, Sync, Target, Write};
use flyball_rbac::{ClusterRole, PolicyRule, aggregate};
use serde_json::json;

use super::{Observation, report};

pub(super) fn plan(sync: &Sync<'_, Observation>) -> Flow<Step> {
    let (seen, role) = (sync.seen, &sync.seen.role);
    let rules = match aggregate(role, seen.all.iter().map(AsRef::as_ref)) {
        Ok(Some(rules)) => rules,
        Ok(None) => return Ok(Step::rest(Report::new(report::NOT_AGGREGATED))),
        Err(why) => return Ok(Step::rest(report::invalid(role, &why.to_string()))),
    };
    let report = report::report(seen, &rules);
    if rules == role.rules {
        return Ok(Step::rest(report));
    }
    let round = sync.run("write", Pace::InOrder, || vec![write(role, &rules)])?;
    Ok(match round.first_error() {
        Some(error) => Step::retry(error, report),
        None => Step::rest(report),
    })
}

fn write(role: &ClusterRole, rules: &[PolicyRule]) -> Action {
    let precondition = Precondition::unchanged(&role.metadata);
    let target = Target::of(ClusterRole::kind(), &role.metadata);
    Write::patch(target, precondition, json!({"rules": rules})).into()
}
