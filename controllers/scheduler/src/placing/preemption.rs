//! Whom to delete so that a more important pod fits.
//!
//! Upstream: `plugins/defaultpreemption` and `framework/preemption`. Disruption budgets are not
//! looked at: all victims count as free to go.

use std::cmp::Reverse;
use std::sync::Arc;

use flyball_api::Timestamp;

use super::board::Board;
use super::class::Class;
use super::filter;
use super::verdict::{Reason, Refused, Verdict, summary};
use crate::views::Pod;

/// How many nodes are worked out at least before the best is chosen, and how many of a hundred.
const CANDIDATES_MIN: usize = 100;
const CANDIDATES_PERCENT: usize = 10;

/// Whether room can be made.
#[derive(Debug)]
pub(super) enum Room<'a> {
    /// The pod may not try, for this reason; whatever was reserved for it stays so.
    NotTried(&'static str),
    /// There is no node where it would help.
    Nowhere(String),
    /// On this node, if these go.
    On(usize, Vec<&'a Arc<Pod>>),
}

/// Finds the node where making room does least harm.
pub(super) fn make_room<'a>(
    pod: &Pod,
    class: &Class<'_>,
    verdicts: &[Verdict],
    board: &Board<'a>,
) -> Room<'a> {
    if let Some(why) = why_not(pod, verdicts, board) {
        return Room::NotTried(why);
    }
    let hopeful = |verdict: &Verdict| verdict.as_ref().is_err_and(Refused::is_resolvable);
    let nodes: Vec<usize> = (0..verdicts.len())
        .filter(|node| hopeful(&verdicts[*node]))
        .collect();
    let enough = (nodes.len() * CANDIDATES_PERCENT / 100).max(CANDIDATES_MIN);
    let (mut candidates, mut refused) = (Vec::new(), Vec::new());
    for node in &nodes {
        match victims(pod, class, *node, board) {
            Ok(victims) => candidates.push((*node, victims)),
            Err(why) => refused.push(why),
        }
        if candidates.len() >= enough {
            break;
        }
    }
    // The smallest is the best; of equals the first.
    let best = candidates
        .into_iter()
        .min_by_key(|(_, victims)| harm(victims));
    match best {
        Some((node, victims)) => Room::On(node, victims),
        None => {
            let others = vec![Reason::NotHelpful; verdicts.len() - refused.len()];
            let reasons = refused.iter().flat_map(Refused::reasons).chain(&others);
            Room::Nowhere(summary(verdicts.len(), reasons))
        }
    }
}

/// Why a pod may not have others deleted.
fn why_not(pod: &Pod, verdicts: &[Verdict], board: &Board<'_>) -> Option<&'static str> {
    if !pod.preempts {
        return Some("not eligible due to preemptionPolicy=Never.");
    }
    let node = board.node(&pod.nominated_node_name)?;
    let is_lost = verdicts[node]
        .as_ref()
        .is_err_and(|refused| !refused.is_resolvable());
    let goes_for_it =
        |other: &&Arc<Pod>| other.priority < pod.priority && other.deleting && other.preempted;
    let waits = board.slots[node].pods.iter().any(goes_for_it);
    (waits && !is_lost).then_some("not eligible due to a terminating pod on the nominated node.")
}

/// The fewest pods of a node that have to go: first all less important ones are thought away, then
/// one after the other is let back, the most important first, if the pod still fits.
fn victims<'a>(
    pod: &Pod,
    class: &Class<'_>,
    node: usize,
    board: &Board<'a>,
) -> Result<Vec<&'a Arc<Pod>>, Refused> {
    let pods = board.slots[node].pods.iter().copied();
    let mut less: Vec<&Arc<Pod>> = pods.filter(|it| it.priority < pod.priority).collect();
    if less.is_empty() {
        return Err(Reason::NoVictims.into());
    }
    less.sort_by_key(|it| {
        (
            Reverse(it.priority),
            started(it),
            it.namespace.clone(),
            it.name.clone(),
        )
    });
    let mut gone: Vec<&Pod> = less.iter().map(|it| &***it).collect();
    filter::check(pod, class, node, &gone, board)?;
    let mut victims = Vec::new();
    for candidate in less {
        let at = gone.iter().position(|it| it.uid == candidate.uid);
        let Some(at) = at else { continue };
        let spared = gone.remove(at);
        if filter::check(pod, class, node, &gone, board).is_err() {
            gone.insert(at, spared);
            victims.push(candidate);
        }
    }
    if victims.is_empty() {
        return Err(Reason::NoVictims.into());
    }
    Ok(victims)
}

/// When a pod started; one that did not yet is the youngest.
fn started(pod: &Pod) -> Timestamp {
    pod.started.unwrap_or(Timestamp::MAX)
}

/// How bad it is to lose these pods: the highest priority, the sum of all priorities (so shifted
/// that more pods are always more), how many, and how long the most important have been running.
fn harm(victims: &[&Arc<Pod>]) -> (i32, i64, usize, Reverse<Timestamp>) {
    let highest = victims
        .iter()
        .map(|it| it.priority)
        .max()
        .unwrap_or(i32::MIN);
    let shifted = |it: &&Arc<Pod>| i64::from(it.priority) - i64::from(i32::MIN);
    let important = victims.iter().filter(|it| it.priority == highest);
    let earliest = important.map(|it| started(it)).min();
    (
        highest,
        victims.iter().map(shifted).sum(),
        victims.len(),
        Reverse(earliest.unwrap_or(Timestamp::MAX)),
    )
}
