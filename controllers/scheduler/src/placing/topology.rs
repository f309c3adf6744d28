//! Nodes that share the value of a label are a domain; things are counted per domain.

use flyball_api::Text;

use crate::views::Node;

/// The domains of one label.
#[derive(Debug)]
pub(crate) struct Topology {
    key: Text,
    /// The number of the domain of each node; none if the node does not have the label.
    domain_of: Vec<Option<usize>>,
    /// How many domains there are.
    pub(crate) domains: usize,
}

/// The domains of every label that somebody asked about, each worked out once.
#[derive(Debug, Default)]
pub(crate) struct Topologies(Vec<Topology>);

/// The number of a topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TopologyId(usize);

impl Topologies {
    /// The topology of a label.
    pub(crate) fn of<'a>(
        &mut self,
        key: &str,
        nodes: impl Iterator<Item = &'a Node>,
    ) -> TopologyId {
        if let Some(known) = self.find(key) {
            return known;
        }
        let mut values = std::collections::HashMap::new();
        let domain_of = nodes
            .map(|node| {
                let next = values.len();
                let value = node.labels.get(key)?;
                Some(*values.entry(value).or_insert(next))
            })
            .collect();
        self.0.push(Topology {
            key: key.into(),
            domain_of,
            domains: values.len(),
        });
        TopologyId(self.0.len() - 1)
    }

    /// The topology of a label that was asked about before.
    pub(crate) fn find(&self, key: &str) -> Option<TopologyId> {
        let at = self.0.iter().position(|known| known.key == key);
        at.map(TopologyId)
    }

    /// The topology of this number.
    pub(crate) fn get(&self, id: TopologyId) -> &Topology {
        &self.0[id.0]
    }

    /// The domain of a node.
    pub(crate) fn domain(&self, id: TopologyId, node: usize) -> Option<usize> {
        self.0[id.0].domain_of[node]
    }
}

/// Counts per domain of several topologies.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    counts: Vec<(TopologyId, Vec<i64>)>,
    /// The sum of all that was added.
    pub(crate) total: i64,
}

impl Tally {
    /// Adds to the domain of a node; nothing happens if it is in none. Says whether it is in one.
    pub(crate) fn add(
        &mut self,
        topologies: &Topologies,
        id: TopologyId,
        node: usize,
        amount: i64,
    ) -> bool {
        let Some(domain) = topologies.domain(id, node) else {
            return false;
        };
        let at = match self.counts.iter().position(|(known, _)| *known == id) {
            Some(at) => at,
            None => {
                self.counts.push((id, vec![0; topologies.get(id).domains]));
                self.counts.len() - 1
            }
        };
        self.counts[at].1[domain] += amount;
        self.total += amount;
        true
    }

    /// What was counted for the domain of a node.
    pub(crate) fn at(&self, topologies: &Topologies, id: TopologyId, node: usize) -> i64 {
        let counts = self.counts.iter().find(|(known, _)| *known == id);
        counts.map_or(0, |(_, counts)| {
            let domain = topologies.domain(id, node);
            domain.map_or(0, |domain| counts[domain])
        })
    }

    /// What was counted for all domains of a node, topology by topology.
    pub(crate) fn of_node<'a>(
        &'a self,
        topologies: &'a Topologies,
        node: usize,
    ) -> impl Iterator<Item = (TopologyId, i64)> + 'a {
        self.counts.iter().filter_map(move |(id, counts)| {
            topologies
                .domain(*id, node)
                .map(|domain| (*id, counts[domain]))
        })
    }

    /// Whether nothing was ever added.
    pub(crate) fn is_untouched(&self) -> bool {
        self.counts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use flyball_api::Object;

    use super::*;

    #[test]
    fn counts_go_to_the_domain_of_the_node() {
        let node = |labels: &str| {
            let json = format!(r#"{{"metadata":{{"name":"n","labels":{labels}}}}}"#);
            Node::decode(json.as_bytes()).unwrap()
        };
        let nodes = [
            node(r#"{"zone":"a"}"#),
            node(r#"{"zone":"b"}"#),
            node(r#"{"zone":"a"}"#),
            node("{}"),
        ];
        let mut topologies = Topologies::default();
        let zone = topologies.of("zone", nodes.iter());
        assert_eq!(topologies.of("zone", nodes.iter()), zone);
        assert_eq!(topologies.get(zone).domains, 2);
        let mut tally = Tally::default();
        assert!(tally.is_untouched());
        assert!(tally.add(&topologies, zone, 0, 1) && tally.add(&topologies, zone, 2, 1));
        assert!(!tally.add(&topologies, zone, 3, 1));
        let counts: Vec<i64> = (0..4).map(|it| tally.at(&topologies, zone, it)).collect();
        assert_eq!((counts, tally.total), (vec![2, 0, 2, 0], 2));
    }
}
