//! Whether rules allow all that other rules allow, and what is missing.

use std::collections::{BTreeMap, BTreeSet};

use flyball_api::Text;

use crate::PolicyRule;
use crate::quote::QuotedList;
use crate::rule::{ALL, has, path_matches};

#[cfg(test)]
mod tests;

/// What `wanted` allows and `held` does not, as rules with one verb on one resource or path each,
/// in the order of `wanted`.
///
/// Rules are compared by their words: no list of verbs covers `*`. A wanted rule that a single held
/// rule covers costs a look at the words of both; any other costs its [`breadth`] times the words
/// held.
pub fn uncovered<'a>(
    held: impl IntoIterator<Item = &'a PolicyRule>,
    wanted: &[PolicyRule],
) -> Vec<PolicyRule> {
    let held: Vec<&PolicyRule> = held.into_iter().collect();
    let is_covered = |rule: &PolicyRule| held.iter().any(|holder| covers(holder, rule));
    wanted
        .iter()
        .filter(|rule| !is_covered(rule))
        .flat_map(single_rules)
        .filter(|rule| !is_covered(rule))
        .collect()
}

/// How many single permissions the rules spell out: the number of rules with one verb on one
/// resource or path, and one name if they have names, that say the same.
pub fn breadth<'a>(rules: impl IntoIterator<Item = &'a PolicyRule>) -> usize {
    let breadth = |rule: &PolicyRule| {
        let objects = rule
            .api_groups
            .len()
            .saturating_mul(rule.resources.len())
            .saturating_mul(rule.resource_names.len().max(1));
        objects
            .saturating_add(rule.non_resource_urls.len())
            .saturating_mul(rule.verbs.len())
    };
    rules
        .into_iter()
        .map(breadth)
        .fold(0, usize::saturating_add)
}

/// Joins rules that differ only in their verbs, where each has one group, one resource and at most
/// one name.
pub fn compact(rules: Vec<PolicyRule>) -> Vec<PolicyRule> {
    let mut compacted: Vec<PolicyRule> = Vec::with_capacity(rules.len());
    let mut places: BTreeMap<PolicyRule, usize> = BTreeMap::new();
    for rule in rules {
        let is_simple = rule.api_groups.len() == 1
            && rule.resources.len() == 1
            && rule.resource_names.len() <= 1
            && rule.non_resource_urls.is_empty();
        if !is_simple {
            compacted.push(rule);
            continue;
        }
        let without_verbs = PolicyRule {
            verbs: Vec::new(),
            ..rule.clone()
        };
        match places.get(&without_verbs) {
            Some(place) => compacted[*place].verbs.extend(rule.verbs),
            None => {
                places.insert(without_verbs, compacted.len());
                compacted.push(rule);
            }
        }
    }
    compacted
}

/// The rules as messages have them: joined, one line each, sorted.
pub(crate) fn description(rules: Vec<PolicyRule>) -> String {
    let lines: BTreeSet<String> = compact(rules).iter().map(line).collect();
    lines.into_iter().collect::<Vec<_>>().join("\n")
}

fn line(rule: &PolicyRule) -> String {
    let parts = [
        ("APIGroups", &rule.api_groups),
        ("Resources", &rule.resources),
        ("NonResourceURLs", &rule.non_resource_urls),
        ("ResourceNames", &rule.resource_names),
        ("Verbs", &rule.verbs),
    ];
    let parts = parts.iter().filter(|(_, list)| !list.is_empty());
    let parts: Vec<String> = parts
        .map(|(name, list)| format!("{name}:{}", QuotedList(list)))
        .collect();
    format!("{{{}}}", parts.join(", "))
}

/// The same permissions, one each.
fn single_rules(rule: &PolicyRule) -> impl Iterator<Item = PolicyRule> {
    let one = |word: &Text| vec![word.clone()];
    let names: Vec<Vec<Text>> = if rule.resource_names.is_empty() {
        vec![Vec::new()]
    } else {
        rule.resource_names.iter().map(one).collect()
    };
    let groups = rule.api_groups.iter();
    let objects = groups.flat_map(|group| rule.resources.iter().map(move |r| (group, r)));
    let actions =
        objects.flat_map(|(group, resource)| rule.verbs.iter().map(move |v| (group, resource, v)));
    let on_objects = actions.flat_map(move |(group, resource, verb)| {
        let names = names.clone().into_iter();
        names.map(move |resource_names| PolicyRule {
            api_groups: one(group),
            resources: one(resource),
            verbs: one(verb),
            resource_names,
            non_resource_urls: Vec::new(),
        })
    });
    let paths = rule.non_resource_urls.iter();
    let visits = paths.flat_map(|path| rule.verbs.iter().map(move |verb| (path, verb)));
    let on_paths = visits.map(move |(path, verb)| PolicyRule {
        non_resource_urls: one(path),
        verbs: one(verb),
        ..PolicyRule::default()
    });
    on_objects.chain(on_paths)
}

/// Whether `holder` alone allows all that `rule` allows.
pub(crate) fn covers(holder: &PolicyRule, rule: &PolicyRule) -> bool {
    has_all(&holder.verbs, &rule.verbs)
        && has_all(&holder.api_groups, &rule.api_groups)
        && rule
            .resources
            .iter()
            .all(|resource| covers_resource(&holder.resources, resource))
        && covers_names(&holder.resource_names, &rule.resource_names)
        && covers_paths(holder, &rule.non_resource_urls)
}

fn has_all(held: &[Text], wanted: &[Text]) -> bool {
    has(held, ALL) || wanted.iter().all(|word| has(held, word))
}

fn covers_resource(held: &[Text], wanted: &str) -> bool {
    has(held, ALL)
        || has(held, wanted)
        || wanted
            .split_once('/')
            .is_some_and(|(_, part)| held.iter().any(|one| one.strip_prefix("*/") == Some(part)))
}

/// Paths have no names: a rule that is limited to names counts for none, as upstream sees it.
fn covers_paths(holder: &PolicyRule, wanted: &[Text]) -> bool {
    let held = |path: &Text| {
        let mut patterns = holder.non_resource_urls.iter();
        holder.resource_names.is_empty() && patterns.any(|pattern| path_matches(pattern, path))
    };
    wanted.iter().all(held)
}

fn covers_names(held: &[Text], wanted: &[Text]) -> bool {
    held.is_empty() || (!wanted.is_empty() && wanted.iter().all(|name| has(held, name)))
}
