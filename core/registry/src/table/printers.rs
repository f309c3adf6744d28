//! Which kind is shown how.

use super::columns::Printer;
use super::{
    access, admission, autoscaling, cluster, events, jobs, nodes, pods, services, volumes,
    workloads,
};

/// How a built-in kind is shown.
pub(super) fn of(group: &str, kind: &str) -> &'static Printer {
    match (group, kind) {
        ("", "ComponentStatus") => &cluster::COMPONENT_STATUSES,
        ("", "ConfigMap") => &cluster::CONFIG_MAPS,
        ("", "Endpoints") => &services::ENDPOINTS,
        ("" | "events.k8s.io", "Event") => &events::EVENTS,
        ("", "Namespace") => &cluster::NAMESPACES,
        ("", "Node") => &nodes::NODES,
        ("", "PersistentVolume") => &volumes::PERSISTENT_VOLUMES,
        ("", "PersistentVolumeClaim") => &volumes::PERSISTENT_VOLUME_CLAIMS,
        ("", "Pod") => &pods::PODS,
        ("", "PodTemplate") => &workloads::POD_TEMPLATES,
        ("", "ReplicationController") => &workloads::REPLICATION_CONTROLLERS,
        ("", "ResourceQuota") => &cluster::RESOURCE_QUOTAS,
        ("", "Secret") => &access::SECRETS,
        ("", "Service") => &services::SERVICES,
        ("", "ServiceAccount") => &access::SERVICE_ACCOUNTS,
        ("admissionregistration.k8s.io", kind) => match kind {
            "MutatingAdmissionPolicy" => &admission::MUTATING_POLICIES,
            "ValidatingAdmissionPolicy" => &admission::VALIDATING_POLICIES,
            "MutatingAdmissionPolicyBinding" | "ValidatingAdmissionPolicyBinding" => {
                &admission::POLICY_BINDINGS
            }
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
                &admission::WEBHOOKS
            }
            _ => &cluster::OTHERS,
        },
        ("apiregistration.k8s.io", "APIService") => &admission::API_SERVICES,
        ("apps", "ControllerRevision") => &workloads::CONTROLLER_REVISIONS,
        ("apps", "DaemonSet") => &workloads::DAEMON_SETS,
        ("apps", "Deployment") => &workloads::DEPLOYMENTS,
        ("apps", "ReplicaSet") => &workloads::REPLICA_SETS,
        ("apps", "StatefulSet") => &workloads::STATEFUL_SETS,
        ("autoscaling", "HorizontalPodAutoscaler") => &autoscaling::AUTOSCALERS,
        ("autoscaling", "Scale") => &autoscaling::SCALES,
        ("autoscaling", "CustomScale") => &autoscaling::CUSTOM_SCALES,
        ("batch", "CronJob") => &jobs::CRON_JOBS,
        ("batch", "Job") => &jobs::JOBS,
        ("certificates.k8s.io", "CertificateSigningRequest") => {
            &access::CERTIFICATE_SIGNING_REQUESTS
        }
        ("coordination.k8s.io", "Lease") => &nodes::LEASES,
        ("discovery.k8s.io", "EndpointSlice") => &services::ENDPOINT_SLICES,
        ("networking.k8s.io", "Ingress") => &services::INGRESSES,
        ("networking.k8s.io", "IngressClass") => &services::INGRESS_CLASSES,
        ("networking.k8s.io", "IPAddress") => &services::IP_ADDRESSES,
        ("networking.k8s.io", "NetworkPolicy") => &services::NETWORK_POLICIES,
        ("networking.k8s.io", "ServiceCIDR") => &services::SERVICE_CIDRS,
        ("node.k8s.io", "RuntimeClass") => &nodes::RUNTIME_CLASSES,
        ("policy", "PodDisruptionBudget") => &workloads::POD_DISRUPTION_BUDGETS,
        ("rbac.authorization.k8s.io", "ClusterRoleBinding" | "RoleBinding") => {
            &access::ROLE_BINDINGS
        }
        ("scheduling.k8s.io", "PriorityClass") => &cluster::PRIORITY_CLASSES,
        ("storage.k8s.io", "CSIDriver") => &volumes::CSI_DRIVERS,
        ("storage.k8s.io", "CSINode") => &volumes::CSI_NODES,
        ("storage.k8s.io", "StorageClass") => &volumes::STORAGE_CLASSES,
        ("storage.k8s.io", "VolumeAttachment") => &volumes::VOLUME_ATTACHMENTS,
        ("storage.k8s.io", "VolumeAttributesClass") => &volumes::VOLUME_ATTRIBUTES_CLASSES,
        _ => &cluster::OTHERS,
    }
}
