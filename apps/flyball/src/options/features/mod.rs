//! Feature gates: the known ones, and what `--feature-gates` makes of them.

mod known;

use std::collections::BTreeMap;

use super::nearest::suggestion;
use super::value::parse_bool;

/// How mature a feature is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// May change or vanish.
    Alpha,
    /// Settled, but may still change.
    Beta,
    /// Here to stay.
    Ga,
    /// On its way out.
    Deprecated,
}

/// One gate as upstream defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Its maturity.
    pub stage: Stage,
    /// Whether it is on unless told otherwise.
    pub on_by_default: bool,
    /// Whether its default is its only value.
    pub locked: bool,
}

const LISTS: &[(&[&str], Gate)] = &[
    (
        known::ALPHA_OFF,
        Gate {
            stage: Stage::Alpha,
            on_by_default: false,
            locked: false,
        },
    ),
    (
        known::BETA_ON,
        Gate {
            stage: Stage::Beta,
            on_by_default: true,
            locked: false,
        },
    ),
    (
        known::BETA_OFF,
        Gate {
            stage: Stage::Beta,
            on_by_default: false,
            locked: false,
        },
    ),
    (
        known::GA_LOCKED_ON,
        Gate {
            stage: Stage::Ga,
            on_by_default: true,
            locked: true,
        },
    ),
    (
        known::GA_ON,
        Gate {
            stage: Stage::Ga,
            on_by_default: true,
            locked: false,
        },
    ),
    (
        known::DEPRECATED_OFF,
        Gate {
            stage: Stage::Deprecated,
            on_by_default: false,
            locked: false,
        },
    ),
    (
        known::DEPRECATED_ON,
        Gate {
            stage: Stage::Deprecated,
            on_by_default: true,
            locked: false,
        },
    ),
    (
        known::DEPRECATED_LOCKED_OFF,
        Gate {
            stage: Stage::Deprecated,
            on_by_default: false,
            locked: true,
        },
    ),
    (
        known::DEPRECATED_LOCKED_ON,
        Gate {
            stage: Stage::Deprecated,
            on_by_default: true,
            locked: true,
        },
    ),
];

fn all() -> impl Iterator<Item = (&'static str, Gate)> {
    LISTS
        .iter()
        .flat_map(|(names, gate)| names.iter().map(|name| (*name, *gate)))
}

/// Why a `--feature-gates` entry cannot be obeyed; worded as upstream words it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// No gate has this name.
    #[error(
        "unrecognized feature gate: {name}{}", suggestion(.name, all().map(|(name, _)| name))
    )]
    Unknown {
        /// What was written.
        name: String,
    },
    /// The gate's value is fixed.
    #[error("cannot set feature gate {name} to {wanted}, feature is locked to {}", !.wanted)]
    Locked {
        /// The gate.
        name: &'static str,
        /// What it was to become.
        wanted: bool,
    },
}

/// The state of every gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureGates {
    gates: BTreeMap<&'static str, (Gate, bool)>,
    set: Vec<&'static str>,
}

impl FeatureGates {
    /// Applies `name → true|false` entries over the defaults. `AllAlpha` and `AllBeta` move every
    /// gate of that stage that is not named itself.
    ///
    /// # Errors
    /// Every entry that names no gate or contradicts a lock.
    pub fn parse(entries: &BTreeMap<String, String>) -> Result<Self, Vec<GateError>> {
        let mut gates: BTreeMap<_, _> = all()
            .map(|(name, gate)| (name, (gate, gate.on_by_default)))
            .collect();
        for (wide, stage) in [("AllAlpha", Stage::Alpha), ("AllBeta", Stage::Beta)] {
            let Some(on) = entries.get(wide).and_then(|text| parse_bool(text).ok()) else {
                continue;
            };
            for (gate, state) in gates.values_mut() {
                if gate.stage == stage && !gate.locked {
                    *state = on;
                }
            }
        }
        let mut set = Vec::new();
        let mut errors = Vec::new();
        for (name, text) in entries.iter().filter(|(name, _)| !is_wide(name)) {
            let on = parse_bool(text).unwrap_or_default();
            match all().find(|(known, _)| known == name) {
                None => errors.push(GateError::Unknown { name: name.clone() }),
                Some((known, gate)) if gate.locked && gate.on_by_default != on => {
                    errors.push(GateError::Locked {
                        name: known,
                        wanted: on,
                    });
                }
                Some((known, gate)) => {
                    gates.insert(known, (gate, on));
                    set.push(known);
                }
            }
        }
        if errors.is_empty() {
            Ok(Self { gates, set })
        } else {
            Err(errors)
        }
    }

    /// Whether a feature is on; a name that is no gate is off.
    pub fn enabled(&self, name: &str) -> bool {
        self.gates.get(name).is_some_and(|(_, on)| *on)
    }

    /// Every gate with its definition and state, by name; for the `kubernetes_feature_enabled`
    /// metric.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Gate, bool)> {
        self.gates
            .iter()
            .map(|(name, (gate, on))| (*name, *gate, *on))
    }

    /// The gates that were named explicitly and differ from their default, by name.
    pub fn changed(&self) -> Vec<&'static str> {
        let differs = |name: &&'static str| {
            self.gates
                .get(name)
                .is_some_and(|(gate, on)| gate.on_by_default != *on)
        };
        self.set.iter().copied().filter(differs).collect()
    }
}

fn is_wide(name: &str) -> bool {
    matches!(name, "AllAlpha" | "AllBeta")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pairs: &[(&str, &str)]) -> Result<FeatureGates, Vec<String>> {
        let entries = pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        FeatureGates::parse(&entries)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn gates_start_at_upstreams_defaults() {
        let gates = parse(&[]).unwrap();
        assert_eq!(gates.iter().count(), 240);
        for on in [
            "LogarithmicScaleDown",
            "DeploymentReplicaSetTerminatingReplicas",
            "PodDeletionCost",
        ] {
            assert!(gates.enabled(on), "{on}");
        }
        for off in [
            "MaxUnavailableStatefulSet",
            "GenericWorkload",
            "HPAScaleToZero",
        ] {
            assert!(!gates.enabled(off), "{off}");
        }
        assert_eq!(gates.changed(), Vec::<&str>::new());
    }

    #[test]
    fn an_entry_moves_its_gate_and_all_beta_moves_the_others() {
        let gates = parse(&[
            ("HPAScaleToZero", "true"),
            ("PodDeletionCost", "true"),
            ("AllBeta", "false"),
        ]);
        let gates = gates.unwrap();
        assert!(gates.enabled("HPAScaleToZero"));
        assert!(gates.enabled("PodDeletionCost"));
        assert!(!gates.enabled("ComponentFlagz"));
        assert!(
            gates.enabled("LogarithmicScaleDown"),
            "locked gates are not moved"
        );
        assert_eq!(gates.changed(), ["HPAScaleToZero"]);
    }

    #[test]
    fn unknown_and_locked_gates_are_errors_and_all_are_told() {
        let errors = parse(&[
            ("HPAScaleToZer", "true"),
            ("LogarithmicScaleDown", "false"),
            ("Zebra", "true"),
        ]);
        assert_eq!(
            errors.unwrap_err(),
            [
                "unrecognized feature gate: HPAScaleToZer; did you mean HPAScaleToZero?",
                "cannot set feature gate LogarithmicScaleDown to false, feature is locked to true",
                "unrecognized feature gate: Zebra",
            ]
        );
    }

    #[test]
    fn a_locked_gate_may_be_named_with_its_own_value() {
        assert!(parse(&[("LogarithmicScaleDown", "true")]).is_ok());
    }
}
