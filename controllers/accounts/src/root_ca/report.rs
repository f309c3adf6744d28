//! What a sync reports: whether the namespace has the certificate, and if not, why.

use flyball_api::{ApiError, Text};
use flyball_plan::{Amount, Metric, Report, Step, Tally, Target, Until, Wait};

use super::Observation;

flyball_plan::rules! {
    NAMESPACE_NOT_ACTIVE = "NamespaceNotActive", "the namespace is not active";
    CERTIFICATE_EXISTS = "CertificateExists", "the namespace has the certificate";
    CERTIFICATE_MISSING = "CertificateMissing", "the certificate is missing";
    CERTIFICATE_DIFFERS = "CertificateDiffers", "the ConfigMap has other data";
}

pub(super) fn not_active() -> Report {
    Report::new(NAMESPACE_NOT_ACTIVE)
}

pub(super) fn complete() -> Report {
    Report::new(CERTIFICATE_EXISTS)
}

pub(super) fn missing(seen: &Observation) -> Report {
    Report::new(CERTIFICATE_MISSING).saw("namespace", &seen.namespace.metadata.name)
}

pub(super) fn wrong() -> Report {
    Report::new(CERTIFICATE_DIFFERS)
}

/// The namespace is terminating.
pub(super) fn terminating(seen: &Observation) -> Wait {
    Wait::object(
        Target::namespace(&seen.namespace.metadata.name),
        Until::Deleted,
    )
}

const SYNCS: &Metric = &Metric {
    name: "root_ca_cert_publisher_sync",
    help: "Syncs of namespaces, by the code of their last answer.",
    labels: &["code"],
    buckets_ms: &[],
};

const DURATIONS: &Metric = &Metric {
    name: "root_ca_cert_publisher_sync_duration_seconds",
    help: "How long syncs of namespaces took, by the code of their last answer.",
    labels: &["code"],
    buckets_ms: &[
        1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384,
    ],
};

/// The end of a sync whose last write went well, or did not.
pub(super) fn ended(report: Report, error: Option<&ApiError>) -> Step {
    let report = counted(report, error);
    match error {
        None => Step::rest(report),
        Some(error) => Step::retry(error, report),
    }
}

/// Counts the sync. Upstream, `rootcacertpublisher/metrics.go`: what has no code is a 500.
pub(super) fn counted(report: Report, error: Option<&ApiError>) -> Report {
    let code = match error.map(ApiError::code) {
        None => 200,
        Some(0) => 500,
        Some(code) => code,
    };
    let one = |metric, amount| Tally {
        metric,
        labels: vec![Text::from(code.to_string())],
        amount,
    };
    report.tallies([one(SYNCS, Amount::Count(1)), one(DURATIONS, Amount::Sync)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncs_are_counted_by_the_code_of_their_end() {
        let refused = ApiError::from_response(403, None, b"");
        let lost = ApiError::transport("no answer");
        for (error, code) in [(None, "200"), (Some(&refused), "403"), (Some(&lost), "500")] {
            let report = counted(complete(), error);
            let codes: Vec<_> = report.tallies.iter().map(|it| it.labels.clone()).collect();
            assert_eq!(codes, [[Text::from(code)], [Text::from(code)]]);
        }
    }
}
