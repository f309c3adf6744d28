//! What is behind paths that name no objects and that the registry knows: version, discovery, schemas.
//!
//! Upstream: `apiserver/pkg/server/routes`, `kube-aggregator/pkg/apiserver/handler_discovery.go`.

use std::borrow::Cow;

use flyball_schema::{Resource, described, openapi};
use serde_json::Value;

use crate::answer::{Answer, Layout};
use crate::discovery;
use crate::failure::Failure;
use crate::negotiation::{
    Choice, Media, Offer, ROUTED, check_route, choose, choose_discovery, preferred, unacceptable,
};
use crate::request::{Method, Representation, Request};
use crate::served::Served;

/// The answer to a request for such a path; `None` if there is nothing behind it.
pub(crate) fn answer(
    request: &Request<'_>,
    served: &Served,
    addresses: &[(String, String)],
) -> Result<Option<Answer>, Failure> {
    if request.path.contains("//") {
        return Ok(None);
    }
    let parts: Vec<&str> = request
        .path
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    let choice = match parts.as_slice() {
        ["version"] => {
            check_method(request)?;
            check_route(request.accept, &[Media::Json.name()])?;
            Choice::default()
        }
        ["api"] => {
            check_routed(request)?;
            choose_discovery(request.accept)?
        }
        ["apis", group, version] if !served.has_version(group, version) => return Ok(None),
        // Groups of custom resources are no matter of the router's.
        ["apis", group, _] if !served.has_built_in(group) => {
            check_method(request)?;
            choose(request.accept, Offer::Plain)?
        }
        ["api", _] | ["apis", _, _] => {
            check_routed(request)?;
            choose(request.accept, Offer::Plain)?
        }
        // Upstream's aggregator answers for these, to any method.
        ["apis"] => choose_discovery(request.accept)?,
        ["apis", group] if served.has_group(group) => choose(request.accept, Offer::Plain)?,
        ["openapi", ..] => return Ok(schemas(request, served)),
        _ => return Ok(None),
    };
    let told: Vec<Cow<'_, Resource>> = served.kinds().iter().map(|kind| kind.told()).collect();
    let resources: Vec<&Resource> = told.iter().map(|one| &**one).collect();
    if choice.representation == Representation::Discovery {
        let document = discovery::aggregated(request.path, &resources);
        return Ok(document.map(|document| {
            let answer = Answer::document(&document).shown(choice);
            Answer {
                content_type: discovery::AGGREGATED,
                etag: fingerprint(&answer.body),
                ..answer
            }
        }));
    }
    let addresses: Vec<(&str, &str)> = addresses
        .iter()
        .map(|(clients, address)| (clients.as_str(), address.as_str()))
        .collect();
    let document = discovery::document(request.path, &resources, &addresses);
    let document = document.ok_or_else(Failure::no_such_path)?;
    let answer = Answer::document(&document);
    Ok(Some(match parts.as_slice() {
        ["version"] => answer.for_people(),
        _ => answer.shown(choice),
    }))
}

/// What upstream's router lets pass: reads, by whoever takes what is produced.
fn check_routed(request: &Request<'_>) -> Result<(), Failure> {
    check_method(request)?;
    check_route(request.accept, ROUTED)
}

fn check_method(request: &Request<'_>) -> Result<(), Failure> {
    match request.method {
        Method::Get => Ok(()),
        _ => Err(Failure::method_not_allowed()),
    }
}

/// A document that describes objects.
fn schemas(request: &Request<'_>, served: &Served) -> Option<Answer> {
    let rest = request.path.strip_prefix("/openapi/")?;
    let etag = match rest.split_once('/') {
        None if rest == "v2" => all_schemas(served),
        Some(("v3", root)) => {
            let (group, version) = root_of(root)?;
            served.schema_version(group, version)
        }
        _ => String::new(),
    };
    let json = Media::Json.name();
    let forms: &[&'static str] = match rest {
        "v2" => &[json, openapi::V2_PROTOBUF_ASKED, openapi::V2_PROTOBUF],
        _ => &[json],
    };
    // Who takes nothing but another form is told so instead of being given what it cannot read.
    let form = match preferred(request.accept, forms) {
        None if !etag.is_empty() => {
            let failure = unacceptable(forms);
            return Some(Answer::refusal(failure, request.accept));
        }
        form => form.unwrap_or(json),
    };
    let document = match rest.split_once('/') {
        None if rest == "v2" => {
            let all = described();
            let mut offered = all.all_offered();
            offered.extend(served.kinds().iter().filter_map(|kind| kind.offered()));
            let document = openapi::v2(&offered, &all);
            if form != json {
                return Some(Answer {
                    content_type: openapi::V2_PROTOBUF,
                    body: openapi::v2_protobuf(&document).into(),
                    layout: Layout::Fixed,
                    etag: format!("{etag}-protobuf"),
                    ..Answer::new(200, String::new())
                });
            }
            document
        }
        None if rest == "v3" => {
            let kinds = served.kinds().iter();
            let mut offered: Vec<(&str, &str)> = kinds
                .map(|kind| (kind.group.as_str(), kind.version.as_str()))
                .collect();
            offered.sort_unstable();
            offered.dedup();
            let hashes: Vec<String> = offered
                .iter()
                .map(|(group, version)| served.schema_version(group, version))
                .collect();
            let all = offered.iter().zip(&hashes);
            openapi::v3_index(all.map(|((group, of), hash)| (*group, *of, hash.as_str())))
        }
        Some(("v3", root)) => described_group(root, served)?,
        _ => return None,
    };
    Some(Answer {
        layout: Layout::Fixed,
        etag,
        ..Answer::document(&document)
    })
}

/// What names the state of all schemas together.
fn all_schemas(served: &Served) -> String {
    let mut offered: Vec<(&str, &str)> = served
        .kinds()
        .iter()
        .map(|kind| (kind.group.as_str(), kind.version.as_str()))
        .collect();
    offered.dedup();
    let mut all = String::new();
    for (group, version) in offered {
        all.push_str(&served.schema_version(group, version));
    }
    fingerprint(all.as_bytes())
}

/// A name for these bytes that others are not likely to have.
fn fingerprint(bytes: &[u8]) -> String {
    // FNV-1a, of 128 bits.
    let start = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let prime = 0x0000_0000_0100_0000_0000_0000_0000_013b_u128;
    let hash = bytes.iter().fold(start, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(prime)
    });
    format!("{hash:032X}")
}

/// The group and version that a path of the third kind of documents names.
fn root_of(root: &str) -> Option<(&str, &str)> {
    match root.split('/').collect::<Vec<_>>().as_slice() {
        ["api", version] => Some(("", *version)),
        ["apis", group, version] => Some((*group, *version)),
        _ => None,
    }
}

fn described_group(root: &str, served: &Served) -> Option<Value> {
    let (group, version) = root_of(root)?;
    let all = described();
    let mut offered = all.offered(group, version);
    let kinds = served.kinds().iter();
    let kinds = kinds.filter(|kind| kind.group == group && kind.version == version);
    offered.extend(kinds.filter_map(|kind| kind.offered()));
    (!offered.is_empty()).then(|| openapi::v3(&offered, &all))
}
