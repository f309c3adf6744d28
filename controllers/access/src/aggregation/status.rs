//! What is told of a role that collects: roles have no status, so this is the report.

use flyball_plan::Report;
use flyball_rbac::PolicyRule;

use super::Observation;

/// How many rules there are, and how many there should be.
pub(super) fn report(seen: &Observation, rules: &[PolicyRule]) -> Report {
    let rule = match rules == seen.role.rules {
        true => "the rules are those of the selected roles",
        false => "the rules are replaced by those of the selected roles",
    };
    Report::new(rule)
        .saw("rules", seen.role.rules.len())
        .saw("collected", rules.len())
}
