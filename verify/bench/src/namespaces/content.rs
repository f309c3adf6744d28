//! What is put into namespaces: the definitions of custom kinds, and the objects.

use std::time::Duration;

use anyhow::{Context as _, Result};
use flyball_conformance::{Objects, Propagation, define, path, until};
use futures::{StreamExt as _, TryStreamExt as _};
use http::Method;
use serde_json::{Value, json};

use super::Size;
use crate::progress::Progress;

/// Requests of the harness in flight at most.
const CONCURRENCY: usize = 16;

/// How long the server may take to serve all custom kinds.
const SERVED_LIMIT: Duration = Duration::from_secs(600);

/// Groups that custom kinds are spread over.
const GROUPS: usize = 30;

/// What holds the namespaces that are stuck.
pub(super) const FINALIZER: &str = "bench.flyball.dev/held";

/// How many objects a namespace has, the custom one included.
pub(super) const OBJECTS: usize = 7;

pub(super) const NAMESPACE_PREFIX: &str = "bench-";

pub(super) fn namespace(number: usize) -> String {
    format!("{NAMESPACE_PREFIX}{number}")
}

/// Installs the custom kinds and waits until all of them can be used.
pub(super) async fn install(objects: &Objects, size: Size, progress: &Progress) -> Result<()> {
    let created = each(size.definitions, async |number| {
        define(
            objects,
            &group(number),
            &format!("things{number}"),
            &format!("Thing{number}"),
        )
        .await
    });
    created.await.context("custom kinds")?;
    for number in 0..size.definitions {
        let collection = format!("{}?limit=1", collection(number, None));
        until(
            "a server that serves all custom kinds",
            SERVED_LIMIT,
            async || {
                let served = send(objects, Method::GET, &collection, None).await;
                Ok(served.is_ok().then_some(()))
            },
        )
        .await?;
        progress.at(number);
    }
    Ok(())
}

/// Creates all namespaces and what is in them.
pub(super) async fn fill(objects: &Objects, size: Size, progress: &Progress) -> Result<()> {
    each(size.namespaces, async |number| {
        let namespace = namespace(number);
        objects.create_namespace(&namespace).await?;
        for object in content(number < size.stuck) {
            objects.create(&namespace, &object).await?;
        }
        let kind = number % size.definitions;
        let custom = collection(kind, Some(&namespace));
        send(objects, Method::POST, &custom, Some(&custom_object(kind))).await?;
        progress.at(number);
        Ok(())
    })
    .await
}

/// Asks for the end of all namespaces.
pub(super) async fn delete(objects: &Objects, size: Size) -> Result<()> {
    each(size.namespaces, async |number| {
        let name = namespace(number);
        let policy = Propagation::Background;
        objects.delete("Namespace", "", &name, policy).await
    })
    .await
}

/// Of the namespaces that are stuck, whose conditions do not say what holds them.
pub(super) async fn silent(objects: &Objects, size: Size) -> Result<Vec<String>> {
    let mut silent = Vec::new();
    for name in (0..size.stuck).map(namespace) {
        let path = path("Namespace", None, Some(&name))?;
        let found = send(objects, Method::GET, &path, None).await?;
        if !names_blocker(&found) {
            silent.push(format!("{name}: {}", found["status"]["conditions"]));
        }
    }
    Ok(silent)
}

/// Whether the conditions say what is left, and which finalizer holds it.
fn names_blocker(namespace: &Value) -> bool {
    let says = |kind: &str, words: &str| {
        let conditions = namespace["status"]["conditions"].as_array();
        conditions.into_iter().flatten().any(|condition| {
            let message = condition["message"].as_str().unwrap_or_default();
            condition["type"] == kind && condition["status"] == "True" && message.contains(words)
        })
    };
    says(
        "NamespaceContentRemaining",
        "configmaps. has 1 resource instances",
    ) && says(
        "NamespaceFinalizersRemaining",
        &format!("{FINALIZER} in 1 resource instances"),
    )
}

async fn each(count: usize, work: impl AsyncFn(usize) -> Result<()>) -> Result<()> {
    let all = futures::stream::iter(0..count).map(|number| work(number));
    all.buffer_unordered(CONCURRENCY).try_collect().await
}

async fn send(
    objects: &Objects,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Result<Value> {
    objects.send(method, path, "application/json", body).await
}

fn group(number: usize) -> String {
    format!("g{}.bench.flyball.dev", number % GROUPS)
}

fn collection(number: usize, namespace: Option<&str>) -> String {
    let scope = namespace.map_or_else(String::new, |it| format!("namespaces/{it}/"));
    format!("/apis/{}/v1/{scope}things{number}", group(number))
}

fn custom_object(number: usize) -> Value {
    json!({
        "apiVersion": format!("{}/v1", group(number)),
        "kind": format!("Thing{number}"),
        "metadata": { "name": "thing" },
    })
}

/// What the harness's own kinds put into a namespace.
fn content(held: bool) -> Vec<Value> {
    let config_map = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": name }, "data": { "log-level": "info" },
        })
    };
    let containers = json!([{ "name": "app", "image": "app:v1" }]);
    let template = json!({
        "metadata": { "labels": { "app": "web" } },
        "spec": { "containers": containers },
    });
    let mut first = config_map("settings");
    if held {
        first["metadata"]["finalizers"] = json!([FINALIZER]);
    }
    vec![
        first,
        config_map("more-settings"),
        json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "app" } }),
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": "web" }, "spec": { "containers": containers },
        }),
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" },
            "spec": {
                "replicas": 0,
                "selector": { "matchLabels": { "app": "web" } },
                "template": template,
            },
        }),
        json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": { "name": "web" }, "spec": {},
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_counts_what_is_created() {
        assert_eq!(content(false).len() + 1, OBJECTS);
    }

    #[test]
    fn a_namespace_that_names_only_what_is_left_does_not_name_its_blocker() {
        let condition =
            |kind: &str, message: &str| json!({"type": kind, "status": "True", "message": message});
        let left = condition(
            "NamespaceContentRemaining",
            "Some resources are remaining: configmaps. has 1 resource instances",
        );
        let held = condition(
            "NamespaceFinalizersRemaining",
            "Some content in the namespace has finalizers remaining: bench.flyball.dev/held in 1 resource instances",
        );
        let namespace = |conditions: &[&Value]| json!({"status": {"conditions": conditions}});
        assert!(names_blocker(&namespace(&[&left, &held])));
        assert!(!names_blocker(&namespace(&[&left])));
        assert!(!names_blocker(&namespace(&[])));
    }
}
