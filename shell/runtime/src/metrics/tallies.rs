//! What controllers count for themselves, added up.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flyball_api::Text;
use flyball_plan::{Amount, Metric, Tally};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use crate::clock::lock;

/// More label sets than this are not kept per metric: what has no place is not shown.
const SERIES_MAX: usize = 10_000;

/// The sums of all controllers; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tallies(Arc<Mutex<BTreeMap<&'static str, Sums>>>);

#[derive(Debug)]
struct Sums {
    metric: &'static Metric,
    series: BTreeMap<Vec<Text>, Sum>,
}

/// A counter, or a histogram with its sum and how many fell into each bucket.
#[derive(Debug, Default)]
struct Sum {
    count: u64,
    seconds: f64,
    buckets: Vec<u64>,
}

impl Tallies {
    /// Adds what a sync counted that took this long.
    pub(crate) fn add(&self, tallies: &[Tally], took: Duration) {
        if tallies.is_empty() {
            return;
        }
        let mut all = lock(&self.0);
        for tally in tallies {
            let sums = all.entry(tally.metric.name).or_insert_with(|| Sums {
                metric: tally.metric,
                series: BTreeMap::new(),
            });
            if sums.series.len() >= SERIES_MAX && !sums.series.contains_key(&tally.labels) {
                continue;
            }
            let bounds = tally.metric.buckets_ms;
            let sum = sums.series.entry(tally.labels.clone()).or_default();
            match tally.amount {
                Amount::Count(more) => sum.count += more,
                Amount::Took(time) => sum.keep(time, bounds),
                Amount::Sync => sum.keep(took, bounds),
            }
        }
    }
}

impl Collector for Tallies {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for Sums { metric, series } in lock(&self.0).values() {
            let kind = match metric.buckets_ms {
                [] => MetricType::Counter,
                _ => MetricType::Histogram,
            };
            let mut encoder = encoder.encode_descriptor(metric.name, metric.help, None, kind)?;
            for (values, sum) in series {
                let names = metric.labels.iter().copied();
                let labels: Vec<(&str, &str)> =
                    names.zip(values.iter().map(Text::as_str)).collect();
                match labels.as_slice() {
                    [] => sum.encode(metric, &mut encoder)?,
                    labels => sum.encode(metric, &mut encoder.encode_family(&labels)?)?,
                }
            }
        }
        Ok(())
    }
}

impl Sum {
    /// Keeps one more time.
    fn keep(&mut self, time: Duration, bounds: &[u64]) {
        self.count += 1;
        self.seconds += time.as_secs_f64();
        self.buckets.resize(bounds.len() + 1, 0);
        let above = |bound: &u64| Duration::from_millis(*bound) < time;
        self.buckets[bounds.partition_point(above)] += 1;
    }

    fn encode(&self, metric: &Metric, encoder: &mut MetricEncoder<'_>) -> fmt::Result {
        if metric.buckets_ms.is_empty() {
            return encoder.encode_counter::<NoLabelSet, _, f64>(&self.count, None);
        }
        let bounds = metric.buckets_ms.iter().map(|bound| *bound as f64 / 1e3);
        let bounds = bounds.chain([f64::INFINITY]);
        let buckets: Vec<(f64, u64)> = bounds.zip(self.buckets.iter().copied()).collect();
        encoder.encode_histogram::<NoLabelSet>(self.seconds, self.count, &buckets, None)
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    use super::*;

    const COUNTER: &Metric = &Metric {
        name: "pods_gone",
        help: "Pods that are gone.",
        labels: &["namespace"],
        buckets_ms: &[],
    };

    const TIMES: &Metric = &Metric {
        name: "delay_seconds",
        help: "How long it took.",
        labels: &[],
        buckets_ms: &[100, 1_000],
    };

    #[test]
    fn what_is_counted_is_shown_under_its_name_and_labels() {
        let tallies = Tallies::default();
        let count = |namespace: &str| Tally {
            metric: COUNTER,
            labels: vec![namespace.into()],
            amount: Amount::Count(1),
        };
        let took = |millis| Tally {
            metric: TIMES,
            labels: Vec::new(),
            amount: Amount::Took(Duration::from_millis(millis)),
        };
        let sync = Tally {
            amount: Amount::Sync,
            ..took(0)
        };
        let all = [count("a"), count("b"), count("a"), took(100), sync];
        tallies.add(&all, Duration::from_secs(5));
        let mut registry = Registry::default();
        registry.register_collector(Box::new(tallies));
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for line in [
            "pods_gone_total{namespace=\"a\"} 2",
            "pods_gone_total{namespace=\"b\"} 1",
            "delay_seconds_sum 5.1",
            "delay_seconds_count 2",
            "delay_seconds_bucket{le=\"0.1\"} 1",
            "delay_seconds_bucket{le=\"1.0\"} 1",
            "delay_seconds_bucket{le=\"+Inf\"} 2",
        ] {
            assert!(
                text.lines().any(|it| it == line),
                "{line} is not in\n{text}"
            );
        }
    }
}
