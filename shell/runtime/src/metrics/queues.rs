//! Queues, caches, the election and the server's history, read at each scrape.

use std::fmt;
use std::sync::Arc;

use flyball_plan::{Descriptor, Endings, EngineStats, Now};
use flyball_process::Process;
use flyball_workqueue::Histogram;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use crate::events::Events;
use crate::shared::Shared;

pub(super) struct Queues {
    pub(super) shared: Arc<Shared>,
    /// The Events of the controllers.
    pub(super) events: Vec<Arc<Events>>,
}

impl fmt::Debug for Queues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Queues")
    }
}

type Stats = (Descriptor, EngineStats);

impl Collector for Queues {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let stats = self.shared.look(|process, now| process.stats(now));
        self.encode_queues(&mut encoder, &stats)?;
        self.encode_histograms(&mut encoder, &stats)?;
        self.encode_stale_skips(&mut encoder, &stats)?;
        encode_endings(&mut encoder, &stats)?;
        self.encode_caches(&mut encoder)?;
        self.encode_discovery(&mut encoder)?;
        self.encode_history(&mut encoder)?;
        let mut leading = encoder.encode_descriptor(
            "leader_election_master_status",
            "Gauge of if the reporting system is the leader of the relevant lease, 0 indicates backup, 1 indicates leader",
            None,
            MetricType::Gauge,
        )?;
        let leads = |process: &Process, now: Now| process.leads(now.monotonic);
        let leads = i64::from(self.shared.look(leads));
        leading
            .encode_family(&[("name", self.shared.news.lease_name())])?
            .encode_gauge(&leads)
    }
}

impl Queues {
    /// Upstream counts it for its garbage collector, which has its own discovery.
    fn encode_discovery(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let errors = |process: &Process, _| process.discovery().map(|state| state.errors);
        let Some(errors) = self.shared.look(errors) else {
            return Ok(());
        };
        encoder
            .encode_descriptor(
                "garbagecollector_controller_resources_sync_error",
                "Number of garbage collector resources sync errors",
                None,
                MetricType::Counter,
            )?
            .encode_counter::<NoLabelSet, _, f64>(&errors, None)
    }

    fn encode_history(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let history = self.shared.look(|process, _| process.history());
        encoder
            .encode_descriptor(
                "flyball_server_history_changes",
                "Number of times that the API server turned out to have another history",
                None,
                MetricType::Counter,
            )?
            .encode_counter::<NoLabelSet, _, f64>(&history.changes, None)?;
        encoder
            .encode_descriptor(
                "flyball_history_doubt",
                "Whether writing waits for a sign that the API server's history is the same",
                None,
                MetricType::Gauge,
            )?
            .encode_gauge(&i64::from(history.doubt.is_some()))
    }

    fn encode_queues(&self, encoder: &mut DescriptorEncoder<'_>, stats: &[Stats]) -> fmt::Result {
        type Gauge = (&'static str, &'static str, fn(&EngineStats) -> f64);
        let gauges: [Gauge; 3] = [
            ("workqueue_depth", "Current depth of workqueue", |s| {
                s.queue.depth as f64
            }),
            (
                "workqueue_unfinished_work_seconds",
                "How many seconds of work has been done that is in progress and hasn't been observed by work_duration",
                |s| s.queue.unfinished_work_seconds,
            ),
            (
                "workqueue_longest_running_processor_seconds",
                "How many seconds has the longest running processor for workqueue been running",
                |s| s.queue.longest_running_processor_seconds,
            ),
        ];
        for (name, help, value) in gauges {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (descriptor, stats) in stats {
                metric
                    .encode_family(&[("name", descriptor.queue)])?
                    .encode_gauge(&value(stats))?;
            }
        }
        type Counter = (&'static str, &'static str, fn(&EngineStats) -> u64);
        let counters: [Counter; 2] = [
            (
                "workqueue_adds",
                "Total number of adds handled by workqueue",
                |s| s.queue.adds_total,
            ),
            (
                "workqueue_retries",
                "Total number of retries handled by workqueue",
                |s| s.queue.retries_total,
            ),
        ];
        for (name, help, value) in counters {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (descriptor, stats) in stats {
                metric
                    .encode_family(&[("name", descriptor.queue)])?
                    .encode_counter::<NoLabelSet, _, f64>(&value(stats), None)?;
            }
        }
        Ok(())
    }

    fn encode_histograms(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        stats: &[Stats],
    ) -> fmt::Result {
        type Of = (&'static str, &'static str, fn(&EngineStats) -> &Histogram);
        let histograms: [Of; 2] = [
            (
                "workqueue_queue_duration_seconds",
                "How long in seconds an item stays in workqueue before being requested",
                |s| &s.queue.queue_duration_seconds,
            ),
            (
                "workqueue_work_duration_seconds",
                "How long in seconds processing an item from workqueue takes",
                |s| &s.queue.work_duration_seconds,
            ),
        ];
        for (name, help, of) in histograms {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
            for (descriptor, stats) in stats {
                let labels = [("name", descriptor.queue)];
                encode_histogram(metric.encode_family(&labels)?, of(stats))?;
            }
        }
        Ok(())
    }

    fn encode_stale_skips(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        stats: &[Stats],
    ) -> fmt::Result {
        for (descriptor, stats) in stats {
            let subsystem = descriptor.name.replace('-', "_");
            let name = format!("{subsystem}_stale_sync_skips");
            let mut metric = encoder.encode_descriptor(
                &name,
                "Number of syncs put off because a cache had not shown the controller's own writes",
                None,
                MetricType::Counter,
            )?;
            for (kind, count) in &stats.stale_skips {
                metric
                    .encode_family(&[("group", kind.group), ("resource", kind.plural)])?
                    .encode_counter::<NoLabelSet, _, f64>(count, None)?;
            }
        }
        Ok(())
    }

    fn encode_caches(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let mut metric = encoder.encode_descriptor(
            "flyball_events_dropped",
            "Number of events dropped because too many were waiting to be sent",
            None,
            MetricType::Counter,
        )?;
        for events in &self.events {
            metric
                .encode_family(&[("component", events.component.as_str())])?
                .encode_counter::<NoLabelSet, _, f64>(&events.dropped(), None)?;
        }
        let mut metric = encoder.encode_descriptor(
            "flyball_cached_objects",
            "Number of objects in the cache of a resource",
            None,
            MetricType::Gauge,
        )?;
        for (group, resource, size) in self.shared.look(cached_objects) {
            metric
                .encode_family(&[("group", group), ("resource", resource)])?
                .encode_gauge(&(size as i64))?;
        }
        Ok(())
    }
}

/// The size of the cache of each resource. Of two versions of one the older cache serves.
fn cached_objects(process: &Process, now: Now) -> Vec<(&'static str, &'static str, usize)> {
    let mut sizes: Vec<(&str, &str, usize)> = Vec::new();
    for cache in process.caches(now.monotonic) {
        let (group, resource) = (cache.kind.group, cache.kind.plural);
        if sizes.iter().all(|one| (one.0, one.1) != (group, resource)) {
            sizes.push((group, resource, cache.len));
        }
    }
    sizes
}

fn encode_histogram(mut metric: MetricEncoder<'_>, histogram: &Histogram) -> fmt::Result {
    let bounds = Histogram::BOUNDS_SECONDS.into_iter().chain([f64::INFINITY]);
    let buckets: Vec<(f64, u64)> = bounds.zip(histogram.counts().iter().copied()).collect();
    metric.encode_histogram::<NoLabelSet>(
        histogram.sum_seconds(),
        histogram.count(),
        &buckets,
        None,
    )
}

/// How often syncs ended otherwise than well, by controller.
fn encode_endings(encoder: &mut DescriptorEncoder<'_>, stats: &[Stats]) -> fmt::Result {
    let mut metric = encoder.encode_descriptor(
        "flyball_sync_endings",
        "Number of syncs that met a conflict, were refused by validation, or were given up after too many failures",
        None,
        MetricType::Counter,
    )?;
    for (descriptor, stats) in stats {
        let Endings {
            conflict,
            permanent,
            given_up,
        } = stats.endings;
        for (ending, count) in [
            ("conflict", conflict),
            ("permanent", permanent),
            ("given_up", given_up),
        ] {
            metric
                .encode_family(&[("controller", descriptor.name), ("ending", ending)])?
                .encode_counter::<NoLabelSet, _, f64>(&count, None)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    use super::*;

    #[derive(Debug)]
    struct One(Histogram);

    impl Collector for One {
        fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
            let kind = MetricType::Histogram;
            encode_histogram(
                encoder.encode_descriptor("one", "One.", None, kind)?,
                &self.0,
            )
        }
    }

    #[test]
    fn the_last_bucket_of_a_histogram_has_no_end() {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(One(Histogram::default())));
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        assert!(text.contains(r#"one_bucket{le="+Inf"} 0"#), "{text}");
    }
}
