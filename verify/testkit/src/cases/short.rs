//! Objects in short: what matters for the case, the rest made up.
//!
//! ```yaml
//! - Pod: web-a                   # the kind and the name; labelled app: web, one container
//!   owner: ReplicaSet web        # its controller, by kind and name (and UID, if not the first)
//!   ready: true                  # or the time since when; phase: Failed and the like
//!   created: 2026-01-01T00:00:00Z
//! - ReplicaSet: web-1            # one replica, selecting app: web-1
//!   app: web                     # … no, app: web
//!   replicas: 3
//!   image: web:2
//! ```
//!
//! Also `namespace`, `uid`, `labels` (in place of the made-up ones), `annotations`, `deleting`,
//! `node`; and `metadata`, `spec` and `status`, which are merged in. An object with `kind` and
//! `apiVersion` is taken as it stands.

use flyball_api::Timestamp;
use serde_json::{Value, json};

use crate::builders::{Build, deployment, namespace, pod, replica_set, replication_controller};

type Maker = (&'static str, fn(&str) -> Build);

const MAKERS: &[Maker] = &[
    ("Pod", pod),
    ("ReplicaSet", replica_set),
    ("ReplicationController", replication_controller),
    ("Deployment", deployment),
    ("Namespace", namespace),
];

/// The whole object that is meant.
pub(super) fn whole(short: &Value) -> Result<Value, String> {
    let Some(fields) = short.as_object() else {
        return Err(format!("no object: {short}"));
    };
    if fields.contains_key("apiVersion") {
        return Ok(short.clone());
    }
    let known = MAKERS.iter().find(|(kind, _)| fields.contains_key(*kind));
    let Some((kind, make)) = known else {
        return Err(format!("of no known kind: {short}"));
    };
    let name = text(&short[kind])?;
    let mut build = make(&name);
    if let Some(app) = fields.get("app") {
        // A dash and a stand-in: a pod's app is its name up to the last dash.
        let app = text(app)?;
        let stand_in = if *kind == "Pod" {
            format!("{app}-x")
        } else {
            app
        };
        build = make(&stand_in).with(json!({"metadata": {"name": name}}));
    }
    // The same order whatever order they are written in.
    let mut rest: Vec<_> = fields
        .iter()
        .filter(|(field, _)| field != kind && *field != "app")
        .collect();
    rest.sort_by_key(|(field, _)| {
        (
            ["metadata", "spec", "status"].contains(&field.as_str()),
            *field,
        )
    });
    for (field, value) in rest {
        build = set(build, kind, field, value)?;
    }
    Ok(build.json())
}

fn set(build: Build, kind: &str, field: &str, value: &Value) -> Result<Build, String> {
    Ok(match field {
        "namespace" => build.namespace(&text(value)?),
        "uid" => build.uid(&text(value)?),
        "labels" => build.labels(value.clone()),
        "annotations" => build.with(json!({"metadata": {"annotations": value}})),
        "created" => build.created(time(value)?),
        "deleting" => build.deleting(time(value)?),
        "replicas" => build.with(json!({"spec": {"replicas": value}})),
        "node" => build.node(&text(value)?),
        "phase" => build.phase(&text(value)?),
        "ready" if *value == true => build.ready(),
        "ready" if *value == false => build,
        "ready" => build.ready_since(time(value)?),
        "owner" => {
            let owner = text(value)?;
            match owner.split(' ').collect::<Vec<_>>()[..] {
                [kind, name] => build.controlled_by(kind, name),
                [kind, name, uid] => build.controlled_by_uid(kind, name, uid),
                _ => {
                    return Err(format!(
                        "an owner is a kind, a name and maybe a uid: {owner:?}"
                    ));
                }
            }
        }
        "image" => {
            let mut object = build.json();
            let path = if kind == "Pod" {
                "/spec"
            } else {
                "/spec/template/spec"
            };
            if let Some(spec) = object.pointer_mut(path) {
                spec["containers"][0]["image"] = value.clone();
            }
            Build::from(object)
        }
        "metadata" | "spec" | "status" => build.with(json!({field: value})),
        unknown => {
            return Err(format!(
                "{unknown:?} is no short field: put it under spec or status"
            ));
        }
    })
}

fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        other => Err(format!("no text: {other}")),
    }
}

fn time(value: &Value) -> Result<Timestamp, String> {
    text(value)?
        .parse()
        .map_err(|error| format!("no time: {value}: {error}"))
}
