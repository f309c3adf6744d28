//! What a sync reports: whether the namespace has the certificate, and if not, why.

use flyball_plan::Report;

use super::Observation;

pub(super) fn not_active() -> Report {
    Report::new("the namespace is not active")
}

pub(super) fn complete() -> Report {
    Report::new("the namespace has the certificate")
}

pub(super) fn missing(seen: &Observation) -> Report {
    Report::new("the certificate is missing").saw("namespace", &seen.namespace.metadata.name)
}

pub(super) fn wrong() -> Report {
    Report::new("the ConfigMap says something else")
}
