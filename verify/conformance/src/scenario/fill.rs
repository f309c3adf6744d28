//! Short forms of objects: what every manifest repeats is filled in, so that scenarios show only what matters.
//!
//! `{kind: Deployment, name: web, spec: {replicas: 3}}` gets its apiVersion, its metadata, a selector `app: web`, a
//! template with these labels and one container `app` of image `app:v1`. Whatever is given is left as it is.

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use crate::objects::api_version;

pub(super) fn fill(short: &Value) -> Result<Value> {
    let mut object = short.clone();
    let kind = object["kind"]
        .as_str()
        .context("an object without kind")?
        .to_owned();
    let fields = object.as_object_mut().context("an object that is no map")?;
    if !fields.contains_key("apiVersion") {
        fields.insert("apiVersion".to_owned(), json!(api_version(&kind)?));
    }
    if let Some(name) = fields.remove("name") {
        let metadata = fields.entry("metadata").or_insert_with(|| json!({}));
        metadata["name"] = name;
    }
    let name = object["metadata"]["name"]
        .as_str()
        .unwrap_or("app")
        .to_owned();
    match kind.as_str() {
        "Deployment" | "ReplicaSet" => fill_workload(&mut object["spec"], &name, true),
        "ReplicationController" => fill_workload(&mut object["spec"], &name, false),
        "Pod" => fill_pod_spec(&mut object["spec"]),
        _ => {}
    }
    Ok(object)
}

fn fill_workload(spec: &mut Value, name: &str, selector_has_expressions: bool) {
    let selector = map(spec).entry("selector").or_insert_with(|| {
        if selector_has_expressions {
            json!({ "matchLabels": { "app": name } })
        } else {
            json!({ "app": name })
        }
    });
    let labels = if selector_has_expressions {
        selector
            .get("matchLabels")
            .cloned()
            .unwrap_or_else(|| json!({}))
    } else {
        selector.clone()
    };
    let template = map(spec).entry("template").or_insert_with(|| json!({}));
    let metadata = map(template).entry("metadata").or_insert_with(|| json!({}));
    map(metadata).entry("labels").or_insert(labels);
    fill_pod_spec(map(template).entry("spec").or_insert_with(|| json!({})));
}

fn fill_pod_spec(spec: &mut Value) {
    map(spec)
        .entry("containers")
        .or_insert_with(|| json!([{ "name": "app", "image": "app:v1" }]));
}

/// The value as a map; anything else, such as an absent spec, becomes an empty one.
fn map(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = json!({});
    }
    match value {
        Value::Object(fields) => fields,
        // Invariant: replaced by a map just above.
        _ => unreachable!("a value that was just made a map"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_deployment_becomes_a_whole_one() {
        let short = json!({ "kind": "Deployment", "name": "web", "spec": { "replicas": 3 } });
        assert_eq!(
            fill(&short).unwrap(),
            json!({
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": { "name": "web" },
                "spec": {
                    "replicas": 3,
                    "selector": { "matchLabels": { "app": "web" } },
                    "template": {
                        "metadata": { "labels": { "app": "web" } },
                        "spec": { "containers": [{ "name": "app", "image": "app:v1" }] },
                    },
                },
            })
        );
    }

    #[test]
    fn what_is_given_is_kept() {
        let given = json!({
            "apiVersion": "v1",
            "kind": "ReplicationController",
            "metadata": { "name": "old", "labels": { "x": "y" } },
            "spec": {
                "selector": { "app": "other" },
                "template": {
                    "metadata": { "labels": { "app": "other", "more": "yes" } },
                    "spec": { "containers": [{ "name": "app", "image": "app:v9" }] },
                },
            },
        });
        assert_eq!(fill(&given).unwrap(), given);
    }
}
