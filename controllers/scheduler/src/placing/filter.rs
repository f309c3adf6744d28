//! Whether a pod may go to a node: all rules, in upstream's order, up to the first that refuses.
//!
//! `NodeName` is not among them: a pod that names its node needs no scheduler.

use super::board::{Board, Slot};
use super::class::Class;
use super::verdict::{Reason, Refused, Verdict};
use crate::rules::{fit, ports};
use crate::views::Pod;

/// Pods that are thought to be on a node, or not to be there any more.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hypothesis<'h> {
    pub(crate) added: &'h [&'h Pod],
    pub(crate) removed: &'h [&'h Pod],
}

impl Hypothesis<'_> {
    /// Adds up something about the pods: plus those that come, minus those that go.
    pub(crate) fn sum(&self, of: impl Fn(&Pod) -> i64) -> i64 {
        let plus: i64 = self.added.iter().map(|pod| of(pod)).sum();
        let minus: i64 = self.removed.iter().map(|pod| of(pod)).sum();
        plus - minus
    }

    fn is_none(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

/// Whether a pod may go to a node, also when those for whom room is being made there have come:
/// they are as important or more, and came first. And when they have not: they may never come.
/// Upstream: `framework/runtime`, `RunFilterPluginsWithNominatedPods`.
pub(crate) fn check(
    pod: &Pod,
    class: &Class<'_>,
    node: usize,
    removed: &[&Pod],
    board: &Board<'_>,
) -> Verdict {
    let nominated = &board.slots[node].nominated;
    if !nominated.is_empty() {
        let before = |other: &&Pod| other.priority >= pod.priority && other.uid != pod.uid;
        let added: Vec<&Pod> = nominated.iter().map(|it| &***it).filter(before).collect();
        if !added.is_empty() {
            let added = &added;
            one_check(class, node, &Hypothesis { added, removed }, board)?;
        }
    }
    let added = &[];
    one_check(class, node, &Hypothesis { added, removed }, board)
}

fn one_check(
    class: &Class<'_>,
    node: usize,
    hypothesis: &Hypothesis<'_>,
    board: &Board<'_>,
) -> Verdict {
    board.note_check();
    if let Some(reason) = &class.fixed[node] {
        return Err(reason.clone().into());
    }
    let slot = &board.slots[node];
    if has_port_taken(class.pod, slot, hypothesis) {
        return Err(Reason::Ports.into());
    }
    has_room(class.pod, slot, hypothesis)?;
    class
        .spreading
        .check(class.pod, node, hypothesis, &board.topologies)?;
    class.company.check(class.pod, node, hypothesis, board)?;
    Ok(())
}

fn has_port_taken(pod: &Pod, slot: &Slot<'_>, hypothesis: &Hypothesis<'_>) -> bool {
    pod.ports.iter().any(|wanted| {
        // Whoever goes had his port to himself, so only his own collision goes with him.
        let taken = slot.ports.iter().filter(|it| ports::collide(wanted, it));
        let collisions = |other: &Pod| {
            let collide = other.ports.iter().filter(|it| ports::collide(wanted, it));
            collide.map(|_| 1).sum()
        };
        taken.map(|_| 1).sum::<i64>() + hypothesis.sum(collisions) > 0
    })
}

fn has_room(pod: &Pod, slot: &Slot<'_>, hypothesis: &Hypothesis<'_>) -> Result<(), Refused> {
    let pods = slot.pods.len() as i64 + hypothesis.sum(|_| 1);
    let too_many = (pods + 1 > slot.node.pods_max).then_some(Reason::TooManyPods);
    let lacks = |used| fit::lacks(&pod.requests, used, &slot.node.allocatable);
    let insufficient = |lack: fit::Lack| Reason::Insufficient {
        resource: lack.resource,
        ever: lack.ever,
    };
    let mut reasons = if hypothesis.is_none() {
        let lacks = lacks(&slot.used).map(insufficient);
        too_many.into_iter().chain(lacks).collect::<Vec<_>>()
    } else {
        let mut used = slot.used.clone();
        for come in hypothesis.added {
            used.add(&come.requests);
        }
        for gone in hypothesis.removed {
            used.subtract(&gone.requests);
        }
        let lacks = lacks(&used).map(insufficient);
        too_many.into_iter().chain(lacks).collect()
    };
    if reasons.is_empty() {
        return Ok(());
    }
    let more = reasons.split_off(1);
    match reasons.pop() {
        Some(first) => Err(Refused { first, more }),
        None => Ok(()),
    }
}
