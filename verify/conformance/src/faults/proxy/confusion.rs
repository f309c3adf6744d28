//! What a server may say by mistake of the resources it has.

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use super::mischief::answer;
use super::relay::Answer;

/// What is done to the documents of discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confusion {
    /// Status 503.
    Unavailable,
    /// A web page with status 200.
    WebPage,
    /// A document that is cut off in the middle.
    CutOff,
    /// A server without any resource.
    Empty,
    /// Only `/apis` fails: the core group is all there seems to be.
    Half,
    /// This group is not known to answer at the time.
    Stale(&'static str),
    /// This group is not named at all.
    Without(&'static str),
}

impl Confusion {
    /// Whether nothing at all can be learnt from it.
    pub(crate) fn is_total(self) -> bool {
        !matches!(self, Self::Stale(_) | Self::Without(_))
    }

    /// The answer given instead of the server's, if it comes to that.
    pub(super) fn instead(self, path: &str) -> Option<Answer> {
        let json = "application/json";
        match self {
            Self::Half if path == "/api" => None,
            Self::Unavailable | Self::Half => {
                let code = StatusCode::SERVICE_UNAVAILABLE;
                Some(answer(code, "text/plain", "the harness says no"))
            }
            Self::WebPage => Some(answer(StatusCode::OK, "text/html", "<!DOCTYPE html>")),
            Self::CutOff => Some(answer(
                StatusCode::OK,
                json,
                r#"{"kind":"APIGroupDiscoveryList","items":[{"#,
            )),
            Self::Empty => Some(answer(StatusCode::OK, json, r#"{"items":[]}"#)),
            Self::Stale(_) | Self::Without(_) => None,
        }
    }

    /// What becomes of a document of the server's.
    pub(super) fn distort(self, body: &[u8]) -> Bytes {
        let Ok(mut document) = serde_json::from_slice::<Value>(body) else {
            return Bytes::copy_from_slice(body);
        };
        let groups = document.get_mut("items").and_then(Value::as_array_mut);
        let Some(groups) = groups else {
            return Bytes::copy_from_slice(body);
        };
        match self {
            Self::Without(name) => groups.retain(|group| group["metadata"]["name"] != name),
            Self::Stale(name) => {
                let named = groups
                    .iter_mut()
                    .filter(|it| it["metadata"]["name"] == name);
                let versions = named.filter_map(|group| group["versions"].as_array_mut());
                for version in versions.flatten() {
                    version["freshness"] = json!("Stale");
                    version["resources"] = json!([]);
                }
            }
            _ => {}
        }
        Bytes::from(document.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_group_is_left_out_or_stale_and_the_others_stay() {
        let version = json!({"version": "v1", "freshness": "Current", "resources": [1]});
        let group = |name: &str| json!({"metadata": {"name": name}, "versions": [version]});
        let document = json!({"items": [group("a.io"), group("b.io")]}).to_string();
        let distorted = |confusion: Confusion| -> Value {
            serde_json::from_slice(&confusion.distort(document.as_bytes())).unwrap()
        };
        let without = distorted(Confusion::Without("a.io"));
        assert_eq!(without, json!({"items": [group("b.io")]}));
        let stale = distorted(Confusion::Stale("a.io"));
        assert_eq!(stale["items"][0]["versions"][0]["freshness"], "Stale");
        assert_eq!(stale["items"][1], group("b.io"));
    }
}
