//! Kubernetes' own e2e tests as a scoreboard: upstream's manager, then ours, in the same surroundings.
//!
//! The tests are those of upstream's `e2e.test`, unchanged. Each side has a cluster of its own ([`ground`]) in which
//! only the manager differs. Every test is a process of its own, a shard; shards run side by side, and those that
//! upstream marks as serial run alone afterwards. What needs a container that really runs cannot pass with either
//! manager on simulated nodes: the page says so test by test ([`page`]).

mod ground;
mod needs;
mod page;
mod report;
mod suite;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use futures::{StreamExt as _, TryStreamExt as _};

use crate::compare::Side;
use crate::upstream::Upstream;
use ground::Ground;
pub use page::{PAGE, Scoreboard};
pub use suite::{Spec, SpecOutcome, SpecState};

/// What is asked of the controllers that there are, as the names of upstream's tests begin.
pub const AREAS: &[&str] = &[
    "[sig-api-machinery] Garbage collector",
    "[sig-api-machinery] Namespaces",
    "[sig-api-machinery] OrderedNamespaceDeletion",
    "[sig-auth] ServiceAccounts",
    "[sig-apps] Deployment",
    "[sig-apps] ReplicaSet",
    "[sig-apps] ReplicationController",
    "[sig-apps] TTLAfterFinished",
];

/// What to run.
#[derive(Debug, Clone)]
pub struct E2eOptions {
    /// The managers, in this order.
    pub sides: Vec<Side>,
    /// The flyball binary whose simulated nodes run the pods of every side.
    pub flyball: PathBuf,
    /// How the names of the tests begin.
    pub areas: Vec<String>,
    /// Only tests whose name contains one of these; all if there are none.
    pub only: Vec<String>,
    /// Only tests of the conformance list.
    pub conformance_only: bool,
    /// How many tests run side by side.
    pub shards: usize,
    /// How long one test may take.
    pub limit: Duration,
    /// Leave logs and data on disk.
    pub keep_folders: bool,
}

impl E2eOptions {
    fn selects(&self, spec: &Spec) -> bool {
        let area = |area: &String| spec.name.starts_with(area.as_str());
        let part = |part: &String| spec.name.contains(part.as_str());
        self.areas.iter().any(area)
            && (self.only.is_empty() || self.only.iter().any(part))
            && (spec.conformance || !self.conformance_only)
    }
}

/// Runs the chosen tests with each manager; `tell` is told what happens, line by line.
///
/// # Errors
/// When there is no such test, or when a cluster does not start. A test that fails is an answer, not an error.
pub async fn run_e2e(options: &E2eOptions, mut tell: impl FnMut(&str)) -> Result<Scoreboard> {
    let program = tokio::task::spawn_blocking(Upstream::e2e).await??;
    let kube_scheduler = tokio::task::spawn_blocking(Upstream::scheduler).await??;
    let mut specs = suite::list(&program).await?;
    specs.retain(|spec| options.selects(spec));
    if specs.is_empty() {
        bail!("no test is called so");
    }
    tell(&format!(
        "{} tests, {} of them in the conformance list",
        specs.len(),
        specs.iter().filter(|spec| spec.conformance).count()
    ));
    let mut scoreboard = Scoreboard::new(specs);
    for side in &options.sides {
        let ground = Ground::start(side, &kube_scheduler, options).await?;
        tell(&format!(
            "{}: cluster up, logs in {}",
            side.name(),
            ground.folder().display()
        ));
        let outcomes = run_all(&program, &ground, &scoreboard.specs, options, &mut tell).await?;
        scoreboard.add(side.name(), outcomes);
    }
    Ok(scoreboard)
}

/// The outcomes in the order of the tests.
async fn run_all(
    program: &std::path::Path,
    ground: &Ground,
    specs: &[Spec],
    options: &E2eOptions,
    tell: &mut impl FnMut(&str),
) -> Result<Vec<SpecOutcome>> {
    let mut outcomes: Vec<Option<SpecOutcome>> = specs.iter().map(|_| None).collect();
    let mut done = 0;
    for (serial, width) in [(false, options.shards.max(1)), (true, 1)] {
        let chosen = specs
            .iter()
            .enumerate()
            .filter(|(_, spec)| spec.serial == serial);
        let mut running = futures::stream::iter(chosen)
            .map(async |(at, spec)| {
                let outcome = suite::run(program, ground, at, spec, options.limit).await?;
                Ok::<_, anyhow::Error>((at, outcome))
            })
            .buffer_unordered(width);
        while let Some((at, outcome)) = running.try_next().await? {
            done += 1;
            tell(&format!(
                "[{done:>3}/{}] {:<8}{:<9}{:>6.1} s  {}{}",
                specs.len(),
                ground.name(),
                outcome.state.word(),
                outcome.took.as_secs_f64(),
                specs[at].name,
                outcome.said_on_a_line()
            ));
            outcomes[at] = Some(outcome);
        }
    }
    Ok(outcomes.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_chosen_by_area_part_of_its_name_and_list() {
        let spec = |name: &str, conformance| Spec {
            name: name.to_owned(),
            conformance,
            serial: false,
        };
        let options = |only: &[&str], conformance_only| E2eOptions {
            sides: Vec::new(),
            flyball: PathBuf::new(),
            areas: vec!["[sig-apps] Deployment".to_owned()],
            only: only.iter().map(|part| (*part).to_owned()).collect(),
            conformance_only,
            shards: 1,
            limit: Duration::ZERO,
            keep_folders: false,
        };
        let rollover = spec("[sig-apps] Deployment should support rollover", true);
        let reaping = spec("[sig-apps] Deployment reaping should cascade", false);
        let job = spec("[sig-apps] Job should support rollover", true);
        for (options, chosen) in [
            (options(&[], false), [true, true, false]),
            (options(&[], true), [true, false, false]),
            (options(&["rollover"], false), [true, false, false]),
            (options(&["nothing"], false), [false, false, false]),
        ] {
            let found = [&rollover, &reaping, &job].map(|spec| options.selects(spec));
            assert_eq!(found, chosen, "{options:?}");
        }
    }
}
