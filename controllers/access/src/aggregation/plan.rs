//! What is to be done about a role that collects: write its rules, or leave it alone.

use flyball_api::Object;
use flyball_plan::{Action, Flow, Pace, Precondition, Report, Step, Sync, Target, Write};
use flyball_rbac::{ClusterRole, PolicyRule, aggregate};
use serde_json::json;

use super::{Observation, status};

pub(super) fn plan(sync: &Sync<'_, Observation>) -> Flow<Step> {
    let (seen, role) = (sync.seen, &sync.seen.role);
    let rules = match aggregate(role, seen.all.iter().map(AsRef::as_ref)) {
        Ok(Some(rules)) => rules,
        Ok(None) => return Ok(Step::rest(Report::new("the role collects nothing"))),
        // Only a change of the selector can help, and that brings the role back by itself.
        Err(invalid) => {
            let report = Report::new("a selector makes no sense").saw("selector", invalid);
            return Ok(Step::rest(report.waits_for("another selector")));
        }
    };
    let report = status::report(seen, &rules);
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
