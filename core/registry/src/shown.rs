//! Answers as they were asked for: whole, only their metadata, or as a table.
//!
//! Upstream: `apiserver/pkg/endpoints/handlers/response.go`.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::decode::package;
use crate::depth;
use crate::failure::Failure;
use crate::list::{included, partial, table_of};
use crate::object::Object;
use crate::registry::Call;
use crate::request::Representation;

/// The answer to a write as it was asked for. What was done stays done, also if it cannot be shown so.
pub(crate) fn as_asked(call: &Call<'_>, answer: Answer) -> Answer {
    if matches!(
        call.representation,
        Representation::Whole | Representation::Discovery
    ) || answer.code >= 300
    {
        return answer;
    }
    if let Some(body) = metadata_alone(call, &answer.body) {
        return Answer { body, ..answer };
    }
    let Ok(object) = depth::read(&answer.body) else {
        return answer;
    };
    match transformed(call, &object) {
        Ok(Some(shown)) => Answer {
            body: shown.to_string().into(),
            ..answer
        },
        Ok(None) => answer,
        Err(failure) => Answer::from(failure).warned(answer.warnings),
    }
}

/// The parts of an answer that tell whether it is an object, and its metadata as they stand there.
#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    metadata: &'a RawValue,
    items: Option<IgnoredAny>,
}

/// The metadata of one object, taken out of its text: what every controller asks for after a write.
fn metadata_alone(call: &Call<'_>, body: &[u8]) -> Option<Bytes> {
    if call.representation != Representation::Metadata {
        return None;
    }
    let outline: Outline<'_> = serde_json::from_slice(body).ok()?;
    // The metadata of a DaemonSet hide an annotation.
    if outline.items.is_some() || matches!(&*outline.kind, "Status" | "DaemonSet") {
        return None;
    }
    let metadata = outline.metadata.get();
    let text = format!(
        r#"{{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{metadata}}}"#
    );
    Some(text.into())
}

fn transformed(call: &Call<'_>, object: &Object) -> Result<Option<Value>, Failure> {
    let items = object.get("items").and_then(Value::as_array);
    let representation = call.representation;
    if representation == Representation::Table {
        included(call)?;
    }
    if object.get("kind").is_some_and(|kind| kind == "Status") {
        return Ok(None);
    }
    check_shape(call, items.is_some())?;
    let objects = || -> Vec<Object> {
        let items = items.into_iter().flatten();
        let items = items.filter_map(|item| item.as_object().cloned());
        let told = items.map(|mut item| {
            // Items of a list do not say what they are, but rows do.
            item.entry("kind")
                .or_insert_with(|| call.resource.kind.as_str().into());
            item.entry("apiVersion")
                .or_insert_with(|| call.resource.api_version().into());
            item
        });
        told.collect()
    };
    Ok(match (representation, items) {
        (Representation::Metadata, _) => Some(partial(object)),
        (Representation::MetadataList, _) => Some(json!({
            "kind": "PartialObjectMetadataList",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": object.get("metadata"),
            "items": items
                .filter(|items| !items.is_empty())
                .map(|_| objects().iter().map(partial).collect::<Vec<_>>()),
        })),
        (Representation::Table, Some(_)) => {
            let meta = object.get("metadata").cloned().unwrap_or_default();
            Some(table_of(call, &objects(), meta)?)
        }
        (Representation::Table, None) => {
            let meta = table_metadata(object);
            Some(table_of(call, std::slice::from_ref(object), meta)?)
        }
        _ => None,
    })
}

/// Only objects have metadata, only lists have a list of it.
pub(crate) fn check_shape(call: &Call<'_>, is_list: bool) -> Result<(), Failure> {
    let (package, kind, list_kind) = match call.resource.of_definition() {
        Some(_) if call.path.subresource == "scale" => ("v1", "Scale", "ScaleList"),
        Some(_) => ("unstructured", "Unstructured", "UnstructuredList"),
        None if call.path.subresource == "scale" => ("autoscaling", "Scale", "ScaleList"),
        None if call.path.subresource == "token" => ("authentication", "TokenRequest", ""),
        None => (
            package(&call.resource.group),
            call.resource.kind.as_str(),
            call.resource.list_kind.as_str(),
        ),
    };
    let not_acceptable = |message: String| Err(Failure::new(406, "NotAcceptable", message));
    match (call.representation, is_list) {
        (Representation::Metadata, true) => not_acceptable(format!(
            "you requested PartialObjectMetadata, but the requested object is a list (*{package}.{list_kind})"
        )),
        // Upstream takes a custom object for a list until it looks into it.
        (Representation::MetadataList, false) if package == "unstructured" => {
            Err(Failure::new(500, "", "content is not a list"))
        }
        (Representation::MetadataList, false) => not_acceptable(format!(
            "you requested PartialObjectMetadataList, but the requested object is not a list (*{package}.{kind})"
        )),
        _ => Ok(()),
    }
}

/// The metadata of a table of one object.
pub(crate) fn table_metadata(object: &Object) -> Value {
    match &object["metadata"]["resourceVersion"] {
        Value::Null => json!({}),
        version => json!({"resourceVersion": version}),
    }
}
