//! Containers: what each of them is doing.

use flyball_api::{Text, Timestamp, null_default};
use serde::{Deserialize, Deserializer};

/// State of one container.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerStatus {
    /// Its name.
    pub name: Text,
    /// How often it was started again.
    #[serde(default)]
    pub restart_count: i32,
    /// Whether it serves.
    #[serde(default)]
    pub ready: bool,
    /// What it is doing.
    #[serde(default, deserialize_with = "null_default")]
    pub state: ContainerState,
    /// How it ended the last time.
    #[serde(default, deserialize_with = "last_state")]
    pub last_state: Option<Terminated>,
}

/// What a container is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContainerState {
    /// It has not started (again) yet.
    Waiting {
        /// Why, in one word for machines.
        reason: Text,
    },
    /// It runs.
    Running {
        /// Since when.
        started_at: Option<Timestamp>,
    },
    /// It has ended.
    Terminated(Terminated),
}

/// How a container ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Terminated {
    /// What it exited with.
    #[serde(default)]
    pub exit_code: i32,
    /// When it had started.
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default)]
    pub finished_at: Option<Timestamp>,
}

impl Default for ContainerState {
    /// A state that says nothing is a wait, as it is for the server.
    fn default() -> Self {
        Self::Waiting {
            reason: Text::default(),
        }
    }
}

/// The state as the API writes it: one of three fields is set.
#[derive(Deserialize)]
struct OneOf {
    #[serde(default)]
    running: Option<Running>,
    #[serde(default)]
    terminated: Option<Terminated>,
    #[serde(default)]
    waiting: Option<Waiting>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Running {
    #[serde(default)]
    started_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Waiting {
    #[serde(default, deserialize_with = "null_default")]
    reason: Text,
}

impl<'de> Deserialize<'de> for ContainerState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match OneOf::deserialize(deserializer)? {
            OneOf {
                running: Some(Running { started_at }),
                ..
            } => Self::Running { started_at },
            OneOf {
                terminated: Some(terminated),
                ..
            } => Self::Terminated(terminated),
            OneOf {
                waiting: Some(Waiting { reason }),
                ..
            } => Self::Waiting { reason },
            _ => Self::default(),
        })
    }
}

fn last_state<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Terminated>, D::Error> {
    let state = Option::<OneOf>::deserialize(deserializer)?;
    Ok(state.and_then(|state| state.terminated))
}

impl ContainerStatus {
    /// A container that has not started yet.
    pub fn waiting(name: &str, reason: &str) -> Self {
        Self {
            name: name.into(),
            restart_count: 0,
            ready: false,
            state: ContainerState::Waiting {
                reason: reason.into(),
            },
            last_state: None,
        }
    }

    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        matches!(self.state, ContainerState::Running { .. })
    }

    /// How it ended, if it has.
    pub fn terminated(&self) -> Option<&Terminated> {
        match &self.state {
            ContainerState::Terminated(terminated) => Some(terminated),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_one_state_that_is_set() {
        let read = |json: &str| serde_json::from_str::<ContainerState>(json).unwrap();
        let waiting = |reason: &str| ContainerState::Waiting {
            reason: reason.into(),
        };
        assert_eq!(
            read(r#"{"waiting":{"reason":"A","message":"m"}}"#),
            waiting("A")
        );
        assert_eq!(read("{}"), waiting(""));
        assert_eq!(
            read(r#"{"running":{}}"#),
            ContainerState::Running { started_at: None }
        );
        let ended = Terminated {
            exit_code: 3,
            ..Terminated::default()
        };
        assert_eq!(
            read(r#"{"terminated":{"exitCode":3,"reason":"Error"},"running":null}"#),
            ContainerState::Terminated(ended)
        );
    }
}
