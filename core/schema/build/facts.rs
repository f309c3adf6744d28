//! What upstream's types say about merging and k8s-openapi does not show: the markers of its `types.go` files.
//!
//! `tests/upstream` compares the outcome with upstream's published document, field by field.

use crate::probe::Merged;

/// How a strategic merge patch sees a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Strategic {
    Replace,
    MergeBy(String),
    MergeValues,
}

const CORE: &str = "io.k8s.api.core.v1.";

/// What server-side apply and strategic merge patches make of a list that k8s-openapi merges like this.
pub(crate) fn list(type_name: &str, field: &str, merged: Merged) -> (Merged, Strategic) {
    let by = |keys: &[&str]| Merged::By(keys.iter().map(|key| (*key).to_owned()).collect());
    let merge_by = |key: &str| Strategic::MergeBy(key.to_owned());
    match (type_name.strip_prefix(CORE).unwrap_or(type_name), field) {
        // The keys of the two ways differ, and k8s-openapi goes by those of patches.
        ("Container" | "EphemeralContainer", "ports") => (
            by(&["containerPort", "protocol"]),
            merge_by("containerPort"),
        ),
        ("ServiceSpec", "ports") => (by(&["port", "protocol"]), merge_by("port")),
        ("PodSpec", "topologySpreadConstraints") => (
            by(&["topologyKey", "whenUnsatisfiable"]),
            merge_by("topologyKey"),
        ),
        // Only patches merge.
        ("io.k8s.api.batch.v1.JobStatus", "conditions") => (Merged::Atomic, merge_by("type")),
        ("PodStatus", "hostIPs") => (Merged::Atomic, merge_by("ip")),
        // Only server-side apply merges.
        (
            "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyStatus"
            | "io.k8s.api.certificates.v1.CertificateSigningRequestStatus"
            | "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus",
            "conditions",
        ) => (by(&["type"]), Strategic::Replace),
        ("ResourceRequirements", "claims") => (by(&["name"]), Strategic::Replace),
        ("ResourceStatus", "resources") => (by(&["resourceID"]), Strategic::Replace),
        // Sets that patches merge; the other sets are replaced.
        ("NodeSpec", "podCIDRs")
        | ("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "finalizers") => {
            (Merged::Set, Strategic::MergeValues)
        }
        // Marked although they lie below an atomic list, where nothing merges.
        ("ContainerStatus", "allocatedResourcesStatus") => (by(&["name"]), merge_by("name")),
        ("ContainerStatus", "volumeMounts") => (by(&["mountPath"]), merge_by("mountPath")),
        (
            "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps",
            "x-kubernetes-validations",
        ) => (by(&["rule"]), merge_by("rule")),
        ("ContainerRestartRuleOnExitCodes", "values")
        | ("NodeAllocatableResourceClaimStatus", "containers")
        | ("io.k8s.api.batch.v1.PodFailurePolicyOnExitCodesRequirement", "values")
        | ("io.k8s.api.discovery.v1.Endpoint", "addresses") => (Merged::Set, Strategic::Replace),
        _ => match merged {
            Merged::By(keys) => {
                let strategic = keys.first().map_or(Strategic::Replace, |key| merge_by(key));
                (Merged::By(keys), strategic)
            }
            merged => (merged, Strategic::Replace),
        },
    }
}

/// Whether objects of a type have one owner as a whole.
pub(crate) fn is_atomic(type_name: &str) -> bool {
    const TYPES: &[&str] = &[
        "io.k8s.api.admissionregistration.v1.MatchResources",
        "io.k8s.api.admissionregistration.v1.NamedRuleWithOperations",
        "io.k8s.api.admissionregistration.v1.ParamKind",
        "io.k8s.api.admissionregistration.v1.ParamRef",
        "io.k8s.api.admissionregistration.v1.Variable",
        "io.k8s.api.autoscaling.v1.CrossVersionObjectReference",
        "io.k8s.api.core.v1.ConfigMapKeySelector",
        "io.k8s.api.core.v1.EndpointAddress",
        "io.k8s.api.core.v1.EndpointPort",
        "io.k8s.api.core.v1.FileKeySelector",
        "io.k8s.api.core.v1.LocalObjectReference",
        "io.k8s.api.core.v1.NodeSelector",
        "io.k8s.api.core.v1.NodeSelectorTerm",
        "io.k8s.api.core.v1.ObjectFieldSelector",
        "io.k8s.api.core.v1.ObjectReference",
        "io.k8s.api.core.v1.ResourceFieldSelector",
        "io.k8s.api.core.v1.ScopeSelector",
        "io.k8s.api.core.v1.SecretKeySelector",
        "io.k8s.api.core.v1.SecretReference",
        "io.k8s.api.core.v1.TopologySelectorTerm",
        "io.k8s.api.core.v1.TypedLocalObjectReference",
        "io.k8s.api.discovery.v1.EndpointPort",
        "io.k8s.api.networking.v1.ServiceBackendPort",
        "io.k8s.api.rbac.v1.RoleRef",
        "io.k8s.api.rbac.v1.Subject",
        "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector",
        "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference",
    ];
    TYPES.contains(&type_name)
}

/// Whether a field's own marker undoes the atomicity of its type.
pub(crate) fn is_granular(type_name: &str, field: &str) -> bool {
    (type_name, field) == ("io.k8s.api.core.v1.PersistentVolumeSpec", "claimRef")
}

/// Whether a strategic merge patch may say which keys stay.
pub(crate) fn retains_keys(type_name: &str, field: &str) -> bool {
    matches!(
        (type_name, field),
        ("io.k8s.api.apps.v1.DeploymentSpec", "strategy")
            | ("io.k8s.api.core.v1.PodSpec", "resourceClaims" | "volumes")
            | ("io.k8s.api.core.v1.PodStatus", "resourceClaimStatuses")
    )
}

/// Whether a strategic merge patch sets an object as a whole.
pub(crate) fn is_replaced(type_name: &str, field: &str) -> bool {
    (type_name, field) == ("io.k8s.api.policy.v1.PodDisruptionBudgetSpec", "selector")
}

/// Whether a field must be there, given what k8s-openapi says.
///
/// It says more than upstream where Go would write an empty value anyway.
pub(crate) fn is_required(type_name: &str, field: &str, stated: bool) -> bool {
    match (type_name.strip_prefix(CORE).unwrap_or(type_name), field) {
        ("Event", "metadata") => true,
        (_, "metadata") => false,
        (
            "ConfigMapEnvSource"
            | "ConfigMapKeySelector"
            | "ConfigMapProjection"
            | "ConfigMapVolumeSource"
            | "LocalObjectReference"
            | "SecretEnvSource"
            | "SecretKeySelector"
            | "SecretProjection",
            "name",
        ) => false,
        ("io.k8s.api.events.v1.Event", "eventTime") => true,
        _ => stated,
    }
}
