use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::Store;
use crate::testing::Thing;

/// A store and its queue, driven as the informer drives them.
#[derive(Default)]
struct Fixture {
    store: Store<Thing>,
    queue: DeltaQueue<Thing>,
}

impl Fixture {
    fn put(&mut self, thing: Thing) {
        let new = Arc::new(thing);
        let old = self.store.apply(new.clone());
        self.queue
            .record(old.as_ref(), Some(&new), None, Origin::Seen);
    }

    fn delete(&mut self, last: Thing) {
        let old = self.store.remove(&last.namespace, &last.name);
        self.queue
            .record(old.as_ref(), None, Some(&Arc::new(last)), Origin::Seen);
    }

    fn replace(&mut self, things: Vec<Thing>) {
        let Self { store, queue } = self;
        store.replace(things.into_iter().map(Arc::new), |old, new| {
            let origin = if new.is_some() {
                Origin::Seen
            } else {
                Origin::Missed
            };
            queue.record(old, new, None, origin);
        });
    }

    fn sync(&mut self) {
        self.queue.sync(self.store.view());
    }

    /// A change as text: name, old version, new version, flags.
    fn pop(&mut self) -> Option<String> {
        let change = self.queue.pop(self.store.view())?;
        let states = change.of::<Thing>().unwrap();
        let version = |thing: Option<&Arc<Thing>>| match thing {
            Some(thing) => format!("{}@{}", thing.uid, thing.version),
            None => "none".to_owned(),
        };
        let flags = match (change.resync, change.tombstone) {
            (true, _) => " resync",
            (_, true) => " tombstone",
            _ => "",
        };
        let (old, new) = (version(states.old), version(states.new));
        Some(format!("{}: {old} → {new}{flags}", change.name.name))
    }

    fn pop_all(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.pop()).collect()
    }
}

fn thing(name: &str, version: u64) -> Thing {
    Thing::new("ns", name).uid("u").at(version)
}

#[test]
fn many_deltas_of_one_key_become_one_change_to_the_newest_state() {
    let mut fixture = Fixture::default();
    for version in 1..5 {
        fixture.put(thing("a", version));
    }
    assert_eq!(fixture.pop_all(), ["a: none → u@4"]);
    fixture.put(thing("a", 5));
    fixture.put(thing("a", 6));
    assert_eq!(fixture.pop_all(), ["a: u@4 → u@6"]);
}

#[test]
fn keys_are_popped_in_the_order_in_which_they_entered() {
    let mut fixture = Fixture::default();
    for (name, version) in [("b", 1), ("a", 2), ("b", 3), ("c", 4), ("a", 5)] {
        fixture.put(thing(name, version));
    }
    assert_eq!(
        fixture.pop_all(),
        ["b: none → u@3", "a: none → u@5", "c: none → u@4"]
    );
}

#[test]
fn a_deletion_followed_by_a_creation_shows_both_uids() {
    let mut fixture = Fixture::default();
    fixture.put(thing("a", 1));
    fixture.pop_all();
    fixture.delete(thing("a", 2));
    fixture.put(thing("a", 3).uid("v"));
    assert_eq!(fixture.pop_all(), ["a: u@1 → v@3"]);
}

#[test]
fn an_object_that_came_and_went_unseen_arrives_as_a_deletion_of_its_final_state() {
    let mut fixture = Fixture::default();
    fixture.put(thing("a", 1));
    fixture.delete(thing("a", 2));
    assert_eq!(fixture.pop_all(), ["a: u@2 → none"]);
}

#[test]
fn what_a_list_leaves_out_becomes_a_tombstone_with_the_last_known_state() {
    let mut fixture = Fixture::default();
    for name in ["cached", "kept", "queued"] {
        if name == "queued" {
            fixture.pop_all();
        }
        fixture.put(thing(name, 1));
    }
    fixture.replace(vec![thing("kept", 1), thing("listed", 2)]);
    assert_eq!(
        fixture.pop_all(),
        [
            "queued: u@1 → none tombstone",
            "cached: u@1 → none tombstone",
            "listed: none → u@2"
        ]
    );
}

#[test]
fn a_resync_delivers_the_cache_once_more_but_gives_way_to_real_changes() {
    let mut fixture = Fixture::default();
    for name in ["a", "b", "c"] {
        fixture.put(thing(name, 1));
    }
    fixture.pop_all();
    fixture.put(thing("b", 2));
    fixture.sync();
    fixture.sync();
    fixture.put(thing("c", 3));
    assert_eq!(
        fixture.pop_all(),
        ["b: u@1 → u@2", "a: u@1 → u@1 resync", "c: u@1 → u@3"]
    );
}

#[test]
fn a_pending_entry_takes_24_bytes() {
    assert_eq!(size_of::<Pending<Thing>>(), 24);
}

#[derive(Clone, Debug)]
enum Op {
    Put(usize, bool),
    Delete(usize),
    Replace(Vec<usize>),
    Sync,
    Pop(usize),
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn op() -> impl Strategy<Value = Op> {
    let name = || 0..NAMES.len();
    prop_oneof![
        4 => (name(), any::<bool>()).prop_map(|(name, reborn)| Op::Put(name, reborn)),
        3 => name().prop_map(Op::Delete),
        1 => prop::collection::vec(name(), 0..4).prop_map(Op::Replace),
        1 => Just(Op::Sync),
        3 => (1..4usize).prop_map(Op::Pop),
    ]
}

/// The naive queue: keeps every delta of a key until the key is popped, and only then thinks.
#[derive(Default)]
struct Model {
    store: BTreeMap<&'static str, Thing>,
    told: BTreeMap<&'static str, Thing>,
    log: Vec<(&'static str, Option<Thing>, Origin)>,
}

impl Model {
    fn put(&mut self, name: &'static str, thing: Thing) {
        self.store.insert(name, thing.clone());
        self.log.push((name, Some(thing), Origin::Seen));
    }

    fn drop(&mut self, name: &'static str, last: Thing, origin: Origin) {
        self.store.remove(name);
        self.log.push((name, Some(last), Origin::Seen));
        self.log.push((name, None, origin));
    }

    fn pop(&mut self) -> Option<String> {
        let name = self.log.first()?.0;
        let deltas: Vec<_> = self.log.extract_if(.., |delta| delta.0 == name).collect();
        let real: Vec<_> = deltas
            .iter()
            .filter(|delta| delta.2 != Origin::Sync)
            .collect();
        let told = self.told.remove(name);
        let show = |thing: &Thing| format!("{}@{}", thing.uid, thing.version);
        let Some(newest) = real.last() else {
            let same = told.unwrap();
            let text = format!("{name}: {} → {} resync", show(&same), show(&same));
            self.told.insert(name, same);
            return Some(text);
        };
        Some(match (told, &newest.1) {
            (told, Some(new)) => {
                self.told.insert(name, new.clone());
                let old = told.as_ref().map_or("none".to_owned(), show);
                format!("{name}: {old} → {}", show(new))
            }
            (told, None) => {
                let last = real.iter().rev().find_map(|delta| delta.1.clone()).unwrap();
                let flag = if newest.2 == Origin::Missed {
                    " tombstone"
                } else {
                    ""
                };
                format!("{name}: {} → none{flag}", show(&told.unwrap_or(last)))
            }
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn behaves_like_a_queue_that_keeps_everything(ops in prop::collection::vec(op(), 1..60)) {
        let mut fixture = Fixture::default();
        let mut model = Model::default();
        for (version, op) in (1..).zip(ops) {
            match op {
                Op::Put(name, reborn) => {
                    let name = NAMES[name];
                    let uid = match fixture.store.view().get("ns", name) {
                        Some(known) if !reborn => known.uid.to_string(),
                        _ => format!("u{version}"),
                    };
                    let new = thing(name, version).uid(&uid);
                    fixture.put(new.clone());
                    model.put(name, new);
                }
                Op::Delete(name) => {
                    let name = NAMES[name];
                    if let Some(known) = model.store.get(name).cloned() {
                        let last = known.at(version);
                        fixture.delete(last.clone());
                        model.drop(name, last, Origin::Seen);
                    }
                }
                Op::Replace(names) => {
                    let listed: BTreeMap<_, _> =
                        names.iter().map(|n| (NAMES[*n], thing(NAMES[*n], version))).collect();
                    fixture.replace(listed.values().cloned().collect());
                    for (name, last) in model.store.clone() {
                        if !listed.contains_key(name) {
                            model.drop(name, last, Origin::Missed);
                        }
                    }
                    for (name, new) in listed {
                        model.put(name, new);
                    }
                }
                Op::Sync => {
                    fixture.sync();
                    for (name, thing) in &model.store {
                        model.log.push((name, Some(thing.clone()), Origin::Sync));
                    }
                }
                Op::Pop(times) => {
                    for _ in 0..times {
                        prop_assert_eq!(fixture.pop(), model.pop());
                    }
                }
            }
            prop_assert!(fixture.queue.len() <= NAMES.len());
        }
        prop_assert_eq!(fixture.pop_all(), std::iter::from_fn(|| model.pop()).collect::<Vec<_>>());
    }
}
