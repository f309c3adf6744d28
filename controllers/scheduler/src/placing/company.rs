//! Counts the pods that others want to be near to or away from.
//!
//! Upstream: `plugins/interpodaffinity/filtering.go` and `scoring.go`.

use std::rc::Rc;

use super::board::{Board, Vocal};
use super::filter::Hypothesis;
use super::topology::{Tally, TopologyId};
use super::verdict::Reason;
use crate::rules::normalize::stretch;
use crate::rules::pod_affinity::{HARD_AFFINITY_WEIGHT, PodAffinity, Term};
use crate::views::Pod;

/// What the pods of one class need to know of all others.
#[derive(Debug, Default)]
pub(crate) struct Company {
    says: Rc<PodAffinity>,
    /// Pods that match all of the terms to be near to.
    near: Tally,
    /// Pods that match a term to be away from.
    away: Tally,
    /// Pods that want to be away from pods of this class.
    existing: Tally,
    /// What being near is worth, from both sides.
    wishes: Tally,
}

impl Company {
    /// Counts for the pods of one class.
    pub(crate) fn of<'a>(pod: &'a Pod, board: &mut Board<'a>) -> Result<Self, String> {
        // Read here as well, so that what cannot be read is an error and not silence.
        PodAffinity::of(pod)?;
        let mut company = Self {
            says: board.hear(pod).unwrap_or_default(),
            ..Self::default()
        };
        for vocal in &board.vocal {
            company.listen(pod, vocal, board);
        }
        if company.cares() {
            for (node, other) in board.all_pods() {
                company.look(other, node, board);
            }
        }
        Ok(company)
    }

    /// Draws a placed pod in, which the board has heard.
    pub(crate) fn note(&mut self, class: &Pod, placed: &Pod, node: usize, board: &Board<'_>) {
        if self.cares() {
            self.look(placed, node, board);
        }
        let last = board.vocal.last().filter(|it| it.pod.uid == placed.uid);
        if let Some(vocal) = last {
            self.listen(class, vocal, board);
        }
    }

    fn cares(&self) -> bool {
        let says = &self.says;
        !(says.near.is_empty() && says.away.is_empty() && says.preferred.is_empty())
    }

    /// What another pod on a node means to this class.
    fn look(&mut self, other: &Pod, node: usize, board: &Board<'_>) {
        let namespace = board.namespace(&other.namespace);
        let means = |term: &Term| term.matches(other, namespace);
        if self.needs(other, board) {
            for term in &self.says.near {
                count(&mut self.near, term, node, 1, board);
            }
        }
        for term in self.says.away.iter().filter(|term| means(term)) {
            count(&mut self.away, term, node, 1, board);
        }
        for (weight, term) in self.says.preferred.iter().filter(|(_, term)| means(term)) {
            count(&mut self.wishes, term, node, *weight, board);
        }
    }

    /// What another pod on a node says about pods of this class.
    fn listen(&mut self, class: &Pod, other: &Vocal<'_>, board: &Board<'_>) {
        let namespace = board.namespace(&class.namespace);
        let means = |term: &Term| term.matches(class, namespace);
        for term in other.says.away.iter().filter(|term| means(term)) {
            count(&mut self.existing, term, other.node, 1, board);
        }
        let near = other
            .says
            .near
            .iter()
            .map(|term| (HARD_AFFINITY_WEIGHT, term));
        let wishes = other
            .says
            .preferred
            .iter()
            .map(|(weight, term)| (*weight, term));
        for (weight, term) in near.chain(wishes).filter(|(_, term)| means(term)) {
            count(&mut self.wishes, term, other.node, weight, board);
        }
    }

    /// Whether a pod is one of those that the class has to be near to.
    fn needs(&self, other: &Pod, board: &Board<'_>) -> bool {
        let namespace = board.namespace(&other.namespace);
        let terms = &self.says.near;
        !terms.is_empty() && terms.iter().all(|term| term.matches(other, namespace))
    }

    /// Whether a pod may go to a node. Only pods of that node are hypothetical.
    pub(crate) fn check(
        &self,
        class: &Pod,
        node: usize,
        hypothesis: &Hypothesis<'_>,
        board: &Board<'_>,
    ) -> Result<(), Reason> {
        if !self.is_near(class, node, hypothesis, board) {
            return Err(Reason::Near);
        }
        if !self.is_away(node, hypothesis, board) {
            return Err(Reason::Away);
        }
        if !self.is_suffered(class, node, hypothesis, board) {
            return Err(Reason::Existing);
        }
        Ok(())
    }

    fn is_near(&self, class: &Pod, node: usize, it: &Hypothesis<'_>, board: &Board<'_>) -> bool {
        let terms = &self.says.near;
        if terms.is_empty() {
            return true;
        }
        let topology_of = |term: &Term| domain_of(term, node, board);
        if terms.iter().any(|term| topology_of(term).is_none()) {
            return false;
        }
        let change = it.sum(|pod| i64::from(self.needs(pod, board)));
        let is_there = |term: &Term| {
            let same_key = terms.iter().filter(|other| other.key == term.key).count();
            topology_of(term).is_some_and(|topology| {
                self.near.at(&board.topologies, topology, node) + change * same_key as i64 > 0
            })
        };
        if terms.iter().all(is_there) {
            return true;
        }
        // The first of pods that want to be near each other would wait for ever.
        self.near.total + change * terms.len() as i64 == 0 && self.needs(class, board)
    }

    fn is_away(&self, node: usize, it: &Hypothesis<'_>, board: &Board<'_>) -> bool {
        self.says.away.iter().all(|term| {
            let Some(topology) = domain_of(term, node, board) else {
                return true;
            };
            let change = it.sum(|pod| {
                let namespace = board.namespace(&pod.namespace);
                let same_key = self.says.away.iter().filter(|other| other.key == term.key);
                let met = same_key.filter(|other| other.matches(pod, namespace));
                met.map(|_| 1).sum()
            });
            self.away.at(&board.topologies, topology, node) + change <= 0
        })
    }

    /// Whether no pod that is there wants the class to be away.
    fn is_suffered(
        &self,
        class: &Pod,
        node: usize,
        it: &Hypothesis<'_>,
        board: &Board<'_>,
    ) -> bool {
        let namespace = board.namespace(&class.namespace);
        let objections = |pod: &Pod, key: Option<TopologyId>| -> i64 {
            let Some(says) = board.said(pod) else {
                return 0;
            };
            let here = says.away.iter().filter(|term| {
                let topology = domain_of(term, node, board);
                topology.is_some() && (key.is_none() || key == topology)
            });
            let met = here.filter(|term| term.matches(class, namespace));
            met.map(|_| 1).sum()
        };
        let counted = self.existing.of_node(&board.topologies, node);
        for (topology, count) in counted {
            if count + it.sum(|pod| objections(pod, Some(topology))) > 0 {
                return false;
            }
        }
        // Somebody who is not there yet may be the first to object.
        it.added.iter().all(|pod| objections(pod, None) == 0)
    }

    /// How well each of the feasible nodes serves the wishes of all; nothing if there are none.
    pub(crate) fn scores(&self, feasible: &[usize], board: &Board<'_>) -> Option<Vec<i64>> {
        if self.wishes.is_untouched() {
            return None;
        }
        let sums = feasible.iter().map(|node| {
            let counted = self.wishes.of_node(&board.topologies, *node);
            counted.map(|(_, worth)| worth).sum()
        });
        let mut scores: Vec<i64> = sums.collect();
        stretch(&mut scores);
        Some(scores)
    }
}

/// The topology of a term, if the node is in one of its domains.
fn domain_of(term: &Term, node: usize, board: &Board<'_>) -> Option<TopologyId> {
    let topology = board.topologies.find(&term.key)?;
    board.topologies.domain(topology, node).map(|_| topology)
}

fn count(tally: &mut Tally, term: &Term, node: usize, amount: i64, board: &Board<'_>) {
    if let Some(topology) = board.topologies.find(&term.key) {
        tally.add(&board.topologies, topology, node, amount);
    }
}
