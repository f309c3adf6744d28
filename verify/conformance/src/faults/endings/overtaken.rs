//! Another writer changes the Deployment before each write to it: looked at again at once, and no failure.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::{Ground, PATIENCE, WATCHED};
use crate::faults::proxy::{Mood, Rival};
use crate::faults::workload::{deployment, plain_template, scale, until_all_complete, until_pods};

const NAMESPACE: &str = "overtaken";
/// Conflicts in a row, fewer than make a failure.
const CONFLICTS: usize = 6;
/// How long a Deployment may take to get over them.
const LIMIT: Duration = Duration::from_secs(5);

pub(super) async fn check(ground: &Ground) -> Result<String> {
    let objects = &ground.objects;
    objects.create_namespace(NAMESPACE).await?;
    let web = deployment("web", 2, &plain_template());
    objects.create(NAMESPACE, &web).await?;
    until_all_complete(objects, NAMESPACE, PATIENCE).await?;
    let conflicts = || ground.endings("deployment-controller", "conflict");
    let met = conflicts().await?;

    let rival = Rival::of("deployments", CONFLICTS);
    ground.proxy.set(Mood {
        rival: Some(rival),
        ..Mood::default()
    });
    let started = Instant::now();
    scale(objects, NAMESPACE, "web", 4).await?;
    until_all_complete(objects, NAMESPACE, LIMIT).await?;
    let took = started.elapsed();
    let counted = conflicts().await? - met;
    let failed = ground.log_lines(&["sync failed", "overtaken/web"])?;
    if counted < CONFLICTS as u64 || failed > 0 {
        bail!("{counted} conflicts counted of {CONFLICTS}, {failed} of them as failures");
    }

    // A writer who does not stop keeps the status from being written, and nothing else.
    let rival = Rival::of("deployments", usize::MAX);
    ground.proxy.set(Mood {
        rival: Some(rival.clone()),
        ..Mood::default()
    });
    scale(objects, NAMESPACE, "web", 6).await?;
    until_pods(objects, NAMESPACE, 6, PATIENCE).await?;
    tokio::time::sleep(WATCHED).await;
    let changes = rival.changes();
    ground.proxy.set(Mood::default());
    until_all_complete(objects, NAMESPACE, LIMIT).await?;
    Ok(format!(
        "overtaken {CONFLICTS} times: complete after {:.1} s without a failure; overtaken {changes} times in {} s: \
         pods created meanwhile, complete afterwards",
        took.as_secs_f64(),
        WATCHED.as_secs()
    ))
}
