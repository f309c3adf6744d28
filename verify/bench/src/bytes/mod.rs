//! Bytes per cached object, kind by kind.

mod fill;
mod samples;

use anyhow::{Context as _, Result};
use clap::{Arg, ArgMatches, Command, value_parser};
use flyball_api::views::{
    Deployment, Event, Lease, Namespace, Node, Pod, ReplicaSet, ReplicationController,
};

use crate::progress::Progress;
use crate::table::Table;
use fill::{Cost, fill};
use samples::{Sample, SampleKind};

/// What a cached pod may cost at most.
const POD_BYTES_MAX: usize = 1500;

pub(crate) fn command_line() -> Command {
    Command::new("bytes")
        .about("Print what a cached object of each kind costs; fail if a pod costs too much")
        .arg(
            Arg::new("count")
                .long("count")
                .value_name("N")
                .default_value("30000")
                .value_parser(value_parser!(u32).range(1000..))
                .help("Pods; of every other kind a third as many"),
        )
}

/// Measures and prints; `Ok(false)` if a pod costs more than it may. `allocated` counts live bytes.
pub(crate) fn run(arguments: &ArgMatches, allocated: fn() -> usize) -> Result<bool> {
    let count = *arguments.get_one::<u32>("count").context("--count")? as usize;
    let progress = Progress::new();
    let mut table = Table::new(&[
        "kind",
        "JSON B",
        "cached B",
        "resident B",
        "decode µs",
        "informer µs",
    ]);
    // Caches stay alive until the end: memory that one gives back would hide the growth of the next.
    let mut kept: Vec<Box<dyn std::any::Any>> = Vec::new();
    macro_rules! measure {
        ($view:ty, $kind:expr, $file:literal, $count:expr) => {{
            let count = $count;
            progress.begin(
                concat!("filling the cache with objects like ", $file),
                count,
            );
            let template = include_str!(concat!("../../objects/", $file, ".json"));
            let sample = Sample::new($kind, template);
            let (informer, cost) = fill::<$view>(&sample, count, allocated, &progress)?;
            kept.push(Box::new(informer));
            table.row(row(stringify!($view), &cost));
            cost.cached_bytes
        }};
    }
    let pod_bytes = measure!(Pod, SampleKind::Pod, "pod", count);
    let some = count / 3;
    measure!(ReplicaSet, SampleKind::ReplicaSet, "replica_set", some);
    measure!(
        ReplicationController,
        SampleKind::Workload,
        "replication_controller",
        some
    );
    measure!(Deployment, SampleKind::Workload, "deployment", some);
    measure!(Lease, SampleKind::Node, "lease", some);
    measure!(Event, SampleKind::Event, "event", some);
    measure!(Namespace, SampleKind::Workload, "namespace", some);
    measure!(Node, SampleKind::Node, "node", some);
    drop(progress);
    println!(
        "{count} pods, {some} objects of every other kind\n\n{}",
        table.render()
    );
    let fits = pod_bytes <= POD_BYTES_MAX;
    let verdict = if fits { "within" } else { "OVER" };
    println!("a cached pod takes {pod_bytes} bytes: {verdict} the limit of {POD_BYTES_MAX}");
    Ok(fits)
}

fn row(kind: &str, cost: &Cost) -> Vec<String> {
    vec![
        kind.to_owned(),
        cost.json_bytes.to_string(),
        cost.cached_bytes.to_string(),
        cost.resident_bytes.to_string(),
        format!("{:.1}", cost.decode_us),
        format!("{:.1}", cost.informer_us),
    ]
}
