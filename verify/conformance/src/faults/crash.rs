//! kill -9 in the middle of scale-ups.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::census::Census;
use super::scene::Scene;
use super::workload::{deployment, plain_template, scale};
use crate::kubelet::{Kubelet, KubeletOptions};
use crate::requests::{Mark, Request};

const NAMESPACE: &str = "crash";
const PODS: usize = 500;
const PATIENCE: Duration = Duration::from_secs(90);

pub(super) async fn check(scene: &Scene) -> Result<String> {
    let cluster = scene.cluster().await?;
    let objects = cluster.objects();
    // Pods stay unbound, so that deletions are finished by the server at once.
    let _kubelet = Kubelet::start(&cluster, KubeletOptions::lean()).await?;
    objects.create_namespace(NAMESPACE).await?;
    objects
        .create(NAMESPACE, &deployment("web", 0, &plain_template()))
        .await?;
    let census = Census::start(&cluster, NAMESPACE).await?;
    let audit = cluster.audit()?;
    // Successors act in another name, so that the audit log tells whose a create was.
    let names = [
        cluster.create_identity("crash:even").await?,
        cluster.create_identity("crash:odd").await?,
    ];
    let creates = |mark: Mark, round: usize, which: fn(&Request) -> bool| -> Result<usize> {
        let requests = audit.since(mark)?.by_user(names[round % 2].user());
        let wanted = |one: &Request| one.verb == "create" && one.resource == "pods" && which(one);
        Ok(requests.filter(wanted).len())
    };

    let mut random = fastrand::Rng::with_seed(scene.options.seed);
    let mut manager = scene.manager(&cluster, &names[0], &[]).await?;
    let (mut excess_max, mut in_flight_max, mut mid_way) = (0, 0, 0);
    for round in 0..scene.options.scaleups {
        census.reset();
        let mark = audit.mark()?;
        // A moment is a number of pods seen and a few milliseconds more: the same on slow and fast machines.
        let (seen, more_ms) = (random.usize(0..PODS - 50), random.u64(0..20));
        scale(&objects, NAMESPACE, "web", PODS).await?;
        census.reaches(seen, PATIENCE).await?;
        tokio::time::sleep(Duration::from_millis(more_ms)).await;
        let at_kill = audit.mark()?;
        manager.kill().await?;
        // The successor starts at once, while the server may still be busy with what was sent.
        manager = scene
            .manager(&cluster, &names[(round + 1) % 2], &[])
            .await?;
        let at = || format!("round {round}, killed when {seen} pods had been seen");
        census.until(PODS, PATIENCE).await.with_context(at)?;
        // Quiet: no second wave after the number was reached.
        tokio::time::sleep(Duration::from_millis(700)).await;
        let count = census.read()?;
        // What the server answered after the kill had been in flight. Its answers are not all 201: it gives a request
        // up when it notices that the client is gone, and the pod may be stored all the same.
        let in_flight = creates(at_kill, round, |_| true)?;
        let made = |one: &Request| one.code == 201;
        let answered = creates(mark, round, made)? - creates(at_kill, round, made)?;
        mid_way += usize::from(answered > 0 && answered < PODS);
        if count.living != PODS {
            bail!("{}: {} pods instead of {PODS}", at(), count.living);
        }
        if count.living_max > PODS + in_flight {
            bail!(
                "{}: {} pods at once, {in_flight} were in flight",
                at(),
                count.living_max
            );
        }
        excess_max = excess_max.max(count.living_max - PODS);
        in_flight_max = in_flight_max.max(in_flight);
        scale(&objects, NAMESPACE, "web", 0).await?;
        census.until(0, PATIENCE).await.with_context(at)?;
    }
    for name in &names {
        scene.enter_deletes_of(&cluster, name.user())?;
    }
    if mid_way * 2 < scene.options.scaleups {
        bail!(
            "only {mid_way} of {} kills fell into the middle of a scale-up",
            scene.options.scaleups
        );
    }
    Ok(format!(
        "{} scale-ups to {PODS} (seed {}), {mid_way} killed mid-way: {PODS} each time, at most {excess_max} too many \
         at once, at most {in_flight_max} in flight",
        scene.options.scaleups, scene.options.seed
    ))
}
