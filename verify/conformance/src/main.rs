//! `conformance`: upstream's manager and ours through the same scenarios.

// The terminal is this program's only output.
#![allow(clippy::print_stdout)]

mod clients_command;
mod e2e_command;
mod go_types_command;
mod parity_command;
mod report;
mod rules_command;
mod siege;
mod troubles;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use clap::{Arg, ArgMatches, Command, value_parser};
use flyball_conformance::{
    Cluster, ClusterOptions, Kubelet, KubeletOptions, Manager, Scenario, Side, Tools, Upstream,
    define_widgets, run_side,
};

#[tokio::main]
async fn main() -> ExitCode {
    let matches = command_line().get_matches();
    let outcome = match matches.subcommand() {
        Some(("build", _)) => build().await,
        Some(("run", arguments)) => run(arguments).await,
        Some(("list", arguments)) => list(arguments),
        Some(("cluster", arguments)) => cluster(arguments).await,
        Some(("faults", arguments)) => troubles::run(arguments).await,
        Some(("clients", arguments)) => clients_command::run(arguments).await,
        Some(("e2e", arguments)) => e2e_command::run(arguments).await,
        Some(("parity", arguments)) => parity_command::run(arguments).await,
        Some(("rules", arguments)) => rules_command::run(arguments).await,
        Some(("siege", arguments)) => siege::run(arguments).await,
        Some(("go-types", arguments)) => go_types_command::run(arguments),
        _ => Ok(false),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("conformance: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn command_line() -> Command {
    let scenarios = Arg::new("scenarios")
        .long("scenarios")
        .value_name("FOLDER")
        .help("Where the scenarios are")
        .default_value(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios"))
        .value_parser(value_parser!(PathBuf));
    Command::new("conformance")
        .about("Runs upstream's controller manager and ours through the same scenarios")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("build").about("Build upstream's programs into the cache, if missing"),
        )
        .subcommand(
            Command::new("list")
                .about("List the scenarios and their stories")
                .arg(scenarios.clone()),
        )
        .subcommand(
            Command::new("run")
                .about("Run scenarios; fails upon a difference that no scenario allows")
                .arg(scenarios)
                .arg(
                    Arg::new("manager")
                        .long("manager")
                        .value_name("PATH")
                        .help("The flyball binary")
                        .default_value("target/release/flyball")
                        .value_parser(value_parser!(PathBuf)),
                )
                .arg(
                    Arg::new("only")
                        .long("only")
                        .value_name("NAME")
                        .num_args(1)
                        .action(clap::ArgAction::Append)
                        .help("Only scenarios whose name contains this; may be repeated"),
                )
                .arg(
                    Arg::new("against")
                        .long("against")
                        .value_parser(["both", "go", "flyball"])
                        .default_value("both")
                        .help(
                            "both: upstream's and ours must agree. go: two runs of upstream's must \
                             agree, which checks the harness. flyball: ours alone must get through",
                        ),
                )
                .arg(
                    Arg::new("jobs")
                        .long("jobs")
                        .default_value("6")
                        .value_parser(value_parser!(usize))
                        .help("Scenarios at a time"),
                )
                .arg(
                    Arg::new("keep")
                        .long("keep")
                        .action(clap::ArgAction::SetTrue)
                        .help("Leave logs, audit log and data on disk, and say where"),
                )
                .arg(
                    Arg::new("requests")
                        .long("requests")
                        .action(clap::ArgAction::SetTrue)
                        .help("Show request counts by verb and resource for each scenario"),
                ),
        )
        .subcommand(troubles::command_line())
        .subcommand(siege::command_line())
        .subcommand(clients_command::command_line())
        .subcommand(e2e_command::command_line())
        .subcommand(parity_command::command_line())
        .subcommand(rules_command::command_line())
        .subcommand(go_types_command::command_line())
        .subcommand(
            Command::new("cluster")
                .about("Start a cluster with a kubelet for hand use, until Ctrl-C")
                .arg(
                    Arg::new("go-manager")
                        .long("go-manager")
                        .action(clap::ArgAction::SetTrue)
                        .help("Run upstream's manager in it, with all its default controllers"),
                ),
        )
}

async fn build() -> Result<bool> {
    let binaries = tokio::task::spawn_blocking(Upstream::ensure).await??;
    let folder = binaries
        .etcd
        .parent()
        .context("binaries without a folder")?;
    println!(
        "upstream {} is in {}",
        Upstream::version()?,
        folder.display()
    );
    let tools = tokio::task::spawn_blocking(Tools::ensure).await??;
    println!(
        "kubectl {} is {}",
        Tools::old_version()?,
        tools.kubectl_old.display()
    );
    println!("helm is {}", tools.helm3.display());
    Ok(true)
}

fn selected(arguments: &ArgMatches) -> Result<Vec<Scenario>> {
    let folder = arguments
        .get_one::<PathBuf>("scenarios")
        .context("--scenarios")?;
    Scenario::read_all(folder)
}

fn list(arguments: &ArgMatches) -> Result<bool> {
    for scenario in selected(arguments)? {
        println!("{:<31} {}", scenario.name, scenario.story.trim());
    }
    Ok(true)
}

async fn run(arguments: &ArgMatches) -> Result<bool> {
    let mut scenarios = selected(arguments)?;
    if let Some(only) = arguments.get_many::<String>("only") {
        let only: Vec<&String> = only.collect();
        scenarios.retain(|scenario| only.iter().any(|part| scenario.name.contains(*part)));
        if scenarios.is_empty() {
            bail!("no scenario's name contains any of {only:?}");
        }
    }
    let binary = arguments
        .get_one::<PathBuf>("manager")
        .context("--manager")?
        .clone();
    let against = arguments
        .get_one::<String>("against")
        .context("--against")?
        .as_str();
    let sides = match against {
        "go" => vec![("go", Side::Go), ("go-again", Side::Go)],
        "flyball" => vec![("flyball", Side::Flyball(binary.clone()))],
        _ => vec![("go", Side::Go), ("flyball", Side::Flyball(binary.clone()))],
    };
    if against != "go" && !binary.is_file() {
        bail!(
            "there is no manager at {}: build it with `cargo build --release -p flyball`, or name it with \
             --manager",
            binary.display()
        );
    }
    let jobs = (*arguments.get_one::<usize>("jobs").context("--jobs")?).max(1);

    let started = Instant::now();
    let keep_folder = arguments.get_flag("keep");
    let options = ClusterOptions {
        audit: true,
        keep_folder,
        ..Default::default()
    };
    let cluster = Cluster::start(options).await?;
    let kubelet = Kubelet::start(&cluster, KubeletOptions::default()).await?;
    let _environment = environment(&cluster).await?;
    println!("cluster up after {:.1} s", started.elapsed().as_secs_f64());

    let mut trials = Vec::new();
    for (label, side) in &sides {
        let progress = |name: &str, trial: &flyball_conformance::Trial| {
            println!("{}", report::progress(label, name, trial));
        };
        trials.push(run_side(&cluster, side, label, &scenarios, jobs, progress).await?);
    }
    let passed = report::summary(&sides, &scenarios, &trials, arguments.get_flag("requests"));
    for failure in kubelet.failures() {
        println!("kubelet: {failure}");
    }
    if keep_folder {
        println!("logs are in {}", cluster.folder().display());
    }
    println!("{:.0} s in all", started.elapsed().as_secs_f64());
    Ok(passed)
}

/// What a cluster has besides the manager under test, the same on both sides: quota, and a custom kind.
async fn environment(cluster: &Cluster) -> Result<Manager> {
    define_widgets(&cluster.objects()).await?;
    let identity = cluster.create_identity("harness:environment").await?;
    let controllers = ["resourcequota-controller"];
    let mut manager = Manager::go_as(cluster, &identity, &controllers, &[]).await?;
    manager.wait_healthy().await?;
    Ok(manager)
}

async fn cluster(arguments: &ArgMatches) -> Result<bool> {
    let cluster = Cluster::start(ClusterOptions::default()).await?;
    let _kubelet = Kubelet::start(&cluster, KubeletOptions::default()).await?;
    let _manager = if arguments.get_flag("go-manager") {
        Some(Manager::go(&cluster, &["*"], &[]).await?)
    } else {
        None
    };
    println!(
        "export KUBECONFIG={}",
        cluster.admin().kubeconfig().display()
    );
    println!("# kubectl: {}", cluster.binaries().kubectl.display());
    println!(
        "# for a manager: --kubeconfig={}",
        cluster.manager().kubeconfig().display()
    );
    println!("# logs: {}", cluster.folder().display());
    println!("# Ctrl-C ends it");
    tokio::signal::ctrl_c().await?;
    Ok(true)
}
