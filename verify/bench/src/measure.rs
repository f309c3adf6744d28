//! Readings of processes and counters, and their differences as figures of a table.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use flyball_conformance::{Cluster, Manager, Usage};

/// How long a manager's CPU time must stand still before it counts as quiet.
const QUIET: Duration = Duration::from_millis(1500);

/// CPU time that a quiet manager may use in that time: timers and connections never stop.
const QUIET_CPU_MAX: Duration = Duration::from_millis(20);

/// A manager that has not gone quiet by then is measured as it is.
const QUIET_LIMIT: Duration = Duration::from_secs(30);

/// Named numbers in the order in which they were taken.
#[derive(Clone, Default)]
pub(crate) struct Figures(Vec<(String, f64)>);

impl Figures {
    pub(crate) fn put(&mut self, name: impl Into<String>, value: f64) {
        self.0.push((name.into(), value));
    }

    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| *value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Without what an audit log disturbs.
    pub(crate) fn only_requests_by_resource(mut self) -> Self {
        self.0.retain(|(name, _)| name.contains(AUDITED));
        self
    }
}

/// Marks figures from the audit log.
pub(crate) const AUDITED: &str = " audited ";

/// Everything that is read at one moment.
pub(crate) struct Reading {
    manager: Usage,
    apiserver: Usage,
    etcd: Usage,
    requests: BTreeMap<String, u64>,
}

impl Reading {
    pub(crate) async fn take(cluster: &Cluster, manager: &Manager) -> Result<Self> {
        Ok(Self {
            requests: requests_by_method(&manager.read("/metrics").await?),
            manager: manager.usage()?,
            apiserver: cluster.apiserver_usage()?,
            etcd: cluster.etcd_usage()?,
        })
    }

    /// What was used between an earlier reading and this one.
    pub(crate) fn figures_since(&self, before: &Self, phase: &str, figures: &mut Figures) {
        let seconds = |now: Usage, then: Usage| now.cpu.saturating_sub(then.cpu).as_secs_f64();
        let mut put = |name: &str, value: f64| figures.put(format!("{phase}: {name}"), value);
        put("CPU s", seconds(self.manager, before.manager));
        put(
            "API server CPU s",
            seconds(self.apiserver, before.apiserver),
        );
        put("etcd CPU s", seconds(self.etcd, before.etcd));
        put("RSS MB", megabytes(self.manager.rss_kb));
        put("RSS peak MB", megabytes(self.manager.rss_kb_peak));
        let (mut all, mut writes) = (0.0, 0.0);
        for (method, count) in &self.requests {
            let count = (count - before.requests.get(method).unwrap_or(&0)) as f64;
            put(&format!("{method} requests"), count);
            all += count;
            if method != "GET" {
                writes += count;
            }
        }
        put("requests", all);
        put("write requests", writes);
    }
}

pub(crate) fn megabytes(kb: u64) -> f64 {
    kb as f64 / 1024.0
}

/// Waits until the manager does next to nothing.
pub(crate) async fn until_quiet(manager: &Manager) -> Result<()> {
    let begun = tokio::time::Instant::now();
    let mut last = manager.usage()?.cpu;
    while begun.elapsed() < QUIET_LIMIT {
        tokio::time::sleep(QUIET).await;
        let now = manager.usage()?.cpu;
        if now.saturating_sub(last) <= QUIET_CPU_MAX {
            break;
        }
        last = now;
    }
    Ok(())
}

/// The sums of `rest_client_requests_total` by method, over codes and hosts.
fn requests_by_method(metrics: &str) -> BTreeMap<String, u64> {
    let mut sums: BTreeMap<String, u64> = ["DELETE", "GET", "PATCH", "POST", "PUT"]
        .map(|method| (method.to_owned(), 0))
        .into();
    for line in metrics.lines() {
        let Some((labels, value)) = line
            .strip_prefix("rest_client_requests_total{")
            .and_then(|rest| rest.rsplit_once("} "))
        else {
            continue;
        };
        let method = labels
            .split_once("method=\"")
            .and_then(|(_, rest)| rest.split_once('"'))
            .map(|(method, _)| method);
        // Prometheus prints large counters as floating-point numbers.
        let value = value
            .split_whitespace()
            .next()
            .and_then(|value| value.parse::<f64>().ok());
        if let (Some(method), Some(value)) = (method, value) {
            *sums.entry(method.to_owned()).or_default() += value as u64;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_summed_over_codes_and_hosts() {
        let metrics = "\
# TYPE rest_client_requests_total counter
rest_client_requests_total{code=\"201\",host=\"127.0.0.1:1\",method=\"POST\"} 1.5e+03
rest_client_requests_total{code=\"409\",host=\"127.0.0.1:1\",method=\"POST\"} 2
rest_client_requests_total{code=\"200\",host=\"127.0.0.1:1\",method=\"PUT\"} 7
rest_client_request_duration_seconds_count{host=\"127.0.0.1:1\",verb=\"POST\"} 99
";
        let sums = requests_by_method(metrics);
        assert_eq!((sums["POST"], sums["PUT"], sums["GET"]), (1502, 7, 0));
    }
}
