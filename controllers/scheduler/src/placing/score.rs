//! Which of the feasible nodes is best: all scores, with upstream's weights.
//!
//! Image locality is not among them: it depends on images that nodes hold, which is worth little
//! next to the rest, and nothing where nodes are simulated.

use super::board::Board;
use super::class::Class;
use crate::rules::allocation::{balanced, least_allocated};
use crate::rules::normalize::normalize;
use crate::views::Pod;

/// The weights of upstream's default profile (`apis/config/v1/default_plugins.go`).
const TAINT_TOLERATION: i64 = 3;
const NODE_AFFINITY: i64 = 2;
const POD_TOPOLOGY_SPREAD: i64 = 2;
const INTER_POD_AFFINITY: i64 = 2;
const NODE_RESOURCES_FIT: i64 = 1;
const BALANCED_ALLOCATION: i64 = 1;

/// The best of the feasible nodes. Among equals the pod's identity decides, so that equal pods do
/// not all go to the first of equal nodes, and yet the same input has the same answer.
pub(crate) fn best(
    pod: &Pod,
    class: &Class<'_>,
    feasible: &[usize],
    board: &Board<'_>,
) -> Option<usize> {
    if let [only] = feasible {
        return Some(*only);
    }
    let totals = totals(class, feasible, board);
    let highest = totals.iter().copied().max()?;
    let seed = hash(SEED, pod.uid.compact().as_bytes());
    let ties = feasible.iter().zip(&totals);
    ties.filter(|(_, total)| **total == highest)
        .map(|(node, _)| *node)
        .min_by_key(|node| {
            let name = board.slots[*node].node.name.as_bytes();
            (scatter(hash(seed, name)), *node)
        })
}

fn totals(class: &Class<'_>, feasible: &[usize], board: &Board<'_>) -> Vec<i64> {
    let mut totals: Vec<i64> = feasible
        .iter()
        .map(|node| resources(class.pod, *node, board))
        .collect();
    let mut weigh = |scores: &[i64], weight: i64| {
        for (total, score) in totals.iter_mut().zip(scores) {
            *total += weight * score;
        }
    };
    let of = |scores: &[i64]| feasible.iter().map(|it| scores[*it]).collect::<Vec<i64>>();
    let mut dislikes = of(&class.dislikes);
    normalize(&mut dislikes, true);
    weigh(&dislikes, TAINT_TOLERATION);
    if let Some(likes) = &class.likes {
        let mut likes = of(likes);
        normalize(&mut likes, false);
        weigh(&likes, NODE_AFFINITY);
    }
    if let Some(scores) = class.spreading.scores(feasible, board) {
        weigh(&scores, POD_TOPOLOGY_SPREAD);
    }
    if let Some(scores) = class.company.scores(feasible, board) {
        weigh(&scores, INTER_POD_AFFINITY);
    }
    totals
}

fn resources(pod: &Pod, node: usize, board: &Board<'_>) -> i64 {
    let slot = &board.slots[node];
    let has = &slot.node.allocatable;
    let allocatable = (has.cpu_milli, has.memory);
    let requested = (
        slot.nominal.0.saturating_add(pod.nominal.0),
        slot.nominal.1.saturating_add(pod.nominal.1),
    );
    let asked = (pod.requests.cpu_milli, pod.requests.memory);
    // Who asks for nothing disturbs no balance.
    let balance = match asked {
        (0, 0) => 0,
        asked => balanced(asked, (slot.used.cpu_milli, slot.used.memory), allocatable),
    };
    NODE_RESOURCES_FIT * least_allocated(requested, allocatable) + BALANCED_ALLOCATION * balance
}

/// Where FNV-1a begins.
const SEED: u64 = 0xcbf2_9ce4_8422_2325;

fn hash(seed: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(seed, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Makes every bit depend on every other: names of nodes differ in their last letter only.
fn scatter(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}
