use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

type Pair = (u16, u32);

fn put(sorted: &mut Sorted<Pair>, pair: Pair) -> Option<Pair> {
    sorted.insert(pair, |entry| entry.0.cmp(&pair.0))
}

fn check_shape(sorted: &Sorted<Pair>) {
    assert_eq!(sorted.iter().count(), sorted.len());
    for chunk in sorted.chunks.iter() {
        assert!(
            !chunk.is_empty() && chunk.len() <= CHUNK_MAX,
            "a chunk of {}",
            chunk.len()
        );
        assert!(
            chunk.capacity() <= CHUNK_MAX,
            "room for {}",
            chunk.capacity()
        );
    }
}

#[derive(Clone, Debug)]
enum Op {
    Insert(u16, u32),
    Remove(u16),
    RemoveRun(u16, u16),
    Snapshot,
    Range(u16, u16),
}

fn op() -> impl Strategy<Value = Op> {
    let key = || 0..600u16;
    prop_oneof![
        8 => (key(), any::<u32>()).prop_map(|(k, v)| Op::Insert(k, v)),
        3 => key().prop_map(Op::Remove),
        1 => (key(), 0..200u16).prop_map(|(k, n)| Op::RemoveRun(k, n)),
        1 => Just(Op::Snapshot),
        1 => (key(), 0..200u16).prop_map(|(k, n)| Op::Range(k, n)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn behaves_like_a_btree_map_and_its_snapshots_never_change(
        start in 0..600u16,
        ops in prop::collection::vec(op(), 1..400),
    ) {
        let mut sorted = Sorted::default();
        let mut model = BTreeMap::new();
        for key in 0..start {
            put(&mut sorted, (key, 0));
            model.insert(key, 0);
        }
        let mut snapshots = Vec::new();
        for op in ops {
            match op {
                Op::Insert(k, v) => {
                    let was = put(&mut sorted, (k, v)).map(|pair| pair.1);
                    prop_assert_eq!(was, model.insert(k, v));
                }
                Op::Remove(k) => {
                    let was = sorted.remove(|entry| entry.0.cmp(&k)).map(|pair| pair.1);
                    prop_assert_eq!(was, model.remove(&k));
                }
                Op::RemoveRun(from, n) => {
                    for k in from..from + n {
                        sorted.remove(|entry| entry.0.cmp(&k));
                        model.remove(&k);
                    }
                }
                Op::Snapshot => snapshots.push((sorted.clone(), model.clone())),
                Op::Range(from, n) => {
                    let to = from + n;
                    let found = sorted.range(|entry| match entry.0 {
                        k if k < from => Ordering::Less,
                        k if k >= to => Ordering::Greater,
                        _ => Ordering::Equal,
                    });
                    prop_assert!(found.map(|p| p.0).eq(model.range(from..to).map(|(k, _)| *k)));
                }
            }
            check_shape(&sorted);
        }
        for k in 0..600u16 {
            let found = sorted.get(|entry| entry.0.cmp(&k)).map(|pair| pair.1);
            prop_assert_eq!(found, model.get(&k).copied());
        }
        snapshots.push((sorted, model));
        for (sorted, model) in snapshots {
            prop_assert!(sorted.iter().copied().eq(model.into_iter()));
        }
    }
}

#[test]
fn entries_that_arrive_in_order_fill_their_chunks() {
    let mut sorted = Sorted::default();
    for key in 0..1000 {
        put(&mut sorted, (key, 0));
    }
    assert_eq!(sorted.chunks.len(), 1000usize.div_ceil(CHUNK_MAX));
}

#[test]
fn a_write_copies_one_chunk_and_shares_the_rest_with_snapshots() {
    let mut sorted = Sorted::default();
    for key in 0..1000 {
        put(&mut sorted, (key, 0));
    }
    let snapshot = sorted.clone();
    put(&mut sorted, (500, 1));
    let shared = sorted
        .chunks
        .iter()
        .zip(snapshot.chunks.iter())
        .filter(|(a, b)| Arc::ptr_eq(a, b));
    assert_eq!(shared.count(), sorted.chunks.len() - 1);
}

#[test]
fn a_write_without_a_snapshot_copies_nothing() {
    let mut sorted = Sorted::default();
    put(&mut sorted, (1, 0));
    let before = Arc::as_ptr(&sorted.chunks[0]);
    put(&mut sorted, (1, 1));
    assert_eq!(before, Arc::as_ptr(&sorted.chunks[0]));
}
