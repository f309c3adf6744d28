//! The process itself: `process_*`, from the kernel's own accounts.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

/// The kernel counts CPU time in hundredths of a second, on every Linux there is.
const TICKS_PER_SECOND: f64 = 100.0;

/// Tells memory, CPU time and open files at each scrape.
#[derive(Debug)]
pub struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        // Elsewhere than on Linux there is no such account, and the metrics are absent.
        if let Some(bytes) = resident_bytes() {
            encoder
                .encode_descriptor(
                    "process_resident_memory_bytes",
                    "Resident memory size in bytes",
                    None,
                    MetricType::Gauge,
                )?
                .encode_gauge(&bytes)?;
        }
        if let Some(seconds) = cpu_seconds() {
            encoder
                .encode_descriptor(
                    "process_cpu_seconds",
                    "Total user and system CPU time spent in seconds",
                    None,
                    MetricType::Counter,
                )?
                .encode_counter::<NoLabelSet, _, f64>(&seconds, None)?;
        }
        if let Some(count) = open_files() {
            encoder
                .encode_descriptor(
                    "process_open_fds",
                    "Number of open file descriptors",
                    None,
                    MetricType::Gauge,
                )?
                .encode_gauge(&count)?;
        }
        Ok(())
    }
}

fn open_files() -> Option<i64> {
    let open = std::fs::read_dir("/proc/self/fd").ok()?;
    i64::try_from(open.count()).ok()
}

fn resident_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: i64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may contain anything; the fields begin after the last of them.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    Some((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND)
}
