//! StorageObjectInUseProtection: volumes, claims and classes of volumes' attributes stay as long as
//! something uses them.
//!
//! Upstream: `plugin/pkg/admission/storage/storageobjectinuseprotection`. The controllers of the
//! same name take the finalizers away.

use super::{Effects, Operation, Plugin, Review};
use crate::failure::Failure;
use crate::object::{Meta, Object};

const PROTECTED: &[(&str, &str, &str)] = &[
    ("", "persistentvolumes", "kubernetes.io/pv-protection"),
    ("", "persistentvolumeclaims", "kubernetes.io/pvc-protection"),
    (
        "storage.k8s.io",
        "volumeattributesclasses",
        "kubernetes.io/vac-protection",
    ),
];

/// Gives new objects the finalizer that protects them.
pub(super) struct StorageObjectInUseProtection;

impl Plugin for StorageObjectInUseProtection {
    fn mutate(
        &self,
        review: &Review<'_>,
        object: &mut Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        let mut all = PROTECTED.iter();
        let found = all.find(|(group, plural, _)| review.is_about(group, plural));
        if let Some((_, _, finalizer)) = found
            && review.operation == Operation::Create
        {
            object.add_finalizer(finalizer);
        }
        Ok(())
    }
}
