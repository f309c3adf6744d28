//! Nodes, and what they and the processes of the cluster need: leases, runtime classes.

use std::collections::BTreeSet;

use super::columns::{AGE, NAME, Printer, cells, text as column};
use super::row::{Row, joined, text};

pub(super) const NODES: Printer = Printer {
    columns: &[
        NAME,
        column("Status", "Whether it is ready and takes pods."),
        column("Roles", "What it is for, by its labels."),
        AGE,
        column("Version", "The version of its kubelet."),
        column("Internal-IP", "Its address within the cluster.").wide(),
        column("External-IP", "Its address from outside.").wide(),
        column("OS-Image", "Its operating system.").wide(),
        column("Kernel-Version", "The version of its kernel.").wide(),
        column("Container-Runtime", "What runs its containers.").wide(),
    ],
    cells: |row| {
        let mut kernel = row
            .filled_or("status.nodeInfo.kernelVersion", "<unknown>")
            .to_owned();
        let architecture = row.text("status.nodeInfo.architecture");
        if !architecture.is_empty() {
            kernel = format!("{kernel} ({architecture})");
        }
        cells![
            row.name(),
            status(row),
            roles(row),
            row.age(),
            row.text("status.nodeInfo.kubeletVersion"),
            address(row, "InternalIP"),
            address(row, "ExternalIP"),
            row.filled_or("status.nodeInfo.osImage", "<unknown>"),
            kernel,
            row.filled_or("status.nodeInfo.containerRuntimeVersion", "<unknown>"),
        ]
    },
};

fn status(row: &Row<'_>) -> String {
    // The last condition of a type counts, should there be several.
    let ready = row
        .list("status.conditions")
        .iter()
        .rfind(|one| one["type"] == "Ready");
    let ready = match ready {
        Some(condition) if condition["status"] == "True" => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    let cordoned = row.flag("spec.unschedulable");
    format!(
        "{ready}{}",
        if cordoned { ",SchedulingDisabled" } else { "" }
    )
}

fn roles(row: &Row<'_>) -> String {
    let labels = row.at("metadata.labels").as_object().into_iter().flatten();
    let roles =
        labels.filter_map(
            |(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
                Some(role) => Some(role),
                None => (key == "kubernetes.io/role").then(|| text(value)),
            },
        );
    let roles: BTreeSet<&str> = roles.filter(|role| !role.is_empty()).collect();
    if roles.is_empty() {
        "<none>".into()
    } else {
        joined(roles, ",")
    }
}

fn address<'a>(row: &Row<'a>, of: &str) -> &'a str {
    let address = row
        .list("status.addresses")
        .iter()
        .find(|one| one["type"] == of);
    address.map_or("<none>", |one| text(&one["address"]))
}

pub(super) const LEASES: Printer = Printer {
    columns: &[NAME, column("Holder", "Who holds it."), AGE],
    cells: |row| cells![row.name(), row.text("spec.holderIdentity"), row.age()],
};

pub(super) const RUNTIME_CLASSES: Printer = Printer {
    columns: &[
        NAME,
        column("Handler", "The configuration of the runtime that it means."),
        AGE,
    ],
    cells: |row| cells![row.name(), row.text("handler"), row.age()],
};
