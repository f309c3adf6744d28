//! What is particular about each kind: defaults, what a write may change, what is valid.
//!
//! One file per kind or family. [`of`] finds a kind's rules; a kind without any has [`Plain`]'s.
//! Defaults are tables (`fill`), ordinary kinds are data (`sheet`), and validation walks an object by
//! values that know their place (`spot`).
//!
//! Upstream: `pkg/registry/<group>/<resource>/strategy.go`, `pkg/apis/<group>/v1/defaults.go`,
//! `pkg/apis/<group>/validation/validation.go`.

mod addresses;
mod admission_policies;
pub(crate) mod advice;
mod checks;
mod claims;
mod cluster;
mod conditions;
mod config;
mod cron;
mod cron_job;
mod definition;
mod endpoints;
mod event;
mod extension;
mod fields;
mod fill;
#[cfg(test)]
mod golden;
pub(crate) mod ip;
mod job;
pub(crate) mod labels;
mod limits;
mod metrics;
mod network_policy;
mod networking;
mod node;
mod pod;
mod policies;
mod quantities;
mod rbac;
mod replicas;
mod service;
mod sheet;
mod signing_request;
mod sources;
mod spot;
mod stateful_set;
mod statuses;
mod storage;
mod templates;
mod volumes;
mod webhooks;

pub(crate) use fields::field_value;
use flyball_api::Timestamp;
use flyball_schema::Resource;
pub(crate) use labels::{
    key_mistakes as label_key_mistakes, value_mistakes as label_value_mistakes,
};

use crate::field_error::FieldError;
use crate::object::Object;

/// What is particular about a kind. Objects arrive decoded, with unknown fields dropped; everything
/// that holds for all kinds (metadata, status and spec kept apart, generation of ordinary kinds) is
/// done elsewhere.
pub(crate) trait Rules: Sync {
    /// Fills in what was left out, on every read of an older version and on every write, as
    /// upstream's defaulting functions do. Must not overwrite what is there.
    fn default(&self, _object: &mut Object) {}

    /// What a new object starts with, whatever was sent.
    fn prepare_create(&self, _object: &mut Object, _now: Timestamp) {}

    /// What an update of the object itself (not of a subresource) cannot change, or changes along
    /// the way.
    fn prepare_update(&self, _new: &mut Object, _old: &Object) {}

    /// What an update of the status cannot change, or changes along the way.
    fn prepare_status_update(&self, _new: &mut Object, _old: &Object) {}

    /// What an update of another part of the object cannot change, or changes along the way; also of
    /// the status, where the time matters.
    fn prepare_part(&self, _part: &str, _new: &mut Object, _old: &Object, _now: Timestamp) {}

    /// An object as it is told and what is kept of it beside that, if there is something.
    fn hide(&self, _object: &Object) -> Option<(Object, String)> {
        None
    }

    /// Puts back what is kept of an object and not told, before it is changed.
    fn reveal(&self, _object: &mut Object, _hidden: &str) {}

    /// What is not kept of an object although it is valid.
    fn conclude(&self, _object: &mut Object) {}

    /// A field in which upstream takes an empty list for another value than none when it counts generations.
    fn tells_empty_from_none(&self) -> &'static str {
        ""
    }

    /// Whether `metadata.generation` counts changes of the spec.
    fn has_generation(&self) -> bool {
        false
    }

    /// Whether this update is one that `metadata.generation` counts.
    fn bumps_generation(&self, new: &Object, old: &Object) -> bool {
        new.get("spec") != old.get("spec")
    }

    /// The mistakes in a new object, beside those in its metadata.
    fn validate_create(&self, _object: &Object) -> Vec<FieldError> {
        Vec::new()
    }

    /// The mistakes in an update, beside those in its metadata.
    fn validate_update(&self, new: &Object, _old: &Object) -> Vec<FieldError> {
        self.validate_create(new)
    }

    /// The mistakes in an update that holds something empty at these places, where that is not the same as nothing.
    fn validate_emptied(&self, _emptied: &[String], _old: &Object) -> Vec<FieldError> {
        Vec::new()
    }

    /// The mistakes in an update of the status.
    fn validate_status_update(&self, _new: &Object, _old: &Object) -> Vec<FieldError> {
        Vec::new()
    }

    /// The mistakes in an update of another part of the object.
    fn validate_part(&self, _part: &str, _new: &Object, _old: &Object) -> Vec<FieldError> {
        Vec::new()
    }

    /// What to tell whoever creates or updates such an object although it is accepted.
    fn warnings(&self, _object: &Object) -> Vec<String> {
        Vec::new()
    }

    /// What to tell whoever updates such an object.
    fn warnings_on_update(&self, new: &Object, _old: &Object) -> Vec<String> {
        self.warnings(new)
    }

    /// Whether an update may leave out which version it is based on.
    fn updates_unconditionally(&self) -> bool {
        true
    }

    /// Fields beside `metadata.name` and `metadata.namespace` that field selectors may name.
    fn selectable_fields(&self) -> &'static [&'static str] {
        &[]
    }

    /// How a name must look.
    fn name_rule(&self) -> NameRule {
        NameRule::Subdomain
    }

    /// What is wrong with a name beside how it looks.
    fn name_mistake(&self, _object: &Object, _name: &str) -> Option<String> {
        None
    }

    /// Whether a PUT to a name that does not exist creates the object.
    fn creates_on_update(&self) -> bool {
        false
    }
}

/// How the names of a kind must look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// RFC 1123 subdomain: most kinds.
    Subdomain,
    /// RFC 1123 label: namespaces.
    Label,
    /// RFC 1035 label: services.
    Label1035,
    /// An address, written as everybody writes it: IPAddresses.
    Address,
    /// Any path segment: RBAC's kinds.
    PathSegment,
}

/// The rules of a kind that has none.
pub(crate) struct Plain;

impl Rules for Plain {}

/// Whether an update may leave out which version it was made from.
pub(crate) fn allows_unconditional_update(resource: &Resource) -> bool {
    let strict = match (resource.group.as_str(), resource.plural.as_str()) {
        ("admissionregistration.k8s.io" | "coordination.k8s.io", _) => true,
        ("apiextensions.k8s.io" | "internal.apiserver.k8s.io", _) => true,
        ("node.k8s.io", "runtimeclasses") | ("policy", "poddisruptionbudgets") => true,
        ("storage.k8s.io", plural) => matches!(
            plural,
            "csidrivers" | "csinodes" | "csistoragecapacities" | "volumeattachments"
        ),
        _ => false,
    };
    !strict
}

/// The rules of a kind.
pub(crate) fn of(resource: &Resource) -> &'static dyn Rules {
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => &pod::Pod,
        ("", "podtemplates") => &pod::TEMPLATE,
        ("", "replicationcontrollers") => &replicas::REPLICATION_CONTROLLER,
        ("", "services") => &service::SERVICE,
        ("", "endpoints") => &endpoints::ENDPOINTS,
        ("", "namespaces") => &cluster::NAMESPACE,
        ("", "nodes") => &node::NODE,
        ("", "configmaps") => &config::CONFIG_MAP,
        ("", "secrets") => &config::SECRET,
        ("", "serviceaccounts") => &config::SERVICE_ACCOUNT,
        ("", "events") => &event::CORE,
        ("", "persistentvolumes") => &volumes::PERSISTENT_VOLUME,
        ("", "persistentvolumeclaims") => &claims::PERSISTENT_VOLUME_CLAIM,
        ("", "limitranges") => &limits::LIMIT_RANGE,
        ("", "resourcequotas") => &limits::RESOURCE_QUOTA,
        ("apps", "deployments") => &replicas::DEPLOYMENT,
        ("apps", "replicasets") => &replicas::REPLICA_SET,
        ("apps", "daemonsets") => &replicas::DAEMON_SET,
        ("apps", "statefulsets") => &stateful_set::STATEFUL_SET,
        ("apps", "controllerrevisions") => &stateful_set::CONTROLLER_REVISION,
        ("batch", "jobs") => &job::JOB,
        ("batch", "cronjobs") => &cron_job::CRON_JOB,
        ("policy", "poddisruptionbudgets") => &policies::POD_DISRUPTION_BUDGET,
        ("autoscaling", "horizontalpodautoscalers") => match resource.version.as_str() {
            "v1" => &policies::AUTOSCALER_V1,
            _ => &policies::AUTOSCALER,
        },
        ("networking.k8s.io", "ingresses") => &networking::INGRESS,
        ("networking.k8s.io", "ingressclasses") => &networking::INGRESS_CLASS,
        ("networking.k8s.io", "ipaddresses") => &addresses::IP_ADDRESS,
        ("networking.k8s.io", "servicecidrs") => &addresses::SERVICE_CIDR,
        ("networking.k8s.io", "networkpolicies") => &network_policy::NETWORK_POLICY,
        ("discovery.k8s.io", "endpointslices") => &endpoints::ENDPOINT_SLICE,
        ("storage.k8s.io", "storageclasses") => &storage::STORAGE_CLASS,
        ("storage.k8s.io", "csidrivers") => &storage::CSI_DRIVER,
        ("storage.k8s.io", "csinodes") => &storage::CSI_NODE,
        ("storage.k8s.io", "csistoragecapacities") => &storage::CSI_STORAGE_CAPACITY,
        ("storage.k8s.io", "volumeattachments") => &storage::VOLUME_ATTACHMENT,
        ("storage.k8s.io", "volumeattributesclasses") => &storage::VOLUME_ATTRIBUTES_CLASS,
        ("scheduling.k8s.io", "priorityclasses") => &cluster::PRIORITY_CLASS,
        ("node.k8s.io", "runtimeclasses") => &cluster::RUNTIME_CLASS,
        ("coordination.k8s.io", "leases") => &cluster::LEASE,
        ("events.k8s.io", "events") => &event::EVENTS,
        ("rbac.authorization.k8s.io", plural) => match plural {
            "roles" => &rbac::ROLE,
            "clusterroles" => &rbac::CLUSTER_ROLE,
            "rolebindings" => &rbac::ROLE_BINDING,
            "clusterrolebindings" => &rbac::CLUSTER_ROLE_BINDING,
            _ => &Plain,
        },
        ("certificates.k8s.io", "certificatesigningrequests") => &signing_request::SIGNING_REQUEST,
        ("admissionregistration.k8s.io", plural) => match plural {
            "validatingwebhookconfigurations" => &webhooks::VALIDATING_WEBHOOKS,
            "mutatingwebhookconfigurations" => &webhooks::MUTATING_WEBHOOKS,
            "validatingadmissionpolicies" => &admission_policies::VALIDATING_POLICY,
            "mutatingadmissionpolicies" => &admission_policies::MUTATING_POLICY,
            "validatingadmissionpolicybindings" => &admission_policies::VALIDATING_BINDING,
            "mutatingadmissionpolicybindings" => &admission_policies::MUTATING_BINDING,
            _ => &Plain,
        },
        ("apiextensions.k8s.io", "customresourcedefinitions") => &definition::Definition,
        ("apiregistration.k8s.io", "apiservices") => &extension::API_SERVICE,
        _ => &Plain,
    }
}
