//! What the fields of a pod template are, as far as comparing needs to know.
//!
//! Facts read off `PodTemplateSpec` of k8s.io/api core/v1 v0.36.4: 110 types, 318 field names. The
//! names hardly clash, so a field is looked up by its name and, for the few that do clash, by the
//! field it is in. Elements of a list are in the field of the list.

/// What a value is, and whether its mere presence says something.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'n> {
    pub(crate) kind: Kind<'n>,
    /// Upstream has a pointer here, so that an empty value is not the same as none:
    /// `namespaceSelector: {}` is all namespaces, no `namespaceSelector` is this one.
    pub(crate) presence: bool,
}

/// How the inside of a value is to be read.
#[derive(Clone, Copy)]
pub(crate) enum Kind<'n> {
    /// An object is a struct, found in the field named here; also any plain value or list.
    Fields(&'n str),
    /// An object is a map from names to plain values.
    Map,
    /// The labels of the template itself, one of which may be ignored.
    TemplateLabels,
    /// An object is a map from resources to quantities.
    QuantityMap,
    /// A text or number is a quantity.
    Quantity,
    /// A text is a time.
    Time,
    /// Nothing in here may be taken for nothing.
    Verbatim,
}

/// The whole template.
pub(crate) const TEMPLATE: Slot<'static> = Slot {
    kind: Kind::Fields(""),
    presence: false,
};

impl<'n> Kind<'n> {
    /// What the member `name` of an object of this kind is; `None` where members are entries of a
    /// map, whose presence is part of the map's value.
    pub(crate) fn field(self, name: &'n str) -> Option<Slot<'n>> {
        match self {
            Kind::Fields(within) => Some(field(within, name)),
            _ => None,
        }
    }

    /// What the elements of a list, or the entries of a map, of this kind are.
    pub(crate) fn inside(self) -> Slot<'n> {
        let (kind, presence) = match self {
            Kind::QuantityMap => (Kind::Quantity, false),
            Kind::Map | Kind::TemplateLabels => (Kind::Fields(""), false),
            Kind::Verbatim => (Kind::Verbatim, true),
            same => (same, false),
        };
        Slot { kind, presence }
    }
}

fn field<'n>(within: &'n str, name: &'n str) -> Slot<'n> {
    let kind = match (within, name) {
        ("metadata", "labels") => Kind::TemplateLabels,
        // A claim template has metadata and a spec of its own.
        ("volumeClaimTemplate", "metadata") => Kind::Fields("claim metadata"),
        ("volumeClaimTemplate", "spec") => Kind::Fields("claim spec"),
        ("flexVolume", "options") => Kind::Map,
        (_, "limits" | "overhead" | "requests") => Kind::QuantityMap,
        (_, "divisor" | "sizeLimit") => Kind::Quantity,
        (_, "creationTimestamp" | "deletionTimestamp" | "time") => Kind::Time,
        (_, "annotations" | "labels" | "matchLabels" | "nodeSelector") => Kind::Map,
        (_, "userAnnotations" | "volumeAttributes") => Kind::Map,
        (_, "fieldsV1") => Kind::Verbatim,
        _ => Kind::Fields(name),
    };
    Slot {
        kind,
        presence: presence_matters(within, name),
    }
}

/// Whether upstream has a pointer here.
fn presence_matters(within: &str, name: &str) -> bool {
    match name {
        "fsType" | "readOnly" => matches!(within, "azureDisk" | "csi"),
        "image" => within == "volumes",
        "kind" => within == "azureDisk",
        "lun" => within == "fc",
        "name" | "signerName" => within == "clusterTrustBundle",
        "namespace" => within == "dataSourceRef",
        "requiredDuringSchedulingIgnoredDuringExecution" => within == "nodeAffinity",
        "resources" => within == "spec",
        "restartPolicy" => matches!(
            within,
            "containers" | "ephemeralContainers" | "initContainers"
        ),
        "type" => within == "hostPath",
        "value" => within == "options",
        _ => POINTERS.binary_search(&name).is_ok(),
    }
}

/// Fields that are pointers wherever they occur.
#[rustfmt::skip]
const POINTERS: &[&str] = &[
    "activeDeadlineSeconds", "affinity", "allowPrivilegeEscalation", "apiGroup", "appArmorProfile",
    "automountServiceAccountToken", "awsElasticBlockStore", "azureDisk", "azureFile",
    "blockOwnerDeletion", "cachingMode", "capabilities", "cephfs", "cinder", "clusterTrustBundle",
    "configMap", "configMapKeyRef", "configMapRef", "controller", "csi", "dataSource",
    "dataSourceRef", "defaultMode", "deletionGracePeriodSeconds", "deletionTimestamp", "dnsConfig",
    "downwardAPI", "emptyDir", "enableServiceLinks", "ephemeral", "exec", "exitCodes",
    "expirationSeconds", "fc", "fieldRef", "fieldsV1", "fileKeyRef", "flexVolume", "flocker",
    "fsGroup", "fsGroupChangePolicy", "gcePersistentDisk", "gitRepo", "glusterfs",
    "gmsaCredentialSpec", "gmsaCredentialSpecName", "grpc", "hostPath", "hostProcess", "hostUsers",
    "hostnameOverride", "httpGet", "initiatorName", "iscsi", "labelSelector", "lifecycle",
    "livenessProbe", "localhostProfile", "maxExpirationSeconds", "minDomains", "mode",
    "mountPropagation", "namespaceSelector", "nfs", "nodeAffinity", "nodeAffinityPolicy",
    "nodePublishSecretRef", "nodeTaintsPolicy", "optional", "os", "persistentVolumeClaim",
    "photonPersistentDisk", "podAffinity", "podAntiAffinity", "podCertificate", "podGroupName",
    "portworxVolume", "postStart", "preStop", "preemptionPolicy", "priority", "privileged",
    "procMount", "projected", "quobyte", "rbd", "readOnlyRootFilesystem", "readinessProbe",
    "recursiveReadOnly", "resourceClaimName", "resourceClaimTemplateName", "resourceFieldRef",
    "runAsGroup", "runAsNonRoot", "runAsUser", "runAsUserName", "runtimeClassName", "scaleIO",
    "schedulingGroup", "seLinuxChangePolicy", "seLinuxOptions", "seccompProfile", "secret",
    "secretKeyRef", "secretRef", "securityContext", "selector", "service", "serviceAccountToken",
    "setHostnameAsFQDN", "shareProcessNamespace", "sizeLimit", "sleep", "startupProbe",
    "stopSignal", "storageClassName", "storageos", "supplementalGroupsPolicy", "tcpSocket",
    "terminationGracePeriodSeconds", "time", "tolerationSeconds", "valueFrom",
    "volumeAttributesClassName", "volumeClaimTemplate", "volumeMode", "vsphereVolume",
    "windowsOptions",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_pointers_is_sorted_so_that_it_can_be_searched() {
        assert!(POINTERS.is_sorted());
    }
}
