//! Whether two pod templates mean the same.
//!
//! Templates stay opaque JSON, and still it must be decided whether a ReplicaSet runs what its
//! Deployment asks for. A wrong "different" restarts every pod; a wrong "same" ignores a change.
//! So the rule is upstream's: what its `Semantic.DeepEqual` (apimachinery `pkg/api/equality`) calls
//! equal after decoding into Go structs is equal here:
//!
//! * the order of members does not count, the order of lists does;
//! * a field that is absent, null or empty (`""`, `0`, `false`, `[]`, `{}`, or an object of only
//!   such fields) is one and the same, unless upstream has a pointer there: then absent and null
//!   are the same, but empty says something (`emptyDir: {}`, `runAsUser: 0`, `optional: false`);
//! * the entries of maps (labels, annotations, node selectors, limits) count even when empty;
//! * quantities are compared by amount and times by instant.
//!
//! What remains, on purpose: in a field that this version has never heard of, absent and empty are
//! the same, for a server that began to print a new empty field must not restart the world; a field
//! upstream drops because it is unknown to it counts here; a quantity or time that cannot be read
//! is compared as the text it is.

use std::cmp::Ordering;

pub(crate) mod reader;
pub(crate) mod schema;
#[cfg(test)]
mod tests;

use reader::{Members, Node, document, first_member, read};
use schema::{Kind, Slot, TEMPLATE};

/// How deep a template may be nested; a real one is about a dozen deep.
pub(crate) const DEPTH_MAX: usize = 128;

/// The text cannot be compared with anything.
#[derive(Debug, thiserror::Error)]
pub enum TemplateUnreadable {
    /// It is not JSON.
    #[error("template is not JSON")]
    NotJson(#[from] serde_json::Error),
    /// It is nested deeper than any template can be.
    #[error("template is nested more than {DEPTH_MAX} deep")]
    TooDeep,
}

/// Whether two pod templates, as JSON, mean the same.
///
/// One label of the templates can be ignored, which is what the `pod-template-hash` that a
/// Deployment adds needs. The relation is an equivalence. Two texts that are the same byte for byte
/// are equal without being read at all, so are parts of them: that a text is JSON is only found
/// out where it matters.
pub fn template_equal(
    a: &str,
    b: &str,
    ignoring_label: Option<&str>,
) -> Result<bool, TemplateUnreadable> {
    if a == b {
        return Ok(true);
    }
    let comparison = Comparison { ignoring_label };
    if comparison.differ_only_in_first_metadata(a, b)? {
        return Ok(true);
    }
    comparison.equal(document(a)?, document(b)?, TEMPLATE, DEPTH_MAX)
}

/// What to leave out of account.
#[derive(Clone, Copy)]
struct Comparison<'l> {
    ignoring_label: Option<&'l str>,
}

impl Comparison<'_> {
    /// The shortcut for the commonest question: the same template, but for one label.
    ///
    /// The server prints the metadata first. Where all that follows is the same text and the
    /// metadata mean the same, so do the templates, and the long spec was not read. `false` says
    /// nothing.
    fn differ_only_in_first_metadata(self, a: &str, b: &str) -> Result<bool, TemplateUnreadable> {
        const METADATA: &str = "metadata";
        let (Some((a, after_a)), Some((b, after_b))) =
            (first_member(a, METADATA), first_member(b, METADATA))
        else {
            return Ok(false);
        };
        if after_a != after_b {
            return Ok(false);
        }
        self.values_equal(METADATA, a, b, TEMPLATE.kind, DEPTH_MAX)
    }

    fn equal(
        self,
        a: &str,
        b: &str,
        slot: Slot<'_>,
        depth: usize,
    ) -> Result<bool, TemplateUnreadable> {
        if a == b {
            return Ok(true);
        }
        let depth = depth.checked_sub(1).ok_or(TemplateUnreadable::TooDeep)?;
        match (read(a, slot.kind)?, read(b, slot.kind)?) {
            (Node::Object(a), Node::Object(b)) => self.members_equal(a, b, slot.kind, depth),
            (Node::List(a), Node::List(b)) => {
                let inside = slot.kind.inside();
                let mut pairs = a.iter().zip(&b);
                Ok(a.len() == b.len()
                    && all(&mut pairs, |(a, b)| {
                        self.equal(a.get(), b.get(), inside, depth)
                    })?)
            }
            (Node::Scalar(a), Node::Scalar(b)) => {
                Ok(a == b || !slot.presence && a.is_zero() && b.is_zero())
            }
            (a, b) => Ok(!slot.presence
                && self.node_is_blank(a, slot.kind, depth)?
                && self.node_is_blank(b, slot.kind, depth)?),
        }
    }

    /// Walks both sorted lists of members together.
    fn members_equal(
        self,
        mut a: Members<'_>,
        mut b: Members<'_>,
        kind: Kind<'_>,
        depth: usize,
    ) -> Result<bool, TemplateUnreadable> {
        self.drop_ignored(&mut a, kind);
        self.drop_ignored(&mut b, kind);
        let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
        loop {
            let order = match (a.peek(), b.peek()) {
                (None, None) => return Ok(true),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let in_a = if order.is_le() { a.next() } else { None };
            let in_b = if order.is_ge() { b.next() } else { None };
            let same = match (in_a, in_b) {
                (Some((name, a)), Some((_, b))) => self.values_equal(name, a, b, kind, depth)?,
                (Some((name, only)), None) | (None, Some((name, only))) => {
                    self.counts_as_absent(name, only, kind, depth)?
                }
                (None, None) => true,
            };
            if !same {
                return Ok(false);
            }
        }
    }

    fn values_equal(
        self,
        name: &str,
        a: &str,
        b: &str,
        kind: Kind<'_>,
        depth: usize,
    ) -> Result<bool, TemplateUnreadable> {
        let slot = kind.field(name).unwrap_or_else(|| kind.inside());
        self.equal(a, b, slot, depth)
    }

    /// Whether a member that only one side has makes no difference.
    fn counts_as_absent(
        self,
        name: &str,
        value: &str,
        kind: Kind<'_>,
        depth: usize,
    ) -> Result<bool, TemplateUnreadable> {
        match kind.field(name) {
            None => Ok(false),
            Some(_) if value == "null" => Ok(true),
            Some(slot) if slot.presence => Ok(false),
            Some(slot) => self.is_blank(value, slot.kind, depth),
        }
    }

    /// Whether a value is what Go has where nothing was said.
    fn is_blank(
        self,
        value: &str,
        kind: Kind<'_>,
        depth: usize,
    ) -> Result<bool, TemplateUnreadable> {
        let depth = depth.checked_sub(1).ok_or(TemplateUnreadable::TooDeep)?;
        self.node_is_blank(read(value, kind)?, kind, depth)
    }

    fn node_is_blank(
        self,
        node: Node<'_>,
        kind: Kind<'_>,
        depth: usize,
    ) -> Result<bool, TemplateUnreadable> {
        match node {
            Node::Scalar(scalar) => Ok(scalar.is_zero()),
            Node::List(elements) => Ok(elements.is_empty()),
            Node::Object(mut members) => {
                self.drop_ignored(&mut members, kind);
                all(&mut members.iter(), |(name, value)| {
                    self.counts_as_absent(name, value, kind, depth)
                })
            }
        }
    }

    fn drop_ignored(self, members: &mut Members<'_>, kind: Kind<'_>) {
        if let (Kind::TemplateLabels, Some(ignored)) = (kind, self.ignoring_label) {
            members.retain(|(name, _)| name != ignored);
        }
    }
}

/// Whether something that can fail holds for all; stops at the first for which it does not.
fn all<T, E>(
    items: &mut impl Iterator<Item = T>,
    mut holds: impl FnMut(T) -> Result<bool, E>,
) -> Result<bool, E> {
    for item in items {
        if !holds(item)? {
            return Ok(false);
        }
    }
    Ok(true)
}
