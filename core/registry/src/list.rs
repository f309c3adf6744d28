//! Reading objects: one, or a collection in pages.
//!
//! Upstream: `apiserver/pkg/storage/etcd3/store.go` and the table of resourceVersion semantics in
//! the API concepts.

use bytes::Bytes;
use flyball_storage::{Query as Range, ReadError, Revision};
use serde_json::{Value, json};

use crate::answer::{Answer, Layout};
use crate::failure::Failure;
use crate::kinds::NameRule;
use crate::listing::Listing;
use crate::meta::no_number;
use crate::names::mistakes;
use crate::object::Object;
use crate::paging::Token;
use crate::query::VersionMatch;
use crate::registry::{Call, Registry, prefix};
use crate::request::Representation;
use crate::selection::Selection;
use crate::shown::{check_shape, table_metadata};
use crate::stored::{Stored, whole};
use crate::table::{IncludeObject, Table};

impl Registry {
    pub(crate) fn get(&self, call: &Call<'_>) -> Result<Answer, Failure> {
        let version = call.query.version.as_str();
        if !version.is_empty() && version.parse::<u64>().is_err() {
            // Events are read without a cache, which tells the same otherwise.
            if call.resource.plural == "events" {
                self.check_not_ahead(version)?;
            }
            let why = no_number(version);
            let message = format!("resourceVersion: Invalid value: {version:?}: {why}");
            return Err(Failure::new(500, "", message));
        }
        self.check_not_ahead(version)?;
        let found = self.find(call);
        let found = found.ok_or_else(|| Failure::not_found(&call.resource, &call.path.name))?;
        Ok(Answer::new(200, shown(call, &found.value)?))
    }

    pub(crate) fn list(&self, call: &Call<'_>) -> Result<Listing, Failure> {
        let selection = Selection::new(&call.resource, &call.query, "")?;
        let place = prefix(&call.resource, namespace_of(call));
        let go_on = self.page_start(call)?;
        let after = go_on
            .as_ref()
            .map(|token| format!("{place}{}", token.after));
        let mut range = Range::prefix(&place);
        range.after = after.as_deref();
        range.at = match &go_on {
            Some(token) => Some(token.revision),
            None => {
                let has_limit = call.query.limit > 0 && !is_of_one(call, false);
                self.read_at(call, has_limit)?
            }
        };
        // Upstream answers from its cache if any state will do, and its cache knows no pages.
        let any_state = go_on.is_none() && call.query.version == "0";
        let limit = if any_state { 0 } else { call.query.limit };
        if limit > 0 && selection.is_everything() {
            range.limit = Some(limit);
        }
        let page = self.store().range(&range);
        let page = page.map_err(|error| unreadable(error, go_on.is_some()))?;
        let revision = page.revision;
        let mut items = page.items;
        let mut remaining = (page.remaining > 0).then_some(page.remaining);
        let mut more = page.remaining > 0;
        if !selection.is_everything() {
            let most = if limit > 0 { limit } else { usize::MAX };
            let (all, mut seen) = (items.len(), 0);
            let looked_at = items.into_iter().inspect(|_| seen += 1);
            let chosen = looked_at.filter(|item| selection.has(&item.value));
            items = chosen.take(most).collect();
            // Whether something of the rest would match is not known without looking at it.
            more = seen < all && !is_of_one(call, go_on.is_some());
            remaining = None;
        }
        let last = items.last().filter(|_| more);
        let token = last.map(|item| Token {
            revision,
            after: item.key[place.len()..].to_owned(),
        });
        let mut meta = json!({"resourceVersion": revision.0.to_string()});
        if let Some(token) = token {
            meta["continue"] = token.write().into();
        }
        if let Some(remaining) = remaining {
            meta["remainingItemCount"] = remaining.into();
        }
        check_shape(call, true)?;
        Ok(Listing {
            resource: call.resource.clone(),
            items: items.iter().map(|item| item.value.clone()).collect(),
            meta,
            representation: call.representation,
            include: included(call)?,
            now: call.request.now,
            layout: Layout::default(),
            warnings: Vec::new(),
        })
    }

    fn page_start(&self, call: &Call<'_>) -> Result<Option<Token>, Failure> {
        match call.query.go_on.as_str() {
            "" => Ok(None),
            token => {
                let wrong =
                    |why: String| Failure::bad_request(format!("invalid continue token: {why}"));
                let token = Token::read(token).map_err(wrong)?;
                if !matches!(call.query.version.as_str(), "" | "0") {
                    let why = "specifying resource version is not allowed when using continue";
                    return Err(Failure::bad_request(why));
                }
                Ok(Some(token))
            }
        }
    }

    /// The revision that a list wants to be read at; `None` for the newest.
    pub(crate) fn read_at(
        &self,
        call: &Call<'_>,
        has_limit: bool,
    ) -> Result<Option<Revision>, Failure> {
        let version = self.check_not_ahead(&call.query.version)?;
        let exact = match call.query.version_match {
            Some(kind) => kind == VersionMatch::Exact,
            None => has_limit,
        };
        Ok(version.filter(|version| exact && version.0 > 0))
    }

    /// Reads a version; refuses one that has not been reached.
    pub(crate) fn check_not_ahead(&self, version: &str) -> Result<Option<Revision>, Failure> {
        if version.is_empty() {
            return Ok(None);
        }
        let parsed: Result<u64, _> = version.parse();
        let wrong = |_| {
            let why = no_number(version);
            Failure::bad_request(format!(
                "invalid resource version: resourceVersion: Invalid value: {version:?}: {why}"
            ))
        };
        let asked = parsed.map_err(wrong)?;
        let current = self.revision().0;
        if asked > current {
            return Err(Failure::too_large_version(asked, current));
        }
        Ok(Some(Revision(asked)))
    }
}

/// The namespace that a list is about: that of its path, or the one that its field selector asks for.
fn namespace_of<'a>(call: &'a Call<'_>) -> &'a str {
    let fields = call.query.fields.as_ref();
    let asked = fields.and_then(|fields| fields.required_value("metadata.namespace"));
    match asked {
        Some(asked) if call.path.namespace.is_empty() && is_namespace(asked) => asked,
        _ => &call.path.namespace,
    }
}

fn is_namespace(name: &str) -> bool {
    mistakes(NameRule::Label, name, false).is_empty()
}

/// Whether a list is of one name, which has no pages.
fn is_of_one(call: &Call<'_>, paging: bool) -> bool {
    let fields = call.query.fields.as_ref();
    let name = fields.and_then(|fields| fields.required_value("metadata.name"));
    let is_placed = !call.resource.namespaced || !namespace_of(call).is_empty();
    name.is_some() && is_placed && !paging
}

pub(crate) fn unreadable(error: ReadError, paging: bool) -> Failure {
    match error {
        ReadError::Compacted { .. } if paging => Failure::expired(
            "The provided continue parameter is too old to display a consistent list result. You must start a new \
             list without the continue parameter.",
        ),
        ReadError::Compacted { .. } => {
            Failure::expired("The resourceVersion for the provided list is too old.")
        }
        ReadError::Future { current } => Failure::too_large_version(current.0 + 1, current.0),
    }
}

/// An object as it was asked for.
fn shown(call: &Call<'_>, stored: &Stored) -> Result<Bytes, Failure> {
    Ok(match call.representation {
        Representation::Whole | Representation::Discovery => {
            whole(&call.resource, &call.resource.bare(stored))
        }
        Representation::Metadata | Representation::MetadataList => {
            check_shape(call, false)?;
            let object = call.resource.object(stored);
            partial(&object).to_string().into()
        }
        Representation::Table => {
            let object = call.resource.object(stored);
            let meta = table_metadata(&object);
            table_of(call, &[object], meta)?.to_string().into()
        }
    })
}

/// The metadata of an object without what upstream keeps elsewhere and only shows there.
pub(crate) fn own_metadata(object: &Object, kind: &str) -> Value {
    let mut meta = object.get("metadata").cloned().unwrap_or_else(|| json!({}));
    let annotations = meta.get_mut("annotations").and_then(Value::as_object_mut);
    if kind == "DaemonSet"
        && let Some(annotations) = annotations
    {
        annotations.remove("deprecated.daemonset.template.generation");
        if annotations.is_empty() {
            meta.as_object_mut().map(|meta| meta.remove("annotations"));
        }
    }
    meta
}

/// The metadata of an object as an object of its own.
pub(crate) fn partial(object: &Object) -> Value {
    let kind = object.get("kind").and_then(Value::as_str);
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": own_metadata(object, kind.unwrap_or_default()),
    })
}

pub(crate) fn table_of(call: &Call<'_>, objects: &[Object], meta: Value) -> Result<Value, Failure> {
    // A scale has columns of its own, whatever it is the scale of.
    let (group, kind, custom) = match call.path.subresource.as_str() {
        "scale" if call.resource.of_definition().is_some() => ("autoscaling", "CustomScale", None),
        "scale" => ("autoscaling", "Scale", None),
        _ => (
            call.kept().group.as_str(),
            call.kept().kind.as_str(),
            call.resource.columns(),
        ),
    };
    let table = Table {
        group,
        kind,
        custom,
        include: included(call)?,
        headers: true,
        now: call.request.now,
    };
    Ok(table.render(objects, meta))
}

/// What rows of a table are to carry of their objects; nobody looks at it if there is no table.
pub(crate) fn included(call: &Call<'_>) -> Result<IncludeObject, Failure> {
    if call.representation != Representation::Table {
        return Ok(IncludeObject::default());
    }
    let mut pairs = call.request.query.iter();
    let asked = pairs.find(|(key, _)| key == "includeObject");
    let asked = asked.map_or("", |(_, value)| value.as_str());
    IncludeObject::parse(asked).map_err(Failure::bad_request)
}
