//! Logs become snapshots behind the writer's back, and the folder stays small.

use std::collections::BTreeSet;

use bytes::Bytes;
use flyball_storage::{Limits, Revision, Store, Transaction};
use proptest::prelude::*;

use super::scratch::{Kept, Scratch};
use crate::Options;
use crate::fold::Folding;

fn small_logs() -> Options {
    Options {
        log_bytes: 4096,
        ..Options::default()
    }
}

#[tokio::test]
async fn what_has_been_folded_is_removed_while_commits_go_on() {
    let scratch = Scratch::new();
    let mut kept = Kept::open_with(scratch.path(), small_logs()).unwrap();
    let mut snapshots = BTreeSet::new();
    let mut number = 0u32;
    while snapshots.len() < 4 {
        let key = format!("/a/b/{}", number % 10);
        let value = Bytes::from(number.to_le_bytes().repeat(100));
        kept.commit(Transaction::new().put(key, value)).await;
        let files = scratch.files().into_iter();
        snapshots.extend(files.filter(|name| name.starts_with("snapshot-") && !name.contains('.')));
        number += 1;
    }
    let items = kept.items();
    drop(kept);
    // At most a snapshot, the log being folded into it, and the one being written.
    let files = scratch.files();
    assert!(files.len() <= 3, "{files:?}");
    assert_eq!(Kept::open(scratch.path()).unwrap().items(), items);
}

#[tokio::test]
async fn a_log_that_was_not_folded_before_a_stop_is_folded_later() {
    let scratch = Scratch::new();
    let mut kept = Kept::open(scratch.path()).unwrap();
    for number in 0..5 {
        let key = format!("/a/b/{number}");
        kept.commit(Transaction::create(key, Bytes::from("x")))
            .await;
    }
    let items = kept.items();
    let revision = kept.store.revision();
    drop(kept);
    // As if the process had stopped right after beginning another log.
    drop(crate::log_file::LogFile::create(scratch.path(), revision).unwrap());
    let kept = Kept::open(scratch.path()).unwrap();
    assert_eq!(kept.items(), items);
    drop(kept);
    assert_eq!(scratch.files().len(), 2);
    fold(&scratch, Revision::FIRST, vec![Revision::FIRST], revision);
    assert_eq!(
        scratch.files(),
        ["log-00000000000000000006", "snapshot-00000000000000000006"]
    );
    assert_eq!(Kept::open(scratch.path()).unwrap().items(), items);
}

#[tokio::test]
async fn a_fold_that_fails_leaves_the_logs_for_the_next_one() {
    let scratch = Scratch::new();
    let mut kept = Kept::open(scratch.path()).unwrap();
    let first = kept
        .commit(Transaction::create("/a/b/1", Bytes::from("x")))
        .await;
    drop(kept);
    // Another log is begun, and a folder stands where the snapshot would be written.
    drop(crate::log_file::LogFile::create(scratch.path(), first).unwrap());
    let obstacle = scratch
        .path()
        .join("snapshot-00000000000000000002.unfinished");
    std::fs::create_dir(&obstacle).unwrap();
    let folding = Folding::start(scratch.path(), Revision::FIRST, 0, vec![Revision::FIRST]);
    let folding = folding.unwrap();
    folding.fold(first);
    wait(&folding);
    std::fs::remove_dir(&obstacle).unwrap();
    assert_eq!(
        scratch.files(),
        ["log-00000000000000000001", "log-00000000000000000002"]
    );

    let mut kept = Kept::open(scratch.path()).unwrap();
    let second = kept
        .commit(Transaction::create("/a/b/2", Bytes::from("y")))
        .await;
    let items = kept.items();
    drop(kept);
    drop(crate::log_file::LogFile::create(scratch.path(), second).unwrap());
    folding.fold(second);
    wait(&folding);
    assert_eq!(
        scratch.files(),
        ["log-00000000000000000003", "snapshot-00000000000000000003"]
    );
    assert_eq!(Kept::open(scratch.path()).unwrap().items(), items);
}

/// Folds, and waits until it is done.
fn fold(scratch: &Scratch, snapshot: Revision, logs: Vec<Revision>, revision: Revision) {
    let folding = Folding::start(scratch.path(), snapshot, 0, logs).unwrap();
    folding.fold(revision);
    wait(&folding);
}

fn wait(folding: &Folding) {
    while folding.is_busy() {
        std::thread::yield_now();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_folded_and_reopened_at_any_time_is_what_was_committed(
        rounds in prop::collection::vec(
            prop::collection::vec((0..8usize, prop::option::of(0..300usize)), 1..30),
            1..5,
        ),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let scratch = Scratch::new();
        // The same transactions on a store that is never written and read.
        let mut other = Store::new(Limits::default());
        let mut from = Revision::FIRST;
        for (round, writes) in rounds.into_iter().enumerate() {
            let options = Options { log_bytes: 600, ..Options::default() };
            let mut kept = Kept::open_with(scratch.path(), options).unwrap();
            prop_assert!(kept.store.iter().eq(other.iter()));
            prop_assert_eq!(kept.store.revision(), other.revision());
            prop_assert!(other.revision() >= from);
            from = other.revision();
            for (number, (key, length)) in writes.into_iter().enumerate() {
                let transaction = || {
                    let key = format!("/a/b/{key}");
                    match length {
                        None => Transaction::new().delete(key),
                        Some(length) => {
                            let byte = (round * 31 + number) as u8;
                            Transaction::new().put(key, Bytes::from(vec![byte; length]))
                        }
                    }
                };
                let committed = other.commit(transaction()).unwrap();
                if !committed.events.is_empty() {
                    runtime.block_on(kept.commit(transaction()));
                }
            }
        }
        let kept = Kept::open(scratch.path()).unwrap();
        prop_assert!(kept.store.iter().eq(other.iter()));
    }
}
