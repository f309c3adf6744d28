//! Pods that are placed alike: what is found for one holds for all.

use flyball_api::{Labels, Uid};

use super::board::Board;
use super::company::Company;
use super::spreading::Spreading;
use super::verdict::Reason;
use crate::rules::node_affinity::NodeAffinity;
use crate::rules::read;
use crate::rules::taints::{self, Toleration};
use crate::views::{Amounts, HostPort, Node, Pod, part};

/// All that decides where a pod may go. Pods of one template have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClassKey<'a> {
    namespace: &'a str,
    labels: &'a Labels,
    group: Option<&'a Uid>,
    rules: &'a Labels,
    requests: &'a Amounts,
    nominal: (i64, i64),
    ports: &'a [HostPort],
    priority: i32,
    preempts: bool,
}

impl<'a> ClassKey<'a> {
    /// The key of a pod's class.
    pub(crate) fn of(pod: &'a Pod) -> Self {
        Self {
            namespace: &pod.namespace,
            labels: &pod.labels,
            group: pod.group.as_ref(),
            rules: &pod.rules,
            requests: &pod.requests,
            nominal: pod.nominal,
            ports: &pod.ports,
            priority: pod.priority,
            preempts: pod.preempts,
        }
    }
}

/// What is known of the pods of one class, node by node.
#[derive(Debug)]
pub(crate) struct Class<'a> {
    /// One of them, to stand for all.
    pub(crate) pod: &'a Pod,
    /// Why a node is out of the question, whoever is on it.
    pub(crate) fixed: Vec<Option<Reason>>,
    /// How much they like each node, if they have preferences.
    pub(crate) likes: Option<Vec<i64>>,
    /// How many taints of each node would rather have them elsewhere.
    pub(crate) dislikes: Vec<i64>,
    pub(crate) spreading: Spreading,
    pub(crate) company: Company,
}

impl<'a> Class<'a> {
    /// Works out what is the same for all pods like this one; or why none can ever be placed.
    pub(crate) fn of(pod: &'a Pod, board: &mut Board<'a>) -> Result<Self, String> {
        let unreadable = |error: String| format!("parsing pod: {error}");
        let affinity = NodeAffinity::of(pod).map_err(unreadable)?;
        let tolerations: Vec<Toleration> =
            read(part::TOLERATIONS, pod.rule(part::TOLERATIONS)).map_err(unreadable)?;
        let named = affinity.named();
        if named.as_ref().is_some_and(|names| names.is_empty()) {
            return Err("pod affinity terms conflict".to_owned());
        }
        let fixed = |node: &Node| {
            if named.as_ref().is_some_and(|it| !it.contains(&node.name)) {
                Some(Reason::NotNamed)
            } else if node.unschedulable && !taints::enters_cordoned(&tolerations) {
                Some(Reason::Cordoned)
            } else if taints::keep_away(&node.taints, &tolerations) {
                Some(Reason::Tainted)
            } else if !affinity.admits(node) {
                Some(Reason::NodeAffinity)
            } else {
                None
            }
        };
        let nodes = || board.slots.iter().map(|slot| slot.node);
        let fixed = nodes().map(fixed).collect();
        let likes = affinity
            .has_preferences()
            .then(|| nodes().map(|node| affinity.preference(node)).collect());
        let dislikes = nodes().map(|node| taints::count_disliked(&node.taints, &tolerations));
        let dislikes = dislikes.collect();
        Ok(Self {
            pod,
            fixed,
            likes,
            dislikes,
            spreading: Spreading::of(pod, &affinity, &tolerations, board).map_err(unreadable)?,
            company: Company::of(pod, board).map_err(unreadable)?,
        })
    }

    /// Draws a placed pod in, which is on the board already.
    pub(crate) fn note(&mut self, placed: &Pod, node: usize, board: &Board<'_>) {
        self.spreading
            .note(self.pod, placed, node, &board.topologies);
        self.company.note(self.pod, placed, node, board);
    }
}
