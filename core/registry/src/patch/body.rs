//! Reading the body of a patch: how strictly depends on what the query says of fields.
//!
//! Upstream: `applyJSPatch` and `strategicPatchObject` in `apiserver/pkg/endpoints/handlers/patch.go`.

use flyball_patch::{go_name, unknown_members};
use flyball_schema::{StrictFault, read_json_strict};
use serde_json::Value;

use super::{JSON, MERGE, content_type};
use crate::failure::Failure;
use crate::query::FieldValidation;
use crate::registry::Call;

/// The patch that was sent, and what is wrong with it although it can be read.
pub(super) fn read(call: &Call<'_>) -> Result<(Value, Vec<String>), Failure> {
    let content_type = content_type(call);
    let is_loose = call.query.field_validation == FieldValidation::Ignore;
    let read = read_json_strict(call.request.body);
    let (patch, twice) = read.map_err(|why| match content_type {
        MERGE if is_loose => no_merge(),
        JSON | MERGE if !is_loose => Failure::bad_request(format!("error decoding patch: {why}")),
        _ => Failure::bad_request(why),
    })?;
    if is_loose {
        check_loosely(content_type, &patch)?;
    }
    let unknown = match content_type {
        JSON => unknown_members(&patch),
        _ => Vec::new(),
    };
    let unknown = unknown.into_iter().map(StrictFault::Unknown);
    let mark = match content_type {
        JSON => "json patch ",
        _ => "",
    };
    let faults = twice.into_iter().chain(unknown);
    Ok((
        patch,
        faults.map(|fault| format!("{mark}{fault}")).collect(),
    ))
}

/// Where nobody cares for fields, the libraries that carry patches out are the first to look at them.
fn check_loosely(content_type: &str, patch: &Value) -> Result<(), Failure> {
    let unfit = |value: &Value, of: &str| {
        let found = go_name(value);
        let why = format!("json: cannot unmarshal {found} into Go value of type jsonpatch.{of}");
        Err(Failure::bad_request(why))
    };
    match (content_type, patch) {
        (JSON, Value::Array(operations)) => {
            let odd = |one: &&Value| !matches!(one, Value::Object(_) | Value::Null);
            match operations.iter().find(odd) {
                Some(odd) => unfit(odd, "Operation"),
                None => Ok(()),
            }
        }
        (JSON, Value::Null) => Ok(()),
        (JSON, other) => unfit(other, "Patch"),
        (MERGE, Value::Object(_) | Value::Array(_)) => Ok(()),
        (MERGE, _) => Err(no_merge()),
        _ => Ok(()),
    }
}

fn no_merge() -> Failure {
    Failure::bad_request("Invalid JSON Patch")
}
