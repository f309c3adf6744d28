//! Descriptors: what a controller is called and what it needs.

use std::time::Duration;

use flyball_informer::Watch;

/// What a controller is called and what it needs. Names are upstream's: they are ids that users,
/// RBAC and dashboards know.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// The canonical name, such as `replicaset-controller`.
    pub name: &'static str,
    /// Older names that mean the same.
    pub aliases: &'static [&'static str],
    /// The client and service account its writes are made as.
    pub client: &'static str,
    /// The component its events come from.
    pub component: &'static str,
    /// The name of its work queue in metrics.
    pub queue: &'static str,
    /// The kinds it watches.
    pub watches: &'static [Watch],
    /// How many keys are synced at once unless configured otherwise.
    pub workers: usize,
    /// How often a failing key is retried before it is left until the next change.
    pub retries_max: Option<u32>,
    /// The longest that failures put a key off.
    pub delay_max: Duration,
    /// How many times the configured QPS its client may send.
    pub qps_factor: f64,
    /// How many times the configured burst its client may send.
    pub burst_factor: u32,
    /// The feature gates that change what it does.
    pub gates: &'static [FeatureGate],
    /// The flag that must be true for it to run, besides `--controllers`.
    pub enabled_by: Option<&'static str>,
}

/// A feature gate, with upstream's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureGate {
    /// Its name.
    pub name: &'static str,
    /// Whether it is on by default.
    pub default: bool,
}

impl FeatureGate {
    /// A gate that is on by default.
    pub const fn on(name: &'static str) -> Self {
        let default = true;
        Self { name, default }
    }
}

impl Descriptor {
    /// What a controller has that does not say otherwise.
    pub const BASE: Self = Self {
        name: "",
        aliases: &[],
        client: "",
        component: "",
        queue: "",
        watches: &[],
        workers: 1,
        retries_max: None,
        delay_max: Duration::from_secs(1000),
        qps_factor: 1.0,
        burst_factor: 1,
        gates: &[],
        enabled_by: None,
    };

    /// Whether it goes by this name, an older one included.
    pub fn is(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}
