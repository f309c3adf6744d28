//! Pods want to be near some pods and away from others.
//!
//! Upstream: `plugins/interpodaffinity` and kube-scheduler's `framework/types.go`.

use flyball_api::{LabelSelector, Labels, Selector, Text};
use serde::Deserialize;

use super::read;
use super::spread::selects;
use crate::views::{Pod, part};

/// What one pod that needs another's company is worth to that other (upstream's default of
/// `hardPodAffinityWeight`).
pub(crate) const HARD_AFFINITY_WEIGHT: i64 = 1;

/// All that a pod says about other pods.
#[derive(Debug, Default)]
pub(crate) struct PodAffinity {
    /// Pods it must be near to: all of these.
    pub(crate) near: Vec<Term>,
    /// Pods it must be away from: each of these.
    pub(crate) away: Vec<Term>,
    /// Pods it would like to be near to or, if the weight is negative, away from.
    pub(crate) preferred: Vec<(i64, Term)>,
}

/// Some pods, and how near is near.
#[derive(Debug)]
pub(crate) struct Term {
    /// The label that near nodes have the same value of.
    pub(crate) key: Text,
    namespaces: Vec<Text>,
    namespace_selector: Selector,
    selector: Selector,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AffinityJson {
    required_during_scheduling_ignored_during_execution: Option<Vec<TermJson>>,
    preferred_during_scheduling_ignored_during_execution: Option<Vec<WeightedJson>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WeightedJson {
    weight: i64,
    pod_affinity_term: TermJson,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct TermJson {
    label_selector: Option<LabelSelector>,
    topology_key: Text,
    namespaces: Option<Vec<Text>>,
    namespace_selector: Option<LabelSelector>,
}

impl PodAffinity {
    /// Whether the pod says anything about others.
    pub(crate) fn is_said_by(pod: &Pod) -> bool {
        pod.rule(part::POD_AFFINITY).is_some() || pod.rule(part::POD_ANTI_AFFINITY).is_some()
    }

    /// Reads what a pod says.
    pub(crate) fn of(pod: &Pod) -> Result<Self, String> {
        let near: AffinityJson = read(part::POD_AFFINITY, pod.rule(part::POD_AFFINITY))?;
        let away: AffinityJson = read(part::POD_ANTI_AFFINITY, pod.rule(part::POD_ANTI_AFFINITY))?;
        let required = |json: &AffinityJson| -> Result<Vec<Term>, String> {
            let terms = json
                .required_during_scheduling_ignored_during_execution
                .iter();
            terms.flatten().map(|it| term(it, pod)).collect()
        };
        let (liked, disliked) = (weighted(&near, pod, 1), weighted(&away, pod, -1));
        Ok(Self {
            near: required(&near)?,
            away: required(&away)?,
            preferred: liked.chain(disliked).collect::<Result<_, _>>()?,
        })
    }
}

fn weighted(
    json: &AffinityJson,
    pod: &Pod,
    sign: i64,
) -> impl Iterator<Item = Result<(i64, Term), String>> {
    let terms = json
        .preferred_during_scheduling_ignored_during_execution
        .iter();
    terms
        .flatten()
        .map(move |it| Ok((sign * it.weight, term(&it.pod_affinity_term, pod)?)))
}

fn term(json: &TermJson, pod: &Pod) -> Result<Term, String> {
    let compile = |selector: &Option<LabelSelector>| {
        LabelSelector::compile_optional(selector.as_ref()).map_err(|error| error.to_string())
    };
    let mut namespaces = json.namespaces.clone().unwrap_or_default();
    if namespaces.is_empty() && json.namespace_selector.is_none() {
        namespaces.push(pod.namespace.clone());
    }
    Ok(Term {
        key: json.topology_key.clone(),
        namespaces,
        namespace_selector: compile(&json.namespace_selector)?,
        selector: compile(&json.label_selector)?,
    })
}

impl Term {
    /// Whether a pod is meant, given the labels of its namespace.
    pub(crate) fn matches(&self, pod: &Pod, namespace: &Labels) -> bool {
        (self.namespaces.contains(&pod.namespace) || selects(&self.namespace_selector, namespace))
            && selects(&self.selector, &pod.labels)
    }
}

#[cfg(test)]
mod tests {
    use flyball_api::Object;
    use serde_json::{Value, json};

    use super::*;

    fn pod(namespace: &str, spec: Value) -> Pod {
        let json = json!({"metadata": {"name": "a", "namespace": namespace,
            "labels": {"service": "securityscan"}}, "spec": spec});
        Pod::decode(json.to_string().as_bytes()).unwrap()
    }

    fn near(term: Value) -> PodAffinity {
        let spec = json!({"affinity": {"podAffinity":
            {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}});
        PodAffinity::of(&pod("ns", spec)).unwrap()
    }

    /// Ideas from upstream's `plugins/interpodaffinity/filtering_test.go`,
    /// TestRequiredAffinitySingleNode: who is meant by a term.
    #[test]
    fn a_term_means_pods_by_namespace_and_labels() {
        let selector = |value: &str| json!({"matchLabels": {"service": value}});
        let team = json!({"matchLabels": {"team": "one"}});
        let cases = [
            (
                "its own namespace",
                json!({"labelSelector": selector("securityscan")}),
                "ns",
                true,
            ),
            (
                "not another",
                json!({"labelSelector": selector("securityscan")}),
                "other",
                false,
            ),
            (
                "named",
                json!({"labelSelector": selector("securityscan"), "namespaces": ["other"]}),
                "other",
                true,
            ),
            (
                "then not its own",
                json!({"labelSelector": selector("securityscan"), "namespaces": ["other"]}),
                "ns",
                false,
            ),
            (
                "selected",
                json!({"labelSelector": selector("securityscan"), "namespaceSelector": team}),
                "team",
                true,
            ),
            (
                "all",
                json!({"labelSelector": selector("securityscan"), "namespaceSelector": {}}),
                "other",
                true,
            ),
            (
                "other labels",
                json!({"labelSelector": selector("antivirus")}),
                "ns",
                false,
            ),
            ("no selector", json!({}), "ns", false),
        ];
        for (what, term, namespace, expected) in cases {
            let labels = match namespace {
                "team" => Labels::from_iter([("team", "one")]),
                _ => Labels::default(),
            };
            let other = pod(namespace, json!({}));
            assert_eq!(
                near(term).near[0].matches(&other, &labels),
                expected,
                "{what}"
            );
        }
    }

    #[test]
    fn dislike_is_negative() {
        let wish = json!({"preferredDuringSchedulingIgnoredDuringExecution":
            [{"weight": 7, "podAffinityTerm": {"topologyKey": "zone"}}]});
        let spec = json!({"affinity": {"podAffinity": wish, "podAntiAffinity": wish}});
        let read = PodAffinity::of(&pod("ns", spec)).unwrap();
        let weights: Vec<i64> = read.preferred.iter().map(|(weight, _)| *weight).collect();
        assert_eq!(weights, [7, -7]);
    }
}
