//! Two values together: a live one, and one that says what some of its fields shall be.
//!
//! Nothing is removed by this. Where both have a value, that of the configuration is taken; where
//! both have a list, the items of both are in the result: in the order of the configuration as far
//! as it names them, and the others where they were (`merge.go` of structured-merge-diff).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{Atom, ListAtom, ListOwners, MapAtom, TypeRef, items, members};
use crate::fields::Step;

/// Merges a configuration into a live value.
pub(crate) fn merge(of: TypeRef<'_>, live: &Value, config: &Value) -> Value {
    match of.atom(Some(config)) {
        Atom::List(list) if !matches!(list.kind, ListOwners::Atomic) => {
            let (live, config_items) = (items(Some(live)), items(Some(config)));
            match (live, config_items) {
                ([], []) => config.clone(),
                _ => Value::Array(merge_items(list, live, config_items)),
            }
        }
        Atom::Map(map) if !map.atomic => match (members(Some(live)), members(Some(config))) {
            (None, None) => config.clone(),
            (live, config) => Value::Object(merge_members(map, live, config)),
        },
        Atom::Scalar(_) | Atom::List(_) | Atom::Map(_) => config.clone(),
    }
}

fn merge_members(
    of: MapAtom<'_>,
    live: Option<&Map<String, Value>>,
    config: Option<&Map<String, Value>>,
) -> Map<String, Value> {
    let mut merged = live.cloned().unwrap_or_default();
    for (name, wanted) in config.into_iter().flatten() {
        let value = match (merged.get(name), of.member(name)) {
            (Some(there), Some(of)) => merge(of, there, wanted),
            _ => wanted.clone(),
        };
        merged.insert(name.clone(), value);
    }
    merged
}

/// A list with the step to each of its items.
struct Stepped<'v> {
    items: Vec<(Step, &'v Value)>,
    /// The item that a step leads to; none if there are several.
    by_step: BTreeMap<Step, Option<&'v Value>>,
}

impl<'v> Stepped<'v> {
    fn of(list: ListAtom<'_>, items: &'v [Value]) -> Self {
        let items = items
            .iter()
            .filter_map(|item| Some((list.step(item).ok()?, item)));
        let items: Vec<(Step, &Value)> = items.collect();
        let mut by_step = BTreeMap::new();
        for (step, item) in &items {
            by_step
                .entry(step.clone())
                .and_modify(|found| *found = None)
                .or_insert(Some(*item));
        }
        Self { items, by_step }
    }

    fn has(&self, step: &Step) -> bool {
        self.by_step.contains_key(step)
    }
}

fn merge_items(of: ListAtom<'_>, live: &[Value], config: &[Value]) -> Vec<Value> {
    let (live, config) = (Stepped::of(of, live), Stepped::of(of, config));
    // Items of both lists come in the order of the configuration; this is the next one due.
    let mut shared = config
        .items
        .iter()
        .map(|(step, _)| step)
        .filter(|step| live.has(step));
    let mut due = shared.next();

    let mut merged = Vec::with_capacity(live.items.len().max(config.items.len()));
    let mut placed = BTreeSet::new();
    let take = |step: &Step, wanted: &Value, placed: &mut BTreeSet<Step>| {
        placed.insert(step.clone());
        match live.by_step.get(step) {
            // Items that cannot be told apart are replaced by the one that is wanted.
            Some(Some(there)) => merge(of.item, there, wanted),
            _ => wanted.clone(),
        }
    };
    let (mut at_live, mut at_config) = (0, 0);
    loop {
        match (live.items.get(at_live), config.items.get(at_config)) {
            (None, None) => return merged,
            (Some((step, _)), Some((wanted_step, wanted))) if step == wanted_step => {
                merged.push(take(step, wanted, &mut placed));
                at_live += 1;
                at_config += 1;
                due = shared.next();
            }
            // It will come where the configuration has it.
            (Some((step, _)), Some(_))
                if config.has(step) && due.is_some_and(|due| due != step) =>
            {
                at_live += 1;
            }
            (Some((step, item)), _) if !config.has(step) => {
                merged.push((*item).clone());
                at_live += 1;
            }
            (Some((step, _)), None) if placed.contains(step) => at_live += 1,
            (_, Some((step, wanted))) => {
                if live
                    .items
                    .get(at_live)
                    .is_some_and(|(step, _)| placed.contains(step))
                {
                    at_live += 1;
                }
                merged.push(take(step, wanted, &mut placed));
                at_config += 1;
                if due == Some(step) {
                    due = shared.next();
                }
            }
            // All items of the configuration are placed by now, so this one is new to both.
            (Some(_), None) => at_live += 1,
        }
    }
}
