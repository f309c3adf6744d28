//! What was reached: how often each fault struck whom, and which rules and stages were come to.

use std::collections::{BTreeMap, BTreeSet};

use crate::coverage::Reached;

/// Counts of one run, or of many added up.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Requests that the server was asked.
    pub requests: u64,
    /// Terms that began.
    pub terms: u64,
    /// How often the server was restored from an older backup.
    pub restores: u64,
    /// How often a process noticed that the server has another history.
    pub histories: u64,
    /// How often a leader gave its Lease up because it saw too little.
    pub stepped_down: u64,
    /// Keys that were given up.
    pub given_up: u64,
    /// By kind, how often a fault struck.
    pub faults: BTreeMap<&'static str, u64>,
    /// By kind and controller, how often a fault concerned it.
    pub hits: BTreeMap<(&'static str, &'static str), u64>,
    /// By controller, the stages that it ran.
    pub stages: BTreeMap<&'static str, BTreeSet<&'static str>>,
    /// By controller, the rules that decided.
    pub rules: BTreeMap<&'static str, BTreeSet<&'static str>>,
    /// By controller, the reasons of what it told people.
    pub reasons: BTreeMap<&'static str, BTreeSet<&'static str>>,
    /// The files with rules that were come to.
    pub reached: Reached,
}

impl Tally {
    pub(crate) fn fault(&mut self, kind: &'static str) {
        *self.faults.entry(kind).or_default() += 1;
    }

    pub(crate) fn hit(&mut self, kind: &'static str, controller: &'static str) {
        *self.hits.entry((kind, controller)).or_default() += 1;
    }

    pub(crate) fn stage(&mut self, controller: &'static str, stage: &'static str) {
        self.stages.entry(controller).or_default().insert(stage);
    }

    pub(crate) fn rule(&mut self, controller: &'static str, rule: &'static str) {
        if !rule.is_empty() {
            self.rules.entry(controller).or_default().insert(rule);
        }
    }

    pub(crate) fn reason(&mut self, controller: &'static str, reason: &'static str) {
        self.reasons.entry(controller).or_default().insert(reason);
    }

    /// How many faults struck.
    pub fn faults_total(&self) -> u64 {
        self.faults.values().sum()
    }

    /// Adds another run.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.terms += other.terms;
        self.restores += other.restores;
        self.histories += other.histories;
        self.stepped_down += other.stepped_down;
        self.given_up += other.given_up;
        self.reached.add(other.reached);
        for (kind, count) in &other.faults {
            *self.faults.entry(kind).or_default() += count;
        }
        for (pair, count) in &other.hits {
            *self.hits.entry(*pair).or_default() += count;
        }
        let sets = [
            (&mut self.stages, &other.stages),
            (&mut self.rules, &other.rules),
            (&mut self.reasons, &other.reasons),
        ];
        for (all, more) in sets {
            for (controller, names) in more {
                all.entry(controller).or_default().extend(names);
            }
        }
    }
}
