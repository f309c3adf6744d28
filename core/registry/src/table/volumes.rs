//! Storage: volumes, claims, classes and drivers.

use serde_json::Value;

use super::columns::{AGE, NAME, Printer, boolean, cells, integer, text as column};
use super::row::{Row, joined, quantity, text};

const ACCESS_MODES: [(&str, &str); 4] = [
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
];

fn access_modes(row: &Row<'_>, path: &str) -> String {
    let modes = row.list(path);
    let given = ACCESS_MODES
        .iter()
        .filter(|(mode, _)| modes.iter().any(|one| one == mode));
    joined(given.map(|(_, short)| *short), ",")
}

/// The storage class: the annotation of old goes before the field.
fn class<'a>(row: &Row<'a>) -> &'a str {
    let beta = row.annotation("volume.beta.kubernetes.io/storage-class");
    beta.unwrap_or_else(|| row.text("spec.storageClassName"))
}

fn phase<'a>(row: &Row<'a>) -> &'a str {
    if row.is_deleting() {
        "Terminating"
    } else {
        row.text("status.phase")
    }
}

pub(super) const PERSISTENT_VOLUMES: Printer = Printer {
    columns: &[
        NAME,
        column("Capacity", "How much fits on it."),
        column("Access Modes", "How it can be mounted."),
        column(
            "Reclaim Policy",
            "What becomes of it when its claim is gone.",
        ),
        column("Status", "Whether it is bound."),
        column("Claim", "The claim it is bound to."),
        column("StorageClass", "The class it belongs to."),
        column(
            "VolumeAttributesClass",
            "The class of its changeable attributes.",
        ),
        column("Reason", "Why it is in this state."),
        AGE,
        column(
            "VolumeMode",
            "Whether it is a filesystem or a block device.",
        )
        .wide(),
    ],
    cells: |row| {
        let claim = match row.at("spec.claimRef") {
            Value::Null => String::new(),
            claim => format!("{}/{}", text(&claim["namespace"]), text(&claim["name"])),
        };
        cells![
            row.name(),
            quantity(row.at("spec.capacity.storage")),
            access_modes(row, "spec.accessModes"),
            row.text("spec.persistentVolumeReclaimPolicy"),
            phase(row),
            claim,
            class(row),
            row.text_or("spec.volumeAttributesClassName", "<unset>"),
            row.text("status.reason"),
            row.age(),
            row.text_or("spec.volumeMode", "<unset>"),
        ]
    },
};

pub(super) const PERSISTENT_VOLUME_CLAIMS: Printer = Printer {
    columns: &[
        NAME,
        column("Status", "Whether it is bound."),
        column("Volume", "The volume it is bound to."),
        column("Capacity", "How much fits on the volume."),
        column("Access Modes", "How the volume can be mounted."),
        column("StorageClass", "The class it asks for."),
        column(
            "VolumeAttributesClass",
            "The class of changeable attributes it asks for.",
        ),
        AGE,
        column(
            "VolumeMode",
            "Whether it wants a filesystem or a block device.",
        )
        .wide(),
    ],
    cells: |row| {
        let bound = !row.text("spec.volumeName").is_empty();
        let [capacity, modes] = match bound {
            true => [
                quantity(row.at("status.capacity.storage")),
                access_modes(row, "status.accessModes"),
            ],
            false => Default::default(),
        };
        cells![
            row.name(),
            phase(row),
            row.text("spec.volumeName"),
            capacity,
            modes,
            class(row),
            row.text_or("spec.volumeAttributesClassName", "<unset>"),
            row.age(),
            row.text_or("spec.volumeMode", "<unset>"),
        ]
    },
};

pub(super) const STORAGE_CLASSES: Printer = Printer {
    columns: &[
        NAME,
        column("Provisioner", "Who makes volumes of this class."),
        column(
            "ReclaimPolicy",
            "What becomes of a volume when its claim is gone.",
        ),
        column("VolumeBindingMode", "When claims are bound."),
        column("AllowVolumeExpansion", "Whether volumes can grow."),
        AGE,
    ],
    cells: |row| {
        let marks = [
            "storageclass.kubernetes.io/is-default-class",
            "storageclass.beta.kubernetes.io/is-default-class",
        ];
        let default = marks
            .iter()
            .any(|mark| row.annotation(mark) == Some("true"));
        cells![
            format!("{}{}", row.name(), if default { " (default)" } else { "" }),
            row.text("provisioner"),
            row.text_or("reclaimPolicy", "Delete"),
            row.text_or("volumeBindingMode", "Immediate"),
            row.flag("allowVolumeExpansion"),
            row.age(),
        ]
    },
};

pub(super) const VOLUME_ATTRIBUTES_CLASSES: Printer = Printer {
    columns: &[NAME, column("DriverName", "The driver it is for."), AGE],
    cells: |row| cells![row.name(), row.text("driverName"), row.age()],
};

pub(super) const VOLUME_ATTACHMENTS: Printer = Printer {
    columns: &[
        NAME,
        column("Attacher", "The driver that attaches.").naming(),
        column("PV", "The volume."),
        column("Node", "The node."),
        boolean("Attached", "Whether the volume is attached."),
        AGE,
    ],
    cells: |row| {
        cells![
            row.name(),
            row.text("spec.attacher"),
            row.text("spec.source.persistentVolumeName"),
            row.text("spec.nodeName"),
            row.flag("status.attached"),
            row.age(),
        ]
    },
};

pub(super) const CSI_NODES: Printer = Printer {
    columns: &[
        NAME,
        integer("Drivers", "How many drivers the node has."),
        AGE,
    ],
    cells: |row| cells![row.name(), row.count("spec.drivers"), row.age()],
};

pub(super) const CSI_DRIVERS: Printer = Printer {
    columns: &[
        NAME,
        boolean(
            "AttachRequired",
            "Whether volumes must be attached before they are mounted.",
        ),
        boolean(
            "PodInfoOnMount",
            "Whether the driver is told about the pod.",
        ),
        boolean(
            "StorageCapacity",
            "Whether the driver says how much room it has.",
        ),
        column(
            "TokenRequests",
            "The audiences of tokens that the driver wants.",
        ),
        boolean(
            "RequiresRepublish",
            "Whether the driver is called again from time to time.",
        ),
        column("Modes", "How volumes of the driver live."),
        AGE,
    ],
    cells: |row| {
        let modes = joined(row.list("spec.volumeLifecycleModes").iter().map(text), ",");
        let tokens = match row.at("spec.tokenRequests") {
            Value::Array(tokens) => joined(tokens.iter().map(|one| text(&one["audience"])), ","),
            _ => "<unset>".into(),
        };
        cells![
            row.name(),
            row.at("spec.attachRequired").as_bool().unwrap_or(true),
            row.flag("spec.podInfoOnMount"),
            row.flag("spec.storageCapacity"),
            tokens,
            row.flag("spec.requiresRepublish"),
            if modes.is_empty() {
                "<none>".into()
            } else {
                modes
            },
            row.age(),
        ]
    },
};
