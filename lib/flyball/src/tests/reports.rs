//! From reports alone: which object, rule and condition keep a workload from its desired state.

use std::sync::Arc;
use std::time::Duration;

use flyball_api::{Kind, ObjectName};
use flyball_plan::{Reports, Target};
use flyball_runtime::Decision;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::time::timeout;

use super::{DEPLOYMENTS, deployment, post};
use crate::{Client, Method, Plane, Request};

const DEPLOYMENT: Kind = Kind::namespaced("apps", "v1", "Deployment", "deployments");
const CONFIG_MAP: Kind = Kind::namespaced("", "v1", "ConfigMap", "configmaps");

const DEPLOYMENTS_BY: &str = "deployment-controller";
const PODS_BY: &str = "replicaset-controller";
const KUBELET: &str = "simulated-pod-controller";

/// A plane, and a reader of nothing but its reports.
struct Scene {
    plane: Plane,
    client: Client,
    decisions: broadcast::Receiver<Arc<Decision>>,
    reports: Reports,
}

impl Scene {
    async fn begin() -> Self {
        let plane = Plane::start().await.unwrap();
        let (client, decisions) = (plane.client("test"), plane.decisions());
        Self {
            plane,
            client,
            decisions,
            reports: Reports::default(),
        }
    }

    /// Creates the Deployment `web` with this changed in it.
    async fn create(&self, change: impl FnOnce(&mut Value)) {
        let mut web = deployment(2);
        change(&mut web);
        post(&self.client, DEPLOYMENTS, &web).await;
    }

    /// Waits until the way from an object leads by these rules of these controllers, and its last
    /// stop waits for this.
    async fn leads(mut self, from: Target, stops: &[(&str, &str)], wait: &str) {
        let mut way = Vec::new();
        let arrives = async {
            loop {
                way = self.reports.walk(&from);
                let named = way.iter().map(|stop| (stop.controller, stop.rule.code));
                let ends = way.last().map(|stop| stop.waits_for.to_string());
                if named.eq(stops.iter().copied()) && ends.is_some_and(|it| is_like(&it, wait)) {
                    return;
                }
                let decision = self.decisions.recv().await.unwrap();
                self.reports.note(decision.controller, &decision.finished);
            }
        };
        if timeout(Duration::from_secs(60), arrives).await.is_err() {
            panic!("the way leads elsewhere: {way:#?}");
        }
        self.plane.stop().await;
    }
}

/// Whether a text begins and ends as the words around `*` do.
fn is_like(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => text.starts_with(start) && text.ends_with(end),
        None => text == pattern,
    }
}

fn target(kind: Kind, name: &str) -> Target {
    let name = ObjectName::new(if kind.namespaced { "default" } else { "" }, name);
    Target { kind, name }
}

fn web() -> Target {
    target(DEPLOYMENT, "web")
}

fn behaves(web: &mut Value, behaviour: &str) {
    let annotations = json!({"kubelet.flyball.dev/behaviour": behaviour});
    web["spec"]["template"]["metadata"]["annotations"] = annotations;
}

#[tokio::test]
async fn a_quota_that_refuses_a_pod_is_reached() {
    let scene = Scene::begin().await;
    // A quota counts once its status says so, which no controller here writes.
    let hard = json!({"pods": "1"});
    let quota = json!({"metadata": {"name": "tight"}, "spec": {"hard": hard}});
    let quotas = "/api/v1/namespaces/default/resourcequotas";
    post(&scene.client, quotas, &quota).await;
    let status = json!({"status": {"hard": hard, "used": {"pods": "0"}}}).to_string();
    let path = format!("{quotas}/tight/status");
    let count = Request::with(Method::MergePatch, path, status);
    scene.client.send(&count).await.unwrap();
    scene.create(|_| {}).await;
    let stops = [(DEPLOYMENTS_BY, "RollingUpdate"), (PODS_BY, "TooFewPods")];
    let wait = "ResourceQuota default/tight to have room for pods";
    scene.leads(web(), &stops, wait).await;
}

#[tokio::test]
async fn a_pod_that_no_node_fits_is_reached() {
    let scene = Scene::begin().await;
    let ask = json!({"requests": {"cpu": "100000"}});
    let fill = |web: &mut Value| {
        web["spec"]["template"]["spec"]["containers"][0]["resources"] = ask;
    };
    scene.create(fill).await;
    let stops = [
        (DEPLOYMENTS_BY, "RollingUpdate"),
        (PODS_BY, "RightNumberOfPods"),
        ("kube-scheduler", "Unschedulable"),
    ];
    let wait = "nodes to fit 1 waiting pod";
    scene.leads(web(), &stops, wait).await;
}

#[tokio::test]
async fn a_pod_whose_image_cannot_be_pulled_is_reached() {
    let scene = Scene::begin().await;
    scene.create(|web| behaves(web, "image-pull-error")).await;
    let stops = [
        (DEPLOYMENTS_BY, "RollingUpdate"),
        (PODS_BY, "RightNumberOfPods"),
        (KUBELET, "ImagePullFailed"),
    ];
    let wait = "Pod default/web-* to have its images pulled";
    scene.leads(web(), &stops, wait).await;
}

#[tokio::test]
async fn a_paused_deployment_waits_for_an_edit() {
    let scene = Scene::begin().await;
    scene
        .create(|web| web["spec"]["paused"] = true.into())
        .await;
    let wait = "a change of spec.paused of Deployment default/web";
    scene
        .leads(web(), &[(DEPLOYMENTS_BY, "Paused")], wait)
        .await;
}

#[tokio::test]
async fn past_the_progress_deadline_the_unready_pod_is_reached() {
    let scene = Scene::begin().await;
    let late = |web: &mut Value| {
        behaves(web, "never-ready");
        web["spec"]["progressDeadlineSeconds"] = 1.into();
    };
    scene.create(late).await;
    let stops = [
        (DEPLOYMENTS_BY, "ProgressDeadlineExceeded"),
        (PODS_BY, "RightNumberOfPods"),
        (KUBELET, "ContainersNotReady"),
    ];
    let wait = "Pod default/web-* to become ready";
    scene.leads(web(), &stops, wait).await;
}

#[tokio::test]
async fn a_finalizer_that_holds_a_namespace_is_reached() {
    let scene = Scene::begin().await;
    let shop = json!({"metadata": {"name": "shop"}});
    post(&scene.client, "/api/v1/namespaces", &shop).await;
    let held = json!({"metadata": {"name": "held", "finalizers": ["example.com/keep"]}});
    post(&scene.client, "/api/v1/namespaces/shop/configmaps", &held).await;
    let delete = Request::with(Method::Delete, "/api/v1/namespaces/shop", "");
    scene.client.send(&delete).await.unwrap();
    let wait = "ConfigMap shop/held to lose its finalizers example.com/keep";
    let stops = [("namespace-controller", "ContentRemains")];
    scene.leads(Target::namespace("shop"), &stops, wait).await;
}

#[tokio::test]
async fn the_one_dependent_that_keeps_its_owner_is_reached() {
    let scene = Scene::begin().await;
    let maps = "/api/v1/namespaces/default/configmaps";
    let owner = post(&scene.client, maps, &json!({"metadata": {"name": "owner"}})).await;
    let reference = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "owner",
        "uid": owner["metadata"]["uid"], "blockOwnerDeletion": true,
    }]);
    for (name, finalizers) in [("free", json!([])), ("stuck", json!(["example.com/keep"]))] {
        let dependent = json!({"metadata": {
            "name": name, "finalizers": finalizers, "ownerReferences": reference,
        }});
        post(&scene.client, maps, &dependent).await;
    }
    let body = json!({"propagationPolicy": "Foreground"}).to_string();
    let delete = Request::with(Method::Delete, format!("{maps}/owner"), body);
    scene.client.send(&delete).await.unwrap();
    let wait = "ConfigMap default/stuck to lose its finalizers example.com/keep";
    let stops = [("garbage-collector-controller", "DependentBlocks")];
    scene.leads(target(CONFIG_MAP, "owner"), &stops, wait).await;
}
