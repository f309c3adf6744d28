//! Pods ask to be spread over zones, hosts and the like.
//!
//! Upstream: `plugins/podtopologyspread`.

use flyball_api::selector::{Operator, Requirement};
use flyball_api::{LabelSelector, Labels, Selector, Text, Uid};
use serde::Deserialize;

use super::read;
use crate::views::{Pod, part};

/// The label that tells hosts apart.
pub(crate) const HOSTNAME: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";

/// Which pods are to be spread.
#[derive(Clone, Debug)]
pub(crate) enum Who {
    /// Those that a selector matches.
    Selected(Selector),
    /// Those of one controller.
    Group(Uid),
}

impl Who {
    /// Whether a pod of the same namespace is meant. Those that are going do not count, and a
    /// selector that selects everything counts nobody (upstream, `countPodsMatchSelector`).
    pub(crate) fn counts(&self, pod: &Pod) -> bool {
        let is_meant = match self {
            Self::Selected(selector) => !selector.is_empty() && selects(selector, &pod.labels),
            Self::Group(uid) => pod.group.as_ref() == Some(uid),
        };
        is_meant && !pod.deleting
    }

    /// Whether the pod to be placed is one of them.
    fn includes(&self, pod: &Pod) -> bool {
        match self {
            Self::Selected(selector) => selects(selector, &pod.labels),
            Self::Group(uid) => pod.group.as_ref() == Some(uid),
        }
    }
}

pub(crate) fn selects(selector: &Selector, labels: &Labels) -> bool {
    selector.matches_with(|key| labels.get(key))
}

/// One wish to be spread.
#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    /// By how many pods domains may differ.
    pub(crate) skew_max: i64,
    /// The label whose values are the domains.
    pub(crate) key: Text,
    /// It is better not to be placed than to break this.
    pub(crate) hard: bool,
    /// Whom it is about.
    pub(crate) who: Who,
    /// Whether the pod itself is one of them.
    pub(crate) counts_itself: bool,
    /// With fewer domains than this, an empty one is taken to be there too.
    pub(crate) domains_min: usize,
    /// Only nodes that the pod's node affinity admits make up domains.
    pub(crate) honors_affinity: bool,
    /// Only nodes whose taints the pod tolerates make up domains.
    pub(crate) honors_taints: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ConstraintJson {
    max_skew: i64,
    topology_key: Text,
    when_unsatisfiable: Text,
    label_selector: Option<LabelSelector>,
    min_domains: Option<i64>,
    node_affinity_policy: Option<Text>,
    node_taints_policy: Option<Text>,
    match_label_keys: Option<Vec<Text>>,
}

/// What a pod asks for; if nothing, what pods of a controller get by default, which is never hard.
/// Says whether it was asked for.
pub(crate) fn constraints(pod: &Pod) -> Result<(Vec<Constraint>, bool), String> {
    let asked: Vec<ConstraintJson> = read(part::SPREAD, pod.rule(part::SPREAD))?;
    if !asked.is_empty() {
        let read = asked.iter().map(|it| constraint(it, pod));
        return Ok((read.collect::<Result<_, _>>()?, true));
    }
    let Some(group) = &pod.group else {
        return Ok((Vec::new(), false));
    };
    let by_default = |key: &str, skew_max: i64| Constraint {
        skew_max,
        key: key.into(),
        hard: false,
        who: Who::Group(group.clone()),
        counts_itself: true,
        domains_min: 1,
        honors_affinity: true,
        honors_taints: false,
    };
    Ok((vec![by_default(HOSTNAME, 3), by_default(ZONE, 5)], false))
}

fn constraint(json: &ConstraintJson, pod: &Pod) -> Result<Constraint, String> {
    let selector = LabelSelector::compile_optional(json.label_selector.as_ref())
        .map_err(|error| format!("{}: {error}", part::SPREAD))?;
    let keys = json.match_label_keys.as_deref().unwrap_or_default();
    let who = Who::Selected(narrowed(selector, keys, &pod.labels));
    let honors = |policy: &Option<Text>, default| match policy.as_deref() {
        None => default,
        Some(policy) => policy == "Honor",
    };
    Ok(Constraint {
        skew_max: json.max_skew,
        key: json.topology_key.clone(),
        hard: json.when_unsatisfiable != "ScheduleAnyway",
        counts_itself: who.includes(pod),
        who,
        domains_min: usize::try_from(json.min_domains.unwrap_or(1)).unwrap_or(1),
        honors_affinity: honors(&json.node_affinity_policy, true),
        honors_taints: honors(&json.node_taints_policy, false),
    })
}

/// The selector, and these labels must have the pod's own values; keys it lacks are passed over.
fn narrowed(selector: Selector, keys: &[Text], labels: &Labels) -> Selector {
    if selector.is_nothing() {
        return selector;
    }
    let own = keys.iter().filter_map(|key| {
        let value = labels.get(key)?;
        Requirement::new(key, Operator::In, &[value]).ok()
    });
    Selector::all_of(own.chain(selector.requirements().iter().cloned()).collect())
}

#[cfg(test)]
mod tests {
    use flyball_api::Object;
    use serde_json::{Value, json};

    use super::*;

    fn pod(labels: Value, spread: Value) -> Pod {
        let json = json!({"metadata": {"name": "a", "labels": labels},
            "spec": {"topologySpreadConstraints": spread}});
        Pod::decode(json.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn keys_to_match_narrow_the_selector_to_the_pods_own_values() {
        let spread = json!([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable":
            "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "web"}},
            "matchLabelKeys": ["hash", "absent"]}]);
        let (read, asked) = constraints(&pod(json!({"app": "web", "hash": "1"}), spread)).unwrap();
        let counts = |labels: Value| read[0].who.counts(&pod(labels, json!([])));
        assert!(asked && read[0].hard && read[0].counts_itself);
        assert!(counts(json!({"app": "web", "hash": "1"})));
        assert!(!counts(json!({"app": "web", "hash": "2"})));
    }

    #[test]
    fn an_absent_selector_means_nobody_and_an_empty_one_counts_nobody() {
        let spread = |selector: Value| {
            let it = json!([{"maxSkew": 1, "topologyKey": "zone", "labelSelector": selector}]);
            constraints(&pod(json!({"app": "web"}), it))
                .unwrap()
                .0
                .remove(0)
        };
        let other = pod(json!({"app": "web"}), json!([]));
        let (absent, empty) = (spread(json!(null)), spread(json!({})));
        assert!(!absent.who.counts(&other) && !absent.counts_itself);
        assert!(!empty.who.counts(&other) && empty.counts_itself);
    }

    #[test]
    fn pods_of_a_controller_are_spread_by_default() {
        let mut pod = pod(json!({}), json!([]));
        assert!(constraints(&pod).unwrap().0.is_empty());
        pod.group = Some("set".into());
        let (by_default, asked) = constraints(&pod).unwrap();
        let said: Vec<_> = by_default
            .iter()
            .map(|it| (&*it.key, it.skew_max))
            .collect();
        assert_eq!(said, [(HOSTNAME, 3), (ZONE, 5)]);
        assert!(!asked && by_default.iter().all(|it| !it.hard));
    }

    #[test]
    fn nonsense_is_an_error() {
        let bad =
            json!([{"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}}]);
        let error = constraints(&pod(json!({}), bad)).unwrap_err();
        assert!(error.contains("Near"), "{error}");
    }
}
