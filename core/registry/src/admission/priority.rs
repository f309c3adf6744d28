//! Priority: pods get the number behind the name of their class, and only one class is the default.
//!
//! Upstream: `plugin/pkg/admission/priority`.

use std::sync::Arc;

use serde_json::Value;

use super::{Effects, Operation, Plugin, Review, field_mut};
use crate::failure::Failure;
use crate::object::{Meta, Object, at};

const CLASSES: (&str, &str) = ("scheduling.k8s.io", "priorityclasses");

/// Resolves the class of a new pod; refuses a second class that is the default.
pub(super) struct Priority;

impl Plugin for Priority {
    fn mutate(
        &self,
        review: &Review<'_>,
        object: &mut Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        if !review.is_about("", "pods") {
            return Ok(());
        }
        if let Some(old) = review.old {
            for field in ["priority", "preemptionPolicy"] {
                let before = &at(old, "spec")[field];
                let spec = field_mut(object, "spec");
                if spec.get(field).is_none_or(Value::is_null) && !before.is_null() {
                    spec.insert(field.to_owned(), before.clone());
                }
            }
            return Ok(());
        }
        let wanted = at(object, "spec.priorityClassName").as_str();
        let class = match wanted.unwrap_or_default() {
            "" => default_class(review),
            name => {
                let class = review.find(CLASSES, "", name);
                let why = || format!("no PriorityClass with name {name} was found");
                Some(class.ok_or_else(|| review.forbidden(Some(object), why()))?)
            }
        };
        let (priority, policy) = match &class {
            Some(class) => (
                class.get("value").and_then(Value::as_i64),
                class.get("preemptionPolicy").and_then(Value::as_str),
            ),
            None => (None, Some("PreemptLowerPriority")),
        };
        let priority = priority.unwrap_or_default();
        if let Some(given) = at(object, "spec.priority").as_i64()
            && given != priority
        {
            let why = format!(
                "the integer value of priority ({given}) must not be provided in pod spec; priority admission \
                 controller computed {priority} from the given PriorityClass name"
            );
            return Err(review.forbidden(Some(object), why));
        }
        if let (Some(given), Some(policy)) = (at(object, "spec.preemptionPolicy").as_str(), policy)
            && given != policy
        {
            let why = format!(
                "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority \
                 admission controller computed {policy} from the given PriorityClass name"
            );
            return Err(review.forbidden(Some(object), why));
        }
        let spec = field_mut(object, "spec");
        if let Some(class) = &class {
            spec.insert("priorityClassName".to_owned(), class.name().into());
        }
        spec.insert("priority".to_owned(), priority.into());
        if let Some(policy) = policy {
            spec.insert("preemptionPolicy".to_owned(), policy.into());
        }
        Ok(())
    }

    fn validate(
        &self,
        review: &Review<'_>,
        object: &Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        let wants_default = object.get("globalDefault") == Some(&Value::Bool(true));
        if !review.is_about(CLASSES.0, CLASSES.1) || !wants_default {
            return Ok(());
        }
        match default_class(review) {
            Some(other)
                if review.operation == Operation::Create || other.name() != object.name() =>
            {
                let why = format!(
                    "PriorityClass {} is already marked as default. Only one default can exist",
                    other.name()
                );
                Err(review.forbidden(Some(object), why))
            }
            _ => Ok(()),
        }
    }
}

/// The class of pods that name none; of several, the one that puts them lowest.
fn default_class(review: &Review<'_>) -> Option<Arc<Object>> {
    let classes = review.list(CLASSES, "").into_iter();
    let defaults = classes.filter(|class| class.get("globalDefault") == Some(&Value::Bool(true)));
    defaults.min_by_key(|class| class.get("value").and_then(Value::as_i64))
}
