//! The paths by which columns of custom resources find their values.
//!
//! `.spec.replicas`, `.status.conditions[?(@.type=="Ready")].status`, `.spec.list[-1]`: upstream's dialect of
//! JSONPath, without its loops and templates, which make no sense in a column.
//!
//! Upstream: `client-go/util/jsonpath`.

mod find;
mod parse;

#[cfg(test)]
mod tests;

use serde_json::Value;

/// A path into an object.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::table) struct JsonPath(Vec<Step>);

/// One step of a path: from the values found so far to the next.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// The field of this name.
    Field(Box<str>),
    /// Everything in a list or map.
    Every,
    /// Everything in a list or map, in what is in it, and so on.
    Deep,
    /// Some entries of a list.
    Slice(Slice),
    /// What any of these paths finds.
    Union(Vec<Vec<Step>>),
    /// The entries of a list for which this holds.
    Filter(Filter),
    /// A value that is written in the path itself.
    Literal(Value),
    /// A word that means nothing, which is an error once it is reached.
    Word,
}

/// Some entries of a list; negative numbers count from its end.
#[derive(Clone, Debug, PartialEq)]
struct Slice {
    from: Option<i64>,
    to: Option<i64>,
    /// Whether this is one entry, so that its end follows from its start.
    single: bool,
    step: Option<i64>,
}

/// What must hold for an entry of a list.
#[derive(Clone, Debug, PartialEq)]
struct Filter {
    left: Vec<Step>,
    /// The comparison; nothing if the left side need only exist.
    compared: Option<(Comparison, Vec<Step>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// Read but not known, which is an error once it is reached.
    Unknown,
}

/// The text is no path, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::table) struct PathUnreadable(String);

/// The path cannot be followed in this object, which is not the same as finding nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) struct PathAmiss;

impl JsonPath {
    /// Reads a path as it is written in a definition, without braces.
    pub(in crate::table) fn parse(text: &str) -> Result<Self, PathUnreadable> {
        parse::steps(text).map(Self)
    }

    /// All values it leads to.
    pub(in crate::table) fn find<'v>(
        &'v self,
        object: &'v Value,
    ) -> Result<Vec<&'v Value>, PathAmiss> {
        find::follow(&self.0, vec![object])
    }
}
