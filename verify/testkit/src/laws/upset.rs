//! Upsets: what others do to objects while a controller is not looking.

use flyball_api::views::Pod;
use flyball_plan::Target;
use proptest::strategy::Strategy;
use serde_json::{Value, json};

use crate::World;

/// One thing that someone else does to some object.
#[derive(Clone, Copy, Debug)]
pub struct Upset {
    /// Which object: counted round and round.
    pub which: u16,
    /// What is done to it; what makes no sense for its kind only touches it.
    pub deed: Deed,
}

/// What others do to objects.
#[derive(Clone, Copy, Debug)]
pub enum Deed {
    /// It is deleted at once.
    Vanish,
    /// It is deleted, and another one of the same name and kind made, which nobody controls.
    Recreate,
    /// Its owners are taken off.
    Orphan,
    /// Another controller takes it.
    Capture,
    /// Its labels are exchanged.
    Relabel,
    /// It is annotated.
    Touch,
    /// It is to have so many replicas.
    Scale(u8),
    /// A pod fails.
    Fail,
    /// A pod stops being ready.
    Sicken,
    /// A pod is asked to go.
    Evict,
}

/// Up to five upsets.
pub fn upsets() -> impl Strategy<Value = Vec<Upset>> {
    let deed = (0..10_u8, 0..6_u8).prop_map(|(deed, number)| match deed {
        0 => Deed::Vanish,
        1 => Deed::Recreate,
        2 => Deed::Orphan,
        3 => Deed::Capture,
        4 => Deed::Relabel,
        5 => Deed::Scale(number),
        6 => Deed::Fail,
        7 => Deed::Sicken,
        8 => Deed::Evict,
        _ => Deed::Touch,
    });
    let upset = (proptest::num::u16::ANY, deed).prop_map(|(which, deed)| Upset { which, deed });
    proptest::collection::vec(upset, 0..=5)
}

/// An owner that no controller on trial knows.
pub(super) fn stranger() -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Stranger", "name": "stranger",
        "uid": "stranger", "controller": true, "blockOwnerDeletion": true,
    })
}

impl Upset {
    /// Does it.
    pub fn happen(self, world: &mut World) {
        let ids: Vec<_> = world.objects().map(|(id, _)| id.clone()).collect();
        if ids.is_empty() {
            return;
        }
        let (kind, name) = ids[usize::from(self.which) % ids.len()].clone();
        let target = Target { kind, name };
        let is_pod = kind == Pod::KIND;
        match self.deed {
            Deed::Vanish => {
                world.remove(&target);
            }
            Deed::Recreate => recreate(world, &target),
            deed => {
                let now = json!(world.now());
                world.edit(&target, |object| edit(object, deed, is_pod, now));
            }
        }
    }
}

/// Deletes an object and makes another one of the same name, which nobody controls.
pub(super) fn recreate(world: &mut World, target: &Target) {
    let Some(mut object) = world.target(target).cloned() else {
        return;
    };
    world.remove(target);
    if let Some(metadata) = object["metadata"].as_object_mut() {
        let own = [
            "uid",
            "ownerReferences",
            "creationTimestamp",
            "deletionTimestamp",
        ];
        metadata.retain(|field, _| !own.contains(&field.as_str()));
    }
    world.put(object);
}

fn edit(object: &mut Value, deed: Deed, is_pod: bool, now: Value) {
    let has_replicas = !object["spec"]["replicas"].is_null();
    let metadata = &mut object["metadata"];
    match deed {
        Deed::Orphan => metadata["ownerReferences"] = json!([]),
        Deed::Capture => metadata["ownerReferences"] = json!([stranger()]),
        Deed::Relabel => metadata["labels"] = json!({"relabelled": "yes"}),
        Deed::Scale(replicas) if has_replicas => {
            object["spec"]["replicas"] = replicas.into();
        }
        Deed::Fail if is_pod => object["status"] = json!({"phase": "Failed"}),
        Deed::Sicken if is_pod => {
            let condition = json!({"type": "Ready", "status": "False", "lastTransitionTime": now});
            object["status"]["conditions"] = json!([condition]);
        }
        Deed::Evict if is_pod && metadata["deletionTimestamp"].is_null() => {
            metadata["deletionTimestamp"] = now;
            metadata["deletionGracePeriodSeconds"] = 30.into();
        }
        _ => {
            let times = metadata["annotations"]["touched"]
                .as_str()
                .map_or(0, str::len);
            metadata["annotations"]["touched"] = "x".repeat(times + 1).into();
        }
    }
}
