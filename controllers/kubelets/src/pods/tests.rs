//! Pods on simulated nodes: one sync (cases), whole lives, and the laws.

mod cases;
mod laws;
mod lives;
mod routing;

use std::sync::Arc;

use flyball_testkit::World;
use flyball_testkit::builders::{Build, pod};
use serde_json::{Value, json};

use super::PodController;
use crate::Settings;
use crate::annotations::SIMULATED;
use crate::views::{Node, Pod};

fn subject() -> PodController {
    PodController::new(Arc::new(Settings::default()))
}

/// A world that shows pods and nodes as they are seen here.
fn prepared(world: World) -> World {
    world.knowing::<Pod>().knowing::<Node>()
}

fn world(objects: impl IntoIterator<Item = impl Into<Value>>) -> World {
    let mut world = prepared(World::default());
    for object in objects {
        world.put(object);
    }
    world
}

/// A node; a simulated one if `ours`.
fn node(name: &str, ours: bool) -> Value {
    let annotations = if ours {
        json!({SIMULATED: "true"})
    } else {
        json!({})
    };
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "annotations": annotations},
        "status": {"addresses": [{"type": "InternalIP", "address": "172.16.0.2"}]},
    })
}

/// A pod that is bound to a node and not seen by a kubelet yet.
fn bound(name: &str, node: &str) -> Build {
    pod(name).node(node)
}
