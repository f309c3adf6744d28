//! Writers that commit one value after the other, each waiting until its last one is durable.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use anyhow::Result;
use flyball_conformance::Usage;
use flyball_durable::{Commit, Log, Write};
use flyball_storage::Revision;
use futures::future::try_join_all;

use super::grouped::Grouped;

/// How many keys are written, in turn: the pods of a middling cluster.
const KEYS: u64 = 10_000;

/// What is asked of a contestant.
pub(super) struct Load {
    pub(super) writers: usize,
    pub(super) seconds: u32,
    pub(super) value_bytes: usize,
}

/// Who is asked.
pub(super) enum Target {
    Log(Log),
    Grouped(Grouped),
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub(super) per_second: f64,
    pub(super) p50: Duration,
    pub(super) p99: Duration,
    /// CPU time per commit, of the whole process.
    pub(super) cpu_us: f64,
    /// How many different keys were written.
    pub(super) keys: usize,
    pub(super) disk_bytes: u64,
    pub(super) reopen: Duration,
}

/// Runs the writers for the given time, then stops the target.
pub(super) fn measure(target: Target, load: &Load) -> Result<Measured> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let begun = Cell::new(0);
    let latencies = RefCell::new(Vec::new());
    let cpu_before = Usage::of(std::process::id())?.cpu;
    let started = Instant::now();
    let deadline = started + Duration::from_secs(u64::from(load.seconds));
    let writer = async || -> Result<()> {
        while Instant::now() < deadline {
            let asked = Instant::now();
            commit(&target, load.value_bytes, &begun).await?;
            latencies.borrow_mut().push(asked.elapsed());
        }
        Ok(())
    };
    runtime.block_on(try_join_all((0..load.writers).map(|_| writer())))?;
    let elapsed = started.elapsed();
    match target {
        Target::Log(log) => drop(log),
        Target::Grouped(grouped) => grouped.stop()?,
    }
    let cpu = Usage::of(std::process::id())?.cpu - cpu_before;
    let mut latencies = latencies.into_inner();
    latencies.sort_unstable();
    let quantile = |percent: usize| {
        let place = latencies.len() * percent / 100;
        latencies.get(place).copied().unwrap_or_default()
    };
    Ok(Measured {
        per_second: latencies.len() as f64 / elapsed.as_secs_f64(),
        p50: quantile(50),
        p99: quantile(99),
        cpu_us: cpu.as_secs_f64() * 1e6 / latencies.len() as f64,
        keys: begun.get().min(KEYS) as usize,
        ..Measured::default()
    })
}

async fn commit(target: &Target, value_bytes: usize, begun: &Cell<u64>) -> Result<()> {
    // Numbers are drawn when a place in the queue has been found: there is one thread, and nothing
    // is awaited between the two, so commits come in order.
    let draw = || {
        begun.set(begun.get() + 1);
        begun.get()
    };
    match target {
        Target::Log(log) => {
            let place = log.reserve().await?;
            let number = draw();
            // An empty store is at revision one.
            let revision = Revision(number + 1);
            let write = Write::Put {
                key: key(number).into(),
                created: revision,
                version: 1,
                bytes: value(number, value_bytes).into(),
            };
            place.append(Commit {
                revision,
                writes: vec![write],
            });
            Ok(log.wait(revision).await?)
        }
        Target::Grouped(grouped) => {
            let draw = || {
                let number = draw();
                (number, (key(number), value(number, value_bytes)))
            };
            grouped.commit(draw).await
        }
    }
}

fn key(number: u64) -> String {
    format!("/registry/pods/default/web-{:08}", number % KEYS)
}

/// Text that compresses about as well as an object does, different for every number.
fn value(number: u64, bytes: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes + 40);
    let mut state = number;
    while text.len() < bytes {
        // A linear congruential generator, Knuth's MMIX constants.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        text.extend_from_slice(format!("\"field\":\"{:016x}\",", state).as_bytes());
    }
    text.truncate(bytes);
    text
}
