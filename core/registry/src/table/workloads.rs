//! What keeps pods running: replica sets, deployments, stateful sets, daemon sets and their like.

use serde_json::Value;

use super::columns::{
    AGE, CONTAINERS, Column, IMAGES, NAME, Printer, SELECTOR, cells, integer, text,
};
use super::row::{Row, containers, labels, selector, selector_or_none};

const DESIRED: Column = integer("Desired", "How many pods there should be.");
const CURRENT: Column = integer("Current", "How many pods there are.");
const READY: Column = integer("Ready", "How many pods are ready.");

pub(super) const REPLICATION_CONTROLLERS: Printer = Printer {
    columns: REPLICAS,
    cells: |row| replicas(row, labels(row.at("spec.selector"))),
};

pub(super) const REPLICA_SETS: Printer = Printer {
    columns: REPLICAS,
    cells: |row| replicas(row, selector_or_none(row.at("spec.selector"))),
};

const REPLICAS: &[Column] = &[
    NAME, DESIRED, CURRENT, READY, AGE, CONTAINERS, IMAGES, SELECTOR,
];

fn replicas(row: &Row<'_>, selector: String) -> Vec<Value> {
    let [names, images] = containers(row.at("spec.template.spec.containers"));
    cells![
        row.name(),
        row.number("spec.replicas"),
        row.number("status.replicas"),
        row.number("status.readyReplicas"),
        row.age(),
        names,
        images,
        selector,
    ]
}

pub(super) const DEPLOYMENTS: Printer = Printer {
    columns: &[
        NAME,
        text("Ready", "How many pods are ready, of those that should be."),
        text("Up-to-date", "How many pods are of the newest template."),
        text(
            "Available",
            "How many pods have been ready for long enough.",
        ),
        AGE,
        CONTAINERS,
        IMAGES,
        SELECTOR,
    ],
    cells: |row| {
        let [names, images] = containers(row.at("spec.template.spec.containers"));
        cells![
            row.name(),
            ready(row),
            row.number("status.updatedReplicas"),
            row.number("status.availableReplicas"),
            row.age(),
            names,
            images,
            selector(row.at("spec.selector")).unwrap_or_else(|| "<invalid>".into()),
        ]
    },
};

pub(super) const STATEFUL_SETS: Printer = Printer {
    columns: &[
        NAME,
        text("Ready", "How many pods are ready, of those that should be."),
        AGE,
        CONTAINERS,
        IMAGES,
    ],
    cells: |row| {
        let [names, images] = containers(row.at("spec.template.spec.containers"));
        cells![row.name(), ready(row), row.age(), names, images]
    },
};

fn ready(row: &Row<'_>) -> String {
    format!(
        "{}/{}",
        row.number("status.readyReplicas"),
        row.number("spec.replicas")
    )
}

pub(super) const DAEMON_SETS: Printer = Printer {
    columns: &[
        NAME,
        integer("Desired", "How many nodes should run its pod."),
        integer("Current", "How many nodes that should run its pod do."),
        integer("Ready", "How many nodes run its pod and it is ready."),
        integer(
            "Up-to-date",
            "How many nodes run its pod of the newest template.",
        ),
        integer(
            "Available",
            "How many nodes run its pod and it has been ready for long enough.",
        ),
        text(
            "Node Selector",
            "Which nodes may run its pods, by their labels.",
        ),
        AGE,
        CONTAINERS,
        IMAGES,
        SELECTOR,
    ],
    cells: |row| {
        let [names, images] = containers(row.at("spec.template.spec.containers"));
        cells![
            row.name(),
            row.number("status.desiredNumberScheduled"),
            row.number("status.currentNumberScheduled"),
            row.number("status.numberReady"),
            row.number("status.updatedNumberScheduled"),
            row.number("status.numberAvailable"),
            labels(row.at("spec.template.spec.nodeSelector")),
            row.age(),
            names,
            images,
            selector_or_none(row.at("spec.selector")),
        ]
    },
};

pub(super) const POD_TEMPLATES: Printer = Printer {
    columns: &[
        NAME,
        text("Containers", "The names of the template's containers."),
        text("Images", "The images of the template's containers."),
        text("Pod Labels", "The labels of pods made from it."),
    ],
    cells: |row| {
        let [names, images] = containers(row.at("template.spec.containers"));
        cells![
            row.name(),
            names,
            images,
            labels(row.at("template.metadata.labels"))
        ]
    },
};

pub(super) const CONTROLLER_REVISIONS: Printer = Printer {
    columns: &[
        NAME,
        text("Controller", "The object whose history this is."),
        text("Revision", "The number of the revision."),
        AGE,
    ],
    cells: |row| {
        cells![
            row.name(),
            controller(row),
            row.number("revision"),
            row.age()
        ]
    },
};

/// The controlling owner as `kind.group/name`.
fn controller(row: &Row<'_>) -> String {
    let owners = row.list("metadata.ownerReferences");
    let Some(owner) = owners.iter().find(|owner| owner["controller"] == true) else {
        return "<none>".into();
    };
    let part = |field: &str| owner[field].as_str().unwrap_or_default();
    let (kind, name) = (part("kind").to_lowercase(), part("name"));
    match part("apiVersion").split_once('/') {
        Some((group, _)) if !group.is_empty() => {
            format!("{kind}.{}/{name}", group.to_lowercase())
        }
        _ => format!("{kind}/{name}"),
    }
}

pub(super) const POD_DISRUPTION_BUDGETS: Printer = Printer {
    columns: &[
        NAME,
        text("Min Available", "How many pods must stay available."),
        text("Max Unavailable", "How many pods may be unavailable."),
        integer("Allowed Disruptions", "How many pods may be disrupted now."),
        AGE,
    ],
    cells: |row| {
        let bound = |path: &str| match row.at(path) {
            Value::Null => "N/A".into(),
            Value::String(share) => share.clone(),
            count => count.to_string(),
        };
        cells![
            row.name(),
            bound("spec.minAvailable"),
            bound("spec.maxUnavailable"),
            row.number("status.disruptionsAllowed"),
            row.age(),
        ]
    },
};
