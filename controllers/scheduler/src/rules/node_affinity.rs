//! Pods say which nodes they need and which they like.
//!
//! Upstream: `plugins/nodeaffinity` and component-helpers `scheduling/corev1/nodeaffinity`.

use std::collections::{BTreeMap, BTreeSet};

use flyball_api::Text;
use flyball_api::selector::{Operator, Requirement};
use serde::Deserialize;

use super::read;
use crate::views::{Node, Pod, part};

/// What a pod says about nodes.
#[derive(Debug, Default)]
pub(crate) struct NodeAffinity {
    /// Labels that the node must have.
    selector: BTreeMap<Text, Text>,
    /// One of these must hold, if there is a list.
    required: Option<Vec<Term>>,
    /// Each that holds is worth so much.
    preferred: Vec<(i64, Term)>,
}

/// All of these must hold; an empty term holds nowhere, and so does one that makes no sense.
#[derive(Debug)]
struct Term {
    labels: Vec<Requirement>,
    fields: Vec<Field>,
    holds_nowhere: bool,
}

/// A condition on the name of the node; other fields are not known, and count as empty.
#[derive(Debug)]
struct Field {
    is_name: bool,
    among: bool,
    value: Text,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AffinityJson {
    required_during_scheduling_ignored_during_execution: Option<RequiredJson>,
    preferred_during_scheduling_ignored_during_execution: Option<Vec<PreferredJson>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequiredJson {
    #[serde(default)]
    node_selector_terms: Option<Vec<TermJson>>,
}

#[derive(Deserialize)]
struct PreferredJson {
    weight: i64,
    #[serde(default)]
    preference: TermJson,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct TermJson {
    match_expressions: Option<Vec<RequirementJson>>,
    match_fields: Option<Vec<RequirementJson>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RequirementJson {
    key: Text,
    operator: Text,
    values: Option<Vec<Text>>,
}

impl NodeAffinity {
    /// Reads what a pod says.
    pub(crate) fn of(pod: &Pod) -> Result<Self, String> {
        let (selector, affinity) = (part::NODE_SELECTOR, part::NODE_AFFINITY);
        let json: AffinityJson = read(affinity, pod.rule(affinity))?;
        let required = json.required_during_scheduling_ignored_during_execution;
        let required = required.map(|it| it.node_selector_terms.unwrap_or_default());
        let preferred = json.preferred_during_scheduling_ignored_during_execution;
        Ok(Self {
            selector: read(selector, pod.rule(selector))?,
            required: required.map(|terms| terms.iter().map(Term::of).collect()),
            preferred: preferred
                .unwrap_or_default()
                .iter()
                .filter(|it| it.weight != 0)
                .map(|it| (it.weight, Term::of(&it.preference)))
                .collect(),
        })
    }

    /// Whether the pod may run on the node.
    pub(crate) fn admits(&self, node: &Node) -> bool {
        self.selector
            .iter()
            .all(|(key, value)| node.labels.get(key) == Some(value))
            && self
                .required
                .as_ref()
                .is_none_or(|terms| terms.iter().any(|term| term.holds(node)))
    }

    /// The only nodes that can be meant, if each term names some.
    pub(crate) fn named(&self) -> Option<BTreeSet<Text>> {
        let terms = self.required.as_ref().filter(|terms| !terms.is_empty())?;
        let mut all = BTreeSet::new();
        for term in terms {
            let lists = term.fields.iter().filter(|it| it.is_name && it.among);
            let names = lists
                .map(|it| BTreeSet::from([it.value.clone()]))
                .reduce(|one, other| one.intersection(&other).cloned().collect())?;
            all.extend(names);
        }
        Some(all)
    }

    /// Whether it prefers any nodes at all.
    pub(crate) fn has_preferences(&self) -> bool {
        !self.preferred.is_empty()
    }

    /// How much the pod likes the node.
    pub(crate) fn preference(&self, node: &Node) -> i64 {
        let liked = self.preferred.iter().filter(|(_, term)| term.holds(node));
        liked.map(|(weight, _)| weight).sum()
    }
}

impl Term {
    fn of(json: &TermJson) -> Self {
        let expressions = json.match_expressions.as_deref().unwrap_or_default();
        let fields = json.match_fields.as_deref().unwrap_or_default();
        let labels: Option<Vec<_>> = expressions.iter().map(label_requirement).collect();
        let read: Option<Vec<_>> = fields.iter().map(field_requirement).collect();
        let is_empty = expressions.is_empty() && fields.is_empty();
        Self {
            holds_nowhere: is_empty || labels.is_none() || read.is_none(),
            labels: labels.unwrap_or_default(),
            fields: read.unwrap_or_default(),
        }
    }

    fn holds(&self, node: &Node) -> bool {
        !self.holds_nowhere
            && self
                .labels
                .iter()
                .all(|it| it.accepts(node.labels.get(it.key())))
            && self.fields.iter().all(|it| {
                let value = if it.is_name { node.name.as_str() } else { "" };
                (value == it.value) == it.among
            })
    }
}

fn label_requirement(json: &RequirementJson) -> Option<Requirement> {
    let operator = match json.operator.as_str() {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        "Gt" => Operator::GreaterThan,
        "Lt" => Operator::LessThan,
        _ => return None,
    };
    let values = json.values.as_deref().unwrap_or_default();
    Requirement::new(&json.key, operator, values).ok()
}

fn field_requirement(json: &RequirementJson) -> Option<Field> {
    let among = match json.operator.as_str() {
        "In" => true,
        "NotIn" => false,
        _ => return None,
    };
    let values = json.values.as_deref().unwrap_or_default();
    let [value] = values else { return None };
    Some(Field {
        is_name: json.key == "metadata.name",
        among,
        value: value.clone(),
    })
}

#[cfg(test)]
mod tests;
