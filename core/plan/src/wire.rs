//! Actions as an API server understands them: requests out, answers in.
//!
//! Whoever carries a plan out, over HTTP or in a simulator, sends exactly this.

use flyball_api::request::{Method, Request};
use flyball_api::{ApiError, Kind, Opaque, Text, Uid};
use serde::Deserialize;
use serde_json::json;

use crate::listing::listing;
use crate::{Action, Answer, Precondition, Propagation, Subresource, Target, Written};

/// The request that an action stands for; `None` for a record, which is told to the recorder, and
/// for a discovery, which may take several.
pub fn request_of(action: &Action) -> Option<Request> {
    let request = whole(action)?;
    // Of what a write leaves behind only name, uid and version matter. The answer to a delete or
    // a binding may be no object at all, and a live read is wanted whole.
    Some(match action {
        Action::Create { .. }
        | Action::Patch { .. }
        | Action::Merge { .. }
        | Action::Update { .. }
        | Action::Confirm { .. } => request.metadata_only(),
        Action::List { .. } | Action::Survey { .. } | Action::DeleteCollection { .. } => {
            request.metadata_list()
        }
        _ => request,
    })
}

fn whole(action: &Action) -> Option<Request> {
    let request = match action {
        Action::Create {
            kind,
            namespace,
            body,
        } => Request::with(
            Method::Post,
            kind.collection_path(namespace),
            body.json().to_owned(),
        ),
        Action::Patch {
            target,
            subresource,
            body,
            ..
        } => Request::with(
            Method::StrategicPatch,
            path(target, *subresource),
            body.json().to_owned(),
        ),
        Action::Merge { target, body, .. } => Request::with(
            Method::MergePatch,
            path(target, Subresource::None),
            body.json().to_owned(),
        ),
        Action::Update {
            target,
            subresource,
            body,
            ..
        } => Request::with(
            Method::Put,
            path(target, *subresource),
            body.json().to_owned(),
        ),
        Action::Delete {
            target,
            precondition,
            propagation,
            grace_seconds,
        } => {
            let mut preconditions = serde_json::Map::new();
            if let Some(uid) = &precondition.uid {
                preconditions.insert("uid".into(), uid.to_string().into());
            }
            if let Some(version) = &precondition.resource_version {
                preconditions.insert("resourceVersion".into(), version.as_str().into());
            }
            let mut options = delete_options(*propagation);
            options["preconditions"] = preconditions.into();
            if let Some(seconds) = grace_seconds {
                options["gracePeriodSeconds"] = json!(seconds);
            }
            Request::with(
                Method::Delete,
                path(target, Subresource::None),
                options.to_string(),
            )
        }
        Action::Bind {
            target,
            precondition,
            node,
        } => {
            let mut path = path(target, Subresource::None);
            path.push_str("/binding");
            let body = binding(target, precondition, node);
            Request::with(Method::Post, path, body.to_string())
        }
        Action::Ask { target } | Action::Confirm { target, .. } => {
            Request::get(path(target, Subresource::None))
        }
        Action::DeleteCollection {
            kind,
            namespace,
            propagation,
        } => Request::with(
            Method::Delete,
            kind.collection_path(namespace),
            delete_options(*propagation).to_string(),
        ),
        Action::List {
            kind,
            namespace,
            items_max,
        } => Request::get(format!(
            "{}?limit={items_max}",
            kind.collection_path(namespace)
        )),
        Action::Survey {
            kind, items_max, ..
        } => Request::get(format!("{}?limit={items_max}", kind.collection_path(""))),
        Action::Discover { .. } | Action::Record(_) => return None,
    };
    Some(request)
}

fn delete_options(propagation: Option<Propagation>) -> serde_json::Value {
    let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
    if let Some(propagation) = propagation {
        options["propagationPolicy"] = json!(match propagation {
            Propagation::Background => "Background",
            Propagation::Foreground => "Foreground",
            Propagation::Orphan => "Orphan",
        });
    }
    options
}

/// The server takes the identity and version of the pod from the metadata of the Binding.
fn binding(target: &Target, precondition: &Precondition, node: &str) -> serde_json::Value {
    let mut metadata = json!({
        "namespace": target.name.namespace.as_str(),
        "name": target.name.name.as_str(),
    });
    if let Some(uid) = &precondition.uid {
        metadata["uid"] = uid.to_string().into();
    }
    if let Some(version) = &precondition.resource_version {
        metadata["resourceVersion"] = version.as_str().into();
    }
    json!({
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": metadata,
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    })
}

fn path(target: &Target, subresource: Subresource) -> String {
    let Target { kind, name } = target;
    let mut path = kind.object_path(&name.namespace, &name.name);
    path.push_str(subresource.path());
    path
}

/// What the body of a successful answer says.
///
/// A write whose answer cannot be read took effect all the same; only its version is unknown, so
/// that nothing is waited for.
pub fn answer_of(action: &Action, body: &[u8]) -> Answer {
    if let Action::Ask { target } | Action::Confirm { target, .. } = action {
        let text = std::str::from_utf8(body).map_err(|error| error.to_string());
        return match text.and_then(|text| Opaque::new(text).map_err(|error| error.to_string())) {
            Ok(object) => Answer::Read(object),
            Err(reason) => unreadable(target.kind, &reason),
        };
    }
    match action {
        Action::List { kind, .. } | Action::Survey { kind, .. } => {
            return match listing(body) {
                Ok(listing) => Answer::Listed(listing.into()),
                Err(error) => unreadable(*kind, &error.to_string()),
            };
        }
        // The answer is a Status, or whatever was deleted.
        Action::DeleteCollection { .. } => return Answer::Done(Written::default()),
        _ => {}
    }
    if let Action::Delete {
        target,
        precondition,
        ..
    }
    | Action::Bind {
        target,
        precondition,
        ..
    } = action
    {
        // The answer may be the object or a mere Status; what it is about is known either way.
        return Answer::Done(Written {
            name: target.name.name.clone(),
            uid: precondition.uid.clone().unwrap_or_default(),
            resource_version: Text::default(),
        });
    }
    let head = serde_json::from_slice::<Head>(body);
    Answer::Done(head.map_or_else(|_| Written::default(), |Head { metadata }| metadata.into()))
}

fn unreadable(kind: Kind, reason: &str) -> Answer {
    Answer::Failed(ApiError::transport(format!(
        "cannot read {kind} from the server: {reason}"
    )))
}

/// The part of an answer that matters.
#[derive(Deserialize)]
struct Head {
    metadata: HeadMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HeadMeta {
    name: Text,
    #[serde(default)]
    uid: Uid,
    #[serde(default)]
    resource_version: Text,
}

impl From<HeadMeta> for Written {
    fn from(meta: HeadMeta) -> Self {
        Self {
            name: meta.name,
            uid: meta.uid,
            resource_version: meta.resource_version,
        }
    }
}
