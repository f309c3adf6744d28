//! Which pods go first when there are too many.
//!
//! Upstream: `ActivePodsWithRanks` in `pkg/controller/controller_utils.go`. The pods that cost
//! least to lose go first: not yet placed, not yet running, not ready, cheap by their own word,
//! crowded together on a node, young. Ages count by the power of two they fall into, and within
//! one such bucket the UID decides: which of several equally young pods goes is left to chance,
//! so that whole zones are not emptied because their pods happened to start last.
//!
//! Upstream compares pods pair by pair, which can run in a circle: where some pods of one bucket
//! became ready at the same instant (so that restarts decide between them) and others did not (so
//! that UIDs do). Here pods of one instant stand together at the place of their smallest UID,
//! which is upstream's order wherever that is an order, and the same for every order of input.

use std::cmp::Reverse;
use std::collections::HashMap;

use flyball_api::views::{Phase, Pod};
use flyball_api::{Timestamp, Uid};

use super::pods::{is_ready, ready_since};

#[cfg(test)]
mod tests;

/// The annotation by which a pod says what losing it costs, compared to its siblings.
pub const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// By what pods are ranked, apart from themselves.
#[derive(Clone, Copy, Debug)]
pub struct Ranking<'a> {
    /// How many active pods of the same workload run on a node.
    pub on_node: &'a HashMap<flyball_api::Text, usize>,
    /// Whether pods are asked what losing them costs (the `PodDeletionCost` gate).
    pub deletion_cost: bool,
    /// Ages are counted until then.
    pub now: Timestamp,
}

/// The `count` pods to delete first, in this order; all of them, by name, if there are no more.
pub fn victims<'a>(pods: &[&'a Pod], count: usize, ranking: Ranking<'_>) -> Vec<&'a Pod> {
    if count >= pods.len() {
        let mut all = pods.to_vec();
        all.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
        return all;
    }
    let standings: Vec<Standing> = pods.iter().map(|pod| standing(pod, ranking)).collect();
    let mut first_uids: HashMap<(Standing, Option<Timestamp>), &Uid> = HashMap::new();
    for (pod, standing) in pods.iter().zip(&standings) {
        let uid = &pod.metadata.uid;
        let first = first_uids
            .entry((*standing, ready_since(pod)))
            .or_insert(uid);
        *first = uid.min(*first);
    }
    let mut ranked: Vec<_> = pods
        .iter()
        .zip(&standings)
        .map(|(pod, standing)| {
            let (restarts, sidecar_restarts) = restarts_max(pod);
            let rank = (
                *standing,
                first_uids.get(&(*standing, ready_since(pod))).copied(),
                Reverse(restarts),
                Reverse(sidecar_restarts),
                pod.metadata
                    .creation_timestamp
                    .map(|at| age_bucket(at, ranking.now)),
                &pod.metadata.uid,
            );
            (rank, *pod)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().take(count).map(|(_, pod)| pod).collect()
}

/// What is compared before UIDs have a say; smaller goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Standing {
    assigned: bool,
    phase: u8,
    ready: bool,
    cost: i32,
    neighbours: Reverse<usize>,
    /// `None` for pods that are not ready, and for ready ones that do not say since when.
    ready_for: Option<i64>,
}

fn standing(pod: &Pod, ranking: Ranking<'_>) -> Standing {
    Standing {
        assigned: !pod.spec.node_name.is_empty(),
        phase: match pod.status.phase {
            Phase::Running => 2,
            Phase::Unknown => 1,
            _ => 0,
        },
        ready: is_ready(pod),
        cost: if ranking.deletion_cost {
            deletion_cost(pod)
        } else {
            0
        },
        neighbours: Reverse(
            ranking
                .on_node
                .get(&pod.spec.node_name)
                .copied()
                .unwrap_or(0),
        ),
        ready_for: ready_since(pod).map(|since| age_bucket(since, ranking.now)),
    }
}

/// What losing the pod costs by its own word; 0 if it does not say, or says it in a form that is
/// not a plain 32-bit number (a plus sign or leading zeros are not plain).
pub fn deletion_cost(pod: &Pod) -> i32 {
    let Some(text) = pod.metadata.annotations.get(DELETION_COST) else {
        return 0;
    };
    match text.as_bytes() {
        [b'-' | b'1'..=b'9', ..] => text.parse().unwrap_or(0),
        _ => 0,
    }
}

/// The power of two that an age in nanoseconds reaches; -1 for what is not in the past.
fn age_bucket(at: Timestamp, now: Timestamp) -> i64 {
    let nanos = now.saturating_since(at).as_nanos();
    nanos.checked_ilog2().map_or(-1, i64::from)
}

/// The most restarts of any container, and of any sidecar.
fn restarts_max(pod: &Pod) -> (i32, i32) {
    let containers = pod.status.container_statuses.iter();
    let sidecars = pod.status.init_container_statuses.iter().filter(|status| {
        let sidecar = |container: &&flyball_api::views::InitContainer| {
            container.name == status.name && container.restart_policy.as_deref() == Some("Always")
        };
        pod.spec
            .init_containers
            .iter()
            .any(|container| sidecar(&container))
    });
    (
        containers
            .map(|status| status.restart_count)
            .max()
            .unwrap_or(0)
            .max(0),
        sidecars
            .map(|status| status.restart_count)
            .max()
            .unwrap_or(0)
            .max(0),
    )
}
