//! What is to be done about a role that collects: write its rules, or leave it alone.

use flyball_api::Object;
use flyball_plan::{
    Action, Actions, Answers, Body, Precondition, Report, Step, Subresource, Target,
};
use flyball_rbac::{ClusterRole, PolicyRule, aggregate};
use serde_json::json;

use super::{Observation, status};

pub(super) fn step(seen: &Observation, answers: &Answers) -> Step {
    let role = &seen.role;
    let rules = match aggregate(role, seen.all.iter().map(AsRef::as_ref)) {
        Ok(Some(rules)) => rules,
        Ok(None) => return Step::rest(Report::new("the role collects nothing")),
        // Only a change of the selector can help, and that brings the role back by itself.
        Err(invalid) => {
            let report = Report::new("a selector makes no sense").saw("selector", invalid);
            return Step::rest(report.waits_for("another selector"));
        }
    };
    let report = status::report(seen, &rules);
    if let Some(round) = answers.stage("write") {
        return match round.first_error() {
            Some(error) => Step::retry(error, report),
            None => Step::rest(report),
        };
    }
    if rules == role.rules {
        return Step::rest(report);
    }
    Step::Do(Actions::in_order("write", vec![write(role, &rules)]))
}

fn write(role: &ClusterRole, rules: &[PolicyRule]) -> Action {
    let precondition = Precondition::unchanged(&role.metadata);
    Action::Patch {
        target: Target::of(ClusterRole::kind(), &role.metadata),
        subresource: Subresource::None,
        body: Body::patch(&precondition, json!({"rules": rules})),
        precondition,
    }
}
