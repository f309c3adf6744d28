//! Custom kinds that the harness brings along.

use std::time::Duration;

use anyhow::Result;
use http::Method;
use serde_json::{Value, json};

use crate::objects::{Objects, path};
use crate::poll::until;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// How long a server may take to serve a kind that was defined.
const SERVED_LIMIT: Duration = Duration::from_secs(60);

/// A custom kind of one version in namespaces, whose objects may hold anything.
#[must_use]
pub fn definition(group: &str, plural: &str, kind: &str) -> Value {
    let schema = json!({ "openAPIV3Schema": {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true,
    }});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.{group}") },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": { "plural": plural, "kind": kind, "listKind": format!("{kind}List") },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": schema }],
        },
    })
}

/// Defines a custom kind; the server serves it some time later.
///
/// # Errors
/// When the server refuses.
pub async fn define(objects: &Objects, group: &str, plural: &str, kind: &str) -> Result<()> {
    let body = definition(group, plural, kind);
    let created = objects.send(Method::POST, DEFINITIONS, "application/json", Some(&body));
    created.await.map(drop)
}

/// Defines the custom kind that scenarios use, and waits until it can be used.
///
/// # Errors
/// When the server refuses or does not serve it in time.
pub async fn define_widgets(objects: &Objects) -> Result<()> {
    define(objects, "conformance.flyball.dev", "widgets", "Widget").await?;
    let all = path("Widget", None, None)?;
    until("a server that serves Widgets", SERVED_LIMIT, async || {
        let listed = objects.send(Method::GET, &all, "application/json", None);
        Ok(listed.await.is_ok().then_some(()))
    })
    .await
}
