//! Why a pod does not go to a node, in upstream's words.

use std::fmt;

use flyball_api::Text;

/// One reason against a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The pod names nodes, and this is none of them.
    NotNamed,
    /// It is cordoned.
    Cordoned,
    /// It has a taint that the pod does not tolerate.
    Tainted,
    /// It is not a node that the pod wants.
    NodeAffinity,
    /// A port is taken.
    Ports,
    /// It has as many pods as it may have.
    TooManyPods,
    /// It has not enough left of a resource. `ever` if it would not if it were empty.
    Insufficient { resource: Text, ever: bool },
    /// It lacks a label by which pods are spread.
    SpreadLabel,
    /// Its domain has too many pods.
    Spread,
    /// The pods to be near to are elsewhere.
    Near,
    /// A pod to be away from is there.
    Away,
    /// A pod is there that wants to be away from this one.
    Existing,
    /// Nobody there is less important.
    NoVictims,
    /// Deleting pods would not change anything.
    NotHelpful,
}

impl Reason {
    /// Whether it might go away if pods of the node did.
    pub(crate) fn is_resolvable(&self) -> bool {
        match self {
            Self::Ports | Self::TooManyPods | Self::Spread | Self::Away | Self::Existing => true,
            Self::Insufficient { ever, .. } => !ever,
            _ => false,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotNamed => "node(s) didn't satisfy plugin(s) [NodeAffinity]",
            Self::Cordoned => "node(s) were unschedulable",
            Self::Tainted => "node(s) had untolerated taint(s)",
            Self::NodeAffinity => "node(s) didn't match Pod's node affinity/selector",
            Self::Ports => "node(s) didn't have free ports for the requested pod ports",
            Self::TooManyPods => "Too many pods",
            Self::Insufficient { resource, .. } => return write!(f, "Insufficient {resource}"),
            Self::SpreadLabel => {
                "node(s) didn't match pod topology spread constraints (missing required label)"
            }
            Self::Spread => "node(s) didn't match pod topology spread constraints",
            Self::Near => "node(s) didn't match pod affinity rules",
            Self::Away => "node(s) didn't match pod anti-affinity rules",
            Self::Existing => "node(s) didn't satisfy existing pods anti-affinity rules",
            Self::NoVictims => "No preemption victims found for incoming pod",
            Self::NotHelpful => "Preemption is not helpful for scheduling",
        })
    }
}

/// What was found about one node: why not, or nothing.
pub(crate) type Verdict = Result<(), Refused>;

/// The reasons of the first rule that refused a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) first: Reason,
    /// A node may lack several resources.
    pub(crate) more: Vec<Reason>,
}

impl Refused {
    /// Whether deleting pods of the node might help: only if it might for each of the reasons.
    pub(crate) fn is_resolvable(&self) -> bool {
        self.reasons().all(Reason::is_resolvable)
    }

    pub(crate) fn reasons(&self) -> impl Iterator<Item = &Reason> {
        std::iter::once(&self.first).chain(&self.more)
    }
}

impl From<Reason> for Refused {
    fn from(first: Reason) -> Self {
        Self {
            first,
            more: Vec::new(),
        }
    }
}

/// `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.`
///
/// The counts are sorted as text, as upstream does (`framework/types.go`, `FitError`).
pub(crate) fn summary<'a>(nodes: usize, reasons: impl Iterator<Item = &'a Reason>) -> String {
    let mut counts: Vec<(&Reason, String, usize)> = Vec::new();
    for reason in reasons {
        // What is told apart inside may be told the same outside.
        match counts.iter_mut().find(|(known, ..)| *known == reason) {
            Some((_, _, count)) => *count += 1,
            None => counts.push((reason, reason.to_string(), 1)),
        }
    }
    let mut merged: std::collections::BTreeMap<&str, usize> = Default::default();
    for (_, text, count) in &counts {
        *merged.entry(text).or_default() += count;
    }
    let mut lines: Vec<String> = merged
        .iter()
        .map(|(text, count)| format!("{count} {text}"))
        .collect();
    lines.sort();
    format!("0/{nodes} nodes are available: {}.", lines.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insufficient(ever: bool) -> Reason {
        let resource = "cpu".into();
        Reason::Insufficient { resource, ever }
    }

    /// Ideas from upstream's `framework/types_test.go`, TestFitError_Error.
    #[test]
    fn equal_reasons_are_counted_and_sorted_as_text() {
        let reasons = [
            Reason::Tainted,
            insufficient(true),
            insufficient(false),
            Reason::TooManyPods,
        ];
        let expected = "0/3 nodes are available: 1 Too many pods, \
            1 node(s) had untolerated taint(s), 2 Insufficient cpu.";
        assert_eq!(summary(3, reasons.iter()), expected);
    }

    #[test]
    fn one_reason_that_stays_is_enough_not_to_try() {
        let both = |first: Reason, second: Reason| Refused {
            first,
            more: vec![second],
        };
        assert!(both(insufficient(false), Reason::TooManyPods).is_resolvable());
        assert!(!both(insufficient(true), Reason::TooManyPods).is_resolvable());
        assert!(!Refused::from(Reason::Near).is_resolvable());
    }
}
