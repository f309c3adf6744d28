//! What upstream's storage offers for each kind: verbs, subresources, short names, categories.
//!
//! The facts are those of `pkg/registry/*/rest/storage_*.go` and `pkg/registry/**/storage/storage.go`. Subresources
//! that stream from a container (attach, exec, log, portforward, proxy) need a kubelet and are left out.

/// What a server offers for a kind.
pub(crate) struct Offer {
    /// The group, version and plural name of the resource.
    pub(crate) of: (&'static str, &'static str, &'static str),
    /// What can be done with it.
    pub(crate) verbs: &'static [&'static str],
    /// Other names that people type.
    pub(crate) short_names: &'static [&'static str],
    /// The groups of resources it belongs to.
    pub(crate) categories: &'static [&'static str],
    /// Parts of its objects that have paths of their own.
    pub(crate) parts: &'static [Part],
}

/// A subresource.
pub(crate) struct Part {
    /// The name in paths.
    pub(crate) name: &'static str,
    /// The group, version and kind of what is sent there; that of the resource itself if there is none.
    pub(crate) of: Option<(&'static str, &'static str, &'static str)>,
    /// What can be done with it.
    pub(crate) verbs: &'static [&'static str],
}

const ALL: &[&str] = &[
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];
const CREATE: &[&str] = &["create"];
const WRITE: &[&str] = &["get", "patch", "update"];

const STATUS: Part = itself("status", WRITE);
const SCALE: Part = other("scale", ("autoscaling", "v1", "Scale"), WRITE);

const fn itself(name: &'static str, verbs: &'static [&'static str]) -> Part {
    Part {
        name,
        of: None,
        verbs,
    }
}

const fn other(
    name: &'static str,
    of: (&'static str, &'static str, &'static str),
    verbs: &'static [&'static str],
) -> Part {
    Part {
        name,
        of: Some(of),
        verbs,
    }
}

macro_rules! offers {
    ($($group:literal $version:literal { $($plural:literal $verbs:ident [$($short:literal),*] [$($category:literal),*] [$($part:expr),*];)+ })+) => {
        &[$($(Offer {
            of: ($group, $version, $plural),
            verbs: $verbs,
            short_names: &[$($short),*],
            categories: &[$($category),*],
            parts: &[$($part),*],
        },)+)+]
    };
}

/// All resources.
pub(crate) const OFFERS: &[Offer] = offers! {
    "" "v1" {
        "bindings" CREATE [] [] [];
        "componentstatuses" READ ["cs"] [] [];
        "configmaps" ALL ["cm"] [] [];
        "endpoints" ALL ["ep"] [] [];
        "events" ALL ["ev"] [] [];
        "limitranges" ALL ["limits"] [] [];
        "namespaces" NO_COLLECTION ["ns"] [] [itself("finalize", &["update"]), STATUS];
        "nodes" ALL ["no"] [] [STATUS];
        "persistentvolumeclaims" ALL ["pvc"] [] [STATUS];
        "persistentvolumes" ALL ["pv"] [] [STATUS];
        "pods" ALL ["po"] ["all"] [
            other("binding", ("", "v1", "Binding"), CREATE),
            itself("ephemeralcontainers", WRITE),
            other("eviction", ("policy", "v1", "Eviction"), CREATE),
            itself("resize", WRITE),
            STATUS
        ];
        "podtemplates" ALL [] [] [];
        "replicationcontrollers" ALL ["rc"] ["all"] [SCALE, STATUS];
        "resourcequotas" ALL ["quota"] [] [STATUS];
        "secrets" ALL [] [] [];
        "serviceaccounts" ALL ["sa"] [] [
            other("token", ("authentication.k8s.io", "v1", "TokenRequest"), CREATE)
        ];
        "services" ALL ["svc"] ["all"] [STATUS];
    }
    "admissionregistration.k8s.io" "v1" {
        "mutatingadmissionpolicies" ALL [] ["api-extensions"] [];
        "mutatingadmissionpolicybindings" ALL [] ["api-extensions"] [];
        "mutatingwebhookconfigurations" ALL [] ["api-extensions"] [];
        "validatingadmissionpolicies" ALL [] ["api-extensions"] [STATUS];
        "validatingadmissionpolicybindings" ALL [] ["api-extensions"] [];
        "validatingwebhookconfigurations" ALL [] ["api-extensions"] [];
    }
    "apiextensions.k8s.io" "v1" {
        "customresourcedefinitions" ALL ["crd", "crds"] ["api-extensions"] [STATUS];
    }
    "apiregistration.k8s.io" "v1" {
        "apiservices" ALL [] ["api-extensions"] [STATUS];
    }
    "apps" "v1" {
        "controllerrevisions" ALL [] [] [];
        "daemonsets" ALL ["ds"] ["all"] [STATUS];
        "deployments" ALL ["deploy"] ["all"] [SCALE, STATUS];
        "replicasets" ALL ["rs"] ["all"] [SCALE, STATUS];
        "statefulsets" ALL ["sts"] ["all"] [SCALE, STATUS];
    }
    "authentication.k8s.io" "v1" {
        "selfsubjectreviews" CREATE [] [] [];
        "tokenreviews" CREATE [] [] [];
    }
    "authorization.k8s.io" "v1" {
        "localsubjectaccessreviews" CREATE [] [] [];
        "selfsubjectaccessreviews" CREATE [] [] [];
        "selfsubjectrulesreviews" CREATE [] [] [];
        "subjectaccessreviews" CREATE [] [] [];
    }
    "autoscaling" "v1" {
        "horizontalpodautoscalers" ALL ["hpa"] ["all"] [STATUS];
    }
    "autoscaling" "v2" {
        "horizontalpodautoscalers" ALL ["hpa"] ["all"] [STATUS];
    }
    "batch" "v1" {
        "cronjobs" ALL ["cj"] ["all"] [STATUS];
        "jobs" ALL [] ["all"] [STATUS];
    }
    "certificates.k8s.io" "v1" {
        "certificatesigningrequests" ALL ["csr"] [] [itself("approval", WRITE), STATUS];
    }
    "coordination.k8s.io" "v1" {
        "leases" ALL [] [] [];
    }
    "discovery.k8s.io" "v1" {
        "endpointslices" ALL [] [] [];
    }
    "events.k8s.io" "v1" {
        "events" ALL ["ev"] [] [];
    }
    "networking.k8s.io" "v1" {
        "ingressclasses" ALL [] [] [];
        "ingresses" ALL ["ing"] [] [STATUS];
        "ipaddresses" ALL ["ip"] [] [];
        "networkpolicies" ALL ["netpol"] [] [];
        "servicecidrs" ALL [] [] [STATUS];
    }
    "node.k8s.io" "v1" {
        "runtimeclasses" ALL [] [] [];
    }
    "policy" "v1" {
        "poddisruptionbudgets" ALL ["pdb"] [] [STATUS];
    }
    "rbac.authorization.k8s.io" "v1" {
        "clusterrolebindings" ALL [] [] [];
        "clusterroles" ALL [] [] [];
        "rolebindings" ALL [] [] [];
        "roles" ALL [] [] [];
    }
    "scheduling.k8s.io" "v1" {
        "priorityclasses" ALL ["pc"] [] [];
    }
    "storage.k8s.io" "v1" {
        "csidrivers" ALL [] [] [];
        "csinodes" ALL [] [] [];
        "csistoragecapacities" ALL [] [] [];
        "storageclasses" ALL ["sc"] [] [];
        "volumeattachments" ALL [] [] [STATUS];
        "volumeattributesclasses" ALL ["vac"] [] [];
    }
};

const READ: &[&str] = &["get", "list"];
const NO_COLLECTION: &[&str] = &[
    "create", "delete", "get", "list", "patch", "update", "watch",
];
