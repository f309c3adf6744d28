//! Byte-level round trips: what is read and written back is what was there.

use flyball_api::Object;
use flyball_api::views::{Deployment, Event, Lease, Pod, ReplicaSet};
use serde::Serialize;

/// Reads JSON into a view and writes it back.
fn round_trip<View: Object + Serialize>(json: &str) -> String {
    serde_json::to_string(&View::decode(json.as_bytes()).unwrap()).unwrap()
}

#[test]
fn a_deployment_comes_back_as_it_was() {
    let json = concat!(
        r#"{"metadata":{"name":"web","namespace":"shop","#,
        r#""uid":"5f1f3a7e-9a37-4a6e-8f57-0d8f4f6f2a10","resourceVersion":"42","generation":3,"#,
        r#""creationTimestamp":"2026-01-02T03:04:05Z","labels":{"a":"1","b":""},"#,
        r#""annotations":{"deployment.kubernetes.io/revision":"2"},"finalizers":["x/y"]},"#,
        r#""spec":{"replicas":0,"selector":{"matchLabels":{"a":"1"}},"#,
        r#""template":{"metadata":{"labels":{"a":"1"},"creationTimestamp":null},"spec":{}},"#,
        r#""strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","#,
        r#""maxSurge":1}},"minReadySeconds":5,"revisionHistoryLimit":10,"paused":false,"#,
        r#""progressDeadlineSeconds":600},"#,
        r#""status":{"observedGeneration":3,"conditions":[{"type":"Available","status":"False","#,
        r#""lastUpdateTime":"2026-01-02T03:04:06Z","lastTransitionTime":"2026-01-02T03:04:06Z","#,
        r#""reason":"MinimumReplicasUnavailable","message":"no"}],"collisionCount":1}}"#,
    );
    assert_eq!(round_trip::<Deployment>(json), json);
}

#[test]
fn metadata_from_the_future_survives_and_managed_fields_do_not() {
    let with = |more: &str| {
        format!(
            r#"{{"metadata":{{"name":"web"{more},"fromTheFuture":{{"b":1.50,"a":[null]}}}},"spec":{{"template":null}},"status":{{"replicas":0}}}}"#
        )
    };
    let managed = r#","managedFields":[{"manager":"kubectl","fieldsV1":{"f:spec":{}}}]"#;
    assert_eq!(round_trip::<ReplicaSet>(&with(managed)), with(""));
}

#[test]
fn a_template_keeps_every_byte() {
    // Order, spacing, numbers as written, escapes, nulls, doubled keys, and fields nobody knows.
    let template = r#"{ "spec" : {"z":1e3,"a":1.50,"n":12345678901234567890123,"q":"0.5Gi",
        "u":"\u00e9\/","e":{},"l":[ ],"x":null,"x":0,"fromTheFuture":{"deep":[true]}},"metadata":
        {"labels":{"app":"web"},"creationTimestamp":null,"new":1} }"#;
    let json = format!(r#"{{"metadata":{{"name":"web"}},"spec":{{"template":{template}}}}}"#);
    let set = ReplicaSet::decode(json.as_bytes()).unwrap();
    assert_eq!(set.spec.template.json(), template);
    assert_eq!(set.spec.template.labels().get("app"), Some("web"));
    let written = serde_json::to_string(&set).unwrap();
    assert!(written.contains(template), "{written}");
}

#[test]
fn a_lease_keeps_six_digits_of_its_seconds() {
    let json = concat!(
        r#"{"metadata":{"name":"kube-controller-manager","namespace":"kube-system"},"#,
        r#""spec":{"holderIdentity":"","leaseDurationSeconds":1,"#,
        r#""acquireTime":"2026-01-02T03:04:05.000000Z","renewTime":"2026-01-02T03:04:05.000100Z","#,
        r#""leaseTransitions":0}}"#,
    );
    assert_eq!(round_trip::<Lease>(json), json);
}

#[test]
fn an_event_comes_back_as_it_was() {
    let json = concat!(
        r#"{"metadata":{"name":"web.17f","namespace":"shop"},"#,
        r#""involvedObject":{"kind":"ReplicaSet","namespace":"shop","name":"web"},"#,
        r#""reason":"SuccessfulCreate","message":"Created pod: \"web-1\"","#,
        r#""source":{"component":"replicaset-controller"},"#,
        r#""firstTimestamp":"2026-01-02T03:04:05Z","lastTimestamp":"2026-01-02T03:04:05Z","#,
        r#""count":1,"type":"Normal","reportingComponent":"replicaset-controller","#,
        r#""reportingInstance":""}"#,
    );
    assert_eq!(round_trip::<Event>(json), json);
}

#[test]
fn nulls_read_as_absent_wherever_upstream_may_write_them() {
    // Lists, maps and times of old objects are written as null; strings and numbers never are.
    let pod = r#"{"metadata":{"name":"a","labels":null,"annotations":null,"creationTimestamp":null,
        "deletionTimestamp":null,"ownerReferences":null,"finalizers":null,"generation":null},
        "spec":{"initContainers":null,"nodeName":null},
        "status":{"phase":null,"conditions":null,"containerStatuses":null,
        "initContainerStatuses":null}}"#;
    let pod = Pod::decode(pod.as_bytes()).unwrap();
    assert!(pod.metadata.name == "a" && pod.metadata.labels.is_empty());
    let parts = serde_json::to_string(&(&pod.spec, &pod.status)).unwrap();
    assert_eq!(parts, r#"[{},{"phase":""}]"#);
    let deployment = r#"{"metadata":{"name":"a"},"spec":{"replicas":null,"selector":null,
        "template":null,"strategy":null,"minReadySeconds":null,"paused":null},
        "status":{"conditions":null,"collisionCount":null}}"#;
    let deployment = Deployment::decode(deployment.as_bytes()).unwrap();
    assert!(deployment.spec.selector.is_none() && deployment.status.conditions.is_empty());
    for whole in ["null", "{}"] {
        let json = format!(r#"{{"metadata":{{"name":"a"}},"spec":{whole},"status":{whole}}}"#);
        assert!(Deployment::decode(json.as_bytes()).is_ok(), "{json}");
        assert!(ReplicaSet::decode(json.as_bytes()).is_ok(), "{json}");
        assert!(Pod::decode(json.as_bytes()).is_ok(), "{json}");
    }
}

#[test]
fn what_is_no_object_is_refused_with_the_place() {
    for bad in [
        "",
        "null",
        "[]",
        "{}",
        r#"{"metadata":null}"#,
        r#"{"metadata":{"name":1}}"#,
    ] {
        assert!(Pod::decode(bad.as_bytes()).is_err(), "{bad}");
    }
    let bad = r#"{"metadata":{"name":"a","creationTimestamp":"yesterday"}}"#;
    let error = ReplicaSet::decode(bad.as_bytes()).unwrap_err().to_string();
    assert!(
        error.contains("line 1") && error.contains("yesterday"),
        "{error}"
    );
}
