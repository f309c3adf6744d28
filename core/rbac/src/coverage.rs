//! Whether rules allow all that other rules allow, and what is missing.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use flyball_api::Text;

use crate::PolicyRule;
use crate::quote::QuotedList;
use crate::rule::{ALL, path_matches};

#[cfg(test)]
mod tests;

/// What `wanted` allows and `held` does not, as rules with one verb on one resource or path each,
/// in the order of `wanted`.
///
/// Rules are compared by their words: no list of verbs covers `*`. A wanted rule that a single held
/// rule covers costs a look at the words of both, or nothing if they are equal; any other costs its
/// [`breadth`] times the words held.
pub fn uncovered<'a>(
    held: impl IntoIterator<Item = &'a PolicyRule>,
    wanted: &[PolicyRule],
) -> Vec<PolicyRule> {
    let held = Held::new(held, usize::MAX);
    // What cannot be spent cannot run out.
    let open = held.open(wanted).unwrap_or_default();
    held.missing(open).unwrap_or_default()
}

/// Rules that a user holds, to be compared with others by a bounded number of comparisons of words.
pub(crate) struct Held<'a> {
    rules: Vec<&'a PolicyRule>,
    /// The same rules, to find equal ones at once.
    equal: BTreeSet<&'a PolicyRule>,
    comparisons_left: Cell<usize>,
}

/// The rules have more words than are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyWords;

impl<'a> Held<'a> {
    pub(crate) fn new(
        rules: impl IntoIterator<Item = &'a PolicyRule>,
        comparisons_max: usize,
    ) -> Self {
        let rules: Vec<&PolicyRule> = rules.into_iter().collect();
        Self {
            equal: rules.iter().copied().collect(),
            rules,
            comparisons_left: Cell::new(comparisons_max),
        }
    }

    /// The rules of `wanted` that no single held rule covers.
    pub(crate) fn open<'w>(
        &self,
        wanted: &'w [PolicyRule],
    ) -> Result<Vec<&'w PolicyRule>, TooManyWords> {
        let mut open = Vec::new();
        for rule in wanted {
            if !self.covers(rule)? {
                open.push(rule);
            }
        }
        Ok(open)
    }

    /// The single permissions of these rules that no held rule covers.
    pub(crate) fn missing(&self, open: Vec<&PolicyRule>) -> Result<Vec<PolicyRule>, TooManyWords> {
        let mut missing = Vec::new();
        for rule in open.into_iter().flat_map(single_rules) {
            if !self.covers(&rule)? {
                missing.push(rule);
            }
        }
        Ok(missing)
    }

    fn covers(&self, rule: &PolicyRule) -> Result<bool, TooManyWords> {
        if self.equal.contains(rule) {
            return Ok(true);
        }
        for holder in &self.rules {
            if self.covers_alone(holder, rule)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether `holder` alone allows all that `rule` allows.
    fn covers_alone(&self, holder: &PolicyRule, rule: &PolicyRule) -> Result<bool, TooManyWords> {
        Ok(self.has_all(&holder.verbs, &rule.verbs)?
            && self.has_all(&holder.api_groups, &rule.api_groups)?
            && self.covers_resources(&holder.resources, &rule.resources)?
            && self.covers_names(&holder.resource_names, &rule.resource_names)?
            && self.covers_paths(holder, &rule.non_resource_urls)?)
    }

    /// Whether one of the words held fits; each that is looked at counts.
    fn any(&self, held: &[Text], fits: impl Fn(&str) -> bool) -> Result<bool, TooManyWords> {
        let found = held.iter().position(|word| fits(word));
        let looked_at = found.map_or(held.len(), |at| at + 1).max(1);
        let left = self.comparisons_left.get().checked_sub(looked_at);
        self.comparisons_left.set(left.ok_or(TooManyWords)?);
        Ok(found.is_some())
    }

    fn has_all(&self, held: &[Text], wanted: &[Text]) -> Result<bool, TooManyWords> {
        if self.any(held, |one| one == ALL)? {
            return Ok(true);
        }
        for word in wanted {
            if !self.any(held, |one| one == word)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn covers_resources(&self, held: &[Text], wanted: &[Text]) -> Result<bool, TooManyWords> {
        if self.any(held, |one| one == ALL)? {
            return Ok(true);
        }
        for word in wanted {
            let below = word.split_once('/').map(|(_, part)| part);
            let fits =
                |one: &str| one == word || (below.is_some() && one.strip_prefix("*/") == below);
            if !self.any(held, fits)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn covers_names(&self, held: &[Text], wanted: &[Text]) -> Result<bool, TooManyWords> {
        if held.is_empty() || wanted.is_empty() {
            return Ok(held.is_empty());
        }
        for name in wanted {
            if !self.any(held, |one| one == name)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Paths have no names: a rule that is limited to names counts for none, as upstream sees it.
    fn covers_paths(&self, holder: &PolicyRule, wanted: &[Text]) -> Result<bool, TooManyWords> {
        for path in wanted {
            let is_named = !holder.resource_names.is_empty();
            let fits = |pattern: &str| path_matches(pattern, path);
            if is_named || !self.any(&holder.non_resource_urls, fits)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
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
