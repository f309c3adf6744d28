//! `flyball up`: a whole control plane in this process.

#![allow(
    clippy::print_stdout,
    reason = "what it prints is for whoever started it"
)]

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use flyball::{Part, Plane, PlaneOptions};
use flyball_runtime::event_loop;

use super::signals::Signals;
use super::words::{self, Asked};

/// How long the parts may take to fill their caches before that is worth a word.
const SYNC_PATIENCE: Duration = Duration::from_secs(10);

/// Parses the words and runs until told to stop.
pub(super) fn run(words: &[String]) -> anyhow::Result<Option<String>> {
    let matches = match words::read(command_line(), words)? {
        Asked::Print(text) => return Ok(Some(text)),
        Asked::Run(matches) => matches,
    };
    let runtime = event_loop().context("cannot start the asynchronous runtime")?;
    runtime.block_on(up(&matches))?;
    runtime.shutdown_background();
    Ok(None)
}

fn command_line() -> Command {
    Command::new("flyball up")
        .bin_name("flyball up")
        .about("Run a whole control plane in one process: API server, store, controllers, scheduler, simulated nodes")
        .arg(
            Arg::new("data-dir")
                .long("data-dir")
                .value_name("FOLDER")
                .value_parser(value_parser!(PathBuf))
                .help("Where state is kept [default: flyball in the user's data folder]"),
        )
        .arg(
            Arg::new("ephemeral")
                .long("ephemeral")
                .action(ArgAction::SetTrue)
                .conflicts_with("data-dir")
                .help("Keep state in memory only"),
        )
        .arg(
            Arg::new("listen")
                .long("listen")
                .value_name("ADDRESS")
                .default_value("127.0.0.1:6443")
                .value_parser(value_parser!(SocketAddr))
                .help("Where clients connect; port 0 takes a free one"),
        )
        .arg(
            Arg::new("nodes")
                .long("nodes")
                .value_name("N")
                .default_value("3")
                .value_parser(value_parser!(usize))
                .help("How many simulated nodes there are"),
        )
        .arg(
            Arg::new("kubeconfig")
                .long("kubeconfig")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Where to write the kubeconfig [default: kubeconfig in the data folder]"),
        )
}

async fn up(matches: &ArgMatches) -> anyhow::Result<()> {
    let started = Instant::now();
    let ephemeral = matches.get_flag("ephemeral");
    let data = match matches.get_one::<PathBuf>("data-dir") {
        Some(folder) => Some(folder.clone()),
        None if ephemeral => None,
        None => Some(default_folder()?),
    };
    let mut stopped = Signals::new()?;
    let options = PlaneOptions {
        data: data.clone(),
        listen: matches.get_one::<SocketAddr>("listen").copied(),
        nodes: matches
            .get_one::<usize>("nodes")
            .copied()
            .unwrap_or_default(),
        parts: Vec::new(),
        ..PlaneOptions::default()
    };
    let mut plane = Plane::start_with(options).await?;
    let kept = match &data {
        Some(folder) => format!("state in {}", folder.display()),
        None => "state in memory only".to_owned(),
    };
    tell(
        started,
        &format!("API server on https://{}, {kept}", address(&plane)?),
    );
    let kubeconfig = write_kubeconfig(matches, data.as_deref(), &plane)?;
    for part in Part::ALL {
        plane.switch_on(part)?;
        tell(started, part.name());
    }
    if synced(&plane).await {
        tell(started, "everything is ready");
    } else {
        tell(started, "some caches are not filled yet; -v=2 says why");
    }
    print!("{}", next_steps(&kubeconfig));
    stopped.asked().await;
    println!("\nstopping");
    plane.stop().await;
    Ok(())
}

fn tell(started: Instant, what: &str) {
    println!("{:>7.3} s  {what}", started.elapsed().as_secs_f64());
}

fn address(plane: &Plane) -> anyhow::Result<SocketAddr> {
    plane.address().context("the plane does not listen")
}

/// Waits until every part has seen the state, for a while.
async fn synced(plane: &Plane) -> bool {
    let until = Instant::now() + SYNC_PATIENCE;
    let mut tick = tokio::time::interval(Duration::from_millis(5));
    while !plane.is_synced() {
        if Instant::now() > until {
            return false;
        }
        tick.tick().await;
    }
    true
}

fn default_folder() -> anyhow::Result<PathBuf> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(folder) = given("XDG_DATA_HOME") {
        return Ok(PathBuf::from(folder).join("flyball"));
    }
    let home = given("HOME").context(
        "there is no data folder: neither XDG_DATA_HOME nor HOME is set; name one with --data-dir, or use --ephemeral",
    )?;
    Ok(PathBuf::from(home).join(".local/share/flyball"))
}

fn write_kubeconfig(
    matches: &ArgMatches,
    data: Option<&Path>,
    plane: &Plane,
) -> anyhow::Result<PathBuf> {
    let path = match (matches.get_one::<PathBuf>("kubeconfig"), data) {
        (Some(path), _) => path.clone(),
        (None, Some(folder)) => folder.join("kubeconfig"),
        (None, None) => {
            let name = format!("flyball-{}.kubeconfig", std::process::id());
            std::env::temp_dir().join(name)
        }
    };
    let text = plane.kubeconfig()?.context("the plane does not listen")?;
    write_private(&path, &text)
        .with_context(|| format!("cannot write the kubeconfig {}", path.display()))?;
    Ok(path)
}

/// Writes a file that only its owner can read: it holds a key.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)?.write_all(text.as_bytes())
}

fn next_steps(kubeconfig: &Path) -> String {
    format!(
        "
  export KUBECONFIG={}
  kubectl get nodes
  kubectl create deployment web --image=nginx --replicas=3
  kubectl get pods --watch

Ctrl-C stops it.
",
        kubeconfig.display()
    )
}
