//! What is behind paths that name no objects: health, version, discovery, schemas.

use std::borrow::Cow;

use flyball_schema::{Resource, described, openapi};
use serde_json::Value;

use crate::answer::Answer;
use crate::discovery;
use crate::request::{Method, Representation, Request};
use crate::served::Served;

/// The answer to a request for such a path; `None` if there is nothing behind it.
pub(crate) fn answer(request: &Request<'_>, served: &Served) -> Option<Answer> {
    let told: Vec<Cow<'_, Resource>> = served.kinds().iter().map(|kind| kind.told()).collect();
    let resources: Vec<&Resource> = told.iter().map(|one| &**one).collect();
    if request.method != Method::Get {
        return None;
    }
    if matches!(request.path, "/healthz" | "/livez" | "/readyz") {
        return Some(Answer::text("ok"));
    }
    if request.representation == Representation::Discovery
        && let Some(document) = discovery::aggregated(request.path, &resources)
    {
        let mut answer = Answer::document(&document);
        answer.content_type = discovery::AGGREGATED;
        return Some(answer);
    }
    let document = discovery::document(request.path, &resources, &[]);
    let document = document.or_else(|| schemas(request.path, &resources))?;
    Some(Answer::document(&document))
}

/// A document that describes objects.
fn schemas(path: &str, resources: &[&Resource]) -> Option<Value> {
    let rest = path.strip_prefix("/openapi/")?.trim_end_matches('/');
    match rest.split_once('/') {
        None if rest == "v2" => {
            let all = described();
            Some(openapi::v2(&all.all_offered(), &all))
        }
        None if rest == "v3" => {
            let mut offered: Vec<(&str, &str)> = resources
                .iter()
                .map(|resource| (resource.group.as_str(), resource.version.as_str()))
                .collect();
            offered.sort_unstable();
            offered.dedup();
            // What is built in changes with the program only.
            let version = env!("CARGO_PKG_VERSION");
            let all = offered.iter().map(|(group, of)| (*group, *of, version));
            Some(openapi::v3_index(all))
        }
        Some(("v3", root)) => {
            let (group, version) = match root.split('/').collect::<Vec<_>>().as_slice() {
                ["api", version] => ("", *version),
                ["apis", group, version] => (*group, *version),
                _ => return None,
            };
            let all = described();
            let offered = all.offered(group, version);
            (!offered.is_empty()).then(|| openapi::v3(&offered, &all))
        }
        _ => None,
    }
}
