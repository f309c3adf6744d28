//! Which kinds there are, and what k8s-openapi itself knows of them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use k8s_openapi::serde::Serialize;
use k8s_openapi::serde::de::DeserializeOwned;
use k8s_openapi::{
    ClusterResourceScope, DeepMerge, ListableResource, NamespaceResourceScope, Resource,
    SubResourceScope,
};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

/// A kind of object, with what its type in k8s-openapi tells.
pub(crate) struct Kind {
    /// The API group; empty for the core group.
    pub(crate) group: &'static str,
    /// The version within the group.
    pub(crate) version: &'static str,
    /// The kind as written in objects.
    pub(crate) kind: &'static str,
    /// The kind of its lists, if it is listed.
    pub(crate) list_kind: Option<&'static str>,
    /// The name in paths.
    pub(crate) plural: &'static str,
    /// Where its objects live.
    pub(crate) scope: Scope,
    /// The name of its schema.
    pub(crate) type_name: String,
    /// Merges the second object into the first as k8s-openapi does.
    pub(crate) merge: Merge,
}

/// Merges two objects of a kind; none if one of them is not of that kind.
pub(crate) type Merge = fn(Value, Value) -> Option<Value>;

/// Where objects of a kind live.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// In no namespace.
    Cluster,
    /// In a namespace.
    Namespaced,
    /// Nowhere by themselves: they are sent to a path under another object.
    Part,
}

trait HasScope {
    const SCOPE: Scope;
}

impl HasScope for ClusterResourceScope {
    const SCOPE: Scope = Scope::Cluster;
}

impl HasScope for NamespaceResourceScope {
    const SCOPE: Scope = Scope::Namespaced;
}

impl HasScope for SubResourceScope {
    const SCOPE: Scope = Scope::Part;
}

fn unlisted<T>(schemas: &mut SchemaGenerator) -> Kind
where
    T: Resource + JsonSchema + DeepMerge + DeserializeOwned + Serialize,
    T::Scope: HasScope,
{
    schemas.subschema_for::<T>();
    Kind {
        group: T::GROUP,
        version: T::VERSION,
        kind: T::KIND,
        list_kind: None,
        plural: T::URL_PATH_SEGMENT,
        scope: T::Scope::SCOPE,
        type_name: T::schema_name().into_owned(),
        merge: merge::<T>,
    }
}

fn listed<T>(schemas: &mut SchemaGenerator) -> Kind
where
    T: ListableResource + JsonSchema + DeepMerge + DeserializeOwned + Serialize,
    T::Scope: HasScope,
{
    Kind {
        list_kind: Some(T::LIST_KIND),
        ..unlisted::<T>(schemas)
    }
}

fn merge<T: DeepMerge + DeserializeOwned + Serialize>(one: Value, other: Value) -> Option<Value> {
    let mut one: T = serde_json::from_value(one).ok()?;
    one.merge_from(serde_json::from_value(other).ok()?);
    serde_json::to_value(one).ok()
}

macro_rules! kinds {
    ($schemas:ident, $all:ident: $($how:ident $($group:ident)::+ [$($kind:ident)+])+) => {$({
        use k8s_openapi::$($group)::+ as group;
        $($all.push($how::<group::$kind>($schemas));)+
    })+};
}

/// All kinds, and the schemas of everything they refer to by name.
pub(crate) fn all() -> (Vec<Kind>, Map<String, Value>) {
    let schemas = &mut SchemaGenerator::default();
    let mut all = Vec::new();
    kinds! { schemas, all:
        listed api::core::v1 [
            ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume
            PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service
            ServiceAccount
        ]
        unlisted api::core::v1 [Binding]
        listed api::admissionregistration::v1 [
            MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration
            ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
            ValidatingWebhookConfiguration
        ]
        listed apiextensions_apiserver::pkg::apis::apiextensions::v1 [CustomResourceDefinition]
        listed kube_aggregator::pkg::apis::apiregistration::v1 [APIService]
        listed api::apps::v1 [ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet]
        unlisted api::authentication::v1 [SelfSubjectReview TokenRequest TokenReview]
        unlisted api::authorization::v1 [
            LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview
            SubjectAccessReview
        ]
        listed api::autoscaling::v1 [HorizontalPodAutoscaler]
        unlisted api::autoscaling::v1 [Scale]
        listed api::autoscaling::v2 [HorizontalPodAutoscaler]
        listed api::batch::v1 [CronJob Job]
        listed api::certificates::v1 [CertificateSigningRequest]
        listed api::coordination::v1 [Lease]
        listed api::discovery::v1 [EndpointSlice]
        listed api::events::v1 [Event]
        listed api::networking::v1 [IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR]
        listed api::node::v1 [RuntimeClass]
        listed api::policy::v1 [PodDisruptionBudget]
        unlisted api::policy::v1 [Eviction]
        listed api::rbac::v1 [ClusterRole ClusterRoleBinding Role RoleBinding]
        listed api::scheduling::v1 [PriorityClass]
        listed api::storage::v1 [
            CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment
            VolumeAttributesClass
        ]
        unlisted apimachinery::pkg::apis::meta::v1 [
            APIGroup APIGroupList APIResourceList APIVersions Status
        ]
    }
    // Not kinds of their own, but part of every document.
    schemas.subschema_for::<meta::DeleteOptions>();
    schemas.subschema_for::<meta::ListMeta>();
    schemas.subschema_for::<meta::Patch>();
    schemas.subschema_for::<meta::WatchEvent<Value>>();
    let definitions = schemas.take_definitions(false);
    (all, definitions)
}
