//! Small commits made durable in groups: our log beside two embedded engines.

mod engines;
mod grouped;
mod load;

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use clap::{Arg, ArgMatches, Command, value_parser};
use flyball_durable::{Log, Options};
use flyball_storage::{Item, Limits, Revision, Store};

use crate::progress::Progress;
use crate::table::Table;
use engines::{Fjall, Redb};
use grouped::Grouped;
use load::{Load, Measured, Target, measure};

pub(crate) fn command_line() -> Command {
    let number = |name: &'static str, default: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .default_value(default)
            .value_parser(value_parser!(u32).range(1..))
            .help(help)
    };
    Command::new("commits")
        .about("Print how many small commits per second become durable, on this disk")
        .arg(number("seconds", "3", "How long each measurement lasts"))
        .arg(number("rounds", "3", "How many times each is repeated"))
        .arg(number("bytes", "2000", "The size of a value"))
        .arg(
            Arg::new("folder")
                .long("folder")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Where to write; the default is the system's folder for temporary files"),
        )
}

const WRITERS: [usize; 4] = [1, 16, 64, 256];

/// The contestants, by name.
const NAMES: [&str; 3] = ["log", "fjall", "redb"];

/// Measures and prints. `allocated` counts live bytes.
pub(crate) fn run(arguments: &ArgMatches, allocated: fn() -> usize) -> Result<bool> {
    let number = |name: &str| arguments.get_one::<u32>(name).copied().context("a number");
    let load = |writers| -> Result<Load> {
        Ok(Load {
            writers,
            seconds: number("seconds")?,
            value_bytes: number("bytes")? as usize,
        })
    };
    let root = match arguments.get_one::<PathBuf>("folder") {
        Some(folder) => folder.clone(),
        None => std::env::temp_dir(),
    };
    let root = root.join(format!("flyball-bench-commits-{}", std::process::id()));
    let rounds = number("rounds")? as usize;
    let progress = Progress::new();
    progress.begin("committing", WRITERS.len() * rounds * NAMES.len());
    let mut table = Table::new(&[
        "writers",
        "engine",
        "commits/s",
        "p50 ms",
        "p99 ms",
        "CPU µs",
        "disk MB",
        "reopen ms",
    ]);
    let mut done = 0;
    for writers in WRITERS {
        let mut measured: [Vec<Measured>; NAMES.len()] = Default::default();
        // The contestants take turns, and turns at being first, so that what else the machine does
        // hits all of them.
        for round in 0..rounds {
            for turn in 0..NAMES.len() {
                let place = (round + turn) % NAMES.len();
                let (name, results) = (NAMES[place], &mut measured[place]);
                let folder = root.join(format!("{name}-{writers}-{round}"));
                results.push(contest(name, &folder, &load(writers)?)?);
                std::fs::remove_dir_all(&folder)?;
                done += 1;
                progress.at(done);
            }
        }
        for (name, results) in NAMES.iter().zip(measured) {
            table.row(row(writers, name, results));
        }
    }
    drop(progress);
    std::fs::remove_dir_all(&root)?;
    println!(
        "values of {} bytes, {} s each, medians of {rounds}\n\n{}",
        number("bytes")?,
        number("seconds")?,
        table.render()
    );
    let cost = item_bytes(allocated)?;
    println!("in memory a stored item takes {cost} bytes beside its key and value");
    Ok(true)
}

/// Lets one contestant commit, and then open again what it has kept.
fn contest(name: &str, folder: &Path, load: &Load) -> Result<Measured> {
    std::fs::create_dir_all(folder)?;
    let target = match name {
        "log" => Target::Log(Log::open(folder, Options::default())?.0),
        "fjall" => Target::Grouped(Grouped::start(Fjall::open(folder)?)),
        _ => Target::Grouped(Grouped::start(Redb::open(folder)?)),
    };
    let mut measured = measure(target, load)?;
    measured.disk_bytes = disk_bytes(folder)?;
    let started = Instant::now();
    let items = match name {
        "log" => {
            let (_log, recovered) = Log::open(folder, Options::default())?;
            let read = |_: &str, bytes| Ok::<_, Infallible>(bytes);
            let store = recovered.into_store(Limits::default(), read);
            store?.len()
        }
        "fjall" => Fjall::open(folder)?.count()?,
        _ => Redb::open(folder)?.count()?,
    };
    measured.reopen = started.elapsed();
    anyhow::ensure!(items == measured.keys, "{name} has lost something");
    Ok(measured)
}

fn row(writers: usize, name: &str, results: Vec<Measured>) -> Vec<String> {
    let median = |of: fn(&Measured) -> f64| {
        let mut values: Vec<f64> = results.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    vec![
        writers.to_string(),
        name.to_owned(),
        format!("{:.0}", median(|measured| measured.per_second)),
        format!("{:.2}", median(|measured| measured.p50.as_secs_f64() * 1e3)),
        format!("{:.2}", median(|measured| measured.p99.as_secs_f64() * 1e3)),
        format!("{:.0}", median(|measured| measured.cpu_us)),
        format!("{:.0}", median(|measured| measured.disk_bytes as f64 / 1e6)),
        format!(
            "{:.0}",
            median(|measured| measured.reopen.as_secs_f64() * 1e3)
        ),
    ]
}

fn disk_bytes(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        sum += match meta.is_dir() {
            true => disk_bytes(&entry.path())?,
            false => meta.len(),
        };
    }
    Ok(sum)
}

/// What a store holds per item, beside keys and values, after it has been read from disk.
fn item_bytes(allocated: fn() -> usize) -> Result<usize> {
    const ITEMS: usize = 100_000;
    let key = |number: usize| format!("/registry/pods/default/web-{number:08}");
    let value: Arc<str> = "{}".into();
    let before = allocated();
    let items = (0..ITEMS).map(|number| Item {
        key: key(number).into(),
        value: value.clone(),
        created: Revision(2),
        modified: Revision(2),
        version: 1,
    });
    let store = Store::restore(Revision(2), items, Limits::default())?;
    let bytes = allocated() - before;
    let each = bytes / store.len() - key(0).len() - size_of::<Arc<str>>();
    Ok(each)
}
