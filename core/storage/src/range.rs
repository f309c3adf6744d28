//! Reading the items under a prefix, now or at an earlier revision.
//!
//! The past is the present with the later events undone: for each key that was touched since, the
//! first event after the wanted revision knows what was there before it. So no versions are kept
//! beside the events, and a page of the past costs the events since then in its part of the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::ops::Bound;

use crate::item::Stored;
use crate::{Event, Item, Revision};

/// Which items to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query<'a> {
    /// What their keys begin with.
    pub prefix: &'a str,
    /// If given, only keys after this one: the last key of the page before.
    pub after: Option<&'a str>,
    /// How many at most; `None` means all.
    pub limit: Option<usize>,
    /// At which revision; `None` means now.
    pub at: Option<Revision>,
}

impl<'a> Query<'a> {
    /// All items whose keys begin with `prefix`, now.
    pub fn prefix(prefix: &'a str) -> Self {
        Query {
            prefix,
            after: None,
            limit: None,
            at: None,
        }
    }

    /// The same, beginning after a key.
    #[must_use]
    pub fn after(self, key: &'a str) -> Self {
        Query {
            after: Some(key),
            ..self
        }
    }

    /// The same, at most `limit` items.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Query {
            limit: Some(limit),
            ..self
        }
    }

    /// The same, at a revision.
    #[must_use]
    pub fn at(self, revision: Revision) -> Self {
        Query {
            at: Some(revision),
            ..self
        }
    }

    fn wants(&self, key: &str) -> bool {
        key.starts_with(self.prefix) && self.after.is_none_or(|after| key > after)
    }
}

/// What a [`Query`] found.
#[derive(Debug)]
pub struct Page<'s, V> {
    /// The items, by key.
    pub items: Vec<&'s Item<V>>,
    /// The revision that was read. Further pages ask for this one.
    pub revision: Revision,
    /// How many items the limit cut off.
    pub remaining: usize,
}

/// Cuts what a query wants out of everything it could see.
pub(crate) fn page<'s, V>(
    found: impl Iterator<Item = &'s Item<V>>,
    limit: Option<usize>,
    revision: Revision,
) -> Page<'s, V> {
    let mut found = found;
    let items = found.by_ref().take(limit.unwrap_or(usize::MAX)).collect();
    Page {
        items,
        revision,
        remaining: found.count(),
    }
}

/// The present items that a query wants, by key.
pub(crate) fn present<'s, V>(
    items: &'s BTreeSet<Stored<V>>,
    query: &Query<'s>,
) -> impl Iterator<Item = &'s Item<V>> + use<'s, V> {
    let prefix = query.prefix;
    let start = match query.after {
        Some(after) if after >= prefix => Bound::Excluded(after),
        _ => Bound::Included(prefix),
    };
    items
        .range::<str, _>((start, Bound::Unbounded))
        .map(|stored| &stored.0)
        .take_while(move |item| item.key.starts_with(prefix))
}

/// The items that a query wants as they were before the `later` events, which come newest first.
pub(crate) fn past<'s, V>(
    items: &'s BTreeSet<Stored<V>>,
    query: &Query<'s>,
    later: impl Iterator<Item = &'s Event<V>>,
) -> impl Iterator<Item = &'s Item<V>> {
    let wanted = later.filter(|event| query.wants(event.key()));
    // The oldest event of a key comes last, and what was before it is what was there.
    let touched: BTreeMap<&str, Option<&Item<V>>> = wanted
        .map(|event| (&**event.key(), event.previous.as_ref()))
        .collect();
    Past {
        untouched: present(items, query).peekable(),
        touched: touched.into_iter().peekable(),
    }
}

/// Merges what has not changed since with what had to be looked up.
struct Past<'s, V, I: Iterator<Item = &'s Item<V>>> {
    untouched: Peekable<I>,
    touched: Peekable<std::collections::btree_map::IntoIter<&'s str, Option<&'s Item<V>>>>,
}

impl<'s, V, I: Iterator<Item = &'s Item<V>>> Iterator for Past<'s, V, I> {
    type Item = &'s Item<V>;

    fn next(&mut self) -> Option<&'s Item<V>> {
        loop {
            let Some((touched, _)) = self.touched.peek() else {
                return self.untouched.next();
            };
            let untouched = self.untouched.next_if(|item| &*item.key <= *touched);
            match untouched {
                // The present state of a key that was touched since says nothing.
                Some(item) if &*item.key == *touched => {}
                Some(item) => return Some(item),
                None => {
                    if let Some((_, Some(item))) = self.touched.next() {
                        return Some(item);
                    }
                }
            }
        }
    }
}
