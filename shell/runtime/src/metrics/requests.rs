//! Requests to the API server: `rest_client_*`.

use flyball_client::{Observer, RequestSeen};
use prometheus_client::encoding::{EncodeLabelSet, LabelSetEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

const DURATION_BUCKETS: [f64; 14] = [
    0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 45.0, 60.0, 120.0,
];

/// Method and host, and for counts the answer's code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Labels {
    first: (&'static str, String),
    method: (&'static str, String),
    host: String,
}

impl EncodeLabelSet for Labels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), std::fmt::Error> {
        use prometheus_client::encoding::EncodeLabel;
        if !self.first.0.is_empty() {
            (self.first.0, self.first.1.as_str()).encode(encoder.encode_label())?;
        }
        ("host", self.host.as_str()).encode(encoder.encode_label())?;
        (self.method.0, self.method.1.as_str()).encode(encoder.encode_label())
    }
}

/// Counts requests as they end.
#[derive(Debug)]
pub(super) struct Requests {
    total: Family<Labels, Counter>,
    duration: Family<Labels, Histogram, fn() -> Histogram>,
    held: Family<Labels, Histogram, fn() -> Histogram>,
}

impl Requests {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let make: fn() -> Histogram = || Histogram::new(DURATION_BUCKETS);
        let total = Family::default();
        let duration = Family::new_with_constructor(make);
        let held = Family::new_with_constructor(make);
        registry.register(
            "rest_client_requests",
            "Number of HTTP requests, partitioned by status code, method, and host",
            total.clone(),
        );
        registry.register(
            "rest_client_request_duration_seconds",
            "Request latency in seconds. Broken down by verb, and host",
            duration.clone(),
        );
        registry.register(
            "rest_client_rate_limiter_duration_seconds",
            "Client side rate limiter latency in seconds. Broken down by verb, and host",
            held.clone(),
        );
        Self {
            total,
            duration,
            held,
        }
    }
}

impl Observer for Requests {
    fn request(&self, seen: RequestSeen<'_>) {
        // Upstream says `<error>` where no answer came.
        let code = seen
            .code
            .map_or("<error>".to_owned(), |code| code.to_string());
        let host = seen.host.to_owned();
        let counted = Labels {
            first: ("code", code),
            method: ("method", seen.method.to_owned()),
            host: host.clone(),
        };
        self.total.get_or_create(&counted).inc();
        let timed = Labels {
            first: ("", String::new()),
            method: ("verb", seen.method.to_owned()),
            host,
        };
        self.duration
            .get_or_create(&timed)
            .observe(seen.took.as_secs_f64());
        self.held
            .get_or_create(&timed)
            .observe(seen.held.as_secs_f64());
    }
}
