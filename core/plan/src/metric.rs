//! What a controller counts for itself, as data: the runtime adds it up and shows it to scrapers.

use std::time::Duration;

use flyball_api::Text;

/// A metric of one controller, under upstream's name.
#[derive(Debug, PartialEq, Eq)]
pub struct Metric {
    /// The name; that of a counter without the `_total` that scrapers see.
    pub name: &'static str,
    /// What it says, for people.
    pub help: &'static str,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// The upper bounds of a histogram's buckets, rising; none for a counter.
    pub buckets_ms: &'static [u64],
}

/// What one sync adds to a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The metric.
    pub metric: &'static Metric,
    /// The values of its labels, in their order.
    pub labels: Vec<Text>,
    /// What is added.
    pub amount: Amount,
}

/// What is added to a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// So many more of what a counter counts.
    Count(u64),
    /// One more time that a histogram keeps.
    Took(Duration),
    /// One more time that a histogram keeps: that of the sync itself, which only its runtime knows.
    Sync,
}
