//! Counts the pods of each domain, for those that are to be spread.
//!
//! Upstream: `plugins/podtopologyspread/filtering.go` and `scoring.go`.

use super::board::Board;
use super::filter::Hypothesis;
use super::topology::{Topologies, TopologyId};
use super::verdict::Reason;
use crate::rules::node_affinity::NodeAffinity;
use crate::rules::normalize::SCORE_MAX;
use crate::rules::spread::{self, Constraint, HOSTNAME};
use crate::rules::taints::{self, Toleration};
use crate::views::{Node, Pod};

/// How the pods of one class are to be spread.
#[derive(Debug, Default)]
pub(crate) struct Spreading {
    hard: Vec<Counts>,
    soft: Vec<Counts>,
    /// Nodes that lack a label are left out; not so where spreading was not asked for.
    needs_all_labels: bool,
}

/// What was counted for one constraint.
#[derive(Debug)]
struct Counts {
    constraint: Constraint,
    topology: TopologyId,
    /// Whether the pods of a node count.
    eligible: Vec<bool>,
    /// Pods per domain.
    pods: Vec<i64>,
    /// Whether a domain has a node that counts.
    present: Vec<bool>,
    /// How many do.
    domains: usize,
    /// Pods of the emptiest of them.
    least: i64,
    /// Pods per node, where each node is a domain: scores count those of every node.
    on_node: Option<Vec<i64>>,
}

impl Spreading {
    /// Counts for the pods of one class. What they say of nodes decides which nodes count.
    pub(crate) fn of(
        pod: &Pod,
        affinity: &NodeAffinity,
        tolerations: &[Toleration],
        board: &mut Board<'_>,
    ) -> Result<Self, String> {
        let (constraints, asked) = spread::constraints(pod)?;
        let (hard, soft): (Vec<_>, Vec<_>) = constraints.into_iter().partition(|it| it.hard);
        let admits = |constraint: &Constraint, node: &Node| {
            (!constraint.honors_affinity || affinity.admits(node))
                && (!constraint.honors_taints || !taints::keep_away(&node.taints, tolerations))
        };
        let mut count = |constraints: Vec<Constraint>, needs_all: bool| -> Vec<Counts> {
            let keys: Vec<_> = constraints.iter().map(|it| it.key.clone()).collect();
            let has_all = |node: &Node| keys.iter().all(|key| node.labels.get(key).is_some());
            let counts = constraints.into_iter().map(|constraint| {
                let nodes = board.slots.iter().map(|slot| slot.node);
                let eligible =
                    nodes.map(|node| (!needs_all || has_all(node)) && admits(&constraint, node));
                let eligible = eligible.collect();
                Counts::of(constraint, eligible, pod, board)
            });
            counts.collect()
        };
        Ok(Self {
            hard: count(hard, true),
            soft: count(soft, asked),
            needs_all_labels: asked,
        })
    }

    /// Draws a placed pod in.
    pub(crate) fn note(&mut self, class: &Pod, pod: &Pod, node: usize, topologies: &Topologies) {
        if class.namespace == pod.namespace {
            for counts in self.hard.iter_mut().chain(&mut self.soft) {
                counts.add(pod, node, topologies);
            }
        }
    }

    /// Whether a pod may go to a node. Only pods of that node are hypothetical.
    pub(crate) fn check(
        &self,
        class: &Pod,
        node: usize,
        hypothesis: &Hypothesis<'_>,
        topologies: &Topologies,
    ) -> Result<(), Reason> {
        for counts in &self.hard {
            let domain = topologies
                .domain(counts.topology, node)
                .ok_or(Reason::SpreadLabel)?;
            let change = match counts.eligible[node] {
                true => hypothesis.sum(|pod| {
                    let counted =
                        pod.namespace == class.namespace && counts.constraint.who.counts(pod);
                    i64::from(counted)
                }),
                false => 0,
            };
            let constraint = &counts.constraint;
            let here = counts.pods[domain] + change + i64::from(constraint.counts_itself);
            if here - counts.least_with(domain, change) > constraint.skew_max {
                return Err(Reason::Spread);
            }
        }
        Ok(())
    }

    /// How well each of the feasible nodes serves spreading; nothing if nobody cares.
    pub(crate) fn scores(&self, feasible: &[usize], board: &Board<'_>) -> Option<Vec<i64>> {
        if self.soft.is_empty() {
            return None;
        }
        let topologies = &board.topologies;
        let lacks_label = |node: usize| {
            let domains = self
                .soft
                .iter()
                .map(|it| topologies.domain(it.topology, node));
            self.needs_all_labels && domains.into_iter().any(|it| it.is_none())
        };
        let ignored: Vec<bool> = feasible.iter().map(|node| lacks_label(*node)).collect();
        let counted = || feasible.iter().zip(&ignored).filter(|(_, it)| !**it);
        let weights: Vec<f64> = self
            .soft
            .iter()
            .map(|counts| {
                let size = match counts.on_node {
                    Some(_) => counted().count(),
                    None => counts.domains_of(counted().map(|(node, _)| *node), topologies),
                };
                ((size + 2) as f64).ln()
            })
            .collect();
        let raw = feasible.iter().zip(&ignored).map(|(node, ignored)| {
            let parts = self.soft.iter().zip(&weights);
            let sum: f64 = parts
                .filter_map(|(counts, weight)| {
                    let pods = counts.pods_near(*node, topologies)?;
                    let tolerance = counts.constraint.skew_max - 1;
                    Some(pods as f64 * weight + tolerance as f64)
                })
                .sum();
            (!ignored).then_some(sum.round() as i64)
        });
        Some(normalize(&raw.collect::<Vec<_>>()))
    }
}

/// The fewest pods are best; what was left out is worst.
fn normalize(raw: &[Option<i64>]) -> Vec<i64> {
    let most = raw.iter().flatten().copied().max().unwrap_or(0).max(0);
    let least = raw.iter().flatten().copied().min().unwrap_or(0);
    let scores = raw.iter().map(|score| match score {
        None => 0,
        Some(_) if most == 0 => SCORE_MAX,
        Some(score) => SCORE_MAX * (most + least - score) / most,
    });
    scores.collect()
}

impl Counts {
    fn of(constraint: Constraint, eligible: Vec<bool>, class: &Pod, board: &mut Board<'_>) -> Self {
        let topology = board.topology(&constraint.key);
        let domains = board.topologies.get(topology).domains;
        let on_node = (constraint.key == HOSTNAME).then(|| vec![0; board.slots.len()]);
        let mut present = vec![false; domains];
        for (node, _) in eligible.iter().enumerate().filter(|(_, it)| **it) {
            if let Some(domain) = board.topologies.domain(topology, node) {
                present[domain] = true;
            }
        }
        let mut counts = Self {
            constraint,
            topology,
            eligible,
            pods: vec![0; domains],
            domains: present.iter().filter(|it| **it).count(),
            present,
            least: 0,
            on_node,
        };
        for (node, pod) in board.all_pods() {
            if pod.namespace == class.namespace && counts.constraint.who.counts(pod) {
                counts.count(node, &board.topologies);
            }
        }
        counts.least = counts.find_least(None);
        counts
    }

    fn add(&mut self, pod: &Pod, node: usize, topologies: &Topologies) {
        if self.constraint.who.counts(pod) {
            self.count(node, topologies);
            self.least = self.find_least(None);
        }
    }

    fn count(&mut self, node: usize, topologies: &Topologies) {
        if let Some(on_node) = &mut self.on_node {
            on_node[node] += 1;
        }
        if self.eligible[node]
            && let Some(domain) = topologies.domain(self.topology, node)
        {
            self.pods[domain] += 1;
        }
    }

    /// Pods of the emptiest domain, if those of one were so many more or fewer.
    fn least_with(&self, domain: usize, change: i64) -> i64 {
        if change == 0 {
            self.least
        } else {
            self.find_least(Some((domain, change)))
        }
    }

    fn find_least(&self, change: Option<(usize, i64)>) -> i64 {
        if self.domains < self.constraint.domains_min {
            return 0;
        }
        let domains = self.pods.iter().zip(&self.present).enumerate();
        let pods =
            domains
                .filter(|(_, (_, present))| **present)
                .map(|(at, (pods, _))| match change {
                    Some((domain, change)) if domain == at => pods + change,
                    _ => *pods,
                });
        pods.min().unwrap_or(0)
    }

    /// How many pods are near a node for scores; nothing if it lacks the label.
    fn pods_near(&self, node: usize, topologies: &Topologies) -> Option<i64> {
        let domain = topologies.domain(self.topology, node)?;
        Some(match &self.on_node {
            Some(on_node) => on_node[node],
            None => self.pods[domain],
        })
    }

    /// Into how many domains these nodes fall. Those without the label are one more.
    fn domains_of(&self, nodes: impl Iterator<Item = usize>, topologies: &Topologies) -> usize {
        let mut met = vec![false; topologies.get(self.topology).domains + 1];
        for node in nodes {
            let none = met.len() - 1;
            met[topologies.domain(self.topology, node).unwrap_or(none)] = true;
        }
        met.iter().filter(|it| **it).count()
    }
}
