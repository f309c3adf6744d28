//! Watches that are late: the manager must not act twice on what it has not seen yet.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::json;

use super::census::Census;
use super::proxy::{Mood, Proxy};
use super::scene::Scene;
use super::workload::{deployment, merge, plain_template, until_all_complete, until_pods};
use crate::kubelet::{Kubelet, KubeletOptions};
use crate::requests::Mark;

const NAMESPACE: &str = "lag";
const PODS: usize = 100;

pub(super) async fn check(scene: &Scene) -> Result<String> {
    let lag = scene.options.lag;
    let cluster = scene.cluster().await?;
    let objects = cluster.objects();
    let _kubelet = Kubelet::start(&cluster, KubeletOptions::default()).await?;
    objects.create_namespace(NAMESPACE).await?;
    let census = Census::start(&cluster, NAMESPACE).await?;
    let proxy = Proxy::start(cluster.manager()).await?;
    proxy.set(Mood {
        watch_lag: lag,
        ..Mood::default()
    });
    let through = proxy.kubeconfig_flag(&cluster, cluster.manager())?;
    let manager = scene
        .manager(&cluster, cluster.manager(), &[&through])
        .await?;
    let audit = cluster.audit()?;
    let created = |resource: &str| -> Result<usize> {
        let requests = audit.since(Mark::default())?;
        let wanted = |one: &crate::requests::Request| {
            one.verb == "create" && one.resource == resource && one.code == 201
        };
        Ok(requests.in_namespace(NAMESPACE).filter(wanted).len())
    };

    let started = Instant::now();
    // Scaled in two steps: the second comes while nothing of the first has been seen.
    objects
        .create(NAMESPACE, &deployment("web", PODS / 2, &plain_template()))
        .await?;
    until_pods(
        &objects,
        NAMESPACE,
        PODS / 2,
        lag * 6 + Duration::from_secs(60),
    )
    .await?;
    let patch = json!({ "spec": { "replicas": PODS, "strategy": { "rollingUpdate": {
        "maxSurge": "50%", "maxUnavailable": "50%",
    }}}});
    merge(&objects, NAMESPACE, "web", &patch).await?;
    let limit = lag * 20 + Duration::from_secs(120);
    until_all_complete(&objects, NAMESPACE, limit).await?;
    let up = started.elapsed();
    let (pods, at_most) = (created("pods")?, census.read()?.living_max);
    if pods != PODS || at_most != PODS {
        bail!(
            "scale-up to {PODS} with watches {lag:?} late: {pods} pods created, {at_most} at once\n{}",
            manager.log_tail(10)
        );
    }

    let started = Instant::now();
    let image = json!({ "spec": { "template": { "spec": { "containers": [{ "name": "app", "image": "app:v2" }] } } } });
    merge(&objects, NAMESPACE, "web", &image).await?;
    until_all_complete(&objects, NAMESPACE, limit).await?;
    until_pods(&objects, NAMESPACE, PODS, limit).await?;
    let rolled = started.elapsed();
    // What a late watch could still provoke has been provoked when everything has been seen.
    tokio::time::sleep(lag + Duration::from_secs(2)).await;
    let (pods, sets, at_most) = (
        created("pods")?,
        created("replicasets")?,
        census.read()?.living_max,
    );
    if pods != 2 * PODS || sets != 2 {
        bail!(
            "rolling update with watches {lag:?} late: {pods} pods created in all instead of {}, {sets} ReplicaSets",
            2 * PODS
        );
    }
    if at_most > PODS * 3 / 2 {
        bail!("rolling update with watches {lag:?} late: {at_most} pods at once");
    }
    scene.enter_deletes_of(&cluster, cluster.manager().user())?;
    Ok(format!(
        "watches {} s late: 0 extra pods in a scale-up to {PODS} ({:.0} s) and a rolling update ({:.0} s, at most {at_most} at once)",
        lag.as_secs(),
        up.as_secs_f64(),
        rolled.as_secs_f64()
    ))
}
