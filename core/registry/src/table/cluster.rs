//! What belongs to the cluster as a whole: namespaces, quotas, priorities, component states.

use serde_json::Value;

use super::columns::{
    AGE, AGE_DESCRIPTION, NAME, Printer, boolean, cells, date, integer, text as column,
};
use super::row::{Row, quantity, text};

/// Kinds that have no columns of their own.
pub(super) static OTHERS: Printer = Printer {
    columns: &[NAME, date("Created At", AGE_DESCRIPTION)],
    cells: |row| {
        let created = row.text_or("metadata.creationTimestamp", "0001-01-01T00:00:00Z");
        cells![row.name(), created]
    },
};

pub(super) const NAMESPACES: Printer = Printer {
    columns: &[
        NAME,
        column("Status", "Whether it is active or going away."),
        AGE,
    ],
    cells: |row| cells![row.name(), row.text("status.phase"), row.age()],
};

pub(super) const CONFIG_MAPS: Printer = Printer {
    columns: &[NAME, column("Data", "How many entries it has."), AGE],
    cells: |row| {
        cells![
            row.name(),
            row.count("data") + row.count("binaryData"),
            row.age()
        ]
    },
};

pub(super) const COMPONENT_STATUSES: Printer = Printer {
    columns: &[
        NAME,
        column("Status", "Whether it is healthy."),
        column("Message", "What it says."),
        column("Error", "What went wrong when it was asked."),
    ],
    cells: |row| {
        let healthy = row
            .list("conditions")
            .iter()
            .find(|one| one["type"] == "Healthy");
        let status = match healthy {
            Some(one) if one["status"] == "True" => "Healthy",
            Some(_) => "Unhealthy",
            None => "Unknown",
        };
        let said = |field: &str| healthy.map_or("", |one| text(&one[field]));
        cells![row.name(), status, said("message"), said("error")]
    },
};

pub(super) const RESOURCE_QUOTAS: Printer = Printer {
    columns: &[
        NAME,
        column("Request", "What is used of everything but limits."),
        column("Limit", "What is used of limits."),
        AGE,
    ],
    cells: |row| cells![row.name(), used(row, false), used(row, true), row.age()],
};

/// What is used and what may be, of limits or of everything else, sorted by name.
fn used(row: &Row<'_>, limits: bool) -> String {
    let (hard, used) = (row.at("status.hard").as_object(), row.at("status.used"));
    let of = hard
        .into_iter()
        .flatten()
        .filter(|(name, _)| name.starts_with("limits.") == limits);
    let shown = of.map(|(name, hard)| {
        let used = used.get(name).unwrap_or(&Value::Null);
        format!("{name}: {}/{}", quantity(used), quantity(hard))
    });
    shown.collect::<Vec<_>>().join(", ")
}

pub(super) const PRIORITY_CLASSES: Printer = Printer {
    columns: &[
        NAME,
        integer("Value", "The priority of pods of this class."),
        boolean(
            "Global-Default",
            "Whether pods that name no class are of this one.",
        ),
        AGE,
        column(
            "PreemptionPolicy",
            "Whether pods of this class may displace others.",
        ),
    ],
    cells: |row| {
        cells![
            row.name(),
            row.number("value"),
            row.flag("globalDefault"),
            row.age(),
            row.text("preemptionPolicy"),
        ]
    },
};
