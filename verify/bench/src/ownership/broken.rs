//! A custom resource that nobody can read: it is stored in one version, asked for in another, and the webhook that
//! would convert it is dead.

use std::time::Duration;

use anyhow::Result;
use flyball_conformance::{Objects, until};
use http::Method;
use serde_json::{Value, json};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const NAME: &str = "relics.bench.flyball.dev";
const RELICS: &str = "/apis/bench.flyball.dev/v1/namespaces/default/relics";

const SERVED_LIMIT: Duration = Duration::from_secs(60);

/// Creates the definition and one object of it.
pub(super) async fn install(objects: &Objects) -> Result<()> {
    let post = async |path: &str, body: &Value| {
        objects
            .send(Method::POST, path, "application/json", Some(body))
            .await
    };
    post(DEFINITIONS, &definition()).await?;
    let relic = json!({
        "apiVersion": "bench.flyball.dev/v1",
        "kind": "Relic",
        "metadata": { "name": "relic" },
    });
    // The server begins to serve a kind some time after its definition is there.
    until(
        "a server that serves the relics",
        SERVED_LIMIT,
        async || Ok(post(RELICS, &relic).await.is_ok().then_some(())),
    )
    .await
}

fn definition() -> Value {
    let version = |name: &str, storage: bool| {
        json!({
            "name": name,
            "served": true,
            "storage": storage,
            "schema": { "openAPIV3Schema": {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": true,
            }},
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": NAME },
        "spec": {
            "group": "bench.flyball.dev",
            "scope": "Namespaced",
            "names": { "plural": "relics", "singular": "relic", "kind": "Relic", "listKind": "RelicList" },
            "versions": [version("v1", true), version("v2", false)],
            "conversion": {
                "strategy": "Webhook",
                "webhook": {
                    // Nobody listens on port 1.
                    "clientConfig": { "url": "https://127.0.0.1:1/convert" },
                    "conversionReviewVersions": ["v1"],
                },
            },
        },
    })
}
