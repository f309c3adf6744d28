//! Metrics under upstream's names, so that dashboards made for it light up unchanged.

mod queues;
mod requests;
mod tallies;

use std::sync::Arc;

use flyball_client::Observer;
use flyball_https::Process;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use crate::events::Events;
use crate::shared::Shared;

use queues::Queues;
use requests::Requests;
pub(crate) use tallies::Tallies;

/// What the text is: the OpenMetrics format, which scrapers ask for first.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All metrics of the process.
pub struct Metrics {
    registry: Registry,
    requests: Arc<Requests>,
}

impl Metrics {
    /// Metrics that count requests from now on; controllers join with [`Metrics::watch`].
    pub fn new() -> Self {
        let mut registry = Registry::default();
        let requests = Arc::new(Requests::new(&mut registry));
        registry.register_collector(Box::new(Process));
        Self { registry, requests }
    }

    /// Counts requests.
    pub fn observer(&self) -> Arc<dyn Observer> {
        self.requests.clone()
    }

    /// Lets the metrics of queues, caches and the election be read at each scrape.
    pub(crate) fn watch(
        &mut self,
        shared: Arc<Shared>,
        events: Vec<Arc<Events>>,
        tallies: Tallies,
    ) {
        self.registry.register_collector(Box::new(tallies));
        let queues = Queues { shared, events };
        self.registry.register_collector(Box::new(queues));
    }

    /// The metrics as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string fails only if an encoder does, which leaves what came before it.
        if let Err(error) = encode(&mut text, &self.registry) {
            tracing::error!(err = %error, "metrics are incomplete");
        }
        text
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}
