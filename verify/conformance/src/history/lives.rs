//! A history told so that two of them can be compared: the life of each object as far as its end is concerned, and
//! what of it came before or after what of its owners' lives.
//!
//! A life is the sequence of what a watcher could tell apart: whose an object is, what holds it, whether it is going.
//! Times, versions and everything that has nothing to do with ownership are left out, and so is the order of objects
//! that have nothing to do with each other: no manager promises it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::Moment;
use crate::state::{Names, State};

/// The scenario's own, whose name is another for each manager.
const NAMESPACE: &str = "the namespace";

/// What one version of an object says of its end.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Face {
    owners: Vec<String>,
    finalizers: Vec<String>,
    /// The grace that is left to it, once it is going.
    going: Option<i64>,
}

/// A change of a face, or the end.
struct Step {
    version: u64,
    /// What changed, in words.
    what: String,
    /// Whether the object was going by then, or gone.
    is_going: bool,
}

struct Life {
    who: String,
    uid: String,
    /// Everybody it ever named as an owner.
    owners: BTreeSet<String>,
    steps: Vec<Step>,
}

/// The lives and orders of a history, as a state to compare with another.
pub(crate) fn lives(moments: &[Moment], names: &Names) -> State {
    let lives = read(moments, names);
    let mut told: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for life in &lives {
        let steps: Vec<&str> = life.steps.iter().map(|step| step.what.as_str()).collect();
        let same = told.entry(format!("life of {}", life.who)).or_default();
        *same.entry(steps.join(", then ")).or_default() += 1;
    }
    let mut parts: BTreeMap<String, Value> = BTreeMap::new();
    parts.extend(told.into_iter().map(|(who, lives)| (who, json!(lives))));
    for ((owner, dependent), orders) in orders(&lives) {
        let key = format!("order of {owner} and its {dependent}");
        parts.insert(key, json!(orders));
    }
    State { parts }
}

fn read(moments: &[Moment], names: &Names) -> Vec<Life> {
    let mut lives: Vec<(Life, Option<Face>)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for moment in moments {
        let uid = moment.metadata("uid");
        let place = *places.entry(uid).or_insert_with(|| {
            let name = names.normalise(moment.metadata("name"));
            let life = Life {
                who: match moment.kind {
                    "Namespace" => NAMESPACE.to_owned(),
                    kind => format!("{kind} {name}"),
                },
                uid: uid.to_owned(),
                owners: BTreeSet::new(),
                steps: Vec::new(),
            };
            lives.push((life, None));
            lives.len() - 1
        });
        let (life, last) = &mut lives[place];
        for owner in owners(&moment.object) {
            let uid = owner["uid"].as_str().unwrap_or_default();
            life.owners.insert(uid.to_owned());
        }
        let face = Face::of(&moment.object, names);
        let what = match last {
            _ if moment.is_gone => "gone".to_owned(),
            None => face.describe(None),
            Some(last) if *last == face => continue,
            Some(last) => face.describe(Some(last)),
        };
        life.steps.push(Step {
            version: moment.version,
            what,
            is_going: moment.is_gone || face.going.is_some(),
        });
        *last = Some(face);
    }
    lives.into_iter().map(|(life, _)| life).collect()
}

/// For each owner and dependent: which steps of the owner's end came before and which after which steps of the
/// dependent's life. A namespace is taken for the owner of all in it.
fn orders(lives: &[Life]) -> BTreeMap<(String, String), BTreeMap<String, BTreeSet<&'static str>>> {
    let mut orders: BTreeMap<_, BTreeMap<_, BTreeSet<_>>> = BTreeMap::new();
    for dependent in lives {
        for owner in lives {
            let is_owner = dependent.owners.contains(&owner.uid);
            let is_namespace = owner.who == NAMESPACE && owner.uid != dependent.uid;
            if !is_owner && !is_namespace {
                continue;
            }
            let pair = (owner.who.clone(), dependent.who.clone());
            for ending in owner.steps.iter().filter(|step| step.is_going) {
                for step in dependent.steps.iter().skip(1) {
                    let which = match ending.version < step.version {
                        true => "before",
                        false => "after",
                    };
                    let what = format!("{} / {}", ending.what, step.what);
                    let order = orders.entry(pair.clone()).or_default();
                    order.entry(what).or_default().insert(which);
                }
            }
        }
    }
    orders
}

fn owners(object: &Value) -> impl Iterator<Item = &Value> {
    let owners = object.pointer("/metadata/ownerReferences");
    owners.and_then(Value::as_array).into_iter().flatten()
}

impl Face {
    fn of(object: &Value, names: &Names) -> Self {
        let metadata = &object["metadata"];
        let owners = owners(object).map(|owner| {
            let mut text = names.of_uid(owner["uid"].as_str().unwrap_or_default());
            for (field, word) in [
                ("controller", "controller"),
                ("blockOwnerDeletion", "waits"),
            ] {
                if owner[field] == true {
                    text = format!("{text} ({word})");
                }
            }
            text
        });
        let finalizers = metadata["finalizers"].as_array().into_iter().flatten();
        let finalizers = finalizers.filter_map(Value::as_str).map(str::to_owned);
        let is_going = metadata["deletionTimestamp"].is_string();
        let grace = metadata["deletionGracePeriodSeconds"].as_i64();
        Self {
            owners: owners.collect(),
            finalizers: finalizers.collect(),
            going: is_going.then_some(grace.unwrap_or_default()),
        }
    }

    /// What is new since `last`, or all there is to say.
    fn describe(&self, last: Option<&Self>) -> String {
        let list = |words: &[String]| match words {
            [] => "nobody".to_owned(),
            words => words.join(" and "),
        };
        let mut parts = Vec::new();
        if last.map_or(!self.owners.is_empty(), |last| last.owners != self.owners) {
            parts.push(format!("of {}", list(&self.owners)));
        }
        if last.map_or(!self.finalizers.is_empty(), |last| {
            last.finalizers != self.finalizers
        }) {
            parts.push(format!("held by {}", list(&self.finalizers)));
        }
        if last.map_or(self.going.is_some(), |last| last.going != self.going) {
            parts.push(match self.going {
                None => "not going".to_owned(),
                Some(0) => "going".to_owned(),
                Some(grace) => format!("going within {grace} s"),
            });
        }
        match parts.is_empty() {
            true => "there".to_owned(),
            false => parts.join(", "),
        }
    }
}

#[cfg(test)]
mod tests;
