//! Which objects are meant: label selectors and field selectors.
//!
//! A [`LabelSelector`] is what an object's spec says; a [`Selector`] is the same after it was
//! checked, ready to be asked. Going from one to the other is where every mistake is found:
//! an unknown operator, a missing value, a key that can be no label. The string form
//! (`a=b,c in (d,e),!f`) is read by [`Selector::parse`] and printed by `Display`, as the API's
//! `labelSelector` parameter wants it. A [`FieldSelector`] is its smaller sibling.
//!
//! Rules: apimachinery `pkg/labels`, `pkg/fields` and `LabelSelectorAsSelector` of
//! `pkg/apis/meta/v1`.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

mod fields;
mod label_syntax;
mod parse;
mod spec;
#[cfg(test)]
mod tests;

pub use fields::{FieldSelector, FieldSelectorInvalid};
pub use label_syntax::{LabelInvalid, check_label_key, check_label_value};
pub use spec::{LabelSelector, LabelSelectorRequirement};

/// A set of labels that can be asked for one of them.
pub trait LabelLookup {
    /// The value of a label, if the set has it.
    fn value_of(&self, key: &str) -> Option<&str>;
}

impl<K: AsRef<str>, V: AsRef<str>> LabelLookup for [(K, V)] {
    fn value_of(&self, key: &str) -> Option<&str> {
        self.iter()
            .find(|(k, _)| k.as_ref() == key)
            .map(|(_, v)| v.as_ref())
    }
}

impl<V: AsRef<str>> LabelLookup for BTreeMap<String, V> {
    fn value_of(&self, key: &str) -> Option<&str> {
        self.get(key).map(AsRef::as_ref)
    }
}

impl<V: AsRef<str>> LabelLookup for HashMap<String, V> {
    fn value_of(&self, key: &str) -> Option<&str> {
        self.get(key).map(AsRef::as_ref)
    }
}

/// How a requirement relates its key to its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `k=v`: the label is there with this value.
    Equals,
    /// `k==v`: the same in another spelling, which printing keeps.
    DoubleEquals,
    /// `k!=v`: the label is absent or has another value.
    NotEquals,
    /// `k in (v,w)`: the label is there with one of these values.
    In,
    /// `k notin (v,w)`: the label is absent or has none of these values.
    NotIn,
    /// `k`: the label is there.
    Exists,
    /// `!k`: the label is absent.
    DoesNotExist,
    /// `k>1`: the label is there and is a larger whole number.
    GreaterThan,
    /// `k<1`: the label is there and is a smaller whole number.
    LessThan,
}

/// One checked condition on one label.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Requirement {
    key: Box<str>,
    operator: Operator,
    values: Box<[Box<str>]>,
}

/// A selector that makes no sense, naming the part that does not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectorInvalid {
    /// The operator of a requirement is none of the four a spec may use.
    #[error("label selector for {key:?}: {operator:?} is not a valid label selector operator")]
    UnknownOperator {
        /// The label of the requirement.
        key: String,
        /// What stands for the operator.
        operator: String,
    },
    /// The number or kind of values does not fit the operator.
    #[error("label selector {requirement:?}: {why}")]
    ValuesMisfit {
        /// The requirement as it would be written.
        requirement: String,
        /// What the operator needs.
        why: &'static str,
    },
    /// A key or value can be no label.
    #[error("label selector for {key:?}: {source}")]
    BadLabel {
        /// The label of the requirement.
        key: String,
        /// What is wrong.
        source: LabelInvalid,
    },
    /// The string form cannot be read.
    #[error("{}found '{found}'{expected}", if *in_requirement { "unable to parse requirement: " } else { "" })]
    Unreadable {
        /// Where reading stopped.
        found: String,
        /// Whether that was within a requirement.
        in_requirement: bool,
        /// What could have stood there, as upstream says it.
        expected: &'static str,
    },
}

impl Requirement {
    /// A checked requirement: key and values must be possible labels, and the values must fit the
    /// operator: one for `=`, `==`, `!=`, `<` and `>` (a whole number for the last two), at least
    /// one for `in` and `notin`, none for existence.
    pub fn new<V: AsRef<str>>(
        key: &str,
        operator: Operator,
        values: &[V],
    ) -> Result<Requirement, SelectorInvalid> {
        let requirement = Requirement {
            key: key.into(),
            operator,
            values: values.iter().map(|value| value.as_ref().into()).collect(),
        };
        requirement.check_labels()?;
        match requirement.values_misfit() {
            Some(why) => {
                let requirement = requirement.to_string();
                Err(SelectorInvalid::ValuesMisfit { requirement, why })
            }
            None => Ok(requirement),
        }
    }

    fn check_labels(&self) -> Result<(), SelectorInvalid> {
        let bad = |source| SelectorInvalid::BadLabel {
            key: self.key.to_string(),
            source,
        };
        check_label_key(&self.key).map_err(bad)?;
        self.values
            .iter()
            .try_for_each(|value| check_label_value(value).map_err(bad))
    }

    fn values_misfit(&self) -> Option<&'static str> {
        use Operator::{DoesNotExist, Exists, GreaterThan, In, LessThan, NotIn};
        match (self.operator, &*self.values) {
            (Exists | DoesNotExist, []) => None,
            (Exists | DoesNotExist, _) => Some("an existence check takes no values"),
            (In | NotIn, []) => Some("'in' and 'notin' need at least one value"),
            (In | NotIn, _) => None,
            (GreaterThan | LessThan, [value]) if value.parse::<i64>().is_ok() => None,
            (GreaterThan | LessThan, _) => Some("'>' and '<' need exactly one whole number"),
            (_, [_]) => None,
            (_, _) => Some("an exact match needs exactly one value"),
        }
    }

    /// The label this is about.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// How the label relates to the values.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The values, in the order given.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &str> {
        self.values.iter().map(|value| &**value)
    }

    /// Whether a label with this value, or its absence, satisfies the requirement.
    pub fn accepts(&self, value: Option<&str>) -> bool {
        let listed = |value: &str| self.values.iter().any(|listed| **listed == *value);
        match self.operator {
            Operator::Equals | Operator::DoubleEquals | Operator::In => value.is_some_and(listed),
            Operator::NotEquals | Operator::NotIn => !value.is_some_and(listed),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan => self
                .compare(value)
                .is_some_and(|(label, limit)| label > limit),
            Operator::LessThan => self
                .compare(value)
                .is_some_and(|(label, limit)| label < limit),
        }
    }

    /// The label's number and the limit; `None` when the label is no number.
    fn compare(&self, value: Option<&str>) -> Option<(i64, i64)> {
        let limit = self.values.first()?.parse().ok()?;
        Some((value?.parse().ok()?, limit))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = match self.operator {
            Operator::Exists => return f.write_str(&self.key),
            Operator::DoesNotExist => return write!(f, "!{}", self.key),
            Operator::Equals => ("=", ""),
            Operator::DoubleEquals => ("==", ""),
            Operator::NotEquals => ("!=", ""),
            Operator::GreaterThan => (">", ""),
            Operator::LessThan => ("<", ""),
            Operator::In => (" in (", ")"),
            Operator::NotIn => (" notin (", ")"),
        };
        // Values are printed in order, so that one selector has one string.
        let mut values: Vec<&str> = self.values().collect();
        values.sort_unstable();
        write!(f, "{}{before}{}{after}", self.key, values.join(","))
    }
}

/// A checked label selector: all its requirements must hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Selector {
    // None is the selector that matches nothing; Some of none matches everything.
    // Sorted by key, so that one selector has one string.
    requirements: Option<Box<[Requirement]>>,
}

impl Selector {
    /// Matches every object. This is what an empty selector means.
    pub fn everything() -> Selector {
        Selector {
            requirements: Some(Box::new([])),
        }
    }

    /// Matches no object. This is what an absent selector means.
    pub fn nothing() -> Selector {
        Selector { requirements: None }
    }

    /// All of these must hold.
    pub fn all_of(mut requirements: Vec<Requirement>) -> Selector {
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Selector {
            requirements: Some(requirements.into()),
        }
    }

    /// The selector of a ReplicationController or Service: each of these labels has this value.
    /// No label at all matches everything. Nothing is checked, as upstream does not either: a
    /// label that cannot be simply never matches.
    pub fn from_map<'a>(labels: impl IntoIterator<Item = (&'a str, &'a str)>) -> Selector {
        let equals = |(key, value): (&str, &str)| Requirement {
            key: key.into(),
            operator: Operator::Equals,
            values: Box::new([value.into()]),
        };
        Selector::all_of(labels.into_iter().map(equals).collect())
    }

    /// Reads the string form; an empty string matches everything.
    pub fn parse(text: &str) -> Result<Selector, SelectorInvalid> {
        parse::parse(text).map(Selector::all_of)
    }

    /// Whether the labels satisfy every requirement.
    pub fn matches(&self, labels: &(impl LabelLookup + ?Sized)) -> bool {
        self.matches_with(|key| labels.value_of(key))
    }

    /// The same, asking a function for the value of each label.
    pub fn matches_with<'a>(&self, value_of: impl Fn(&str) -> Option<&'a str>) -> bool {
        let holds = |requirement: &Requirement| requirement.accepts(value_of(&requirement.key));
        self.requirements
            .as_ref()
            .is_some_and(|all| all.iter().all(holds))
    }

    /// Whether this matches everything because it asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.requirements.as_ref().is_some_and(|all| all.is_empty())
    }

    /// Whether this is the selector that matches nothing.
    pub fn is_nothing(&self) -> bool {
        self.requirements.is_none()
    }

    /// The requirements, sorted by key; none for both of the extremes.
    pub fn requirements(&self) -> &[Requirement] {
        self.requirements.as_deref().unwrap_or_default()
    }

    /// The only value this label may have, if the selector says so: what an index can be asked.
    pub fn required_value(&self, key: &str) -> Option<&str> {
        use Operator::{DoubleEquals, Equals, In};
        let of_key = self
            .requirements()
            .iter()
            .filter(|requirement| &*requirement.key == key);
        of_key.into_iter().find_map(|requirement| {
            match (requirement.operator, &*requirement.values) {
                (Equals | DoubleEquals | In, [only]) => Some(&**only),
                _ => None,
            }
        })
    }
}

impl fmt::Display for Selector {
    /// The string form. The selector that matches nothing has none and prints as empty.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, requirement) in self.requirements().iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}
