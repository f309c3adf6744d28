//! Kinds that upstream advises against: whoever uses one is told so.
//!
//! Upstream: `apiserver/pkg/endpoints/deprecation`, `pkg/apis/core/v1/zz_generated.prerelease-lifecycle.go`.

use flyball_schema::Resource;

/// What to tell whoever asks for such an object.
pub(crate) fn warning(resource: &Resource) -> Option<&'static str> {
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "componentstatuses") => Some("v1 ComponentStatus is deprecated in v1.19+"),
        ("", "endpoints") => {
            Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")
        }
        _ => None,
    }
}
