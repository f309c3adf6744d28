//! DefaultTolerationSeconds: pods stay five minutes on a node that is not ready or out of reach,
//! unless they say something else.
//!
//! Upstream: `plugin/pkg/admission/defaulttolerationseconds`.

use serde_json::{Value, json};

use super::{Effects, Plugin, Review, field_mut, list_mut};
use crate::failure::Failure;
use crate::object::Object;

const SECONDS: i64 = 300;

const TAINTS: [&str; 2] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
];

/// Adds the tolerations that are missing.
pub(super) struct DefaultTolerationSeconds;

impl Plugin for DefaultTolerationSeconds {
    fn mutate(
        &self,
        review: &Review<'_>,
        object: &mut Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        if !review.is_about("", "pods") {
            return Ok(());
        }
        let spec = field_mut(object, "spec");
        let given = spec.get("tolerations").and_then(Value::as_array);
        let is_missing = |taint: &&str| {
            let mut given = given.into_iter().flatten();
            !given.any(|one| {
                let text = |field: &str| one[field].as_str().unwrap_or_default();
                let (key, effect) = (text("key"), text("effect"));
                (key.is_empty() || key == *taint) && (effect.is_empty() || effect == "NoExecute")
            })
        };
        let missing: Vec<&str> = TAINTS.into_iter().filter(is_missing).collect();
        for taint in missing {
            list_mut(spec, "tolerations").push(json!({
                "key": taint,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": SECONDS,
            }));
        }
        Ok(())
    }
}
