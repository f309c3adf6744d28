//! What flags say about simulated nodes.

use std::fmt;
use std::time::Duration;

use flyball_api::{Labels, Quantity, Text};

use crate::hash;

/// The most nodes that one process simulates. Ten times the largest cluster that upstream is
/// tested with; more would run out of addresses.
const NODES_MAX: usize = 50_000;

/// The most pods that a node may claim to take: more would leave too few ranges of addresses.
const PODS_MAX: u32 = 10_000;

/// Which nodes there are and how they behave.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many nodes to create: `node-0`, `node-1`, and so on.
    pub count: usize,
    /// What their names begin with; the number follows.
    pub name_prefix: Text,
    /// What each of them can hold.
    pub capacity: Capacity,
    /// Labels beside those that every kubelet sets.
    pub labels: Labels,
    /// The zones that nodes are spread over in turn; without any, nodes have no zone.
    pub zones: Vec<Text>,
    /// The value of `kubernetes.io/arch`.
    pub architecture: Text,
    /// The version that they claim to be of.
    pub kubelet_version: Text,
    /// How long others wait for a lease to be renewed.
    pub lease_duration_seconds: u32,
    /// How often a lease is renewed.
    pub renew_every: Duration,
    /// How often the status of a node is written though nothing changed.
    pub heartbeat_every: Duration,
    /// How long the containers of Jobs, and of other pods that are not to run for ever, run.
    pub job_run: Duration,
}

/// What a node can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Processors.
    pub cpu: Quantity,
    /// Memory.
    pub memory: Quantity,
    /// Local disk.
    pub ephemeral_storage: Quantity,
    /// Pods.
    pub pods: u32,
}

impl Default for Capacity {
    fn default() -> Self {
        // Said as people say it, since it is shown as it is said.
        let amount = |text: &str| text.parse().unwrap_or_default();
        Self {
            cpu: amount("32"),
            memory: amount("256Gi"),
            ephemeral_storage: amount("1Ti"),
            pods: 110,
        }
    }
}

impl Default for Settings {
    /// One node, with the intervals of a kubelet.
    fn default() -> Self {
        Self {
            count: 1,
            name_prefix: "node-".into(),
            capacity: Capacity::default(),
            labels: Labels::default(),
            zones: Vec::new(),
            architecture: "amd64".into(),
            kubelet_version: "v1.36.4".into(),
            lease_duration_seconds: 40,
            renew_every: Duration::from_secs(10),
            heartbeat_every: Duration::from_secs(300),
            job_run: Duration::from_secs(1),
        }
    }
}

/// Settings that make no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsInvalid(String);

impl fmt::Display for SettingsInvalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsInvalid {}

impl Settings {
    /// Says what makes no sense, in the words of a user.
    pub fn check(&self) -> Result<(), SettingsInvalid> {
        let invalid = |why: String| Err(SettingsInvalid(why));
        let name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
        let starts_well = self
            .name_prefix
            .starts_with(|c: char| c.is_ascii_alphanumeric());
        if self.count > NODES_MAX {
            return invalid(format!("{} nodes are more than {NODES_MAX}", self.count));
        }
        if self.capacity.pods > PODS_MAX {
            let pods = self.capacity.pods;
            return invalid(format!("{pods} pods on a node are more than {PODS_MAX}"));
        }
        if !starts_well || !self.name_prefix.chars().all(name) || self.name_prefix.len() > 200 {
            return invalid(format!(
                "{:?} cannot begin the name of a node",
                self.name_prefix
            ));
        }
        if self.renew_every.is_zero() || self.heartbeat_every.is_zero() {
            return invalid("a heartbeat needs an interval".to_owned());
        }
        if self.renew_every.as_secs() >= u64::from(self.lease_duration_seconds) {
            let (every, lasts) = (self.renew_every.as_secs(), self.lease_duration_seconds);
            return invalid(format!(
                "a lease of {lasts} s must be renewed more often than every {every} s"
            ));
        }
        Ok(())
    }

    /// The names of the nodes to create.
    pub(crate) fn names(&self) -> impl Iterator<Item = Text> {
        let names = 0..self.count.min(NODES_MAX);
        names.map(|i| Text::from(format!("{}{i}", self.name_prefix)))
    }

    /// Whether a node of this name is to be created if it is missing.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.number(name).is_some_and(|number| number < self.count)
    }

    /// The number in a name, if it is one that nodes are given here.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        let digits = name.strip_prefix(self.name_prefix.as_str())?;
        let number: usize = digits.parse().ok().filter(|number| *number < NODES_MAX)?;
        // Not `node-007` or `node-+7`.
        (digits == number.to_string()).then_some(number)
    }

    /// A number for any name; names that are not given here come after all that are.
    pub(crate) fn place(&self, name: &str) -> usize {
        self.number(name).unwrap_or_else(|| {
            let spread = hash::of(name) % NODES_MAX as u64;
            NODES_MAX + usize::try_from(spread).unwrap_or(0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_settings_make_sense() {
        assert_eq!(Settings::default().check(), Ok(()));
        let capacity = Capacity::default();
        assert_eq!(capacity.memory, Quantity::from_integer(256 << 30));
        assert_eq!(capacity.ephemeral_storage, Quantity::from_integer(1 << 40));
    }

    #[test]
    fn settings_that_make_no_sense_are_refused_with_a_reason() {
        let usual = Settings::default;
        let cases = [
            (
                Settings {
                    count: 50_001,
                    ..usual()
                },
                "50001 nodes are more than 50000",
            ),
            (
                Settings {
                    name_prefix: "Node ".into(),
                    ..usual()
                },
                "cannot begin the name",
            ),
            (
                Settings {
                    name_prefix: "".into(),
                    ..usual()
                },
                "cannot begin the name",
            ),
            (
                Settings {
                    name_prefix: "-n".into(),
                    ..usual()
                },
                "cannot begin the name",
            ),
            (
                Settings {
                    renew_every: Duration::ZERO,
                    ..usual()
                },
                "needs an interval",
            ),
            (
                Settings {
                    lease_duration_seconds: 10,
                    ..usual()
                },
                "a lease of 10 s",
            ),
            (
                Settings {
                    capacity: Capacity {
                        pods: 10_001,
                        ..Capacity::default()
                    },
                    ..usual()
                },
                "10001 pods on a node",
            ),
        ];
        for (settings, why) in cases {
            let said = settings.check().unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn only_names_that_it_would_give_have_a_number() {
        let settings = Settings {
            count: 10,
            ..Settings::default()
        };
        let cases = [
            ("node-0", Some(0), true),
            ("node-9", Some(9), true),
            ("node-10", Some(10), false),
            ("node-007", None, false),
            ("node-+7", None, false),
            ("node-", None, false),
            ("node-99999999999999999999", None, false),
            ("worker", None, false),
        ];
        for (name, number, wanted) in cases {
            assert_eq!(
                (settings.number(name), settings.wants(name)),
                (number, wanted),
                "{name}"
            );
        }
        assert_eq!(settings.names().last().as_deref(), Some("node-9"));
        assert!(settings.place("worker") >= NODES_MAX);
    }
}
