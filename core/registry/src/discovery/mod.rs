//! Discovery: documents by which clients learn what a server offers.
//!
//! There are two shapes of the same facts: the older documents, one for each group and version, and the
//! aggregated one, which says everything at once to clients that ask for it. Both are made from the
//! resources that are served, so what is served is what is told.
//!
//! Upstream: `apiserver/pkg/endpoints/discovery`, `kube-aggregator/pkg/apiserver/handler_apis.go`.

mod aggregated;
mod groups;
mod legacy;
mod version;

#[cfg(test)]
mod tests;

use flyball_schema::Resource;
use serde_json::Value;

pub(crate) use self::groups::precedence;
pub use self::version::version;

/// The content type of aggregated documents, in requests and in answers.
pub const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The document at a path, in the older shape. The addresses are pairs of a range of clients and the
/// address that they should use.
pub fn document(path: &str, resources: &[&Resource], addresses: &[(&str, &str)]) -> Option<Value> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        ["version"] => Some(version()),
        ["api"] => Some(legacy::versions(resources, addresses)),
        ["api", version] => legacy::resources(resources, "", version),
        ["apis"] => Some(legacy::groups(resources)),
        ["apis", group] => legacy::group(resources, group),
        ["apis", group, version] => legacy::resources(resources, group, version),
        _ => None,
    }
}

/// The aggregated document at a path; nothing for paths that have none.
pub fn aggregated(path: &str, resources: &[&Resource]) -> Option<Value> {
    match path.trim_matches('/') {
        "api" => Some(aggregated::list(resources, true)),
        "apis" => Some(aggregated::list(resources, false)),
        _ => None,
    }
}
