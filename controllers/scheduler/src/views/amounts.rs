//! Amounts of resources: what pods ask for and what nodes have.

use std::collections::BTreeMap;

use flyball_api::{Quantity, Text};

/// A list of resources as objects spell it.
pub(crate) type ResourceList = BTreeMap<Text, Quantity>;

/// So much of each resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Amounts {
    /// Thousandths of a CPU.
    pub(crate) cpu_milli: i64,
    /// Bytes of memory.
    pub(crate) memory: i64,
    /// Bytes of ephemeral storage.
    pub(crate) storage: i64,
    /// Everything else, by name: devices, huge pages.
    // Invariant: sorted by name, each name once.
    pub(crate) extended: Vec<(Text, i64)>,
}

impl Amounts {
    /// Reads a list. How many pods a node takes is no amount that pods ask for, and is left out.
    pub(crate) fn of(list: &ResourceList) -> Self {
        let mut amounts = Self::default();
        for (name, quantity) in list {
            match name.as_str() {
                "cpu" => amounts.cpu_milli = quantity.milli_value(),
                "memory" => amounts.memory = quantity.value(),
                "ephemeral-storage" => amounts.storage = quantity.value(),
                "pods" => {}
                _ => amounts.extended.push((name.clone(), quantity.value())),
            }
        }
        amounts
    }

    /// How much there is of an extended resource.
    pub(crate) fn extended(&self, name: &str) -> i64 {
        let at = self
            .extended
            .binary_search_by(|(known, _)| known.as_str().cmp(name));
        at.map_or(0, |at| self.extended[at].1)
    }

    /// Adds amounts.
    pub(crate) fn add(&mut self, other: &Amounts) {
        self.merge(other, i64::saturating_add);
    }

    /// Takes amounts away; below nothing is possible, and harmless.
    pub(crate) fn subtract(&mut self, other: &Amounts) {
        self.merge(other, i64::saturating_sub);
    }

    /// Keeps the larger amount of each resource.
    pub(crate) fn raise_to(&mut self, other: &Amounts) {
        self.merge(other, i64::max);
    }

    fn merge(&mut self, other: &Amounts, with: fn(i64, i64) -> i64) {
        self.cpu_milli = with(self.cpu_milli, other.cpu_milli);
        self.memory = with(self.memory, other.memory);
        self.storage = with(self.storage, other.storage);
        for (name, amount) in &other.extended {
            match self.extended.binary_search_by(|(known, _)| known.cmp(name)) {
                Ok(at) => self.extended[at].1 = with(self.extended[at].1, *amount),
                Err(at) => self.extended.insert(at, (name.clone(), with(0, *amount))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(json: &str) -> Amounts {
        Amounts::of(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn are_read_in_the_unit_that_is_reckoned_with() {
        let read = amounts(r#"{"cpu":"1500m","memory":"1Ki","pods":"9","example.com/gpu":2}"#);
        assert_eq!((read.cpu_milli, read.memory), (1500, 1024));
        assert_eq!(read.extended("example.com/gpu"), 2);
        assert_eq!(read.extended("pods"), 0);
    }

    #[test]
    fn merge_resource_by_resource() {
        let mut sum = amounts(r#"{"cpu":"1","a.b/x":1}"#);
        sum.add(&amounts(r#"{"cpu":"1","a.b/y":2}"#));
        assert_eq!(sum, amounts(r#"{"cpu":"2","a.b/x":1,"a.b/y":2}"#));
        sum.raise_to(&amounts(r#"{"cpu":"1","a.b/x":5}"#));
        assert_eq!(sum, amounts(r#"{"cpu":"2","a.b/x":5,"a.b/y":2}"#));
    }
}
