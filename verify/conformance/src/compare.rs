//! Two managers, one after the other, through the same scenarios on the same cluster.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};
use futures::StreamExt as _;

use crate::cluster::Cluster;
use crate::history::History;
use crate::objects::Objects;
use crate::poll::until;
use crate::process::{COMPARED, Manager};
use crate::requests::{Mark, Requests};
use crate::scenario::{self, Outcome, Scenario};
use crate::state::Difference;

/// Which manager runs on a side of the comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Side {
    /// Upstream's.
    Go,
    /// Ours, from this binary.
    Flyball(PathBuf),
}

impl Side {
    /// The word for tables.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Go => "go",
            Self::Flyball(_) => "flyball",
        }
    }

    async fn start(&self, cluster: &Cluster) -> Result<Manager> {
        let mut manager = match self {
            Self::Go => Manager::go(cluster, COMPARED, &[]).await?,
            Self::Flyball(binary) => Manager::flyball(cluster, binary, COMPARED, &[]).await?,
        };
        manager.wait_healthy().await?;
        Ok(manager)
    }
}

/// One scenario's run on one side.
#[derive(Debug)]
pub struct Trial {
    /// Which manager it was.
    pub label: String,
    /// The states, or why a step failed.
    pub outcome: Result<Outcome>,
    /// The manager's requests in the scenario's namespace.
    pub requests: Requests,
}

/// Runs all scenarios against one manager, `jobs` at a time, each in a namespace of its own, and cleans up after it.
/// `done` is told each scenario's name and whether its steps succeeded.
///
/// # Errors
/// When the manager does not start or the cluster fails; a scenario that fails is an answer, not an error.
pub async fn run_side(
    cluster: &Cluster,
    side: &Side,
    label: &str,
    scenarios: &[Scenario],
    jobs: usize,
    done: impl Fn(&str, &Trial),
) -> Result<BTreeMap<String, Trial>> {
    let audit = cluster.audit()?;
    let mut manager = side.start(cluster).await?;
    let user = manager.user().to_owned();
    let history = &History::start(cluster).await?;
    let trials = futures::stream::iter(scenarios)
        .map(async |scenario| -> Result<(String, Trial)> {
            let namespace = format!("{label}-{}", scenario.name);
            let outcome = scenario::run(cluster, history, scenario, &namespace).await;
            let requests = audit
                .since(Mark::default())?
                .by_user(&user)
                .in_namespace(&namespace);
            let trial = Trial {
                label: label.to_owned(),
                outcome,
                requests,
            };
            done(&scenario.name, &trial);
            Ok((scenario.name.clone(), trial))
        })
        .buffer_unordered(jobs)
        .collect::<Vec<_>>()
        .await;
    if let Some(status) = manager.exited()? {
        anyhow::bail!(
            "the {label} manager exited ({status}): {}",
            manager.log_tail(30)
        );
    }
    manager.kill().await?;
    clear(&cluster.objects()).await?;
    trials.into_iter().collect()
}

/// Leaves no workload for the next manager to find.
async fn clear(objects: &Objects) -> Result<()> {
    const KINDS: &[&str] = &["Deployment", "ReplicaSet", "ReplicationController", "Pod"];
    for kind in KINDS {
        for object in objects.list(kind, "", "").await? {
            let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
            objects
                .force_delete(kind, text("namespace"), text("name"))
                .await?;
        }
    }
    until("an empty cluster", Duration::from_secs(60), async || {
        for kind in KINDS {
            if objects.count(kind, "").await? > 0 {
                return Ok(None);
            }
        }
        Ok(Some(()))
    })
    .await
    .context("after the last scenario")
}

/// What comparing two trials of a scenario shows.
#[derive(Debug, Default)]
pub struct Verdict {
    /// What should not be.
    pub faults: Vec<String>,
    /// Differences the scenario allows, with its reasons.
    pub allowed: Vec<String>,
}

/// Compares the second trial with the first: states at every checkpoint, and the number of writes.
#[must_use]
pub fn judge(scenario: &Scenario, first: &Trial, second: &Trial) -> Verdict {
    let mut verdict = Verdict::default();
    for trial in [first, second] {
        if let Err(error) = &trial.outcome {
            verdict.faults.push(format!("{}: {error:#}", trial.label));
        }
    }
    let (Ok(left), Ok(right)) = (&first.outcome, &second.outcome) else {
        return verdict;
    };
    for ((checkpoint, left), (_, right)) in left.states.iter().zip(&right.states) {
        for difference in left.differences(right) {
            verdict.add(scenario, checkpoint, &difference);
        }
    }
    let (few, many) = (
        first.requests.writes().len(),
        second.requests.writes().len(),
    );
    // Where the number of retries depends on timing, so does the number of writes.
    if scenario.loose_events.is_empty() && many > few + slack(few) {
        verdict.faults.push(format!(
            "writes: {few} by {}, {many} by {}",
            first.label, second.label
        ));
    }
    verdict
}

/// How many more writes the second manager may need: rollouts batch by when pods happen to become ready, and two
/// runs of upstream's own manager differ by as much.
fn slack(writes: usize) -> usize {
    2 + writes / 5
}

impl Verdict {
    fn add(&mut self, scenario: &Scenario, checkpoint: &str, difference: &Difference) {
        let text = format!("{checkpoint}: {difference}");
        let allowance = scenario.allow.iter().find(|one| {
            difference.path.contains(&one.path)
                && one.at.as_ref().is_none_or(|place| place == checkpoint)
        });
        match allowance {
            Some(allowance) => self.allowed.push(format!("{text} ({})", allowance.reason)),
            None => self.faults.push(text),
        }
    }
}
