//! What a cluster wants of a write beyond what its kind does: upstream's admission plugins.
//!
//! ```text
//! decode → default → MUTATE → prepare → validate → VALIDATE → transact
//! ```
//!
//! Each plugin is a file of its own and takes part where it wants to: `mutate` changes or refuses what
//! was sent before the kind's own rules look at it, `validate` refuses or takes note of what is
//! about to be stored, `delete` refuses a removal. They run in the order of [`PLUGINS`], which is
//! upstream's, so that of several reasons for a refusal the same one is told. Plugins read what is
//! stored and write nothing; what has to be written with the object goes into [`Effects`].
//!
//! Webhooks and policies belong before the last plugin, the quotas: these count only what nothing
//! else refused.
//!
//! Upstream: `pkg/kubeapiserver/options/plugins.go`, `apiserver/pkg/admission`.

mod amounts;
mod certificates;
mod claim_resize;
mod default_classes;
mod default_toleration_seconds;
mod escalation;
mod limit_ranger;
mod namespace_lifecycle;
mod pod_resize;
mod pod_security;
mod priority;
mod resource_quota;
mod review;
mod runtime_class;
mod service_account;
mod storage_protection;
mod taint_nodes;
mod topology_labels;

pub(crate) use review::{Effects, Operation, Review};

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::object::Object;

/// One plugin. What it says nothing about it has nothing against.
trait Plugin: Sync {
    /// Changes what was sent, or refuses it.
    fn mutate(&self, _: &Review<'_>, _: &mut Object, _: &mut Effects) -> Result<(), Failure> {
        Ok(())
    }

    /// Refuses what is about to be stored.
    fn validate(&self, _: &Review<'_>, _: &Object, _: &mut Effects) -> Result<(), Failure> {
        Ok(())
    }

    /// Refuses a removal.
    fn delete(&self, _: &Review<'_>) -> Result<(), Failure> {
        Ok(())
    }
}

/// All plugins that upstream runs unless it is told otherwise and that have something to decide here.
const PLUGINS: &[&dyn Plugin] = &[
    &namespace_lifecycle::NamespaceLifecycle,
    &limit_ranger::LimitRanger,
    &service_account::ServiceAccount,
    &taint_nodes::TaintNodesByCondition,
    &pod_security::PodSecurity,
    &priority::Priority,
    &default_toleration_seconds::DefaultTolerationSeconds,
    &default_classes::DefaultStorageClass,
    &storage_protection::StorageObjectInUseProtection,
    &claim_resize::PersistentVolumeClaimResize,
    &runtime_class::RuntimeClass,
    &certificates::CertificateApproval,
    &certificates::CertificateSigning,
    &certificates::CertificateSubjectRestriction,
    &default_classes::DefaultIngressClass,
    &topology_labels::PodTopologyLabels,
    &pod_resize::PodResizeValidator,
    &resource_quota::ResourceQuota,
    &escalation::Escalation,
];

/// Lets every plugin change what was sent.
pub(crate) fn mutate(
    review: &Review<'_>,
    object: &mut Object,
    effects: &mut Effects,
) -> Result<(), Failure> {
    let mut all = PLUGINS.iter();
    all.try_for_each(|plugin| plugin.mutate(review, object, effects))
}

/// Asks every plugin whether the object may be stored.
pub(crate) fn validate(
    review: &Review<'_>,
    object: &Object,
    effects: &mut Effects,
) -> Result<(), Failure> {
    let mut all = PLUGINS.iter();
    all.try_for_each(|plugin| plugin.validate(review, object, effects))
}

/// Asks every plugin whether the object may go.
pub(crate) fn delete(review: &Review<'_>) -> Result<(), Failure> {
    let mut all = PLUGINS.iter();
    all.try_for_each(|plugin| plugin.delete(review))
}

/// The map in a field, to be changed; made if there is none.
fn field_mut<'a>(object: &'a mut Object, field: &str) -> &'a mut Object {
    let value = object.entry(field).or_insert(Value::Null);
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        // Just made one.
        _ => unreachable!("the field is a map"),
    }
}

/// The list in a field, to be changed; made if there is none.
fn list_mut<'a>(object: &'a mut Object, field: &str) -> &'a mut Vec<Value> {
    let value = object.entry(field).or_insert(Value::Null);
    if !value.is_array() {
        *value = Value::Array(Vec::new());
    }
    match value {
        Value::Array(list) => list,
        // Just made one.
        _ => unreachable!("the field is a list"),
    }
}
