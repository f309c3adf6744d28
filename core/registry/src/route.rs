//! Which operation a request is: its verb, whether its path can do that, and its options.
//!
//! Upstream: `apiserver/pkg/endpoints/{installer.go,request/requestinfo.go}`.

use flyball_schema::Resource;

use crate::decode;
use crate::failure::Failure;
use crate::patch;
use crate::path::ResourcePath;
use crate::query::Query;
use crate::registry::Call;
use crate::request::{Method, Request};

/// The verb of a request.
pub(crate) fn verb(request: &Request<'_>, path: &ResourcePath) -> &'static str {
    let part = !path.subresource.is_empty();
    match request.method {
        // Upstream's route of one object knows no watch.
        Method::Get if !part && path.name.is_empty() && Query::asks_to_watch(request.query) => {
            "watch"
        }
        Method::Get | Method::Head if path.name.is_empty() => "list",
        Method::Get | Method::Head => "get",
        Method::Options | Method::Other => "",
        Method::Post => "create",
        Method::Put => "update",
        Method::Patch => "patch",
        Method::Delete if path.name.is_empty() => "deletecollection",
        Method::Delete => "delete",
    }
}

/// Refuses what no route leads to.
pub(crate) fn check(verb: &str, path: &ResourcePath, resource: &Resource) -> Result<(), Failure> {
    if !path.subresource.is_empty() {
        let part = resource.subresource(&path.subresource);
        let part = part.ok_or_else(Failure::no_such_path)?;
        return match part.verbs.iter().any(|one| one == verb) {
            true => Ok(()),
            false => Err(Failure::method_not_allowed()),
        };
    }
    let can = |verb: &str| resource.verbs.iter().any(|one| one == verb);
    let named = !path.name.is_empty();
    let routes: &[&str] = match named {
        true => &["get", "update", "patch", "delete"],
        false => &["list", "create", "deletecollection"],
    };
    let inside = !path.namespace.is_empty() && resource.plural != "namespaces";
    // Across namespaces there are collections only, and they can only be read.
    let (is_there, is_able) = match (resource.namespaced, inside) {
        (true, false) => (!named && can("list"), matches!(verb, "list" | "watch")),
        (namespaced, inside) => (
            namespaced == inside && routes.iter().any(|one| can(one)),
            verb == "watch" || routes.contains(&verb),
        ),
    };
    if !is_there {
        return Err(Failure::no_such_path());
    }
    match is_able && can(verb) {
        true => Ok(()),
        false => Err(Failure::method_not_allowed()),
    }
}

/// Whether a path leads to a custom resource at all. What can be done with its parts is asked later.
///
/// Upstream: `apiextensions-apiserver/pkg/apiserver/customresource_handler.go`.
pub(crate) fn leads_to_custom(verb: &str, path: &ResourcePath, resource: &Resource) -> bool {
    let is_across = resource.namespaced && matches!(verb, "list" | "watch");
    path.namespace.is_empty() != resource.namespaced || is_across
}

/// The options of a request. What a body is written in is checked when upstream does it.
pub(crate) fn options(verb: &str, call: &Call<'_>) -> Result<Query, Failure> {
    let mut applies = false;
    match verb {
        "create" => decode::check_language(call)?,
        "patch" => applies = patch::check_type(call)?,
        _ => {}
    }
    Query::parse(verb, applies, call.request.query)
}
