use flyball_api::{Kind, ObjectName};
use flyball_plan::{Body, Finished, Outcome, Rule};
use serde_json::json;

use super::*;

const PODS: Kind = Kind::namespaced("", "v1", "Pod", "pods");
const SETS: Kind = Kind::namespaced("apps", "v1", "ReplicaSet", "replicasets");
const DEPLOYMENTS: Kind = Kind::namespaced("apps", "v1", "Deployment", "deployments");

fn deed(verb: &'static str, kind: Kind, name: &str, sent: Value) -> Deed {
    Deed {
        stage: "a stage",
        verb,
        kind,
        object: ObjectName::new("default", name),
        subresource: Subresource::NONE,
        sent: Some(Body::of(&sent)),
        error: None,
    }
}

fn status(kind: Kind, name: &str, status: Value) -> Deed {
    Deed {
        subresource: Subresource::STATUS,
        ..deed("update", kind, name, json!({ "status": status }))
    }
}

fn decision(controller: &'static str, deeds: Vec<Deed>) -> Arc<Decision> {
    Arc::new(Decision {
        controller,
        deeds,
        finished: Finished {
            key: "default/web".to_owned(),
            about: None,
            outcome: Outcome::Rested,
            report: Report::new(Rule::new("TheRule", "the rule"))
                .saw("pods", 2)
                .saw("gated", 0),
        },
    })
}

fn told(decisions: &[Arc<Decision>]) -> Vec<String> {
    let said = Narrator::default().lines(decisions).into_iter();
    said.map(|said| format!("{} {} [{}]", said.who, said.what, said.why))
        .collect()
}

#[test]
fn what_is_done_to_many_objects_is_one_line() {
    let pod = |name: &str| deed("create", PODS, name, json!({}));
    let lines = told(&[decision(
        "replicaset-controller",
        vec![pod("web-1-a"), pod("web-1-b")],
    )]);
    assert_eq!(
        lines,
        ["replicaset-controller creates pods a, b [the rule: pods 2]"]
    );
}

#[test]
fn what_one_controller_does_several_times_in_a_row_is_one_line() {
    let ready = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    let kubelet = |name: &str| {
        let deed = status(PODS, name, ready.clone());
        decision("simulated-pod-controller", vec![deed])
    };
    let binding = Deed {
        subresource: Subresource::BINDING,
        ..deed(
            "create",
            PODS,
            "web-1-c",
            json!({"kind": "Binding", "target": {"kind": "Node", "name": "node-1"}}),
        )
    };
    let bind = decision("kube-scheduler", vec![binding]);
    assert_eq!(
        told(&[
            kubelet("web-1-a"),
            kubelet("web-1-b"),
            bind,
            kubelet("web-1-c")
        ]),
        [
            "simulated kubelets report pods a, b ready []",
            "kube-scheduler places pod c on node-1 [the rule: pods 2]",
            "simulated kubelets report pod c ready []",
        ]
    );
}

#[test]
fn several_things_in_one_decision_have_one_reason() {
    let scaled = deed("patch", SETS, "web-1", json!({"spec": {"replicas": 1}}));
    let report = status(
        DEPLOYMENTS,
        "web",
        json!({"updatedReplicas": 1, "availableReplicas": 3}),
    );
    let both = decision("deployment-controller", vec![scaled, report.clone()]);
    let again = decision("deployment-controller", vec![report]);
    assert_eq!(
        told(&[both, again]),
        [
            "deployment-controller scales ReplicaSet web-1 to 1 pod, and reports 3 pods available [the rule: pods 2]"
        ],
        "the same report is not news"
    );
}

#[test]
fn what_failed_or_changes_nothing_that_people_see_is_left_out() {
    let mut conflict = deed("create", PODS, "web-1-a", json!({}));
    conflict.error = Some("Conflict".to_owned());
    let quiet = status(SETS, "web-1", json!({"replicas": 3}));
    let decisions = [decision("replicaset-controller", vec![conflict, quiet])];
    assert_eq!(told(&decisions), [""; 0]);
}

#[test]
fn dependents_go_before_their_owner_is_let_go() {
    let free = |kind, name| {
        let sent = json!({"metadata": {"uid": "u", "finalizers": null}});
        deed("patch", kind, name, sent)
    };
    let collector = |deed| decision("garbage-collector-controller", vec![deed]);
    let lines = told(&[
        collector(deed("delete", SETS, "web-1", json!(null))),
        collector(deed("delete", PODS, "web-1-a", json!(null))),
        collector(deed("delete", PODS, "web-1-b", json!(null))),
        collector(free(SETS, "web-1")),
        collector(free(DEPLOYMENTS, "web")),
    ]);
    let said: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("garbage-collector-controller "))
        .filter_map(|line| line.strip_suffix(" [the rule: pods 2]"))
        .collect();
    assert_eq!(
        said,
        [
            "deletes ReplicaSet web-1",
            "deletes pods a, b",
            "lets ReplicaSet web-1 go",
            "lets Deployment web go",
        ]
    );
}
