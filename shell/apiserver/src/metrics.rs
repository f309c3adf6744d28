//! What the server counts, under upstream's names and labels.
//!
//! Labels come from what is served, never from what somebody writes into a path, so there are only so
//! many of them.
//!
//! Upstream: `apiserver/pkg/endpoints/metrics/metrics.go`, `apiserver/pkg/storage/etcd3/metrics`.

use std::time::Duration;

use flyball_registry::ResourcePath;
use http::Method;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::series::{OfKind, Series};

/// What the text is: the format that scrapers ask for first.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upstream's bounds of the durations of requests, in seconds.
const DURATIONS: &[f64] = &[
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0,
    10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
];

/// What a request is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct About {
    component: String,
    dry_run: String,
    group: String,
    resource: String,
    scope: String,
    subresource: String,
    verb: String,
    version: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    code: u16,
    component: String,
    dry_run: String,
    group: String,
    resource: String,
    scope: String,
    subresource: String,
    verb: String,
    version: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LongRunning {
    component: String,
    group: String,
    resource: String,
    scope: String,
    subresource: String,
    verb: String,
    version: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestKind {
    request_kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfResource {
    group: String,
    resource: String,
}

impl OfKind for About {
    fn kind(&self) -> (&str, &str, &str) {
        (&self.group, &self.version, &self.resource)
    }
}

impl OfKind for Answered {
    fn kind(&self) -> (&str, &str, &str) {
        (&self.group, &self.version, &self.resource)
    }
}

impl OfKind for LongRunning {
    fn kind(&self) -> (&str, &str, &str) {
        (&self.group, &self.version, &self.resource)
    }
}

impl About {
    /// A request for what is served.
    pub(crate) fn resource(
        method: &Method,
        path: &ResourcePath,
        is_watch: bool,
        query: &Query<'_>,
    ) -> Self {
        let named = !path.name.is_empty();
        let verb = match (method, named) {
            _ if is_watch => "WATCH",
            (&Method::GET, false) => "LIST",
            (&Method::DELETE, false) => "DELETECOLLECTION",
            (&Method::PATCH, _) if query.is_applied => "APPLY",
            (method, _) => method_name(method),
        };
        let scope = match () {
            () if named || *method == Method::POST => "resource",
            () if !path.namespace.is_empty() => "namespace",
            () => "cluster",
        };
        Self {
            component: "apiserver".to_owned(),
            dry_run: query.dry_run.to_owned(),
            group: path.group.to_string(),
            resource: path.resource.to_string(),
            scope: scope.to_owned(),
            subresource: path.subresource.to_string(),
            verb: verb.to_owned(),
            version: path.version.to_string(),
        }
    }

    /// A request for a page of the server's own.
    pub(crate) fn page(method: &Method, page: &str) -> Self {
        Self {
            subresource: page.to_owned(),
            verb: method_name(method).to_owned(),
            ..Self::default()
        }
    }
}

/// What of a query and of headers matters to a count.
pub(crate) struct Query<'a> {
    pub(crate) dry_run: &'a str,
    pub(crate) is_applied: bool,
}

fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// The counts of one server.
pub(crate) struct Metrics {
    registry: Registry,
    answered: Family<Answered, Counter>,
    durations: Family<About, Histogram>,
    long_running: Family<LongRunning, Gauge>,
    in_flight: Family<RequestKind, Gauge>,
    objects: Family<OfResource, Gauge>,
    answered_series: Series<Answered>,
    duration_series: Series<About>,
    long_running_series: Series<LongRunning>,
}

/// A watch that is counted as long as it goes on.
pub(crate) struct Counted(Gauge);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::default();
        let answered = Family::<Answered, Counter>::default();
        registry.register(
            "apiserver_request",
            "Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code",
            answered.clone(),
        );
        let durations = Family::<About, Histogram>::new_with_constructor(|| {
            Histogram::new(DURATIONS.iter().copied())
        });
        registry.register(
            "apiserver_request_duration_seconds",
            "Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component",
            durations.clone(),
        );
        let long_running = Family::<LongRunning, Gauge>::default();
        registry.register(
            "apiserver_longrunning_requests",
            "Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component",
            long_running.clone(),
        );
        let in_flight = Family::<RequestKind, Gauge>::default();
        registry.register(
            "apiserver_current_inflight_requests",
            "Number of currently used inflight request limit of this apiserver per request kind",
            in_flight.clone(),
        );
        let objects = Family::<OfResource, Gauge>::default();
        registry.register(
            "apiserver_resource_objects",
            "Number of stored objects at the time of last check split by kind",
            objects.clone(),
        );
        registry.register_collector(Box::new(flyball_https::Process));
        Self {
            registry,
            answered,
            durations,
            long_running,
            in_flight,
            objects,
            answered_series: Series::default(),
            duration_series: Series::default(),
            long_running_series: Series::default(),
        }
    }

    /// Forgets what was counted of kinds that are not served any more.
    pub(crate) fn retain(&self, is_served: impl Fn((&str, &str, &str)) -> bool) {
        self.answered_series.retain(&self.answered, &is_served);
        self.duration_series.retain(&self.durations, &is_served);
        self.long_running_series
            .retain(&self.long_running, &is_served);
    }

    /// Counts an answer.
    pub(crate) fn note(&self, about: &About, code: u16, took: Duration) {
        let About {
            component,
            dry_run,
            group,
            resource,
            scope,
            subresource,
            verb,
            version,
        } = about.clone();
        let answered = Answered {
            code,
            component,
            dry_run,
            group,
            resource,
            scope,
            subresource,
            verb,
            version,
        };
        self.answered_series.note(&answered);
        self.duration_series.note(about);
        self.answered.get_or_create(&answered).inc();
        self.durations
            .get_or_create(about)
            .observe(took.as_secs_f64());
    }

    /// Counts a watch from now on.
    pub(crate) fn begin_watch(&self, about: &About) -> Counted {
        let labels = LongRunning {
            component: about.component.clone(),
            group: about.group.clone(),
            resource: about.resource.clone(),
            scope: about.scope.clone(),
            subresource: about.subresource.clone(),
            verb: about.verb.clone(),
            version: about.version.clone(),
        };
        self.long_running_series.note(&labels);
        let gauge = self.long_running.get_or_create(&labels).clone();
        gauge.inc();
        Counted(gauge)
    }

    /// The counts as text, with these numbers of requests in flight and of objects.
    pub(crate) fn text(
        &self,
        (reads, writes): (usize, usize),
        objects: &[(String, String, usize)],
    ) -> String {
        let gauge = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        for (request_kind, count) in [("readOnly", reads), ("mutating", writes)] {
            let labels = RequestKind { request_kind };
            self.in_flight.get_or_create(&labels).set(gauge(count));
        }
        self.objects.clear();
        for (group, resource, count) in objects {
            let labels = OfResource {
                group: group.clone(),
                resource: resource.clone(),
            };
            self.objects.get_or_create(&labels).set(gauge(*count));
        }
        let mut text = String::new();
        if encode(&mut text, &self.registry).is_err() {
            tracing::error!("the metrics could not be written");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_registry::Path;

    fn about(method: Method, path: &str, is_watch: bool) -> About {
        let Path::Resource(path) = Path::parse(path) else {
            panic!("{path}");
        };
        let query = Query {
            dry_run: "",
            is_applied: method == Method::PATCH,
        };
        About::resource(&method, &path, is_watch, &query)
    }

    #[test]
    fn verbs_and_scopes_are_upstreams() {
        for (method, path, is_watch, verb, scope) in [
            (Method::GET, "/api/v1/pods", false, "LIST", "cluster"),
            (Method::GET, "/api/v1/pods", true, "WATCH", "cluster"),
            (
                Method::GET,
                "/api/v1/namespaces/a/pods",
                false,
                "LIST",
                "namespace",
            ),
            (
                Method::GET,
                "/api/v1/namespaces/a/pods/b",
                false,
                "GET",
                "resource",
            ),
            (
                Method::POST,
                "/api/v1/namespaces/a/pods",
                false,
                "POST",
                "resource",
            ),
            (
                Method::PATCH,
                "/api/v1/namespaces/a/pods/b",
                false,
                "APPLY",
                "resource",
            ),
            (
                Method::DELETE,
                "/api/v1/namespaces/a/pods",
                false,
                "DELETECOLLECTION",
                "namespace",
            ),
        ] {
            let about = about(method, path, is_watch);
            assert_eq!(
                (about.verb.as_str(), about.scope.as_str()),
                (verb, scope),
                "{path}"
            );
        }
    }

    #[test]
    fn counts_are_told_as_text() {
        let metrics = Metrics::new();
        let about = about(Method::GET, "/api/v1/namespaces/a/pods/b", true);
        metrics.note(&about, 200, Duration::from_millis(30));
        let watch = metrics.begin_watch(&about);
        let text = metrics.text((3, 2), &[("apps".to_owned(), "deployments".to_owned(), 7)]);
        for line in [
            "apiserver_request_total{code=\"200\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"pods\",scope=\"resource\",subresource=\"\",verb=\"WATCH\",version=\"v1\"} 1",
            "apiserver_current_inflight_requests{request_kind=\"mutating\"} 2",
            "apiserver_resource_objects{group=\"apps\",resource=\"deployments\"} 7",
            "apiserver_longrunning_requests{component=\"apiserver\",group=\"\",resource=\"pods\",scope=\"resource\",subresource=\"\",verb=\"WATCH\",version=\"v1\"} 1",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        drop(watch);
        assert!(
            metrics
                .text((0, 0), &[])
                .contains("verb=\"WATCH\",version=\"v1\"} 0")
        );
    }
}
