//! What is to be done about a namespace: the certificate published, set right, or left alone.

use flyball_plan::{Action, Actions, Answers, Body, Precondition, Step, Subresource, Target};
use serde_json::{Value, json};

use super::{NAME, Observation, status};
use crate::views::ConfigMap;

const DESCRIPTION: &str = "kubernetes.io/description";

/// What people are told about the ConfigMap; the same words as upstream, which they may know.
const WORDS: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints \
                     such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across \
                     distributions of Kubernetes clusters.";

pub(super) fn step(certificate: &str, seen: &Observation, answers: &Answers) -> Step {
    if seen.namespace.status.phase != "Active" {
        return Step::rest(status::not_active());
    }
    match &seen.map {
        None => publish(certificate, seen, answers),
        Some(map) => set_right(certificate, map, answers),
    }
}

fn publish(certificate: &str, seen: &Observation, answers: &Answers) -> Step {
    let namespace = &seen.namespace.metadata.name;
    let report = status::missing(seen);
    let Some(round) = answers.stage("publish") else {
        let body = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": NAME, "annotations": {DESCRIPTION: WORDS}},
            "data": {"ca.crt": certificate},
        });
        let create = Action::Create {
            kind: ConfigMap::KIND,
            namespace: namespace.clone(),
            body: Body::of(&body),
        };
        return Step::Do(Actions::in_order("publish", vec![create]));
    };
    match round.first_error() {
        Some(error) if error.is_not_found() || error.has_cause("NamespaceTerminating") => {
            Step::rest(status::counted(report, None).waits_for("the namespace to go"))
        }
        error => status::ended(report, error),
    }
}

fn set_right(certificate: &str, map: &ConfigMap, answers: &Answers) -> Step {
    // The one that is kept is always seen whole.
    let whole = map.whole.as_ref().map(|whole| whole.json());
    let mut body: Value = serde_json::from_str(whole.unwrap_or_default()).unwrap_or_default();
    let described = body["metadata"]["annotations"][DESCRIPTION].as_str();
    let is_right = body["data"] == json!({"ca.crt": certificate})
        && described.is_some_and(|words| !words.is_empty());
    if is_right {
        return status::ended(status::complete(), None);
    }
    let report = status::wrong();
    let Some(round) = answers.stage("correct") else {
        body["apiVersion"] = "v1".into();
        body["kind"] = "ConfigMap".into();
        body["data"] = json!({"ca.crt": certificate});
        if !body["metadata"]["annotations"].is_object() {
            body["metadata"]["annotations"] = json!({});
        }
        body["metadata"]["annotations"][DESCRIPTION] = WORDS.into();
        let update = Action::Update {
            target: Target::of(ConfigMap::KIND, &map.metadata),
            subresource: Subresource::None,
            precondition: Precondition::unchanged(&map.metadata),
            body: Body::of(&body),
        };
        return Step::Do(Actions::in_order("correct", vec![update]));
    };
    status::ended(report, round.first_error())
}
