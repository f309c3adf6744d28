//! `flyball nodes`: simulated nodes for any API server.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Arg, Command, value_parser};
use flyball_client::{Client, ConfigSource, load, user_agent};
use flyball_kubelets::{NodeController, PodController, Settings};
use flyball_plan::{Driver, Engine};
use flyball_runtime::{Controlled, Decisions, Metrics, Setup, TURNS_AFAR, event_loop, start};

use super::signals::Signals;
use super::words::{self, Asked};
use crate::identity::VERSION;

/// Parses the words and runs until told to stop.
pub(super) fn run(program: &str, words: &[String]) -> anyhow::Result<Option<String>> {
    let matches = match words::read(command_line(), words)? {
        Asked::Print(text) => return Ok(Some(text)),
        Asked::Run(matches) => matches,
    };
    let settings = Settings {
        count: matches
            .get_one::<usize>("count")
            .copied()
            .unwrap_or_default(),
        ..Settings::default()
    };
    settings.check()?;
    let source = ConfigSource {
        kubeconfig: matches.get_one::<PathBuf>("kubeconfig").cloned(),
        master: None,
    };
    let runtime = event_loop(TURNS_AFAR).context("cannot start the asynchronous runtime")?;
    runtime.block_on(simulate(program, &source, settings))?;
    runtime.shutdown_background();
    Ok(None)
}

fn command_line() -> Command {
    Command::new("flyball nodes")
        .bin_name("flyball nodes")
        .about("Simulate nodes: pods bound to them start, become ready, complete and end")
        .arg(
            Arg::new("kubeconfig")
                .long("kubeconfig")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("How to reach the API server [default: the in-cluster configuration]"),
        )
        .arg(
            Arg::new("count")
                .long("count")
                .value_name("N")
                .default_value("1")
                .value_parser(value_parser!(usize))
                .help("How many nodes to simulate: node-0, node-1, …"),
        )
}

async fn simulate(program: &str, source: &ConfigSource, settings: Settings) -> anyhow::Result<()> {
    let mut stopped = Signals::new()?;
    let config = load(source).await?;
    let client = Client::new(&config, &user_agent(program, VERSION, "nodes"))?;
    let count = settings.count;
    let settings = Arc::new(settings);
    let drivers: [Box<dyn Driver>; 2] = [
        Box::new(Engine::new(NodeController::new(settings.clone()))),
        Box::new(Engine::new(PodController::new(settings))),
    ];
    let controlled = |driver| Controlled {
        driver,
        client: client.clone(),
    };
    let setup = Setup {
        controllers: drivers.into_iter().map(controlled).collect(),
        informers: client.clone(),
        election: None,
        shutdown_timeout: Duration::from_secs(10),
        resync_period: Duration::from_secs(12 * 60 * 60),
        decisions: Decisions::default(),
    };
    let running = start(setup, &mut Metrics::new())?;
    tracing::info!(count, server = %config.cluster_url, "simulating nodes");
    stopped.asked().await;
    running.stop().await;
    Ok(())
}
