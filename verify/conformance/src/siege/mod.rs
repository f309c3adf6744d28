//! `conformance siege`: clients that mean no good, by the thousand, against one `flyball up`.
//!
//! Three waves: connections that ask and take no byte of the answer, bodies to a resource that their sender may not
//! write, streams of a large document that nothing reads. All the while an administrator connects anew and asks for
//! a namespace. It must be answered every time, the server must stay small, and afterwards everything must be as
//! before. It uses loopback only and ends by itself.

mod attack;
mod server;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::{Arg, ArgMatches, Command, value_parser};

use server::{Identity, Server, Stream, is_open};

/// The most memory that the server may take.
const RESIDENT_KB_MAX: u64 = 300 << 10;

/// The longest time that 99 of 100 answers to the administrator may take.
const P99_MAX: Duration = Duration::from_millis(100);

/// How often the administrator asks.
const PERIOD: Duration = Duration::from_millis(20);

/// The subcommand.
pub(crate) fn command_line() -> Command {
    let count = |name: &'static str, default: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .default_value(default)
            .value_parser(value_parser!(usize))
            .help(help)
    };
    Command::new("siege")
        .about("Attack `flyball up` with thousands of stalled clients while an administrator works")
        .arg(
            Arg::new("program")
                .long("program")
                .value_name("PATH")
                .help("The flyball binary")
                .default_value("target/release/flyball")
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(count(
            "connections",
            "4096",
            "Connections that take nothing",
        ))
        .arg(count(
            "bodies",
            "835",
            "Bodies of 3 MiB to a forbidden resource",
        ))
        .arg(count(
            "streams",
            "2000",
            "Streams of /openapi/v2 that nothing reads",
        ))
        .arg(count("hold", "20", "Seconds that each wave is held"))
}

/// Runs all waves; true if the limits were kept.
pub(crate) async fn run(arguments: &ArgMatches) -> Result<bool> {
    let number = |name: &str| {
        arguments
            .get_one::<usize>(name)
            .copied()
            .unwrap_or_default()
    };
    let program = arguments.get_one::<PathBuf>("program");
    let server = Server::start(program.context("no program")?).await?;
    let hold = Duration::from_secs(u64::try_from(number("hold"))?);
    let token = server.token().await?;
    let (admin, anonymous) = (Arc::new(server.admin()?), Arc::new(server.anonymous()?));
    let mut kept = true;

    println!(
        "{:<12} {:>8} {:>7} {:>7} {:>7} {:>9} {:>9} {:>9}",
        "wave", "attacks", "held", "asked", "failed", "p50 ms", "p99 ms", "RSS MB"
    );
    let calm = watched(&server, &admin, "calm", async || {
        held(Vec::new(), hold / 4).await
    })
    .await?;
    kept &= calm;
    let connections = number("connections");
    kept &= watched(&server, &admin, "connections", async || {
        held(attack::connections(&anonymous, connections).await, hold).await
    })
    .await?;
    let bodies = number("bodies");
    kept &= watched(&server, &admin, "bodies", async || {
        held(attack::bodies(&anonymous, &token, bodies).await, hold).await
    })
    .await?;
    let streams = number("streams");
    kept &= watched(&server, &admin, "streams", async || {
        held(attack::streams(&anonymous, &token, streams).await, hold).await
    })
    .await?;
    kept &= watched(&server, &admin, "afterwards", async || {
        held(Vec::new(), hold / 4).await
    })
    .await?;
    Ok(kept)
}

/// Holds the connections of a wave for a while; how many were opened, and how many the server has left open.
async fn held(opened: Vec<Stream>, hold: Duration) -> (usize, usize) {
    tokio::time::sleep(hold).await;
    let open = opened.iter().filter(|one| is_open(one)).count();
    (opened.len(), open)
}

/// Lets an administrator work during a wave, and says how it was served; true if within the limits.
async fn watched(
    server: &Server,
    admin: &Arc<Identity>,
    name: &str,
    wave: impl AsyncFnOnce() -> (usize, usize),
) -> Result<bool> {
    let over = Arc::new(AtomicBool::new(false));
    let asking = tokio::spawn(ask(admin.clone(), over.clone()));
    let (opened, open) = wave().await;
    over.store(true, Ordering::Relaxed);
    let (mut times, failed) = asking.await?;
    times.sort_unstable();
    let at = |share: usize| {
        times
            .get(times.len() * share / 100)
            .copied()
            .unwrap_or_default()
    };
    let resident = server.resident_peak_kb()?;
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    println!(
        "{name:<12} {opened:>8} {open:>7} {:>7} {failed:>7} {:>9.1} {:>9.1} {:>9.1}",
        times.len() + failed,
        ms(at(50)),
        ms(at(99)),
        f64::from(u32::try_from(resident)?) / 1024.0
    );
    Ok(failed == 0 && at(99) <= P99_MAX && resident <= RESIDENT_KB_MAX)
}

/// Connects and asks again and again; how long each took, and how many failed.
async fn ask(admin: Arc<Identity>, over: Arc<AtomicBool>) -> (Vec<Duration>, usize) {
    let (mut times, mut failed) = (Vec::new(), 0);
    let mut ticks = tokio::time::interval(PERIOD);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    while !over.load(Ordering::Relaxed) {
        ticks.tick().await;
        let began = Instant::now();
        let answer = tokio::time::timeout(
            Duration::from_secs(30),
            admin.get("/api/v1/namespaces/default"),
        );
        match answer.await {
            Ok(Ok(200)) => times.push(began.elapsed()),
            _ => failed += 1,
        }
    }
    (times, failed)
}
