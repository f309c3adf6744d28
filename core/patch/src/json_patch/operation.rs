//! The single steps of a JSON patch.

use serde_json::Value;

use super::place::{add, find, get, remove, set};
use super::{COPIED_BYTES_MAX, DEPTH_MAX};
use crate::wording;

/// One step: what to do, and where.
pub(super) struct Operation<'p> {
    kind: Option<&'p str>,
    path: Option<&'p str>,
    from: Option<&'p str>,
    value: &'p Value,
}

impl<'p> Operation<'p> {
    /// Reads a step. What it lacks is only missed when it is carried out.
    pub(super) fn read(operation: &'p Value) -> Result<Self, String> {
        let members = match operation {
            Value::Object(members) => Some(members),
            Value::Null => None,
            other => {
                return Err(format!(
                    "json: cannot unmarshal {} into Go value of type handlers.jsonPatchOp",
                    wording::json_name(other)
                ));
            }
        };
        let text = |name: &str| match members.and_then(|members| members.get(name)) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(other) => Err(format!(
                "json: cannot unmarshal {} into Go struct field jsonPatchOp.{name} of type string",
                wording::json_name(other)
            )),
        };
        Ok(Self {
            kind: text("op")?,
            path: text("path")?,
            from: text("from")?,
            value: members
                .and_then(|members| members.get("value"))
                .unwrap_or(&Value::Null),
        })
    }

    /// Carries the step out, or says why it does not fit.
    pub(super) fn apply(
        &self,
        document: &mut Value,
        copied_bytes: &mut usize,
    ) -> Result<(), String> {
        match self.kind {
            Some("add") => self.add(document),
            Some("remove") => self.remove(document),
            Some("replace") => self.replace(document),
            Some("move") => self.move_on(document),
            Some("test") => self.test(document),
            Some("copy") => self.copy(document, copied_bytes),
            other => Err(format!("Unexpected kind: {}", other.unwrap_or("unknown"))),
        }
    }

    /// How deep a document can be after the step, if it was at most `depth` deep before.
    pub(super) fn depth_after(&self, depth: usize) -> usize {
        let parts = self.path.unwrap_or_default().matches('/').count();
        match self.kind {
            // A value is as deep as JSON is read, at most.
            Some("add" | "replace") => depth.max(parts.saturating_add(DEPTH_MAX)),
            Some("move" | "copy") => depth.saturating_add(parts),
            _ => depth,
        }
    }

    fn path(&self) -> Result<&'p str, String> {
        self.path
            .ok_or_else(|| "operation missing path field: missing value".to_owned())
    }

    fn from(&self) -> Result<&'p str, String> {
        self.from
            .ok_or_else(|| "operation, missing from field: missing value".to_owned())
    }

    fn add(&self, document: &mut Value) -> Result<(), String> {
        let path = self.path()?;
        let Some((holder, key)) = find(document, path) else {
            return Err(missing("add", "path", &format!("{path:?}")));
        };
        add(holder, &key, self.value.clone())
            .map_err(|error| format!("error in add for path: '{path}': {error}"))
    }

    fn remove(&self, document: &mut Value) -> Result<(), String> {
        let path = self.path()?;
        let Some((holder, key)) = find(document, path) else {
            return Err(missing("remove", "path", &format!("{path:?}")));
        };
        remove(holder, &key)
            .map(drop)
            .map_err(|error| format!("error in remove for path: '{path}': {error}"))
    }

    fn replace(&self, document: &mut Value) -> Result<(), String> {
        let path = self.path()?;
        if path.is_empty() {
            if !self.value.is_object() && !self.value.is_array() {
                return Err("replace operation value must be object or array".to_owned());
            }
            *document = self.value.clone();
            return Ok(());
        }
        let Some((holder, key)) = find(document, path) else {
            return Err(missing("replace", "path", path));
        };
        get(holder, &key).map_err(|_| {
            format!("replace operation does not apply: doc is missing key: {path}: missing value")
        })?;
        set(holder, &key, self.value.clone())
            .map_err(|error| format!("error in remove for path: '{path}': {error}"))
    }

    fn move_on(&self, document: &mut Value) -> Result<(), String> {
        let (from, path) = (self.from()?, self.path()?);
        let Some((holder, key)) = find(document, from) else {
            return Err(missing("move", "from path", from));
        };
        let value = remove(holder, &key)
            .map_err(|error| format!("error in move for path: '{key}': {error}"))?;
        let Some((holder, key)) = find(document, path) else {
            return Err(missing("move", "destination path", path));
        };
        add(holder, &key, value)
            .map_err(|error| format!("error in move for path: '{path}': {error}"))
    }

    fn test(&self, document: &mut Value) -> Result<(), String> {
        let path = self.path()?;
        let failed = || format!("testing value {path} failed: test failed");
        if path.is_empty() {
            return (document == self.value).then_some(()).ok_or_else(failed);
        }
        let Some((holder, key)) = find(document, path) else {
            return Err(missing("test", "path", path));
        };
        let there = get(holder, &key)
            .map_err(|error| format!("error in test for path: '{path}': {error}"))?;
        (there.unwrap_or(&Value::Null) == self.value)
            .then_some(())
            .ok_or_else(failed)
    }

    fn copy(&self, document: &mut Value, copied_bytes: &mut usize) -> Result<(), String> {
        let (from, path) = (self.from()?, self.path()?);
        let Some((holder, key)) = find(document, from) else {
            return Err(missing("copy", "from path", from));
        };
        let value = get(holder, &key)
            .map_err(|error| format!("error in copy for from: '{from}': {error}"))?
            .unwrap_or(&Value::Null);
        *copied_bytes = copied_bytes.saturating_add(value.to_string().len());
        if *copied_bytes > COPIED_BYTES_MAX {
            return Err(format!(
                "Unable to complete the copy, the accumulated size increase of copy is \
                 {copied_bytes}, exceeding the limit {COPIED_BYTES_MAX}"
            ));
        }
        let value = value.clone();
        let Some((holder, key)) = find(document, path) else {
            return Err(missing("copy", "destination path", path));
        };
        add(holder, &key, value)
            .map_err(|error| format!("error while adding value during copy: {error}"))
    }
}

fn missing(operation: &str, what: &str, path: &str) -> String {
    format!("{operation} operation does not apply: doc is missing {what}: {path}: missing value")
}
