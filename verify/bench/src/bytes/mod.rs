//! Bytes per cached object, kind by kind.

mod fill;
mod samples;

use anyhow::{Context as _, Result};
use clap::{Arg, ArgMatches, Command, value_parser};
use flyball_api::views::{
    Deployment, Event, Lease, Namespace, Node, Partial, Pod, ReplicaSet, ReplicationController,
};
use flyball_informer::{AnyInformer as _, Informer};

use crate::progress::Progress;
use crate::table::Table;
use fill::{Cost, fill};
use samples::{Sample, SampleKind};

/// What a cached pod may cost at most.
const POD_BYTES_MAX: usize = 1500;

/// What a cached object may cost at most of which only the metadata is known, if nobody owns it.
const UNOWNED_BYTES_MAX: usize = 300;

pub(crate) fn command_line() -> Command {
    Command::new("bytes")
        .about("Print what a cached object of each kind costs; fail if one costs too much")
        .arg(
            Arg::new("count")
                .long("count")
                .value_name("N")
                .default_value("30000")
                .value_parser(value_parser!(u32).range(1000..))
                .help("Pods; of every other kind a third as many"),
        )
}

/// Measures and prints; `Ok(false)` if one costs more than it may. `allocated` counts live bytes.
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
        ($view:ty, $kind:expr, $file:literal, $count:expr) => {
            measure!($view, $kind, $file, $count, Informer::new)
        };
        ($view:ty, $kind:expr, $file:literal, $count:expr, $empty:expr) => {{
            let count = $count;
            progress.begin(
                concat!("filling the cache with objects like ", $file),
                count,
            );
            let template = include_str!(concat!("../../objects/", $file, ".json"));
            let sample = Sample::new($kind, template);
            let (informer, cost) = fill::<$view>(&sample, count, allocated, &progress, $empty)?;
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
    // As the garbage collector has them: objects without owners, and objects of a set.
    let bare_bytes = measure!(Partial, SampleKind::Workload, "unowned", some, partial);
    measure!(Partial, SampleKind::Pod, "owned", some, partial);
    drop(progress);
    println!(
        "{count} pods, {some} objects of every other kind\n\n{}",
        table.render()
    );
    let limits = [
        ("pod", pod_bytes, POD_BYTES_MAX),
        (
            "object without owners, of which only the metadata is known,",
            bare_bytes,
            UNOWNED_BYTES_MAX,
        ),
    ];
    let mut all_fit = true;
    for (what, bytes, most) in limits {
        let fits = bytes <= most;
        let verdict = if fits { "within" } else { "OVER" };
        println!("a cached {what} takes {bytes} bytes: {verdict} the limit of {most}");
        all_fit &= fits;
    }
    Ok(all_fit)
}

/// A cache of the garbage collector.
fn partial() -> Informer<Partial> {
    let mut informer = Informer::<Partial>::of(Pod::KIND);
    informer.track_family();
    informer
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
