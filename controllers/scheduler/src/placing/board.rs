//! The picture of all nodes: who is there, what is left.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use flyball_api::{Labels, Text};

use super::topology::{Topologies, TopologyId};
use crate::rules::pod_affinity::PodAffinity;
use crate::views::{Amounts, HostPort, Node, Pod};

/// One node and what is on it.
#[derive(Debug)]
pub(crate) struct Slot<'a> {
    pub(crate) node: &'a Node,
    pub(crate) pods: Vec<&'a Arc<Pod>>,
    /// What its pods ask for together.
    pub(crate) used: Amounts,
    /// CPU and memory as scores reckon.
    pub(crate) nominal: (i64, i64),
    pub(crate) ports: Vec<&'a HostPort>,
    /// Pods for which room is being made here.
    pub(crate) nominated: Vec<&'a Arc<Pod>>,
}

impl<'a> Slot<'a> {
    fn of(node: &'a Node) -> Self {
        Self {
            node,
            pods: Vec::new(),
            used: Amounts::default(),
            nominal: (0, 0),
            ports: Vec::new(),
            nominated: Vec::new(),
        }
    }

    fn put(&mut self, pod: &'a Arc<Pod>) {
        self.pods.push(pod);
        self.used.add(&pod.requests);
        self.nominal.0 = self.nominal.0.saturating_add(pod.nominal.0);
        self.nominal.1 = self.nominal.1.saturating_add(pod.nominal.1);
        self.ports.extend(pod.ports.iter());
    }
}

/// A pod on a node that says something about other pods.
#[derive(Clone, Debug)]
pub(crate) struct Vocal<'a> {
    pub(crate) node: usize,
    pub(crate) pod: &'a Pod,
    pub(crate) says: Rc<PodAffinity>,
}

/// How much was looked at: what a test of scale counts instead of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// How often a pod was held against a node.
    pub(crate) node_checks: u64,
    /// How often a pod on a node was looked at to count it.
    pub(crate) pods_counted: u64,
    /// How many kinds of pods were told apart.
    pub(crate) classes: u64,
}

/// All nodes.
#[derive(Debug)]
pub(crate) struct Board<'a> {
    pub(crate) slots: Vec<Slot<'a>>,
    by_name: HashMap<&'a str, usize>,
    pub(crate) topologies: Topologies,
    namespaces: &'a HashMap<Text, Labels>,
    no_labels: Labels,
    /// What pods of one template and namespace say of others, read once.
    said: HashMap<(&'a Labels, &'a str), Rc<PodAffinity>>,
    pub(crate) vocal: Vec<Vocal<'a>>,
    /// Grows with everything that is drawn in: what was found before may not be so any more.
    pub(crate) generation: u64,
    node_checks: Cell<u64>,
    pods_counted: Cell<u64>,
}

impl<'a> Board<'a> {
    /// Nodes without pods.
    pub(crate) fn new(nodes: &'a [Arc<Node>], namespaces: &'a HashMap<Text, Labels>) -> Self {
        let names = nodes.iter().enumerate();
        Self {
            slots: nodes.iter().map(|node| Slot::of(node)).collect(),
            by_name: names.map(|(at, node)| (node.name.as_str(), at)).collect(),
            topologies: Topologies::default(),
            namespaces,
            no_labels: Labels::default(),
            said: HashMap::new(),
            vocal: Vec::new(),
            generation: 0,
            node_checks: Cell::new(0),
            pods_counted: Cell::new(0),
        }
    }

    /// The number of the node of this name.
    pub(crate) fn node(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The labels of a namespace; one that is not known has none.
    pub(crate) fn namespace(&self, name: &str) -> &Labels {
        self.namespaces.get(name).unwrap_or(&self.no_labels)
    }

    /// The domains of a label.
    pub(crate) fn topology(&mut self, key: &str) -> TopologyId {
        let nodes = self.slots.iter().map(|slot| slot.node);
        self.topologies.of(key, nodes)
    }

    /// Reads what a pod says of others, for all of its kind. What cannot be read says nothing;
    /// the pod itself is told when it is to be placed.
    pub(crate) fn hear(&mut self, pod: &'a Pod) -> Option<Rc<PodAffinity>> {
        if !PodAffinity::is_said_by(pod) {
            return None;
        }
        let key = (&pod.rules, pod.namespace.as_str());
        if !self.said.contains_key(&key) {
            let says = PodAffinity::of(pod).unwrap_or_default();
            let terms = says.near.iter().chain(&says.away);
            let keys: Vec<Text> = terms
                .chain(says.preferred.iter().map(|(_, term)| term))
                .map(|term| term.key.clone())
                .collect();
            for key in keys {
                self.topology(&key);
            }
            self.said.insert(key, Rc::new(says));
        }
        self.said.get(&key).cloned()
    }

    /// What a pod that was heard says of others.
    pub(crate) fn said(&self, pod: &Pod) -> Option<Rc<PodAffinity>> {
        let key = (&pod.rules, pod.namespace.as_str());
        self.said.get(&key).cloned()
    }

    /// Draws a pod in.
    pub(crate) fn put(&mut self, pod: &'a Arc<Pod>, node: usize) {
        if let Some(says) = self.hear(pod) {
            self.vocal.push(Vocal { node, pod, says });
        }
        self.slots[node].put(pod);
        self.generation += 1;
    }

    /// Reserves room for a pod.
    pub(crate) fn nominate(&mut self, pod: &'a Arc<Pod>, node: usize) {
        self.hear(pod);
        self.slots[node].nominated.push(pod);
        self.generation += 1;
    }

    /// Takes back what was reserved for a pod.
    pub(crate) fn withdraw(&mut self, pod: &Pod, node: usize) {
        let nominated = &mut self.slots[node].nominated;
        let before = nominated.len();
        nominated.retain(|it| it.uid != pod.uid);
        self.generation += u64::from(nominated.len() != before);
    }

    /// Notes that a pod was held against a node.
    pub(crate) fn note_check(&self) {
        self.node_checks.set(self.node_checks.get() + 1);
    }

    /// All pods on nodes, one by one, which is noted.
    pub(crate) fn all_pods(&self) -> impl Iterator<Item = (usize, &'a Arc<Pod>)> + '_ {
        let slots = self.slots.iter().enumerate();
        let count: usize = self.slots.iter().map(|slot| slot.pods.len()).sum();
        let counted = self.pods_counted.get();
        self.pods_counted.set(counted.saturating_add(count as u64));
        slots.flat_map(|(node, slot)| slot.pods.iter().map(move |pod| (node, *pod)))
    }

    /// How much was looked at so far.
    pub(crate) fn work(&self, classes: usize) -> Work {
        Work {
            node_checks: self.node_checks.get(),
            pods_counted: self.pods_counted.get(),
            classes: classes as u64,
        }
    }
}
