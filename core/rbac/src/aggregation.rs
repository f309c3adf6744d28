//! ClusterRoles that collect the rules of others.

use std::collections::BTreeSet;

use flyball_api::selector::SelectorInvalid;

use crate::{ClusterRole, PolicyRule};

/// The rules that a ClusterRole with an `aggregationRule` should have; nothing if it has none.
///
/// Selector by selector, the selected roles lend their rules in the order of their names; a rule
/// that is there already is not repeated, and a role lends nothing to itself. A role that collects
/// may be collected in turn, so all are looked at again when one has changed. Upstream's
/// clusterrole-aggregation controller writes the result by server-side apply.
pub fn aggregate<'a>(
    role: &ClusterRole,
    all: impl IntoIterator<Item = &'a ClusterRole>,
) -> Result<Option<Vec<PolicyRule>>, SelectorInvalid> {
    let Some(aggregation) = &role.aggregation_rule else {
        return Ok(None);
    };
    let mut lenders: Vec<&ClusterRole> = all
        .into_iter()
        .filter(|lender| lender.metadata.name != role.metadata.name)
        .collect();
    lenders.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));

    let mut seen = BTreeSet::new();
    let mut rules = Vec::new();
    for selector in &aggregation.cluster_role_selectors {
        let selector = selector.compile()?;
        let selected = lenders.iter().filter(|lender| {
            let labels = &lender.metadata.labels;
            selector.matches_with(|key| labels.get(key))
        });
        for rule in selected.flat_map(|lender| &lender.rules) {
            if seen.insert(rule) {
                rules.push(rule.clone());
            }
        }
    }
    Ok(Some(rules))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AggregationRule;
    use crate::testing::{cluster_role, rule};
    use flyball_api::{LabelSelector, Labels};
    use serde_json::json;

    fn labelled(name: &str, label: &str, rules: &[&str]) -> ClusterRole {
        let mut role = cluster_role(name, rules);
        role.metadata.labels = Labels::from_iter([(label, "yes")]);
        role
    }

    fn collector(name: &str, selectors: serde_json::Value) -> ClusterRole {
        let selectors: Vec<LabelSelector> = serde_json::from_value(selectors).unwrap();
        ClusterRole {
            aggregation_rule: Some(AggregationRule {
                cluster_role_selectors: selectors,
            }),
            ..cluster_role(name, &["get core: leftovers"])
        }
    }

    #[test]
    fn each_selector_in_turn_adds_the_rules_of_what_it_selects_by_name() {
        let role = collector(
            "all",
            json!([{"matchLabels": {"b": "yes"}}, {"matchLabels": {"a": "yes"}}]),
        );
        let roles = [
            labelled("z", "a", &["get core: one"]),
            labelled("y", "a", &["get core: two", "get core: three"]),
            labelled("x", "b", &["get core: four", "get core: two"]),
            labelled("w", "c", &["get core: five"]),
        ];
        let rules = aggregate(&role, &roles).unwrap().unwrap();
        let expected = [
            "get core: four",
            "get core: two",
            "get core: three",
            "get core: one",
        ];
        assert_eq!(rules, expected.map(rule));
    }

    #[test]
    fn a_role_lends_nothing_to_itself() {
        let mut role = collector("all", json!([{}]));
        role.rules = vec![rule("* *: *")];
        let roles = [role.clone(), labelled("a", "a", &["get core: one"])];
        let rules = aggregate(&role, &roles).unwrap();
        assert_eq!(rules, Some(vec![rule("get core: one")]));
    }

    #[test]
    fn a_role_that_selects_nothing_has_no_rules() {
        let role = collector("all", json!([]));
        let roles = [labelled("a", "a", &["get core: one"])];
        assert_eq!(aggregate(&role, &roles).unwrap(), Some(Vec::new()));
    }

    #[test]
    fn a_role_without_the_field_is_left_alone() {
        let role = cluster_role("plain", &["get core: one"]);
        assert_eq!(aggregate(&role, &[]).unwrap(), None);
    }

    #[test]
    fn nonsense_in_a_selector_is_an_error() {
        let nonsense = json!([{"matchExpressions": [{"key": "a", "operator": "Near"}]}]);
        assert!(aggregate(&collector("all", nonsense), &[]).is_err());
    }
}
