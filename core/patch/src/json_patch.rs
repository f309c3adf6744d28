//! JSON patches (RFC 6902): a list of operations, carried out one after the other or not at all.
//!
//! The rules are those of the library that upstream uses (evanphx `json-patch` v4, `patch.go`),
//! which are not the RFC's everywhere: replacing a member that is not there adds it, an index may
//! count from the end, a member that is not there equals null, and the part of a path before its
//! first slash is not looked at. Clients rely on the first, so it is kept with the rest.
//!
//! Bounds: 10,000 operations, 3 MiB of copies, and no result deeper than a reader of JSON follows.

mod operation;
mod place;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::error::PatchRefused;
use crate::wording;
use operation::Operation;

/// How many operations a patch may have.
const OPERATIONS_MAX: usize = 10_000;
/// How many bytes of JSON all copies of a patch may have together.
const COPIED_BYTES_MAX: usize = 3 * 1024 * 1024;
/// How deep an object may be nested: as deep as JSON is read.
const DEPTH_MAX: usize = 128;

/// From which bound on a document is measured while it is patched.
const DEPTH_MEASURED: usize = 4 * DEPTH_MAX;
/// How often that is done for one patch.
const MEASUREMENTS_MAX: usize = 250;

/// Applies a JSON patch.
///
/// A patch that is not a list of operations is a bad request, one that does not fit the object is
/// invalid. Which operation it was is in [`PatchRefused::detail`]: upstream does not tell.
pub fn json_patch(mut object: Value, patch: &Value) -> Result<Value, PatchRefused> {
    let operations = match patch {
        Value::Array(operations) => operations.as_slice(),
        // Go decodes null into a list of nothing.
        Value::Null => &[],
        other => {
            return Err(not_a_patch(format!(
                "json: cannot unmarshal {} into Go value of type []handlers.jsonPatchOp",
                wording::json_name(other)
            )));
        }
    };
    let operations: Vec<Operation<'_>> = operations
        .iter()
        .map(|operation| Operation::read(operation).map_err(not_a_patch))
        .collect::<Result<_, _>>()?;
    if operations.len() > OPERATIONS_MAX {
        return Err(PatchRefused::too_large(&format!(
            "The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {}",
            operations.len()
        )));
    }
    let mut copied_bytes = 0;
    let mut nesting = Nesting::default();
    for operation in &operations {
        operation
            .apply(&mut object, &mut copied_bytes)
            .map_err(PatchRefused::does_not_fit)?;
        nesting.check(operation, &object)?;
    }
    if is_deeper_than(&object, DEPTH_MAX) {
        return Err(too_deep());
    }
    Ok(object)
}

/// The members of the operations of a patch that mean nothing, with their places.
pub fn unknown_members(patch: &Value) -> Vec<String> {
    let operations = patch.as_array().into_iter().flatten().enumerate();
    let unknown = operations.flat_map(|(at, operation)| {
        let members = operation.as_object().into_iter().flatten();
        members
            .filter(|(name, _)| !matches!(name.as_str(), "op" | "path" | "from" | "value"))
            .map(move |(name, _)| format!("[{at}].{name}"))
    });
    unknown.collect()
}

/// How deep a document may be by now.
///
/// Few moves make a document so deep that walking through it would end the process. To measure it
/// after each of ten thousand operations would take too long, so a bound is kept, and the document
/// is measured when the bound gets high.
struct Nesting {
    depth_at_most: usize,
    measurements_left: usize,
}

impl Default for Nesting {
    fn default() -> Self {
        Self {
            depth_at_most: DEPTH_MAX,
            measurements_left: MEASUREMENTS_MAX,
        }
    }
}

impl Nesting {
    fn check(&mut self, done: &Operation<'_>, document: &Value) -> Result<(), PatchRefused> {
        self.depth_at_most = done.depth_after(self.depth_at_most);
        if self.depth_at_most <= DEPTH_MEASURED {
            return Ok(());
        }
        let left = self.measurements_left.checked_sub(1);
        self.measurements_left = left.ok_or_else(too_deep)?;
        if is_deeper_than(document, DEPTH_MAX) {
            return Err(too_deep());
        }
        self.depth_at_most = DEPTH_MAX;
        Ok(())
    }
}

fn too_deep() -> PatchRefused {
    PatchRefused::does_not_fit("exceeded max depth")
}

fn not_a_patch(why: String) -> PatchRefused {
    PatchRefused::bad_request(format!("error decoding patch: {why}"))
}

fn is_deeper_than(value: &Value, depth_max: usize) -> bool {
    let Some(rest) = depth_max.checked_sub(1) else {
        return value.is_array() || value.is_object();
    };
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper_than(item, rest)),
        Value::Object(members) => members.values().any(|member| is_deeper_than(member, rest)),
        _ => false,
    }
}
