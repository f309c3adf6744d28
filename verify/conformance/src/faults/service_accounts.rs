//! One service account per controller, with nothing but the roles that every server creates at its start.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use super::scene::Scene;
use super::workload::{deployment, merge, plain_template, scale, until_all_complete, until_pods};
use crate::cluster::{ClusterOptions, MANAGER_USER};
use crate::kubelet::{Kubelet, KubeletOptions};
use crate::objects::Propagation;
use crate::requests::Mark;

const NAMESPACE: &str = "accounts";
const PATIENCE: Duration = Duration::from_secs(60);
const ACCOUNTS: &[&str] = &[
    "deployment-controller",
    "replicaset-controller",
    "replication-controller",
];

pub(super) async fn check(scene: &Scene) -> Result<String> {
    let options = ClusterOptions {
        apiserver_flags: vec!["--authorization-mode=RBAC".to_owned()],
        ..ClusterOptions::default()
    };
    let cluster = scene.cluster_with(options).await?;
    let objects = cluster.objects();
    // The harness's own grant goes; what is left is upstream's.
    let grant = format!("harness:{MANAGER_USER}");
    objects
        .delete("ClusterRoleBinding", "", &grant, Propagation::Background)
        .await?;
    let _kubelet = Kubelet::start(&cluster, KubeletOptions::default()).await?;
    objects.create_namespace(NAMESPACE).await?;
    let flags = [
        "--use-service-account-credentials=true",
        "--leader-elect=true",
    ];
    let manager = scene.manager(&cluster, cluster.manager(), &flags).await?;

    let mut web = deployment("web", 5, &plain_template());
    web["spec"]["revisionHistoryLimit"] = json!(0);
    objects.create(NAMESPACE, &web).await?;
    let mut template = plain_template();
    template["metadata"] = json!({ "labels": { "app": "old-style" } });
    let controller = json!({
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "metadata": { "name": "old-style" },
        "spec": { "replicas": 3, "selector": { "app": "old-style" }, "template": template },
    });
    objects.create(NAMESPACE, &controller).await?;
    let work = async {
        until_all_complete(&objects, NAMESPACE, PATIENCE).await?;
        until_pods(&objects, NAMESPACE, 8, PATIENCE).await?;
        let image = json!({ "spec": { "template": { "spec": { "containers": [{ "name": "app", "image": "app:v2" }] } } } });
        merge(&objects, NAMESPACE, "web", &image).await?;
        until_all_complete(&objects, NAMESPACE, PATIENCE).await?;
        scale(&objects, NAMESPACE, "web", 2).await?;
        until_all_complete(&objects, NAMESPACE, PATIENCE).await?;
        until_pods(&objects, NAMESPACE, 5, PATIENCE).await
    };
    work.await.with_context(|| manager.log_tail(20))?;

    let requests = cluster.audit()?.since(Mark::default())?;
    let is_managers =
        |user: &str| user == MANAGER_USER || user.starts_with("system:serviceaccount:kube-system:");
    let refused = requests.filter(|one| matches!(one.code, 401 | 403) && is_managers(&one.user));
    if let Some(one) = refused.all.first() {
        bail!(
            "{} requests refused, first {} {} {}/{} by {} ({})",
            refused.len(),
            one.verb,
            one.resource,
            one.namespace,
            one.name,
            one.user,
            one.code
        );
    }
    let mut figures = Vec::new();
    for account in ACCOUNTS {
        let user = format!("system:serviceaccount:kube-system:{account}");
        let own = requests.by_user(&user).writes();
        if own.is_empty() {
            bail!("no write by {user}; writes by {:?}", writers(&requests));
        }
        scene.enter_deletes(&own);
        figures.push(format!("{} by {account}", own.len()));
    }
    let root = requests
        .by_user(MANAGER_USER)
        .writes()
        .in_namespace(NAMESPACE);
    if let Some(one) = root.all.first() {
        bail!(
            "{} {} {} was written as {MANAGER_USER}",
            one.verb,
            one.resource,
            one.name
        );
    }
    Ok(format!(
        "no request refused; writes: {}",
        figures.join(", ")
    ))
}

fn writers(requests: &crate::requests::Requests) -> Vec<String> {
    let mut users: Vec<String> = requests
        .writes()
        .all
        .into_iter()
        .map(|one| one.user)
        .collect();
    users.sort();
    users.dedup();
    users
}
