//! What is to be done about a namespace: the certificate published, set right, or left alone.

use flyball_api::views::{ConfigMap, ROOT_CA};
use flyball_plan::{Body, Flow, Pace, Precondition, Step, Sync, Target, Write};
use serde_json::{Value, json};

use super::{Observation, report};

const DESCRIPTION: &str = "kubernetes.io/description";

/// What people are told about the ConfigMap; the same words as upstream, which they may know.
const WORDS: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints \
                     such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across \
                     distributions of Kubernetes clusters.";

pub(super) fn plan(certificate: &str, sync: &Sync<'_, Observation>) -> Flow<Step> {
    let seen = sync.seen;
    if seen.namespace.status.phase != "Active" {
        return Ok(Step::rest(report::not_active()));
    }
    match &seen.map {
        None => publish(certificate, sync),
        Some(map) => set_right(certificate, map, sync),
    }
}

fn publish(certificate: &str, sync: &Sync<'_, Observation>) -> Flow<Step> {
    let namespace = &sync.seen.namespace.metadata.name;
    let report = report::missing(sync.seen);
    let round = sync.run("publish", Pace::InOrder, || {
        let body = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": ROOT_CA, "annotations": {DESCRIPTION: WORDS}},
            "data": {"ca.crt": certificate},
        });
        vec![Write::create(ConfigMap::KIND, namespace, Body::of(&body)).into()]
    })?;
    Ok(match round.first_error() {
        Some(error) if error.is_not_found() || error.is_namespace_terminating() => {
            Step::rest(report::counted(report, None).waits_for(report::terminating(sync.seen)))
        }
        error => report::ended(report, error),
    })
}

fn set_right(certificate: &str, map: &ConfigMap, sync: &Sync<'_, Observation>) -> Flow<Step> {
    // The one that is kept is always seen whole.
    let whole = map.whole.as_ref().map(|whole| whole.json());
    let mut body: Value = serde_json::from_str(whole.unwrap_or_default()).unwrap_or_default();
    let described = body["metadata"]["annotations"][DESCRIPTION].as_str();
    let is_right = body["data"] == json!({"ca.crt": certificate})
        && described.is_some_and(|words| !words.is_empty());
    if is_right {
        return Ok(report::ended(report::complete(), None));
    }
    let report = report::wrong();
    let round = sync.run("correct", Pace::InOrder, || {
        body["apiVersion"] = "v1".into();
        body["kind"] = "ConfigMap".into();
        body["data"] = json!({"ca.crt": certificate});
        if !body["metadata"]["annotations"].is_object() {
            body["metadata"]["annotations"] = json!({});
        }
        body["metadata"]["annotations"][DESCRIPTION] = WORDS.into();
        let target = Target::of(ConfigMap::KIND, &map.metadata);
        let precondition = Precondition::unchanged(&map.metadata);
        vec![Write::update(target, precondition, Body::of(&body)).into()]
    })?;
    Ok(report::ended(report, round.first_error()))
}
