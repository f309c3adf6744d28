//! The proof itself.
//!
//! For each kind: a full object of upstream's type is read by the view. The view must then be full
//! as well (each field it has was found, so the name exists upstream), must say the same as the
//! full object wherever it says anything (the shape is right), and upstream's type must read the
//! view's JSON back without losing any of it (what we write, upstream understands).

use flyball_api::selector::{LabelSelector, LabelSelectorRequirement};
use flyball_api::views::{
    AggregationRule, ClusterRole, ClusterRoleBinding, ConfigMap, ContainerStatus, Deployment,
    DeploymentSpec, DeploymentStatus, DeploymentStrategy, Event, EventSource, InitContainer, Job,
    JobCondition, JobSpec, JobStatus, Lease, LeaseSpec, Namespace, NamespaceStatus, Node,
    NodeCondition, NodeSpec, NodeStatus, ObjectReference, Pod, PodCondition, PodSpec, PodStatus,
    PolicyRule, ReplicaSet, ReplicaSetSpec, ReplicaSetStatus, ReplicationController,
    ReplicationControllerSpec, ReplicationControllerStatus, Role, RoleBinding, RoleRef,
    RollingUpdateDeployment, ServiceAccount, Subject, Taint,
};
use flyball_api::{Condition, LeanMeta, Object, OwnerReference};
use k8s_openapi::api::{
    apps::v1 as apps, batch::v1 as batch, coordination::v1 as coordination, core::v1 as core,
    rbac::v1 as rbac,
};
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::full::full;
use crate::names::names;

/// The fields of metadata that views read by name; the rest travels unread.
const METADATA: [&str; 12] = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
];

/// Proves one view against upstream's type and returns its JSON for a look at its parts.
fn prove<View, Upstream>() -> Value
where
    View: Object + Serialize,
    Upstream: Resource<Scope: Scope> + Serialize + DeserializeOwned,
{
    let ours = prove_shown::<View, Upstream>(|view| serde_json::to_string(view).unwrap());
    for field in METADATA {
        let is_read = ours["metadata"].get(field).is_some();
        assert!(is_read, "{} {field}", View::kind());
    }
    assert_full::<OwnerReference>(&ours, "/metadata/ownerReferences/0");
    let is_carried = ours["metadata"].get("generateName").is_some();
    assert!(is_carried, "unknown fields travel");
    assert_eq!(ours["metadata"].get("managedFields"), None);
    ours
}

/// Proves a view whose metadata is lean and has no JSON; `show` is the JSON of the rest.
fn prove_lean<View, Upstream>(
    show: fn(&View) -> String,
    metadata: fn(&View) -> &LeanMeta,
    annotations: usize,
) -> Value
where
    View: Object,
    Upstream: Resource<Scope: Scope> + Serialize + DeserializeOwned,
{
    let view = View::decode(theirs::<Upstream>().to_string().as_bytes()).unwrap();
    let meta = metadata(&view);
    assert!(!meta.name.is_empty() && !meta.uid.is_empty() && !meta.resource_version.is_empty());
    assert!(meta.generation != 0 && meta.deletion_grace_period_seconds.is_some());
    assert!(meta.creation_timestamp.is_some() && meta.deletion_timestamp.is_some());
    assert!(!meta.labels.is_empty() && !meta.finalizers.is_empty());
    assert_eq!(meta.owner_references.len(), 1);
    assert_eq!(meta.annotations.iter().count(), annotations);
    prove_shown::<View, Upstream>(show)
}

/// An object of upstream's type with every field filled.
fn theirs<Upstream: Serialize + DeserializeOwned>() -> Value {
    serde_json::to_value(full::<Upstream>()).unwrap()
}

fn prove_shown<View, Upstream>(show: impl Fn(&View) -> String) -> Value
where
    View: Object,
    Upstream: Resource<Scope: Scope> + Serialize + DeserializeOwned,
{
    let kind = View::kind();
    assert_eq!(kind.group, Upstream::GROUP);
    assert_eq!(kind.version, Upstream::VERSION);
    assert_eq!(kind.kind, Upstream::KIND);
    assert_eq!(kind.plural, Upstream::URL_PATH_SEGMENT);
    assert_eq!(kind.api_version(), Upstream::API_VERSION);
    assert_eq!(kind.namespaced, <Upstream::Scope as Scope>::NAMESPACED);

    let theirs = theirs::<Upstream>();
    let view = View::decode(theirs.to_string().as_bytes()).unwrap();
    // As text and back: opaque parts cannot be turned into a value directly.
    let ours: Value = serde_json::from_str(&show(&view)).unwrap();
    assert_within(&ours, &theirs, kind.kind);

    let understood: Upstream = serde_json::from_value(ours.clone()).unwrap();
    assert_within(&ours, &serde_json::to_value(understood).unwrap(), kind.kind);
    ours
}

/// Everything `part` says, `whole` says too.
fn assert_within(part: &Value, whole: &Value, path: &str) {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            for (key, value) in part {
                let path = format!("{path}.{key}");
                let other = whole
                    .get(key)
                    .unwrap_or_else(|| panic!("{path} is unknown upstream"));
                assert_within(value, other, &path);
            }
        }
        (Value::Array(part), Value::Array(whole)) => {
            assert_eq!(part.len(), whole.len(), "{path}");
            for (i, (part, whole)) in part.iter().zip(whole).enumerate() {
                assert_within(part, whole, &format!("{path}[{i}]"));
            }
        }
        _ => assert_eq!(part, whole, "{path}"),
    }
}

/// The struct at this place of a view's JSON has all of its fields filled.
fn assert_full<T: for<'a> serde::Deserialize<'a>>(json: &Value, pointer: &str) {
    let place = json
        .pointer(pointer)
        .unwrap_or_else(|| panic!("nothing at {pointer}"));
    for name in names::<T>() {
        assert!(
            place.get(name).is_some(),
            "{pointer}/{name} was not found upstream"
        );
    }
}

#[test]
fn every_field_of_pod_exists_upstream() {
    let pod = prove_lean::<Pod, core::Pod>(
        |view| shown(&view.spec, &view.status),
        |view| &view.metadata,
        1,
    );
    assert_full::<PodSpec>(&pod, "/spec");
    assert_full::<InitContainer>(&pod, "/spec/initContainers/0");
    assert_full::<PodStatus>(&pod, "/status");
    assert_full::<PodCondition>(&pod, "/status/conditions/0");
    assert_full::<ContainerStatus>(&pod, "/status/containerStatuses/0");
    assert_full::<ContainerStatus>(&pod, "/status/initContainerStatuses/0");
}

#[test]
fn every_field_of_replica_set_exists_upstream() {
    let set = prove::<ReplicaSet, apps::ReplicaSet>();
    assert_full::<ReplicaSet>(&set, "");
    assert_full::<ReplicaSetSpec>(&set, "/spec");
    assert_full::<LabelSelector>(&set, "/spec/selector");
    assert_full::<LabelSelectorRequirement>(&set, "/spec/selector/matchExpressions/0");
    assert_full::<ReplicaSetStatus>(&set, "/status");
    assert_condition(&set, false);
}

#[test]
fn every_field_of_replication_controller_exists_upstream() {
    let set = prove::<ReplicationController, core::ReplicationController>();
    assert_full::<ReplicationController>(&set, "");
    assert_full::<ReplicationControllerSpec>(&set, "/spec");
    assert_full::<ReplicationControllerStatus>(&set, "/status");
    assert_condition(&set, false);
}

#[test]
fn every_field_of_deployment_exists_upstream() {
    let deployment = prove::<Deployment, apps::Deployment>();
    assert_full::<Deployment>(&deployment, "");
    assert_full::<DeploymentSpec>(&deployment, "/spec");
    assert_full::<DeploymentStrategy>(&deployment, "/spec/strategy");
    assert_full::<RollingUpdateDeployment>(&deployment, "/spec/strategy/rollingUpdate");
    assert_full::<DeploymentStatus>(&deployment, "/status");
    assert_condition(&deployment, true);
}

#[test]
fn every_field_of_lease_exists_upstream() {
    let lease = prove::<Lease, coordination::Lease>();
    assert_full::<Lease>(&lease, "");
    assert_full::<LeaseSpec>(&lease, "/spec");
}

#[test]
fn every_field_of_event_exists_upstream() {
    let event = prove::<Event, core::Event>();
    assert_full::<Event>(&event, "");
    assert_full::<ObjectReference>(&event, "/involvedObject");
    assert_full::<EventSource>(&event, "/source");
}

#[test]
fn every_field_of_namespace_exists_upstream() {
    let namespace = prove::<Namespace, core::Namespace>();
    assert_full::<Namespace>(&namespace, "");
    assert_full::<NamespaceStatus>(&namespace, "/status");
}

#[test]
fn every_field_of_node_exists_upstream() {
    let node = prove_lean::<Node, core::Node>(
        |view| shown(&view.spec, &view.status),
        |view| &view.metadata,
        0,
    );
    assert_full::<NodeSpec>(&node, "/spec");
    assert_full::<Taint>(&node, "/spec/taints/0");
    assert_full::<NodeStatus>(&node, "/status");
    assert_full::<NodeCondition>(&node, "/status/conditions/0");
}

#[test]
fn every_field_of_job_exists_upstream() {
    let job = prove_lean::<Job, batch::Job>(
        |view| shown(&view.spec, &view.status),
        |view| &view.metadata,
        0,
    );
    assert_full::<JobSpec>(&job, "/spec");
    assert_full::<JobStatus>(&job, "/status");
    assert_full::<JobCondition>(&job, "/status/conditions/0");
}

#[test]
fn every_field_of_roles_and_bindings_exists_upstream() {
    let role = prove::<ClusterRole, rbac::ClusterRole>();
    assert_full::<ClusterRole>(&role, "");
    assert_full::<PolicyRule>(&role, "/rules/0");
    assert_full::<AggregationRule>(&role, "/aggregationRule");
    assert_full::<Role>(&prove::<Role, rbac::Role>(), "");
    let binding = prove::<RoleBinding, rbac::RoleBinding>();
    assert_full::<RoleBinding>(&binding, "");
    assert_full::<Subject>(&binding, "/subjects/0");
    assert_full::<RoleRef>(&binding, "/roleRef");
    let binding = prove::<ClusterRoleBinding, rbac::ClusterRoleBinding>();
    assert_full::<ClusterRoleBinding>(&binding, "");
}

#[test]
fn accounts_and_config_maps_are_read_by_their_metadata() {
    let none = |_: &_| "{}".to_owned();
    prove_lean::<ServiceAccount, core::ServiceAccount>(none, |view| &view.metadata, 0);
    let none = |_: &_| "{}".to_owned();
    prove_lean::<ConfigMap, core::ConfigMap>(none, |view| &view.metadata, 0);
}

/// The JSON of a view without its metadata.
fn shown(spec: &impl Serialize, status: &impl Serialize) -> String {
    let [spec, status] = [serde_json::to_string(spec), serde_json::to_string(status)];
    format!(
        r#"{{"spec":{},"status":{}}}"#,
        spec.unwrap(),
        status.unwrap()
    )
}

/// One type serves the conditions of all workloads; only Deployments have an update time.
fn assert_condition(json: &Value, has_update_time: bool) {
    let condition = &json["status"]["conditions"][0];
    for name in names::<Condition>() {
        let expected = has_update_time || name != "lastUpdateTime";
        assert_eq!(condition.get(name).is_some(), expected, "{name}");
    }
}

/// What upstream's scopes are called here.
trait Scope {
    const NAMESPACED: bool;
}

impl Scope for NamespaceResourceScope {
    const NAMESPACED: bool = true;
}

impl Scope for ClusterResourceScope {
    const NAMESPACED: bool = false;
}

/// A view with a misspelt field, one of the wrong shape and one that is right.
#[derive(serde::Serialize, serde::Deserialize)]
struct Wrong {
    #[serde(rename = "nodename", default, skip_serializing_if = "Option::is_none")]
    node_name: Option<String>,
    hostname: String,
}

#[test]
#[should_panic(expected = "/spec/nodename was not found upstream")]
fn a_misspelt_field_is_caught() {
    let theirs = serde_json::to_value(full::<core::Pod>()).unwrap();
    let wrong: Wrong = serde_json::from_value(theirs["spec"].clone()).unwrap();
    assert_full::<Wrong>(&serde_json::json!({"spec": wrong}), "/spec");
}

#[test]
#[should_panic(expected = "Pod.spec.nodename is unknown upstream")]
fn a_field_that_upstream_would_ignore_is_caught() {
    let theirs = serde_json::to_value(full::<core::Pod>()).unwrap();
    let wrong = Wrong {
        node_name: Some("n".into()),
        hostname: "text".into(),
    };
    assert_within(&serde_json::json!({"spec": wrong}), &theirs, "Pod");
}
