//! PersistentVolumeClaimResize: a claim grows only if it has a volume whose class lets it.
//!
//! Upstream: `plugin/pkg/admission/storage/persistentvolume/resize`.

use serde_json::Value;

use super::amounts::amount;
use super::{Effects, Plugin, Review};
use crate::failure::Failure;
use crate::object::{Meta, Object, at};

/// Refuses claims that cannot grow.
pub(super) struct PersistentVolumeClaimResize;

impl Plugin for PersistentVolumeClaimResize {
    fn validate(
        &self,
        review: &Review<'_>,
        object: &Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        let Some(old) = review
            .old
            .filter(|_| review.is_about("", "persistentvolumeclaims"))
        else {
            return Ok(());
        };
        let size = |claim| amount(&at(claim, "spec.resources.requests")["storage"]);
        if size(object) <= size(old) {
            return Ok(());
        }
        if at(old, "status.phase") != "Bound" {
            let why = "Only bound persistent volume claims can be expanded";
            return Err(review.forbidden(Some(object), why));
        }
        let class = class_of(object);
        let lets = || {
            let found = review.find(("storage.k8s.io", "storageclasses"), "", class);
            found.is_some_and(|one| one.get("allowVolumeExpansion") == Some(&Value::Bool(true)))
        };
        if class.is_empty() || class != class_of(old) || !lets() {
            let why = "only dynamically provisioned pvc can be resized and the storageclass that provisions \
                       the pvc must support resize";
            return Err(review.forbidden(Some(object), why));
        }
        Ok(())
    }
}

/// The storage class of a claim.
pub(super) fn class_of(claim: &Object) -> &str {
    let annotated = claim.meta()["annotations"]["volume.beta.kubernetes.io/storage-class"].as_str();
    let class = annotated.or_else(|| at(claim, "spec.storageClassName").as_str());
    class.unwrap_or_default()
}
