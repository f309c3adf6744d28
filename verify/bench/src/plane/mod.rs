//! The embedded control plane alone: how soon it is there, what it costs at rest, and how many pods
//! a second it brings to life.

mod load;
mod process;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::table::Table;
use process::Plane;

/// How long it is left alone before its memory at rest is read.
const REST: Duration = Duration::from_secs(3);

pub(crate) fn command_line() -> Command {
    let number = |name: &'static str, default: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .default_value(default)
            .value_parser(value_parser!(u32).range(1..))
            .help(help)
    };
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    Command::new("plane")
        .about("Start `flyball up`, fill it with pods through Deployments, and print one table")
        .arg(number("deployments", "20", "Deployments to create"))
        .arg(number("replicas", "500", "Pods of each"))
        .arg(number("nodes", "100", "Simulated nodes"))
        .arg(
            Arg::new("binary")
                .long("binary")
                .value_name("PATH")
                .default_value("target/release/flyball")
                .value_parser(value_parser!(PathBuf))
                .help("The flyball binary"),
        )
        .arg(flag("ephemeral", "Keep state in memory only"))
        .arg(flag("check", "Fail unless the limits are kept"))
}

/// A figure, and the limit that it has to keep.
struct Figure {
    name: &'static str,
    value: f64,
    unit: &'static str,
    limit: Limit,
}

enum Limit {
    None,
    AtMost(f64),
    AtLeast(f64),
}

impl Figure {
    fn is_kept(&self) -> bool {
        match self.limit {
            Limit::None => true,
            Limit::AtMost(most) => self.value <= most,
            Limit::AtLeast(least) => self.value >= least,
        }
    }

    fn row(&self) -> Vec<String> {
        let number = |value: f64| match value {
            value if value >= 100.0 => format!("{value:.0} {}", self.unit),
            value => format!("{value:.2} {}", self.unit),
        };
        let limit = match self.limit {
            Limit::None => String::new(),
            Limit::AtMost(most) => format!("at most {}", number(most)),
            Limit::AtLeast(least) => format!("at least {}", number(least)),
        };
        vec![self.name.to_owned(), number(self.value), limit]
    }
}

/// Measures and prints; `Ok(false)` if the limits were to be checked and are not kept.
pub(crate) fn run(arguments: &ArgMatches) -> Result<bool> {
    let number = |name: &str| arguments.get_one::<u32>(name).copied().context("a number");
    let size = load::Size {
        deployments: number("deployments")?,
        replicas: number("replicas")?,
    };
    let binary = arguments.get_one::<PathBuf>("binary").context("--binary")?;
    if !binary.is_file() {
        bail!(
            "there is no program at {}: build it with `cargo build --release -p flyball-cli`, or name it with --binary",
            binary.display()
        );
    }
    let ephemeral = arguments.get_flag("ephemeral");
    let nodes = number("nodes")?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let figures = runtime.block_on(async {
        let mut plane = Plane::start(binary, nodes, ephemeral).await?;
        let figures = measure(&mut plane, size).await;
        plane.stop().await?;
        figures
    })?;
    let mut table = Table::new(&["", "measured", "limit"]);
    for figure in &figures {
        table.row(figure.row());
    }
    println!("{}", table.render());
    Ok(!arguments.get_flag("check") || figures.iter().all(Figure::is_kept))
}

async fn measure(plane: &mut Plane, size: load::Size) -> Result<Vec<Figure>> {
    let figure = |name, value, unit, limit| Figure {
        name,
        value,
        unit,
        limit,
    };
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let megabytes = |kb: u64| kb as f64 / 1024.0;
    let first_write = milliseconds(plane.first_write);
    let synced = milliseconds(plane.until_synced().await?);
    tokio::time::sleep(REST).await;
    let rest = plane.usage()?;
    let loaded = load::run(plane.client(), size).await?;
    let full = plane.usage()?;
    let pods = f64::from(size.deployments * size.replicas);
    let cpu = full.cpu.saturating_sub(rest.cpu).as_secs_f64();
    Ok(vec![
        figure(
            "start to first accepted write",
            first_write,
            "ms",
            Limit::AtMost(300.0),
        ),
        figure(
            "start to all controllers synced",
            synced,
            "ms",
            Limit::AtMost(1000.0),
        ),
        figure(
            "memory at rest",
            megabytes(rest.rss_kb),
            "MB",
            Limit::AtMost(60.0),
        ),
        figure("pods", pods, "", Limit::None),
        figure(
            "until all are available",
            loaded.as_secs_f64(),
            "s",
            Limit::None,
        ),
        figure(
            "pods a second, end to end",
            pods / loaded.as_secs_f64(),
            "/s",
            Limit::AtLeast(1000.0),
        ),
        figure("CPU for them", cpu, "s", Limit::None),
        figure("CPU per pod", cpu * 1e6 / pods, "µs", Limit::None),
        figure(
            "memory with them",
            megabytes(full.rss_kb),
            "MB",
            Limit::None,
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_kept_on_the_right_side() {
        let figure = |value, limit| Figure {
            name: "",
            value,
            unit: "ms",
            limit,
        };
        assert!(figure(300.0, Limit::AtMost(300.0)).is_kept());
        assert!(!figure(300.1, Limit::AtMost(300.0)).is_kept());
        assert!(figure(1000.0, Limit::AtLeast(1000.0)).is_kept());
        assert!(!figure(999.0, Limit::AtLeast(1000.0)).is_kept());
        assert!(figure(1e9, Limit::None).is_kept());
        let row = figure(11.0, Limit::AtMost(300.0)).row();
        assert_eq!(row, ["", "11.00 ms", "at most 300 ms"]);
    }
}
