//! The messages of all built-in kinds, read from `table.txt` at the first use.
//!
//! `cargo xtask protobuf-table` writes that file. A line `= package apiVersion` begins a package; every other line is
//! a message: its name, then its fields.
//!
//! ```text
//! +Deployment 1:metadata:meta/v1.ObjectMeta 2:spec:DeploymentSpec 3:status:DeploymentStatus
//! Volume 1:name:string 2::VolumeSource
//! Quantity@quantity 1:string:string
//! ```
//!
//! A `+` marks a kind, `@` a form that is not an object. A field is its number, its name in JSON (none if it is
//! inlined) and its type: `[]` before it makes a list, `{}` a map, `?` after it says that JSON leaves zero out, `!` that
//! upstream writes it always, zero or not, `~` that upstream writes null if it is absent.

use std::collections::BTreeMap;
use std::sync::OnceLock;

pub(crate) static TEXT: &str = include_str!("table.txt");

/// The package of what all groups share.
const META: &str = "meta.k8s.io/v1";

/// Kinds that upstream registers in every version of every group.
const EVERYWHERE: &[&str] = &[
    "CreateOptions",
    "DeleteOptions",
    "GetOptions",
    "ListOptions",
    "PatchOptions",
    "UpdateOptions",
];

/// Kinds of answers that belong to no group; upstream counts them to the first version, where they say so at all.
const UNVERSIONED: &[&str] = &[
    "APIGroup",
    "APIGroupList",
    "APIResourceList",
    "APIVersions",
    "Status",
];

/// All messages, and which of them are kinds.
#[derive(Debug, Default)]
pub(crate) struct Table<'a> {
    messages: Vec<Message<'a>>,
    kinds: BTreeMap<(&'a str, &'a str), usize>,
}

/// A message.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) form: Form,
    /// In order of number.
    pub(crate) fields: Vec<Field<'a>>,
}

/// A field of a message.
#[derive(Debug)]
pub(crate) struct Field<'a> {
    pub(crate) number: u32,
    /// Its name in JSON; empty if the fields of its message stand in its place.
    pub(crate) name: &'a str,
    pub(crate) of: Kind,
    pub(crate) arity: Arity,
    /// Whether upstream's type cannot tell zero from absent, and JSON leaves both out.
    pub(crate) zero_is_absent: bool,
    /// Whether it is there in upstream's type, zero or not, and so always on the wire.
    pub(crate) by_value: bool,
    /// Whether JSON of upstream's always has it.
    pub(crate) always: bool,
    /// Whether JSON of upstream's has null where it is absent.
    pub(crate) absent_is_null: bool,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Bytes,
    Bool,
    Int32,
    Int64,
    Double,
    /// Bytes that are JSON, or a whole body of their own.
    Json,
    /// A message, by its place in the table.
    Message(usize),
}

/// How many values a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arity {
    One,
    Many,
    /// By a text.
    Map,
}

/// What a message is in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Object,
    /// The value of its only field.
    Value,
    /// The value of the last of its fields that is there: it stands for one of several things.
    Last,
    Quantity,
    IntOrString,
    Time,
    MicroTime,
}

/// The table that this crate carries.
pub(crate) fn table() -> &'static Table<'static> {
    static TABLE: OnceLock<Table<'static>> = OnceLock::new();
    // A test reads the file that is embedded, so there is always something to read.
    TABLE.get_or_init(|| Table::read(TEXT).unwrap_or_default())
}

impl<'a> Table<'a> {
    /// The table in a text, or the line that cannot be read.
    fn read(text: &'a str) -> Result<Self, &'a str> {
        let places = places(text);
        let mut table = Table::default();
        let (mut package, mut api_version) = ("", "");
        for line in text.lines() {
            if let Some(header) = line.strip_prefix("= ") {
                (package, api_version) = header.split_once(' ').ok_or(line)?;
                continue;
            }
            let (head, fields) = line.split_once(' ').unwrap_or((line, ""));
            let (head, form) = match head.split_once('@') {
                Some((head, form)) => (head, form_of(form).ok_or(line)?),
                None => (head, Form::Object),
            };
            if let Some(kind) = head.strip_prefix('+') {
                let place = table.messages.len();
                table.kinds.insert((api_version, kind), place);
            }
            let fields = fields.split_whitespace();
            let fields = fields.map(|of| field(of, package, &places).ok_or(line));
            let mut fields = fields.collect::<Result<Vec<_>, _>>()?;
            fields.sort_by_key(|field| field.number);
            table.messages.push(Message { form, fields });
        }
        Ok(table)
    }

    /// The message of a kind.
    pub(crate) fn kind(&self, api_version: &str, kind: &str) -> Option<&Message<'a>> {
        let everywhere = || {
            let of_none = matches!(api_version, "" | "v1") && UNVERSIONED.contains(&kind);
            let shared = of_none || EVERYWHERE.contains(&kind);
            shared.then(|| self.kinds.get(&(META, kind))).flatten()
        };
        let place = self.kinds.get(&(api_version, kind)).or_else(everywhere)?;
        self.messages.get(*place)
    }

    /// The message at a place.
    pub(crate) fn message(&self, place: usize) -> &Message<'a> {
        // Places are only made by reading the table, from the messages that it has.
        &self.messages[place]
    }
}

impl Message<'_> {
    /// The field with this number.
    pub(crate) fn field(&self, number: u32) -> Option<&Field<'_>> {
        let at = self
            .fields
            .binary_search_by_key(&number, |field| field.number);
        at.ok().and_then(|at| self.fields.get(at))
    }
}

/// Where each message will be, by package and name: messages refer to later ones.
fn places(text: &str) -> BTreeMap<(&str, &str), usize> {
    let mut package = "";
    let mut places = BTreeMap::new();
    for line in text.lines() {
        if let Some(header) = line.strip_prefix("= ") {
            package = header.split(' ').next().unwrap_or_default();
            continue;
        }
        let head = line.split([' ', '@']).next().unwrap_or_default();
        let name = head.strip_prefix('+').unwrap_or(head);
        // Names are unique in a package, so a place is the number of messages before it; a test counts.
        let place = places.len();
        places.insert((package, name), place);
    }
    places
}

fn field<'a>(
    text: &'a str,
    package: &str,
    places: &BTreeMap<(&str, &str), usize>,
) -> Option<Field<'a>> {
    let mut parts = text.splitn(3, ':');
    let number = parts.next()?.parse().ok()?;
    let name = parts.next()?;
    let of = parts.next()?;
    let (is_left_out, always) = (of.ends_with('?'), of.ends_with('!'));
    let absent_is_null = of.ends_with('~');
    let of = of.trim_end_matches(['?', '!', '~']);
    let (of, arity) = if let Some(of) = of.strip_prefix("[]") {
        (of, Arity::Many)
    } else if let Some(of) = of.strip_prefix("{}") {
        (of, Arity::Map)
    } else {
        (of, Arity::One)
    };
    let of = match of {
        "string" => Kind::Text,
        "bytes" => Kind::Bytes,
        "bool" => Kind::Bool,
        "int32" => Kind::Int32,
        "int64" => Kind::Int64,
        "double" => Kind::Double,
        "json" => Kind::Json,
        message => {
            let key = message.rsplit_once('.').unwrap_or((package, message));
            Kind::Message(*places.get(&key)?)
        }
    };
    Some(Field {
        number,
        name,
        of,
        arity,
        // Zero of what is a message is told by its form.
        zero_is_absent: is_left_out && !matches!(of, Kind::Message(_)),
        by_value: (is_left_out || always) && arity == Arity::One,
        always,
        absent_is_null,
    })
}

fn form_of(name: &str) -> Option<Form> {
    Some(match name {
        "value" => Form::Value,
        "last" => Form::Last,
        "quantity" => Form::Quantity,
        "intorstring" => Form::IntOrString,
        "time" => Form::Time,
        "microtime" => Form::MicroTime,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
