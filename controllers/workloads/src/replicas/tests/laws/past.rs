//! What pods have been through, read from the history of a world.

use std::collections::BTreeMap;

use flyball_api::{Kind, Object, Selector};
use flyball_testkit::{Id, World, Written};
use serde_json::Value;

use super::{OnTrial, Pod, usable_selector};

/// One incarnation of an object, from the start of the trial on.
#[derive(Debug, Default)]
pub(super) struct Life<'a> {
    /// The state at the start, if it was there, and all that followed.
    pub(super) states: Vec<&'a Value>,
    was_there_at_the_start: bool,
    is_over: bool,
}

impl Life<'_> {
    /// Whether this held at any time since the start.
    pub(super) fn ever(&self, held: impl Fn(&Value) -> bool) -> bool {
        self.states.iter().any(|state| held(state))
    }

    /// Whether this has held all the time since the start.
    pub(super) fn always(&self, holds: impl Fn(&Value) -> bool) -> bool {
        self.was_there_at_the_start && !self.is_over && self.states.iter().all(|state| holds(state))
    }
}

/// Every incarnation of a kind that was there at the start or came later, by UID.
pub(super) fn lives(world: &World, kind: Kind) -> BTreeMap<&str, Life<'_>> {
    let start = world.at_start().revision();
    let mut lives: BTreeMap<&str, Life<'_>> = BTreeMap::new();
    let mut current: BTreeMap<&Id, &str> = BTreeMap::new();
    for Written {
        revision,
        id,
        state,
    } in world.history().iter().filter(|it| it.id.0 == kind)
    {
        let before = *revision <= start;
        let uid = state.as_deref().map(uid);
        let last = match uid {
            Some(uid) => current.insert(id, uid),
            None => current.remove(id),
        };
        if let Some(last) = last.filter(|last| Some(*last) != uid) {
            if before {
                lives.remove(last);
            } else if let Some(life) = lives.get_mut(last) {
                life.is_over = true;
            }
        }
        let (Some(uid), Some(state)) = (uid, state.as_deref()) else {
            continue;
        };
        let life = lives.entry(uid).or_default();
        if before {
            life.states.clear();
            life.was_there_at_the_start = true;
        }
        life.states.push(state);
    }
    lives
}

/// The state of the same object before its newest one.
pub(super) fn before<'a>(world: &'a World, newest: &Written) -> Option<&'a Value> {
    let earlier = world.history().iter().rev();
    let mut earlier = earlier.filter(|it| it.revision < newest.revision && it.id == newest.id);
    earlier.next()?.state.as_deref()
}

pub(super) fn uid(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_default()
}

/// The UID of the controller of an object.
pub(super) fn controller(object: &Value) -> Option<&str> {
    let owners = object["metadata"]["ownerReferences"].as_array()?;
    let controller = owners.iter().find(|owner| owner["controller"] == true)?;
    controller["uid"].as_str()
}

pub(super) fn is_going(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

fn has_ended(pod: &Value) -> bool {
    pod["status"]["phase"] == "Failed" || pod["status"]["phase"] == "Succeeded"
}

pub(super) fn is_active(pod: &Value) -> bool {
    !is_going(pod) && !has_ended(pod)
}

pub(super) fn is_terminating(pod: &Value) -> bool {
    is_going(pod) && !has_ended(pod)
}

pub(super) fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// Whether a field says as much as if it were not there.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        other => other.is_null(),
    }
}

/// An owner as some state had it.
pub(super) struct Suitor<'a> {
    pub(super) uid: &'a str,
    selector: Selector,
    namespace: &'a Value,
}

impl<'a> Suitor<'a> {
    pub(super) fn of<K: OnTrial>(object: &'a Value) -> Self {
        let view = K::Object::decode(object.to_string().as_bytes()).unwrap();
        Self {
            uid: uid(object),
            selector: usable_selector::<K>(&view).unwrap(),
            namespace: &object["metadata"]["namespace"],
        }
    }

    /// Whether it means this pod.
    pub(super) fn selects(&self, pod: &Value) -> bool {
        let labels = &pod["metadata"]["labels"];
        pod["metadata"]["namespace"] == *self.namespace
            && self.selector.matches_with(|key| labels[key].as_str())
    }

    pub(super) fn controls(&self, pod: &Value) -> bool {
        controller(pod) == Some(self.uid)
    }

    /// Whether the pod is one of its own to be counted.
    pub(super) fn has(&self, pod: &Value) -> bool {
        self.controls(pod) && self.selects(pod)
    }

    /// Whether the pod is one of its own, or one that it may adopt.
    pub(super) fn may_have(&self, pod: &Value) -> bool {
        self.selects(pod) && controller(pod).is_none_or(|uid| uid == self.uid)
    }
}

/// How many pods the owner controls that are active now.
pub(super) fn active_now(world: &World, owner: &str) -> usize {
    let pods = world.objects().filter(|(id, _)| id.0 == Pod::KIND);
    pods.filter(|(_, pod)| is_active(pod) && controller(pod) == Some(owner))
        .count()
}
