//! Answers in upstream's shape: `Status` objects for refusals, plain text for the rest, never cached.

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, USER_AGENT, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::endpoints::Reply;
use flyball_https::Target;

/// The type of every answer that is not JSON.
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";

pub(crate) type Body = Full<Bytes>;

/// Puts a reply on the wire. HEAD gets the head of the answer and its length.
pub(crate) fn respond(method: &Method, reply: Reply) -> Response<Body> {
    let length = HeaderValue::from(reply.body.len());
    let body = if method == Method::HEAD {
        Bytes::new()
    } else {
        reply.body
    };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = reply.status;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CONTENT_LENGTH, length);
    if let Ok(content_type) = HeaderValue::from_str(&reply.content_type) {
        headers.insert(CONTENT_TYPE, content_type);
    }
    if reply.status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

/// How a refusal is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    OneLine,
    Indented,
}

impl Layout {
    /// People get it indented, programs on one line.
    pub(crate) fn for_request(target: &Target, headers: &HeaderMap) -> Self {
        let agent = headers.get(USER_AGENT).map(HeaderValue::as_bytes);
        let agent = String::from_utf8_lossy(agent.unwrap_or_default());
        let indented = target.is_for_people(&agent);
        if indented {
            Self::Indented
        } else {
            Self::OneLine
        }
    }
}

/// 401.
pub(crate) fn unauthorized(layout: Layout) -> Reply {
    status(
        layout,
        StatusCode::UNAUTHORIZED,
        "Unauthorized",
        "Unauthorized",
        false,
    )
}

/// 403. `reason` is what the API server gave for its decision, often nothing.
pub(crate) fn forbidden(layout: Layout, user: &str, verb: &str, path: &str, reason: &str) -> Reply {
    let refused = format!(
        "User {} cannot {verb} path {}",
        go_quote(user),
        go_quote(path)
    );
    let mut message = format!("forbidden: {}", without_markup(&refused));
    if !reason.is_empty() {
        message.push_str(": ");
        message.push_str(reason);
    }
    status(layout, StatusCode::FORBIDDEN, "Forbidden", &message, true)
}

/// 500 for an authorization that could not be decided.
pub(crate) fn undecided(uri: &str, problem: &str) -> Reply {
    let message = format!("Internal Server Error: {}: {problem}", go_quote(uri));
    Reply::error(StatusCode::INTERNAL_SERVER_ERROR, &without_markup(&message))
}

/// 404.
pub(crate) fn not_found() -> Reply {
    Reply::error(StatusCode::NOT_FOUND, "404 page not found")
}

/// 405; `respond` adds the methods that are allowed.
pub(crate) fn method_not_allowed() -> Reply {
    Reply::error(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")
}

/// A `Status` object, with its fields in upstream's order; a JSON map would sort them.
fn status(
    layout: Layout,
    code: StatusCode,
    reason: &str,
    message: &str,
    has_details: bool,
) -> Reply {
    let mut fields = vec![
        ("kind", Value::from("Status")),
        ("apiVersion", Value::from("v1")),
        ("metadata", json!({})),
        ("status", Value::from("Failure")),
        ("message", Value::from(message)),
        ("reason", Value::from(reason)),
    ];
    if has_details {
        fields.push(("details", json!({})));
    }
    fields.push(("code", Value::from(code.as_u16())));
    let field = |(name, value): &(&str, Value)| match layout {
        Layout::OneLine => format!("\"{name}\":{value}"),
        Layout::Indented => format!("  \"{name}\": {value}"),
    };
    let fields: Vec<String> = fields.iter().map(field).collect();
    let body = match layout {
        Layout::OneLine => format!("{{{}}}\n", fields.join(",")),
        Layout::Indented => format!("{{\n{}\n}}", fields.join(",\n")),
    };
    Reply::new(code, "application/json", body)
}

/// Nothing that echoes the request may look like HTML.
fn without_markup(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// A string as Go's `%q` prints it, which is how it stands in upstream's messages.
pub(crate) fn go_quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0b' => quoted.push_str("\\v"),
            other => match u32::from(other) {
                code @ (0..0x20 | 0x7f) => quoted.push_str(&format!("\\x{code:02x}")),
                code @ (0x80..=0xa0 | 0xad | 0x2028 | 0x2029 | 0xfeff) => {
                    quoted.push_str(&format!("\\u{code:04x}"));
                }
                _ => quoted.push(other),
            },
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(reply: &Reply) -> &str {
        std::str::from_utf8(&reply.body).unwrap()
    }

    #[test]
    fn a_refusal_is_upstreams_status_object() {
        assert_eq!(
            body(&forbidden(
                Layout::OneLine,
                "system:anonymous",
                "get",
                "/metrics",
                ""
            )),
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\
             \"message\":\"forbidden: User \\\"system:anonymous\\\" cannot get path \\\"/metrics\\\"\",\
             \"reason\":\"Forbidden\",\"details\":{},\"code\":403}\n"
        );
        assert_eq!(
            body(&unauthorized(Layout::OneLine)),
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\
             \"message\":\"Unauthorized\",\"reason\":\"Unauthorized\",\"code\":401}\n"
        );
    }

    #[test]
    fn people_get_it_indented() {
        assert_eq!(
            body(&unauthorized(Layout::Indented)),
            "{\n  \"kind\": \"Status\",\n  \"apiVersion\": \"v1\",\n  \"metadata\": {},\n  \
             \"status\": \"Failure\",\n  \"message\": \"Unauthorized\",\n  \
             \"reason\": \"Unauthorized\",\n  \"code\": 401\n}"
        );
        let layout = |uri: &str, agent: &str| {
            let target = Target::decode(&uri.parse().unwrap()).unwrap();
            let headers = HeaderMap::from_iter([(USER_AGENT, agent.parse().unwrap())]);
            Layout::for_request(&target, &headers)
        };
        assert_eq!(layout("/metrics", "curl/8.5.0"), Layout::Indented);
        assert_eq!(layout("/metrics", "Prometheus/3.0"), Layout::OneLine);
        assert_eq!(
            layout("/metrics?pretty=false", "curl/8.5.0"),
            Layout::OneLine
        );
        assert_eq!(
            layout("/metrics?pretty=1", "Prometheus/3.0"),
            Layout::Indented
        );
    }

    #[test]
    fn a_refusal_carries_the_reason_of_the_api_server() {
        let message = body(&forbidden(
            Layout::OneLine,
            "jane",
            "get",
            "/metrics",
            "no RBAC policy matched",
        ))
        .to_owned();
        assert!(
            message.contains("path \\\"/metrics\\\": no RBAC policy matched\""),
            "{message}"
        );
    }

    #[test]
    fn nothing_of_the_request_comes_back_as_markup() {
        let message = body(&forbidden(Layout::OneLine, "a&b", "get", "/<script>", "")).to_owned();
        assert!(
            message.contains("a&amp;b") && message.contains("/&lt;script&gt;"),
            "{message}"
        );
        assert!(!body(&undecided("/<b>", "x")).contains('<'));
    }

    #[test]
    fn quoting_is_gos() {
        assert_eq!(
            go_quote("a\"\\\n\u{1}\u{7f}\u{85}ä"),
            "\"a\\\"\\\\\\n\\x01\\x7f\\u0085ä\""
        );
    }
}
