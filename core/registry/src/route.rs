//! Which operation a request is: its verb, whether its path can do that, and its options.
//!
//! Upstream: `apiserver/pkg/endpoints/{installer.go,request/requestinfo.go}`.

use flyball_api::Text;
use flyball_schema::Resource;

use crate::decode;
use crate::failure::Failure;
use crate::kinds::NameRule;
use crate::names;
use crate::patch;
use crate::path::{Path, ResourcePath};
use crate::query::{Pairs, Query, is_yes};
use crate::registry::Call;
use crate::request::{Method, Request};

/// The verb of a request.
pub(crate) fn verb(request: &Request<'_>, path: &ResourcePath) -> &'static str {
    let watch = Pairs(request.query).all("watch");
    match request.method {
        method if asks_to_watch(method, path, watch) => "watch",
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

/// Whether a request is answered with a stream of changes, if it is answered at all.
pub fn is_watch(request: &Request<'_>) -> bool {
    match Path::parse(request.path) {
        Path::Resource(path) => verb(request, &path) == "watch",
        Path::Other => false,
    }
}

/// Whether a request is a watch: a GET of a collection whose first `watch` parameter is neither `false` nor `0`. The
/// values of the parameter are given in order; an empty one is a yes, as upstream reads it.
///
/// Upstream: `Convert_Slice_string_To_bool` in `apimachinery/pkg/runtime/conversion.go`. Its route of one object knows no
/// watch.
fn asks_to_watch<'a>(
    method: Method,
    path: &ResourcePath,
    watch: impl IntoIterator<Item = &'a str>,
) -> bool {
    let is_collection = path.name.is_empty() && path.subresource.is_empty();
    let mut values = watch.into_iter();
    method == Method::Get && is_collection && values.next().is_some_and(is_yes)
}

/// The name that a request is authorized for: that of the path or, of a list or a watch, the only one that its field
/// selector allows. A query that cannot be read names nothing.
pub(crate) fn authorized_name(request: &Request<'_>, verb: &str, path: &ResourcePath) -> Text {
    if !path.name.is_empty() || !matches!(verb, "list" | "watch") {
        return path.name.clone();
    }
    let read = Query::parse(verb, false, request.query);
    let fields = read.ok().and_then(|query| query.fields);
    let name = fields
        .as_ref()
        .and_then(|fields| fields.required_value("metadata.name"));
    let is_segment = |name: &&str| names::mistakes(NameRule::PathSegment, name, false).is_empty();
    name.filter(is_segment).unwrap_or_default().into()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Path;

    #[test]
    fn a_watch_is_a_get_of_a_collection_whose_first_flag_says_so() {
        let collection = "/api/v1/namespaces/default/pods";
        let one = "/api/v1/namespaces/default/pods/x";
        for (method, path, values, expected) in [
            (Method::Get, collection, &["1"][..], true),
            (Method::Get, collection, &["true"], true),
            (Method::Get, collection, &[""], true),
            (Method::Get, collection, &["no"], true),
            (Method::Get, collection, &["1", "0"], true),
            (Method::Get, collection, &[], false),
            (Method::Get, collection, &["0"], false),
            (Method::Get, collection, &["0", "1"], false),
            (Method::Get, collection, &["false"], false),
            (Method::Get, collection, &["False"], false),
            (Method::Post, collection, &["1"], false),
            (Method::Head, collection, &["1"], false),
            (Method::Get, one, &["1"], false),
            (Method::Get, "/api/v1/namespaces/x/status", &["1"], false),
        ] {
            let Path::Resource(parsed) = Path::parse(path) else {
                panic!("{path}");
            };
            let is = asks_to_watch(method, &parsed, values.iter().copied());
            assert_eq!(is, expected, "{method:?} {path} {values:?}");
        }
    }
}
