//! What a query string asks for.
//!
//! Each verb has its own options. A query is read as upstream reads it into them: numbers first, then
//! selectors, then what may be combined with what; words that an operation does not know are passed
//! over.
//!
//! Upstream: `apimachinery/pkg/apis/meta/v1/{types,conversion}.go`,
//! `apimachinery/pkg/apis/meta/{v1,internalversion}/validation`.

mod checks;
mod delete;
mod selectors;

use flyball_api::selector::FieldSelector;
use flyball_api::{Selector, Text};

pub(crate) use self::delete::Deletion;
use crate::failure::Failure;

/// What may be asked beside the path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    /// Only objects with such labels.
    pub(crate) labels: Option<Selector>,
    /// Only objects with such fields.
    pub(crate) fields: Option<FieldSelector>,
    /// The keys that the body of something applied names twice, which is told when it has been applied.
    pub(crate) doubles: Vec<String>,
    /// Bookmarks among the changes.
    pub(crate) bookmarks: bool,
    /// The state first, as changes.
    pub(crate) initial_events: Option<bool>,
    /// How long to watch.
    pub(crate) timeout_seconds: Option<u64>,
    /// The version to read at or to begin at.
    pub(crate) version: Text,
    /// How exactly `version` is meant.
    pub(crate) version_match: Option<VersionMatch>,
    /// At most so many objects; no bound if zero.
    pub(crate) limit: usize,
    /// Where the last page ended.
    pub(crate) go_on: Text,
    /// Decide but do not do.
    pub(crate) dry_run: bool,
    /// Who changes fields.
    pub(crate) field_manager: Text,
    /// What to do about fields that are not known.
    pub(crate) field_validation: FieldValidation,
    /// Take fields over from other managers.
    pub(crate) force: bool,
}

/// How exactly a resourceVersion is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionMatch {
    /// This one.
    Exact,
    /// This one or a newer one.
    NotOlderThan,
}

/// What to do about fields that are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    /// Drop them.
    Ignore,
    /// Drop them and say so.
    #[default]
    Warn,
    /// Refuse them.
    Strict,
}

/// What becomes of dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They go afterwards.
    Background,
    /// They go first.
    Foreground,
    /// They stay.
    Orphan,
}

/// Decoded pairs of a query, in order.
#[derive(Clone, Copy)]
pub(crate) struct Pairs<'a>(pub(crate) &'a [(String, String)]);

impl<'a> Pairs<'a> {
    /// The first value of a key.
    pub(crate) fn first(self, key: &str) -> Option<&'a str> {
        self.all(key).next()
    }

    /// All values of a key.
    pub(crate) fn all(self, key: &str) -> impl Iterator<Item = &'a str> {
        let pairs = self.0.iter().filter(move |(one, _)| one == key);
        pairs.map(|(_, value)| value.as_str())
    }

    /// A flag: everything is a yes but `false` and `0`.
    pub(crate) fn flag(self, key: &str) -> Option<bool> {
        self.first(key).map(is_yes)
    }

    /// A whole number.
    pub(crate) fn number(self, key: &str) -> Result<Option<i64>, Failure> {
        let Some(value) = self.first(key) else {
            return Ok(None);
        };
        let wrong = |error: std::num::ParseIntError| {
            use std::num::IntErrorKind::{NegOverflow, PosOverflow};
            let why = match error.kind() {
                PosOverflow | NegOverflow => "value out of range",
                _ => "invalid syntax",
            };
            Failure::bad_request(format!("strconv.ParseInt: parsing {value:?}: {why}"))
        };
        value.parse().map(Some).map_err(wrong)
    }
}

/// Whether a flag is set by this value, as upstream reads it.
pub(crate) fn is_yes(value: &str) -> bool {
    value != "0" && !value.eq_ignore_ascii_case("false")
}

impl Query {
    /// Reads the options of a verb. `applies` says that what is patched is applied.
    pub(crate) fn parse(
        verb: &str,
        applies: bool,
        pairs: &[(String, String)],
    ) -> Result<Self, Failure> {
        let pairs = Pairs(pairs);
        match verb {
            "get" => Ok(Self {
                version: pairs.first("resourceVersion").unwrap_or_default().into(),
                ..Self::default()
            }),
            "list" | "watch" | "deletecollection" => checks::list_options(pairs, verb == "watch"),
            "create" => checks::write_options(pairs, "CreateOptions", None),
            "update" => checks::write_options(pairs, "UpdateOptions", None),
            "patch" => checks::write_options(pairs, "PatchOptions", Some(applies)),
            _ => Ok(Self::default()),
        }
    }
}

#[cfg(test)]
mod tests;
