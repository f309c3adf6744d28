//! Coverage: what many runs must have come to, or they prove less than they seem to.
//!
//! Every file with a rule of a controller must have been reached, which is known by what the
//! controller said: the name of a stage, the rule that it reports, or a word in what it writes or
//! records. Every kind of fault must have concerned every controller that it can concern.

mod rules;

use std::fmt::Write as _;

use flyball_plan::{Action, Actions, Driver, Report, Sight};

use crate::Tally;
use crate::faults::KINDS;

pub use rules::{ELSEWHERE, RULES};

/// Which of [`RULES`] were reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached(u128);

impl Reached {
    /// Adds what another run reached.
    pub(crate) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Whether the rule at a place of [`RULES`] was reached.
    pub fn has(self, at: usize) -> bool {
        self.0 >> at & 1 == 1
    }

    /// Takes note of what a controller says; it is asked for only if it matters.
    pub(crate) fn hear(&mut self, controller: &str, said: impl FnOnce() -> String) {
        let open = |(at, rule): &(usize, &rules::Rule)| rule.0 == controller && !self.has(*at);
        let open: Vec<_> = RULES.iter().enumerate().filter(open).collect();
        if open.is_empty() {
            return;
        }
        let said = said();
        for (at, (_, _, shown_by)) in open {
            if said.contains(shown_by) {
                self.0 |= 1 << at;
            }
        }
    }
}

/// What a controller is about to do, as text.
pub(crate) fn said_by_plan(actions: &Actions) -> String {
    let mut said = format!("stage {}\n", actions.id());
    for action in &actions.items {
        match action {
            Action::Write(write) if !write.body.json().is_empty() => {
                said.push_str(write.body.json());
            }
            // Writing to a string cannot fail.
            Action::Record(record) => drop(write!(said, "{}: {}", record.reason, record.message)),
            _ => said.push_str(action.verb()),
        }
        said.push('\n');
    }
    said
}

/// Why a controller rests, as text.
pub(crate) fn said_by_report(report: &Report) -> String {
    let waits = report.waits_for.as_ref().map(ToString::to_string);
    format!("rule {}\n{}\n", report.rule.code, waits.unwrap_or_default())
}

/// Whether a kind of fault can concern a controller.
fn can_concern(kind: &str, driver: &dyn Driver) -> bool {
    let descriptor = driver.descriptor();
    let mut watches = descriptor.watches.iter();
    match kind {
        "node lost" => {
            driver.sight() == Sight::Everything
                || watches.any(|watch| watch.kind().plural == "nodes")
        }
        "group omitted" => driver.sight() != Sight::Named,
        "group away" => driver.sight() != Sight::Named || descriptor.name == "namespace-controller",
        "replaced by hand" => REPLACEABLE.contains(&descriptor.name),
        _ => true,
    }
}

/// Those who write to pods and ReplicaSets, but for their status.
const REPLACEABLE: &[&str] = &[
    "replicationcontroller-controller",
    "replicaset-controller",
    "deployment-controller",
    "pod-garbage-collector-controller",
    "garbage-collector-controller",
    "simulated-pod-controller",
];

/// How much there is to come to, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Rules that were reached, and how many there are.
    pub rules: (usize, usize),
    /// Pairings of faults and controllers that were hit, and how many there are.
    pub pairings: (usize, usize),
    /// What was not come to.
    pub missing: Vec<String>,
}

/// What was come to by these controllers.
pub(crate) fn coverage(tally: &Tally, drivers: &[Box<dyn Driver>]) -> Coverage {
    let mut found = Coverage::default();
    for (at, (controller, file, shown_by)) in RULES.iter().enumerate() {
        let mut names = drivers.iter().map(|driver| driver.descriptor().name);
        if !names.any(|name| name == *controller) {
            continue;
        }
        found.rules.1 += 1;
        match tally.reached.has(at) {
            true => found.rules.0 += 1,
            false => found
                .missing
                .push(format!("{file} of {controller}, shown by {shown_by:?}")),
        }
    }
    for driver in drivers {
        let name = driver.descriptor().name;
        for kind in KINDS.iter().filter(|kind| can_concern(kind, &**driver)) {
            found.pairings.1 += 1;
            match tally.hits.contains_key(&(*kind, name)) {
                true => found.pairings.0 += 1,
                false => found.missing.push(format!("{kind} × {name}")),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_controller_says_shows_which_rules_it_came_to() {
        assert!(RULES.len() <= 128, "there is a bit for each");
        let mut reached = Reached::default();
        reached.hear("replicaset-controller", || "stage create\n".to_owned());
        let of = |file: &str, controller: &str| {
            let mut rules = RULES.iter();
            rules.position(|rule| rule.0 == controller && rule.1.ends_with(file))
        };
        let creation = of("replicas/creation.rs", "replicaset-controller").unwrap();
        let other = of("replicas/creation.rs", "replicationcontroller-controller").unwrap();
        assert!(reached.has(creation) && !reached.has(other));
        reached.hear("replicaset-controller", || "stage delete\n".to_owned());
        assert!(reached.has(creation));
        reached.hear("nobody", || unreachable!("nothing is known of it"));
    }
}
