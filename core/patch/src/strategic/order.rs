//! The order of merged lists.
//!
//! Items that the patch names come in its order, the others in the order in which they were; where
//! the two meet, the order that was decides as far as it can.

use std::collections::{BTreeMap, BTreeSet};

use flyball_schema::{Schema, Strategic};
use serde_json::Value;

use super::list::{are_objects, merge_list};
use super::{
    DELETE, DIRECTIVE, ListRule, Members, REPLACE, SET_ORDER, list_named, missing_key,
    without_directives, wrong_type,
};
use crate::error::PatchRefused;
use crate::wording;

const LIST: &str = "[]interface {}";
const OBJECT: &str = "map[string]interface {}";

/// Merges the lists whose order the patch sets, and takes them out of the patch.
pub(super) fn merge_ordered(
    members: &mut Members,
    patch: &mut Members,
    schema: Option<Schema<'_>>,
) -> Result<(), PatchRefused> {
    let directives: Vec<String> = patch
        .keys()
        .filter(|name| name.starts_with(SET_ORDER))
        .cloned()
        .collect();
    for directive in directives {
        let order = patch.remove(&directive).unwrap_or_default();
        let Value::Array(order) = order else {
            return Err(wrong_type(LIST, &order));
        };
        let Some(name) = list_named(&directive, SET_ORDER)? else {
            continue;
        };
        let there = taken_list(members.get(name))?;
        let change = taken_list(patch.get(name))?;
        let of = schema.and_then(|schema| schema.field(name));
        if let (Some(schema), None) = (schema, of) {
            return Err(unknown_field(schema, name));
        }
        let rule = ListRule::of(of);
        check_order(change.as_deref().unwrap_or_default(), &order, rule.key())?;
        let merged = match (&there, &change) {
            (Some(there), None) => there.clone(),
            (None, Some(change)) => change
                .iter()
                .cloned()
                .filter_map(without_directives)
                .collect(),
            (Some(_), Some(change)) if *rule.strategic == Strategic::Replace => change.clone(),
            (Some(there), Some(change)) => merge_list(there.clone(), change.clone(), &rule)?,
            (None, None) => continue,
        };
        let (there, change) = (there.unwrap_or_default(), change.unwrap_or_default());
        are_objects([&there, &change])?;
        let (named, others) = partition(merged, &order, rule.key())?;
        let live_order = order_after(&there, &change, rule.key());
        let ordered = in_order(named, others, &order, &live_order, rule.key())?;
        members.insert(name.to_owned(), Value::Array(ordered));
        patch.remove(name);
    }
    Ok(())
}

/// The order of the live list, as it is once the list is merged.
///
/// Upstream removes and adds items in the very list from which it reads the order afterwards. So
/// items that take the places of removed ones have a place in it, and come behind those that stay.
fn order_after(there: &[Value], patch: &[Value], key: Option<&str>) -> Vec<Value> {
    let Some(key) = key else {
        return there.to_vec();
    };
    let directive = |item: &Value, name: &str| item.get(DIRECTIVE).is_some_and(|what| what == name);
    let value = |item: &Value| item.get(key).map(Value::to_string);
    let removed = patch.iter().filter(|item| directive(item, DELETE));
    let removed: BTreeSet<Option<String>> = removed.map(value).collect();
    let stays = |item: &&Value| !removed.contains(&value(item));
    let mut order: Vec<Value> = there.iter().filter(stays).cloned().collect();
    if patch.iter().any(|item| directive(item, REPLACE)) {
        return order;
    }
    let mut known: BTreeSet<Option<String>> = order.iter().map(value).collect();
    let added = patch.iter().filter(|item| item.get(DIRECTIVE).is_none());
    order.extend(added.filter(|item| known.insert(value(item))).cloned());
    order.truncate(there.len());
    order
}

fn taken_list(value: Option<&Value>) -> Result<Option<Vec<Value>>, PatchRefused> {
    match value {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items.clone())),
        Some(other) => Err(wrong_type(LIST, other)),
    }
}

fn unknown_field(schema: Schema<'_>, field: &str) -> PatchRefused {
    let name = schema.get().name.as_str();
    let name = name.rsplit('.').next().unwrap_or(name);
    PatchRefused::unclassified(format!(
        "unable to find api field in struct {name} for the json field {field:?}"
    ))
}

/// Checks that the items of a patch are in the order that it sets, and that the order has them all.
fn check_order(patch: &[Value], order: &[Value], key: Option<&str>) -> Result<(), PatchRefused> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    if key.is_some()
        && let Some(item) = patch.iter().find(|item| !item.is_object())
    {
        return Err(wrong_type(OBJECT, item));
    }
    // Deletions have no order. Other directives are passed over, but not behind the last place.
    let is_deletion = |item: &Value| item.get(DIRECTIVE).is_some_and(|what| what == DELETE);
    let mut due = patch
        .iter()
        .filter(|item| key.is_none() || !is_deletion(item))
        .peekable();
    for place in order {
        while due.next_if(|item| item.get(DIRECTIVE).is_some()).is_some() {}
        let Some(item) = due.peek() else {
            return Ok(());
        };
        if identity(item, key)? == identity(place, key)? {
            due.next();
        }
    }
    match due.peek() {
        None => Ok(()),
        Some(_) => Err(PatchRefused::unclassified(format!(
            "The order in patch list:\n{}\n doesn't match {SET_ORDER} list:\n{}\n",
            wording::plain(&patch.to_vec().into()),
            wording::plain(&order.to_vec().into())
        ))),
    }
}

/// What tells an item apart from the others: its key, or itself.
fn identity<'v>(item: &'v Value, key: Option<&str>) -> Result<&'v Value, PatchRefused> {
    match (key, item) {
        (None, item) => Ok(item),
        (Some(key), Value::Object(members)) => {
            members.get(key).ok_or_else(|| missing_key(item, key))
        }
        (Some(_), other) => Err(wrong_type(OBJECT, other)),
    }
}

/// Where items are in a list, by what tells them apart.
struct Places(BTreeMap<String, usize>);

impl Places {
    fn of(list: &[Value], key: Option<&str>) -> Self {
        let mut places = BTreeMap::new();
        for (at, item) in list.iter().enumerate() {
            if let Ok(identity) = identity(item, key) {
                places.entry(identity.to_string()).or_insert(at);
            }
        }
        Self(places)
    }

    fn find(&self, item: &Value, key: Option<&str>) -> Option<usize> {
        let identity = identity(item, key).ok()?;
        self.0.get(&identity.to_string()).copied()
    }
}

/// Splits items into those that are in a list and the others.
pub(super) fn partition(
    items: Vec<Value>,
    list: &[Value],
    key: Option<&str>,
) -> Result<(Vec<Value>, Vec<Value>), PatchRefused> {
    for item in &items {
        identity(item, key)?;
    }
    let places = Places::of(list, key);
    let is_named = |item: &Value| places.find(item, key).is_some();
    Ok(items.into_iter().partition(is_named))
}

/// All items: those that the patch names in its order, the others in the order of the live list,
/// each before the first item that was behind it.
pub(super) fn in_order(
    named: Vec<Value>,
    others: Vec<Value>,
    patch_order: &[Value],
    live_order: &[Value],
    key: Option<&str>,
) -> Result<Vec<Value>, PatchRefused> {
    let live = Places::of(live_order, key);
    let named = sorted(named, patch_order, key)?;
    let others = sorted(others, live_order, key)?;
    let with_place = |item: Value| (live.find(&item, key), item);
    let mut all = Vec::with_capacity(named.len() + others.len());
    let mut named = named.into_iter().map(with_place).peekable();
    let mut others = others.into_iter().map(with_place).peekable();
    loop {
        let other_is_next = match (others.peek(), named.peek()) {
            (None, None) => return Ok(all),
            (Some((Some(other), _)), Some((Some(named), _))) => other < named,
            (Some(_), Some(_)) => false,
            (other, _) => other.is_some(),
        };
        let next = if other_is_next {
            others.next()
        } else {
            named.next()
        };
        all.extend(next.map(|(_, item)| item));
    }
}

/// Items by where they are in a list; directives to delete come last.
fn sorted(
    items: Vec<Value>,
    order: &[Value],
    key: Option<&str>,
) -> Result<Vec<Value>, PatchRefused> {
    if key.is_some() {
        for item in items.iter().chain(order) {
            identity(item, key)?;
        }
    }
    let is_deletion = |item: &Value| item.get(DIRECTIVE).is_some_and(|what| what == DELETE);
    let (deletions, items): (Vec<Value>, Vec<Value>) = items.into_iter().partition(is_deletion);
    let places = Places::of(order, key);
    let mut placed: Vec<(Option<usize>, Value)> = items
        .into_iter()
        .map(|item| (places.find(&item, key), item))
        .collect();
    if placed.len() <= STRANGERS_MAX && placed.iter().any(|(place, _)| place.is_none()) {
        sort_with_strangers(&mut placed);
    } else {
        placed.sort_by_key(|(place, _)| *place);
    }
    Ok(placed
        .into_iter()
        .map(|(_, item)| item)
        .chain(deletions)
        .collect())
}

/// Up to how many items those that are not in the list are placed as upstream does.
const STRANGERS_MAX: usize = 20;

/// Sorts by insertion, where a comparison with an item that has no place is always true. Go's stable
/// sort does this to short lists, and it shows in the result.
fn sort_with_strangers(items: &mut [(Option<usize>, Value)]) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 {
            let goes_before = match (items[at].0, items[at - 1].0) {
                (Some(this), Some(before)) => this < before,
                _ => true,
            };
            if !goes_before {
                break;
            }
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}
