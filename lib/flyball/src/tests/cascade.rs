//! What becomes of dependents when their owner is deleted, in each of the three ways.

use std::time::Duration;

use flyball_plan::Outcome;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{DEPLOYMENTS, deployment, get, post, until_available};
use crate::{Client, Method, Plane, Request, WatchStream};

const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
const PODS: &str = "/api/v1/namespaces/default/pods";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

async fn delete(client: &Client, path: String, how: &str) {
    let body = json!({"propagationPolicy": how, "gracePeriodSeconds": 0}).to_string();
    let request = Request::with(Method::Delete, path, body);
    client.send(&request).await.unwrap();
}

async fn watch(client: &Client, path: &str) -> WatchStream {
    client.watch(&format!("{path}?watch=1")).await.unwrap()
}

/// Reads a watch until so many objects have gone.
async fn until_gone(watch: &mut WatchStream, count: usize) {
    let wait = async {
        let mut gone = 0;
        while gone < count {
            let line = watch.next().await.unwrap().unwrap();
            let line: Value = serde_json::from_slice(&line).unwrap();
            gone += usize::from(line["type"] == "DELETED");
        }
    };
    timeout(Duration::from_secs(60), wait).await.unwrap();
}

async fn items(client: &Client, path: &str) -> Vec<Value> {
    let list = get(client, path).await;
    list["items"].as_array().cloned().unwrap_or_default()
}

/// A plane with a Deployment of three pods, and a watch of Deployments.
async fn grown() -> (Plane, Client, WatchStream) {
    let plane = Plane::start().await.unwrap();
    let client = plane.client("test");
    post(&client, DEPLOYMENTS, &deployment(3)).await;
    until_available(&client, 3).await;
    let deployments = watch(&client, DEPLOYMENTS).await;
    (plane, client, deployments)
}

#[tokio::test]
async fn in_the_foreground_an_owner_is_the_last_to_go() {
    let (plane, client, mut deployments) = grown().await;
    delete(&client, format!("{DEPLOYMENTS}/web"), "Foreground").await;
    until_gone(&mut deployments, 1).await;
    assert_eq!(items(&client, SETS).await, Vec::<Value>::new());
    assert_eq!(items(&client, PODS).await, Vec::<Value>::new());
    plane.stop().await;
}

#[tokio::test]
async fn no_sync_of_a_deployment_fails_because_it_was_deleted() {
    let (plane, client, mut deployments) = grown().await;
    let mut decisions = plane.decisions();
    delete(&client, format!("{DEPLOYMENTS}/web"), "Foreground").await;
    until_gone(&mut deployments, 1).await;
    plane.stop().await;
    while let Ok(decision) = decisions.try_recv() {
        let outcome = &decision.finished.outcome;
        let failed = matches!(outcome, Outcome::Retries { .. } | Outcome::GaveUp { .. });
        assert!(!failed, "{}: {outcome:?}", decision.controller);
    }
}

#[tokio::test]
async fn in_the_background_dependents_go_after_their_owner() {
    let (plane, client, mut deployments) = grown().await;
    let mut pods = watch(&client, PODS).await;
    delete(&client, format!("{DEPLOYMENTS}/web"), "Background").await;
    until_gone(&mut deployments, 1).await;
    until_gone(&mut pods, 3).await;
    plane.stop().await;
}

#[tokio::test]
async fn orphans_stay() {
    let (plane, client, mut deployments) = grown().await;
    delete(&client, format!("{DEPLOYMENTS}/web"), "Orphan").await;
    until_gone(&mut deployments, 1).await;
    let sets = items(&client, SETS).await;
    assert_eq!(sets.len(), 1);
    assert!(
        sets[0]["metadata"]["ownerReferences"].is_null(),
        "{}",
        sets[0]
    );
    assert_eq!(items(&client, PODS).await.len(), 3);
    plane.stop().await;
}

#[tokio::test]
async fn kinds_that_come_while_it_runs_own_things_as_well() {
    let plane = Plane::start().await.unwrap();
    let client = plane.client("test");
    let version = json!({"name": "v1", "served": true, "storage": true, "schema":
        {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}});
    let spec = json!({"group": "example.com", "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"}, "versions": [version]});
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"}, "spec": spec});
    post(&client, CRDS, &definition).await;
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "owner"}});
    let widget = post(&client, WIDGETS, &widget).await;
    let owner = json!({"apiVersion": "example.com/v1", "kind": "Widget", "name": "owner",
        "uid": widget["metadata"]["uid"]});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "owned", "ownerReferences": [owner]}});
    post(&client, MAPS, &map).await;
    let mut maps = watch(&client, MAPS).await;
    delete(&client, format!("{WIDGETS}/owner"), "Background").await;
    until_gone(&mut maps, 1).await;
    plane.stop().await;
}
