//! A set of fields as a tree.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::Step;

/// The steps that lead to a field.
pub type Path = Vec<Step>;

/// A set of fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    members: BTreeSet<Step>,
    // Invariant: no subset is empty, so equal sets are equal trees.
    children: BTreeMap<Step, FieldSet>,
}

impl FieldSet {
    /// A set without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// The fields that these names lead to, such as `["status"]` or `["metadata", "name"]`.
    pub fn of_names(paths: &[&[&str]]) -> Self {
        let mut set = Self::new();
        for path in paths {
            let path: Path = path.iter().map(|name| Step::field(name)).collect();
            set.insert(&path);
        }
        set
    }

    /// Whether there is no field in it.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.is_empty()
    }

    /// Adds a field, but none of those around it. The value itself is not a field.
    pub fn insert(&mut self, path: &[Step]) {
        match path {
            [] => {}
            [last] => {
                self.members.insert(last.clone());
            }
            [first, rest @ ..] => self.children.entry(first.clone()).or_default().insert(rest),
        }
    }

    /// Whether this very field is in the set.
    pub fn contains(&self, path: &[Step]) -> bool {
        match path {
            [] => false,
            [last] => self.members.contains(last),
            [first, rest @ ..] => self
                .children
                .get(first)
                .is_some_and(|child| child.contains(rest)),
        }
    }

    /// The fields of either set.
    pub fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.add(other);
        union
    }

    fn add(&mut self, other: &Self) {
        self.members.extend(other.members.iter().cloned());
        for (step, child) in &other.children {
            self.children.entry(step.clone()).or_default().add(child);
        }
    }

    /// The fields of both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        let members = self.members.intersection(&other.members);
        let children = self.children.iter().filter_map(|(step, child)| {
            let both = child.intersection(other.children.get(step)?);
            (!both.is_empty()).then(|| (step.clone(), both))
        });
        Self {
            members: members.cloned().collect(),
            children: children.collect(),
        }
    }

    /// The fields that are not in the other set.
    pub fn difference(&self, other: &Self) -> Self {
        let children = self.children.iter().filter_map(|(step, child)| {
            let rest = match other.children.get(step) {
                Some(gone) => child.difference(gone),
                None => child.clone(),
            };
            (!rest.is_empty()).then(|| (step.clone(), rest))
        });
        Self {
            members: self.members.difference(&other.members).cloned().collect(),
            children: children.collect(),
        }
    }

    /// The fields that are neither in the other set nor within one that is.
    pub fn recursive_difference(&self, other: &Self) -> Self {
        let children = self.children.iter().filter_map(|(step, child)| {
            if other.members.contains(step) {
                return None;
            }
            let rest = match other.children.get(step) {
                Some(gone) => child.recursive_difference(gone),
                None => child.clone(),
            };
            (!rest.is_empty()).then(|| (step.clone(), rest))
        });
        Self {
            members: self.members.difference(&other.members).cloned().collect(),
            children: children.collect(),
        }
    }

    /// All fields, those of a value before those within it, in order of their steps.
    pub fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        self.collect_paths(&mut Vec::new(), &mut paths);
        paths
    }

    fn collect_paths(&self, prefix: &mut Path, paths: &mut Vec<Path>) {
        for member in &self.members {
            let mut path = prefix.clone();
            path.push(member.clone());
            paths.push(path);
        }
        for (step, child) in &self.children {
            prefix.push(step.clone());
            child.collect_paths(prefix, paths);
            prefix.pop();
        }
    }

    pub(crate) fn members(&self) -> &BTreeSet<Step> {
        &self.members
    }

    pub(crate) fn children(&self) -> &BTreeMap<Step, FieldSet> {
        &self.children
    }

    /// Whether what this step leads to is in the set.
    pub(crate) fn has_step(&self, step: &Step) -> bool {
        self.members.contains(step)
    }

    /// The fields within what this step leads to.
    pub(crate) fn within(&self, step: &Step) -> Option<&FieldSet> {
        self.children.get(step)
    }

    pub(crate) fn insert_step(&mut self, step: Step) {
        self.members.insert(step);
    }

    /// Adds fields within what this step leads to.
    pub(crate) fn insert_within(&mut self, step: Step, fields: FieldSet) {
        if !fields.is_empty() {
            self.children.entry(step).or_default().add(&fields);
        }
    }
}

impl fmt::Display for FieldSet {
    /// One field a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, path) in self.paths().iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            for step in path {
                write!(f, "{step}")?;
            }
        }
        Ok(())
    }
}
