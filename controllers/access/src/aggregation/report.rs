//! What a sync of an aggregated ClusterRole reports.

use flyball_plan::{Report, Target, Wait};
use flyball_rbac::{ClusterRole, PolicyRule};

use super::Observation;

flyball_plan::rules! {
    NOT_AGGREGATED = "NotAggregated", "the role has no aggregationRule";
    SELECTOR_INVALID = "SelectorInvalid", "a selector of the aggregationRule is invalid";
    RULES_CURRENT = "RulesCurrent", "the rules are those of the selected roles";
    RULES_REPLACED = "RulesReplaced", "the rules are replaced by those of the selected roles";
}

/// How many rules there are, and how many there should be.
pub(super) fn report(seen: &Observation, rules: &[PolicyRule]) -> Report {
    let rule = match rules == seen.role.rules {
        true => RULES_CURRENT,
        false => RULES_REPLACED,
    };
    Report::new(rule)
        .saw("rules", seen.role.rules.len())
        .saw("collected", rules.len())
}

/// Only a change of the selector can help, and that brings the role back by itself.
pub(super) fn invalid(role: &ClusterRole, why: &str) -> Report {
    let target = Target::of(ClusterRole::KIND, &role.metadata);
    let field = "aggregationRule.clusterRoleSelectors";
    Report::new(SELECTOR_INVALID)
        .saw("selector", why)
        .waits_for(Wait::edit(target, field))
}
