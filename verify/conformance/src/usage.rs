//! What a process has used, read from `/proc`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// The kernel reports CPU time in these units to user space on every architecture that Rust and Go run on.
const TICKS_PER_SECOND: u64 = 100;

/// CPU and memory of one process at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// User and system time of all threads since the start, to 10 ms.
    pub cpu: Duration,
    /// Resident memory now, in kB.
    pub rss_kb: u64,
    /// The highest resident memory so far, in kB.
    pub rss_kb_peak: u64,
}

impl Usage {
    /// Reads the usage of a running process.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn of(pid: u32) -> Result<Self> {
        let read = |file: &str| {
            let path = format!("/proc/{pid}/{file}");
            fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
        };
        Self::parse(&read("stat")?, &read("status")?)
            .with_context(|| format!("cannot understand /proc/{pid}"))
    }

    /// How many sockets a running process has open.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn sockets(pid: u32) -> Result<usize> {
        let folder = format!("/proc/{pid}/fd");
        let open = fs::read_dir(&folder).with_context(|| format!("cannot read {folder}"))?;
        // What is closed meanwhile has no target any more, and does not count.
        let targets = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        Ok(targets.filter(|it| is_socket(it)).count())
    }

    fn parse(stat: &str, status: &str) -> Option<Self> {
        // The command name may hold spaces and brackets: fields are counted after its last bracket.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        let kb = |name: &str| -> Option<u64> {
            status.lines().find_map(|line| {
                line.strip_prefix(name)?
                    .split_whitespace()
                    .next()?
                    .parse::<u64>()
                    .ok()
            })
        };
        Some(Self {
            cpu: Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND),
            // A zombie has no memory lines left.
            rss_kb: kb("VmRSS:").unwrap_or(0),
            rss_kb_peak: kb("VmHWM:").unwrap_or(0),
        })
    }
}

fn is_socket(target: &Path) -> bool {
    target.to_string_lossy().starts_with("socket:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_name_with_brackets_does_not_shift_the_fields() {
        let stat = "42 (odd ) name) S 1 42 42 0 -1 4194560 10 0 0 0 150 50 0 0 20 0 9 0 1 2 3";
        let status = "Name:\todd\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        let usage = Usage::parse(stat, status).unwrap();
        assert_eq!(
            usage,
            Usage {
                cpu: Duration::from_secs(2),
                rss_kb: 1024,
                rss_kb_peak: 2048
            }
        );
    }

    #[test]
    fn sockets_are_told_from_other_files() {
        assert!(is_socket(Path::new("socket:[4711]")));
        assert!(!is_socket(Path::new("/tmp/socket:")));
        let _socket = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        assert!(Usage::sockets(std::process::id()).unwrap() > 0);
    }

    #[test]
    fn this_process_uses_memory() {
        assert!(Usage::of(std::process::id()).unwrap().rss_kb > 0);
    }
}
