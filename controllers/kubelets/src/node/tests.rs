//! Simulated nodes: one sync (cases), what happens over time, and promises in any world.

mod cases;
mod hours;
mod promises;
mod routing;

use std::sync::Arc;

use flyball_testkit::World;
use flyball_testkit::builders::namespace;
use serde_json::{Value, json};

use super::NodeController;
use crate::Settings;
use crate::annotations::SIMULATED;
use crate::views::{Lease, Node};

/// Three nodes, if nothing else is said.
fn subject() -> NodeController {
    NodeController::new(Arc::new(settings()))
}

fn settings() -> Settings {
    Settings {
        count: 3,
        ..Settings::default()
    }
}

/// A world that shows nodes and leases as they are seen here.
fn prepared(world: World) -> World {
    world.knowing::<Node>().knowing::<Lease>()
}

/// What a server has before anybody does anything.
fn fresh() -> World {
    let mut world = prepared(World::default());
    world.put(namespace("default"));
    world.put(namespace("kube-node-lease"));
    world
}

fn node(name: &str, annotations: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "annotations": annotations},
    })
}

fn ours(name: &str) -> Value {
    node(name, json!({SIMULATED: "true"}))
}
