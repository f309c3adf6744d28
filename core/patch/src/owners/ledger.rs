//! The ledger of owners, and how it is written into `metadata.managedFields`.

use std::collections::BTreeMap;

use flyball_api::{Text, Timestamp};
use serde_json::{Map, Value, json};

use crate::fields::FieldSet;
use crate::wording;

/// How an owner came to its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    Apply,
    Update,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        }
    }
}

/// An owner. One name may be several owners: it may apply and update, in several versions and
/// through several subresources. Appliers are the same in all versions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Owner {
    pub(super) name: Text,
    pub(super) operation: Operation,
    /// Empty for appliers.
    pub(super) api_version: Text,
    pub(super) subresource: Text,
}

impl Owner {
    pub(super) fn applier(name: &str, subresource: &str) -> Self {
        Self {
            name: named(name),
            operation: Operation::Apply,
            api_version: Text::default(),
            subresource: subresource.into(),
        }
    }

    pub(super) fn updater(name: &str, api_version: &str, subresource: &str) -> Self {
        Self {
            name: named(name),
            operation: Operation::Update,
            api_version: api_version.into(),
            subresource: subresource.into(),
        }
    }
}

fn named(name: &str) -> Text {
    if name.is_empty() { "unknown" } else { name }.into()
}

/// What an owner owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owned {
    pub(super) fields: FieldSet,
    /// The version in which the fields are named.
    pub(super) api_version: Text,
    /// When they last changed.
    pub(super) time: Option<Timestamp>,
}

/// Who owns what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ledger(pub(super) BTreeMap<Owner, Owned>);

impl Ledger {
    /// Reads the ledger of an object. What is wrong with it is told in upstream's words.
    pub(super) fn read(object: &Value) -> Result<Self, String> {
        let mut ledger = Self::default();
        let entries = match &object["metadata"]["managedFields"] {
            Value::Null => return Ok(ledger),
            Value::Array(entries) => entries,
            other => return Err(format!("expected list, got {}", wording::plain(other))),
        };
        for (at, entry) in entries.iter().enumerate() {
            let (owner, owned) = read_entry(at, entry)?;
            ledger.0.insert(owner, owned);
        }
        Ok(ledger)
    }

    /// Writes the ledger into an object.
    pub(super) fn write(&self, object: &mut Value) {
        let mut entries: Vec<(&Owner, &Owned)> = self.0.iter().collect();
        entries.sort_by_key(|(owner, owned)| {
            let seconds = owned.time.map_or(0, Timestamp::unix_seconds);
            (
                owner.operation,
                seconds,
                &owner.name,
                &owned.api_version,
                &owner.subresource,
            )
        });
        let entries = entries
            .into_iter()
            .map(|(owner, owned)| write_entry(owner, owned));
        clear(object);
        if self.0.is_empty() {
            return;
        }
        if let Some(members) = object.as_object_mut() {
            let metadata = members.entry("metadata").or_insert_with(|| json!({}));
            if metadata.is_null() {
                *metadata = json!({});
            }
            if let Some(metadata) = metadata.as_object_mut() {
                metadata.insert("managedFields".to_owned(), entries.collect());
            }
        }
    }

    /// Forgets the owners that own nothing.
    pub(super) fn drop_empty(&mut self) {
        self.0.retain(|_, owned| !owned.fields.is_empty());
    }
}

/// Takes the ledger out of an object.
pub(super) fn clear(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

/// A copy of an object without its ledger, which is often the larger part of it.
pub(super) fn copy_without(object: &Value) -> Value {
    let Some(members) = object.as_object() else {
        return object.clone();
    };
    let copies = members.iter().map(|(name, value)| {
        let value = match value.as_object() {
            Some(metadata) if name == "metadata" => metadata
                .iter()
                .filter(|(name, _)| *name != "managedFields")
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            _ => value.clone(),
        };
        (name.clone(), value)
    });
    copies.collect()
}

/// Takes out of an object the metadata that is empty: a stored object has no such fields, so they
/// have no owners. (What is applied may have them.)
pub(super) fn drop_empty_metadata(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|_, value| match value {
            Value::Null => false,
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
            _ => true,
        });
    }
}

/// Whether a client asks to forget all owners: by an empty list, or a list with one empty entry.
pub(super) fn is_reset(object: &Value) -> bool {
    match object["metadata"]["managedFields"]
        .as_array()
        .map(Vec::as_slice)
    {
        Some([]) => true,
        Some([only]) => only.as_object().is_some_and(|entry| {
            let is_empty = |value: &Value| value.is_null() || value == "";
            entry.values().all(is_empty)
        }),
        _ => false,
    }
}

fn read_entry(at: usize, entry: &Value) -> Result<(Owner, Owned), String> {
    let members = entry
        .as_object()
        .ok_or_else(|| format!("expected map, got {}", wording::plain(entry)))?;
    let text = |name: &str| match members.get(name) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(other) => Err(format!(
            "json: cannot unmarshal {} into Go struct field ManagedFieldsEntry.{name} of type \
             string",
            wording::json_name(other)
        )),
    };
    let operation = match text("operation")? {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        _ => return Err("operation must be `Apply` or `Update`".to_owned()),
    };
    let api_version = text("apiVersion")?;
    if api_version.is_empty() {
        return Err("apiVersion must not be empty".to_owned());
    }
    match text("fieldsType")? {
        "FieldsV1" => {}
        "" => return Err(format!("missing fieldsType in managed fields entry {at}")),
        other => {
            return Err(format!(
                "invalid fieldsType {other:?} in managed fields entry {at}"
            ));
        }
    }
    let fields = match members.get("fieldsV1") {
        None | Some(Value::Null) => FieldSet::new(),
        Some(fields) => FieldSet::from_fields_v1(fields).map_err(|error| {
            let entry = wording::plain(entry);
            format!("error decoding versioned set from {entry}: error decoding set: {error}")
        })?,
    };
    let time = match text("time")? {
        "" => None,
        time => Some(
            time.parse()
                .map_err(|error: flyball_api::TimeUnreadable| error.to_string())?,
        ),
    };
    let owner = Owner {
        name: text("manager")?.into(),
        operation,
        api_version: match operation {
            Operation::Apply => Text::default(),
            Operation::Update => api_version.into(),
        },
        subresource: text("subresource")?.into(),
    };
    let owned = Owned {
        fields,
        api_version: api_version.into(),
        time,
    };
    Ok((owner, owned))
}

fn write_entry(owner: &Owner, owned: &Owned) -> Value {
    let mut entry = Map::new();
    let mut set = |name: &str, value: Value| {
        entry.insert(name.to_owned(), value);
    };
    if !owner.name.is_empty() {
        set("manager", owner.name.as_str().into());
    }
    set("operation", owner.operation.name().into());
    set("apiVersion", owned.api_version.as_str().into());
    if let Some(time) = owned.time {
        set("time", time.to_string().into());
    }
    set("fieldsType", "FieldsV1".into());
    set("fieldsV1", owned.fields.to_fields_v1());
    if !owner.subresource.is_empty() {
        set("subresource", owner.subresource.as_str().into());
    }
    Value::Object(entry)
}
