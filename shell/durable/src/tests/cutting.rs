//! A log that is cut off anywhere loses what was being written, and nothing else.

use std::fs;

use bytes::Bytes;
use flyball_storage::Transaction;

use super::scratch::{Kept, Scratch};
use crate::{Log, Options};

#[tokio::test]
async fn a_log_cut_at_any_byte_keeps_every_whole_commit_before_it() {
    let scratch = Scratch::new();
    let mut kept = Kept::open(scratch.path()).unwrap();
    // After each acknowledged commit: how long the log is, and what the store holds.
    let length = || scratch.log_length();
    let mut states = vec![(length(), kept.store.revision(), kept.items())];
    for transaction in [
        Transaction::create("/a/b/one", Bytes::from("first")),
        Transaction::new().put("/a/b/one", Bytes::from(vec![b'x'; 700])),
        Transaction::create("/a/b/two", Bytes::new()).delete("/a/b/one"),
        Transaction::create("/a/b/one", Bytes::from("again")),
    ] {
        kept.commit(transaction).await;
        states.push((length(), kept.store.revision(), kept.items()));
    }
    drop(kept);
    let path = scratch.log();
    let whole = fs::read(&path).unwrap();
    assert_eq!(states.last().unwrap().0, whole.len() as u64);

    // The head of the file is written before the file gets its name, so it is always whole.
    let head = states[0].0 as usize;
    for cut in head..=whole.len() {
        // Every other time with the room that a log has while it is written.
        let room = if cut % 2 == 0 { 0 } else { 5000 };
        fs::write(&path, [&whole[..cut], &vec![0; room]].concat()).unwrap();
        let mut kept = Kept::open(scratch.path()).unwrap();
        let fits = |state: &&(u64, _, _)| state.0 <= cut as u64;
        let (length, revision, items) = states.iter().rfind(fits).unwrap();
        assert_eq!(kept.store.revision(), *revision, "cut at {cut}");
        assert_eq!(kept.items(), *items, "cut at {cut}");
        assert_eq!(scratch.log_length(), *length, "cut at {cut}");

        // And it can be written on from there, which a few places show as well as all.
        if cut % 9 != 0 {
            continue;
        }
        let next = kept
            .commit(Transaction::create("/a/b/next", Bytes::from("next")))
            .await;
        assert_eq!(next, revision.next());
        let items = kept.items();
        drop(kept);
        assert_eq!(Kept::open(scratch.path()).unwrap().items(), items);
    }
}

#[tokio::test]
async fn a_cut_names_the_file_the_byte_and_the_last_revision() {
    let scratch = Scratch::new();
    let mut kept = Kept::open(scratch.path()).unwrap();
    let first = kept
        .commit(Transaction::create("/a/b/one", Bytes::from("first")))
        .await;
    let byte = scratch.log_length();
    kept.commit(Transaction::create("/a/b/two", Bytes::from("second")))
        .await;
    drop(kept);
    let whole = fs::read(scratch.log()).unwrap();
    fs::write(scratch.log(), &whole[..whole.len() - 1]).unwrap();
    let open = || Log::open(scratch.path(), Options::default()).unwrap().1;
    let cut = open().cut.unwrap();
    assert_eq!(
        (&cut.path, cut.byte, cut.revision),
        (&scratch.log(), byte, first)
    );
    let text = cut.to_string();
    let place = format!("was cut off at byte {byte}; the last revision is {first}");
    assert!(text.ends_with(&place), "{text}");
    assert_eq!(open().cut, None, "it is reported once");
}

#[tokio::test]
async fn what_a_cut_leaves_is_what_was_committed_first() {
    let scratch = Scratch::new();
    let mut kept = Kept::open(scratch.path()).unwrap();
    let mut revisions = vec![kept.store.revision()];
    for number in 0..30 {
        let key = format!("/a/b/{number}");
        revisions.push(kept.start(Transaction::create(key, Bytes::from("x"))).await);
    }
    kept.log.wait(revisions[30]).await.unwrap();
    drop(kept);
    let whole = fs::read(scratch.log()).unwrap();
    let mut last = 0;
    for cut in (20..=whole.len()).step_by(7) {
        fs::write(scratch.log(), &whole[..cut]).unwrap();
        let kept = Kept::open(scratch.path()).unwrap();
        let count = kept.items().len();
        // Each commit has a key of its own, so the number of keys says which commits are there.
        assert_eq!(kept.store.revision(), revisions[count]);
        assert!(count >= last);
        last = count;
    }
}

#[tokio::test]
async fn a_transaction_that_changed_nothing_is_passed_over() {
    let scratch = Scratch::new();
    let mut kept = Kept::open(scratch.path()).unwrap();
    let put = || Transaction::new().put("/a/b/c", Bytes::from("x"));
    kept.commit(put()).await;
    kept.commit(Transaction::new().delete("/a/b/absent")).await;
    kept.commit(put()).await;
    let items = kept.items();
    drop(kept);
    assert_eq!(Kept::open(scratch.path()).unwrap().items(), items);
}

#[tokio::test]
async fn a_log_in_memory_has_the_same_interface_and_no_memory() {
    let (log, recovered) = Log::ephemeral();
    let store = recovered.into_store(Default::default(), |_, bytes| Ok::<_, String>(bytes));
    let store = store.unwrap();
    let mut kept = Kept { store, log };
    let revision = kept
        .commit(Transaction::create("/a/b/c", Bytes::from("x")))
        .await;
    assert_eq!(kept.log.durable().borrow().revision, revision);
}
