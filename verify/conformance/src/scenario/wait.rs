//! Conditions a scenario waits for.

use std::time::Duration;

use anyhow::Result;
use serde::Deserialize;
use serde_json::Value;

use super::target;
use crate::objects::Objects;
use crate::poll::until;

const LIMIT: Duration = Duration::from_secs(60);

/// A condition on objects of the scenario's namespace.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum Wait {
    /// As `kubectl rollout status`: every replica updated and available, none of the old left.
    Rollout { rollout: String },
    /// A condition of the object has this status, and this reason if one is given.
    Condition {
        target: String,
        condition: String,
        status: String,
        reason: Option<String>,
    },
    /// A JSON pointer into an object; absent, zero and empty are the same.
    Pointer {
        target: String,
        pointer: String,
        equals: Value,
    },
    /// As many objects match; with a pointer, only those whose value is equal count.
    Count {
        count: usize,
        of: String,
        #[serde(default)]
        selector: String,
        #[serde(default)]
        pointer: String,
        #[serde(default)]
        equals: Value,
    },
    /// The object does not exist any more.
    Gone { gone: String },
}

impl Wait {
    pub(super) async fn hold(&self, objects: &Objects, namespace: &str) -> Result<()> {
        until(&format!("{self:?}"), LIMIT, async || {
            Ok(self.holds(objects, namespace).await?.then_some(()))
        })
        .await
    }

    async fn holds(&self, objects: &Objects, namespace: &str) -> Result<bool> {
        let get = async |text: &str| {
            let (kind, namespace, name) = target(text, namespace)?;
            objects.get(kind, namespace, name).await
        };
        Ok(match self {
            Self::Rollout { rollout } => get(rollout)
                .await?
                .is_some_and(|object| is_rolled_out(&object)),
            Self::Condition {
                target,
                condition,
                status,
                reason,
            } => get(target)
                .await?
                .is_some_and(|object| has_condition(&object, condition, status, reason.as_deref())),
            Self::Pointer {
                target,
                pointer,
                equals,
            } => get(target)
                .await?
                .is_some_and(|object| points_to(&object, pointer, equals)),
            Self::Count {
                count,
                of,
                selector,
                pointer,
                equals,
            } => {
                let all = objects.list(of, namespace, selector).await?;
                let matching = all
                    .iter()
                    .filter(|object| pointer.is_empty() || points_to(object, pointer, equals));
                matching.count() == *count
            }
            Self::Gone { gone } => get(gone).await?.is_none(),
        })
    }
}

fn number(object: &Value, pointer: &str) -> u64 {
    object.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// Works for every workload kind: those without `updatedReplicas` have only one generation of pods.
fn is_rolled_out(object: &Value) -> bool {
    let desired = number(object, "/spec/replicas");
    let is_deployment = object["kind"] == "Deployment";
    number(object, "/status/observedGeneration") >= number(object, "/metadata/generation")
        && number(object, "/status/replicas") == desired
        && number(object, "/status/availableReplicas") == desired
        && (!is_deployment || number(object, "/status/updatedReplicas") == desired)
}

fn has_condition(object: &Value, kind: &str, status: &str, reason: Option<&str>) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|known| {
        known["type"] == kind
            && known["status"] == status
            && reason.is_none_or(|reason| known["reason"] == reason)
    })
}

fn points_to(object: &Value, pointer: &str, wanted: &Value) -> bool {
    let is_nothing = |value: &Value| {
        value.is_null()
            || value == 0
            || value == ""
            || value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(serde_json::Map::is_empty)
    };
    let found = object.pointer(pointer).unwrap_or(&Value::Null);
    found == wanted || (is_nothing(found) && is_nothing(wanted))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rollout_is_complete_only_when_observed_updated_and_available() {
        let deployment = |observed: u64, updated: u64, replicas: u64| {
            json!({
                "kind": "Deployment",
                "metadata": { "generation": 2 },
                "spec": { "replicas": 3 },
                "status": {
                    "observedGeneration": observed,
                    "updatedReplicas": updated,
                    "replicas": replicas,
                    "availableReplicas": 3,
                },
            })
        };
        assert!(is_rolled_out(&deployment(2, 3, 3)));
        assert!(!is_rolled_out(&deployment(1, 3, 3)));
        assert!(!is_rolled_out(&deployment(2, 2, 3)));
        assert!(!is_rolled_out(&deployment(2, 3, 4)));
    }

    #[test]
    fn absent_and_zero_are_the_same() {
        let object = json!({ "status": { "replicas": 0 } });
        assert!(points_to(&object, "/status/replicas", &Value::Null));
        assert!(points_to(&object, "/status/readyReplicas", &json!(0)));
        assert!(!points_to(&object, "/status/replicas", &json!(1)));
    }

    #[test]
    fn a_condition_is_matched_by_type_status_and_reason() {
        let object = json!({ "status": { "conditions": [
            { "type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable" },
        ] } });
        assert!(has_condition(&object, "Progressing", "True", None));
        assert!(!has_condition(
            &object,
            "Progressing",
            "True",
            Some("Other")
        ));
        assert!(!has_condition(&object, "Available", "True", None));
    }
}
