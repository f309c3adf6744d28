//! Requests as HTTP says them.

use flyball_api::request::Method;

/// The method as HTTP calls it.
pub(crate) fn http_method(method: Method) -> http::Method {
    match method {
        Method::Get => http::Method::GET,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::StrategicPatch | Method::MergePatch | Method::ApplyPatch => http::Method::PATCH,
        Method::Delete => http::Method::DELETE,
    }
}
