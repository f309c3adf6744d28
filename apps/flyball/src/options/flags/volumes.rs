//! Volumes: binding, attaching, recycling.

use super::{Flag, Group, flag, tuning};
use crate::options::value::Kind::{Bool, Duration, Int32, Text};

/// The path of a field of the recycler's configuration.
macro_rules! recycler {
    ($field:literal) => {
        concat!(
            "PersistentVolumeBinderController.VolumeConfiguration.",
            "PersistentVolumeRecyclerConfiguration.",
            $field
        )
    };
}

pub(super) const ATTACH_DETACH: &Group = &tuning(
    "Persistentvolume-attach-detach-controller flags",
    "persistentvolume-attach-detach-controller",
    &[
        flag(
            Duration,
            "attach-detach-reconcile-sync-period",
            "1m0s",
            "AttachDetachController.ReconcilerSyncLoopPeriod",
            "How often recorded attachments are compared with reality; at least 1s.",
        ),
        flag(
            Bool,
            "disable-attach-detach-reconcile-sync",
            "false",
            "AttachDetachController.DisableAttachDetachReconcilerSync",
            "Do not compare recorded attachments with reality.",
        ),
        flag(
            Bool,
            "disable-force-detach-on-timeout",
            "false",
            "AttachDetachController.disableForceDetachOnTimeout",
            "Never detach by force from a node that does not unmount in time.",
        ),
    ],
);

pub(super) const EPHEMERAL_VOLUME: &Group = &tuning(
    "Ephemeral-volume-controller flags",
    "ephemeral-volume-controller",
    &[flag(
        Int32,
        "concurrent-ephemeralvolume-syncs",
        "5",
        "EphemeralVolumeController.ConcurrentEphemeralVolumeSyncs",
        "Pods with ephemeral volumes worked on at the same time.",
    )],
);

pub(super) const BINDER: &Group = &tuning(
    "Persistentvolume-binder-controller flags",
    "persistentvolume-binder-controller",
    BINDER_FLAGS,
);

const BINDER_FLAGS: &[Flag] = &[
    flag(
        Bool,
        "enable-dynamic-provisioning",
        "true",
        "PersistentVolumeBinderController.VolumeConfiguration.EnableDynamicProvisioning",
        "Have volumes made for claims that no existing one fits.",
    ),
    flag(
        Bool,
        "enable-hostpath-provisioner",
        "false",
        "PersistentVolumeBinderController.VolumeConfiguration.EnableHostPathProvisioning",
        "Make host-path volumes for claims; for tests on one node only.",
    ),
    flag(
        Text,
        "flex-volume-plugin-dir",
        "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/",
        "PersistentVolumeBinderController.VolumeConfiguration.FlexVolumePluginDir",
        "Directory of flex volume plugins.",
    ),
    flag(
        Int32,
        "pv-recycler-increment-timeout-nfs",
        "30",
        recycler!("IncrementTimeoutNFS"),
        "Seconds an NFS recycler pod gets for each GiB.",
    ),
    flag(
        Int32,
        "pv-recycler-minimum-timeout-hostpath",
        "60",
        recycler!("MinimumTimeoutHostPath"),
        "Seconds a host-path recycler pod gets at least.",
    ),
    flag(
        Int32,
        "pv-recycler-minimum-timeout-nfs",
        "300",
        recycler!("MinimumTimeoutNFS"),
        "Seconds an NFS recycler pod gets at least.",
    ),
    flag(
        Text,
        "pv-recycler-pod-template-filepath-hostpath",
        "",
        recycler!("PodTemplateFilePathHostPath"),
        "File with the pod that recycles host-path volumes.",
    ),
    flag(
        Text,
        "pv-recycler-pod-template-filepath-nfs",
        "",
        recycler!("PodTemplateFilePathNFS"),
        "File with the pod that recycles NFS volumes.",
    ),
    flag(
        Int32,
        "pv-recycler-timeout-increment-hostpath",
        "30",
        recycler!("IncrementTimeoutHostPath"),
        "Seconds a host-path recycler pod gets for each GiB.",
    ),
    flag(
        Duration,
        "pvclaimbinder-sync-period",
        "15s",
        "PersistentVolumeBinderController.PVClaimBinderSyncPeriod",
        "How often every volume and claim is looked at.",
    ),
];
