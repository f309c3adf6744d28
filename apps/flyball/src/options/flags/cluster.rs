//! What the cluster needs besides pods, nodes and volumes: names, identities, endpoints, limits.

use super::{Effect, Flag, Group, flag, tuning};
use crate::options::value::Kind::{Bool, Duration, Int32, Text};

pub(super) const SERVICE_LB: &Group = &Group {
    title: "Service-lb-controller flags",
    effect: Effect::Nothing(
        "load balancers are made by the cloud provider's own controller manager",
    ),
    flags: &[flag(
        Int32,
        "concurrent-service-syncs",
        "1",
        "ServiceController.ConcurrentServiceSyncs",
        "Services given load balancers at the same time.",
    )],
};

pub(super) const CERTIFICATE_SIGNING: &Group = &tuning(
    "Certificatesigningrequest-signing-controller flags",
    "certificatesigningrequest-signing-controller",
    SIGNING_FLAGS,
);

const SIGNING_FLAGS: &[Flag] = &[
    flag(
        Text,
        "cluster-signing-cert-file",
        "",
        "CSRSigningController.ClusterSigningCertFile",
        "CA certificate for all four signers; excludes the flags for a single signer.",
    ),
    flag(
        Duration,
        "cluster-signing-duration",
        "8760h0m0s",
        "CSRSigningController.ClusterSigningDuration",
        "Longest life of a signed certificate.",
    ),
    flag(
        Text,
        "cluster-signing-key-file",
        "",
        "CSRSigningController.ClusterSigningKeyFile",
        "Key of that CA certificate.",
    ),
    flag(
        Text,
        "cluster-signing-kube-apiserver-client-cert-file",
        "",
        "CSRSigningController.KubeAPIServerClientSignerConfiguration.CertFile",
        "CA certificate for kubernetes.io/kube-apiserver-client only.",
    ),
    flag(
        Text,
        "cluster-signing-kube-apiserver-client-key-file",
        "",
        "CSRSigningController.KubeAPIServerClientSignerConfiguration.KeyFile",
        "Key of that CA certificate.",
    ),
    flag(
        Text,
        "cluster-signing-kubelet-client-cert-file",
        "",
        "CSRSigningController.KubeletClientSignerConfiguration.CertFile",
        "CA certificate for kubernetes.io/kube-apiserver-client-kubelet only.",
    ),
    flag(
        Text,
        "cluster-signing-kubelet-client-key-file",
        "",
        "CSRSigningController.KubeletClientSignerConfiguration.KeyFile",
        "Key of that CA certificate.",
    ),
    flag(
        Text,
        "cluster-signing-kubelet-serving-cert-file",
        "",
        "CSRSigningController.KubeletServingSignerConfiguration.CertFile",
        "CA certificate for kubernetes.io/kubelet-serving only.",
    ),
    flag(
        Text,
        "cluster-signing-kubelet-serving-key-file",
        "",
        "CSRSigningController.KubeletServingSignerConfiguration.KeyFile",
        "Key of that CA certificate.",
    ),
    flag(
        Text,
        "cluster-signing-legacy-unknown-cert-file",
        "",
        "CSRSigningController.LegacyUnknownSignerConfiguration.CertFile",
        "CA certificate for kubernetes.io/legacy-unknown only.",
    ),
    flag(
        Text,
        "cluster-signing-legacy-unknown-key-file",
        "",
        "CSRSigningController.LegacyUnknownSignerConfiguration.KeyFile",
        "Key of that CA certificate.",
    ),
];

pub(super) const ENDPOINTS: &Group = &tuning(
    "Endpoints-controller flags",
    "endpoints-controller",
    &[
        flag(
            Int32,
            "concurrent-endpoint-syncs",
            "5",
            "EndpointController.ConcurrentEndpointSyncs",
            "Services whose Endpoints are worked on at the same time.",
        ),
        flag(
            Duration,
            "endpoint-updates-batch-period",
            "0s",
            "EndpointController.EndpointUpdatesBatchPeriod",
            "Wait this long after a pod's change, to write several at once.",
        ),
    ],
);

pub(super) const ENDPOINT_SLICE: &Group = &tuning(
    "Endpointslice-controller flags",
    "endpointslice-controller",
    &[
        flag(
            Int32,
            "concurrent-service-endpoint-syncs",
            "5",
            "EndpointSliceController.ConcurrentServiceEndpointSyncs",
            "Services whose EndpointSlices are worked on at the same time.",
        ),
        flag(
            Duration,
            "endpointslice-updates-batch-period",
            "0s",
            "EndpointSliceController.EndpointUpdatesBatchPeriod",
            "Wait this long after a pod's change, to write several at once.",
        ),
        flag(
            Int32,
            "max-endpoints-per-slice",
            "100",
            "EndpointSliceController.MaxEndpointsPerSlice",
            "Most endpoints put into one slice.",
        ),
    ],
);

pub(super) const ENDPOINT_SLICE_MIRRORING: &Group = &tuning(
    "Endpointslice-mirroring-controller flags",
    "endpointslice-mirroring-controller",
    &[
        flag(
            Int32,
            "mirroring-concurrent-service-endpoint-syncs",
            "5",
            "EndpointSliceMirroringController.MirroringConcurrentServiceEndpointSyncs",
            "Endpoints mirrored at the same time.",
        ),
        flag(
            Duration,
            "mirroring-endpointslice-updates-batch-period",
            "0s",
            "EndpointSliceMirroringController.MirroringEndpointUpdatesBatchPeriod",
            "Wait this long after a change, to write several at once.",
        ),
        flag(
            Int32,
            "mirroring-max-endpoints-per-subset",
            "1000",
            "EndpointSliceMirroringController.MirroringMaxEndpointsPerSubset",
            "Most endpoints mirrored from one subset.",
        ),
    ],
);

pub(super) const GARBAGE_COLLECTOR: &Group = &tuning(
    "Garbage-collector-controller flags",
    "garbage-collector-controller",
    &[
        flag(
            Int32,
            "concurrent-gc-syncs",
            "20",
            "GarbageCollectorController.ConcurrentGCSyncs",
            "Workers of the garbage collector.",
        ),
        flag(
            Bool,
            "enable-garbage-collector",
            "true",
            "GarbageCollectorController.EnableGarbageCollector",
            "Delete objects whose owners are gone; must agree with the API server's flag.",
        ),
    ],
);

pub(super) const LEGACY_TOKEN_CLEANER: &Group = &tuning(
    "Legacy-serviceaccount-token-cleaner-controller flags",
    "legacy-serviceaccount-token-cleaner-controller",
    &[flag(
        Duration,
        "legacy-service-account-token-clean-up-period",
        "8760h0m0s",
        "LegacySATokenCleaner.CleanUpPeriod",
        "How long a secret-based token stays unused before it is deleted.",
    )],
);

pub(super) const NAMESPACE: &Group = &tuning(
    "Namespace-controller flags",
    "namespace-controller",
    &[
        flag(
            Int32,
            "concurrent-namespace-syncs",
            "10",
            "NamespaceController.ConcurrentNamespaceSyncs",
            "Namespaces emptied at the same time.",
        ),
        flag(
            Duration,
            "namespace-sync-period",
            "5m0s",
            "NamespaceController.NamespaceSyncPeriod",
            "How often every namespace is looked at.",
        ),
    ],
);

pub(super) const RESOURCE_QUOTA: &Group = &tuning(
    "Resourcequota-controller flags",
    "resourcequota-controller",
    &[
        flag(
            Int32,
            "concurrent-resource-quota-syncs",
            "5",
            "ResourceQuotaController.ConcurrentResourceQuotaSyncs",
            "Quotas worked on at the same time.",
        ),
        flag(
            Duration,
            "resource-quota-sync-period",
            "5m0s",
            "ResourceQuotaController.ResourceQuotaSyncPeriod",
            "How often every quota's usage is counted anew.",
        ),
    ],
);

const TOKENS: Effect = Effect::Controller("serviceaccount-token-controller");

pub(super) const SERVICE_ACCOUNT: &Group = &tuning(
    "Serviceaccount-controller flags",
    "serviceaccount-controller",
    &[
        flag(
            Int32,
            "concurrent-serviceaccount-token-syncs",
            "5",
            "SAController.ConcurrentSATokenSyncs",
            "Token secrets worked on at the same time.",
        )
        .effect(TOKENS),
        flag(
            Text,
            "root-ca-file",
            "",
            "SAController.RootCAFile",
            "CA bundle published to every namespace and put into token secrets.",
        )
        .effect(Effect::Controller(
            "root-ca-certificate-publisher-controller",
        )),
        flag(
            Text,
            "service-account-private-key-file",
            "",
            "SAController.ServiceAccountKeyFile",
            "Key that signs secret-based tokens; without it none are made.",
        )
        .effect(TOKENS),
    ],
);

pub(super) const ADMISSION_POLICY_STATUS: &Group = &tuning(
    "Validatingadmissionpolicy-status-controller flags",
    "validatingadmissionpolicy-status-controller",
    &[flag(
        Int32,
        "concurrent-validating-admission-policy-status-syncs",
        "5",
        "ValidatingAdmissionPolicyStatusController.ConcurrentPolicySyncs",
        "Policies type-checked at the same time.",
    )],
);
