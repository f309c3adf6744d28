//! The end of a definition: its objects go first.
//!
//! Upstream: `apiextensions-apiserver/pkg/registry/customresourcedefinition/etcd.go`,
//! `apiextensions-apiserver/pkg/controller/finalizer/crd_finalizer.go`.

use flyball_api::Timestamp;
use flyball_storage::Revision;

use super::conditions::{self, Condition};
use super::lifecycle::CLEANUP;
use crate::meta::stamp;
use crate::object::{Meta, Object};
use crate::registry::{Call, Registry};
use crate::request::Chance;

/// Marks a definition as on its way out, held until its objects are gone.
pub(crate) fn mark(definition: &mut Object, now: Timestamp) {
    let meta = definition.meta_mut();
    meta.insert("deletionTimestamp".to_owned(), stamp(now));
    if !definition.finalizers().any(|one| one == CLEANUP) {
        definition.add_finalizer(CLEANUP);
    }
    let pending = Condition {
        kind: "Terminating",
        status: "True",
        reason: "InstanceDeletionPending",
        message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    };
    conditions::set(definition, &pending, now);
}

impl Registry {
    /// Takes the next step to the end of a definition: tells it, deletes the objects, and lets the
    /// definition go when there are none left.
    pub(super) fn finalize_definition(
        &mut self,
        call: Call<'static>,
        (seen, old): (Revision, &Object),
        now: Timestamp,
        chance: &mut Chance<'_>,
    ) {
        let mut new = old.clone();
        let in_progress = Condition {
            kind: "Terminating",
            status: "True",
            reason: "InstanceDeletionInProgress",
            message: "CustomResource deletion is in progress",
        };
        if !conditions::is(old, &in_progress) {
            conditions::set(&mut new, &in_progress, now);
            return self.put_status(call, (seen, old), new, chance);
        }
        let served = self.definitions().served_for(old.name()).cloned();
        let done = match &served {
            _ if self.is_built_in(old) => Condition {
                kind: "Terminating",
                status: "False",
                reason: "OverlappingBuiltInResource",
                message: "instances overlap with built-in resources in storage",
            },
            Some(resource) if conditions::is_true(old, "Established") => {
                let (group, version) = (resource.group.clone(), resource.version.clone());
                if let Some(all) = self.own_call(&group, &version, &resource.plural, now) {
                    // What cannot be deleted now is tried again when something goes.
                    let _ = self.delete_collection(&all);
                }
                if self.has_objects(resource) {
                    return;
                }
                Condition {
                    kind: "Terminating",
                    status: "False",
                    reason: "InstanceDeletionCompleted",
                    message: "removed all instances",
                }
            }
            _ => Condition {
                kind: "Terminating",
                status: "False",
                reason: "NeverEstablished",
                message: "resource was never established",
            },
        };
        conditions::set(&mut new, &done, now);
        new.remove_finalizer(CLEANUP);
        self.put_status(call, (seen, old), new, chance);
    }
}
