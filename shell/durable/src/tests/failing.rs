//! A disk that fails: nothing is acknowledged, and everybody is told.

use std::path::Path;

use bytes::Bytes;
use flyball_storage::{Key, Revision};
use tokio::sync::{mpsc, watch};

use super::scratch::Scratch;
use crate::fold::Folding;
use crate::log_file::LogFile;
use crate::writer::Writer;
use crate::{Commit, Durable, Log, LogError, Write};

fn commit(revision: u64) -> Commit {
    let write = Write::Put {
        key: Key::from("/a/b/c"),
        created: Revision(revision),
        version: 1,
        bytes: Bytes::from("x"),
    };
    Commit {
        revision: Revision(revision),
        writes: vec![write],
    }
}

/// A writer over a file, and the ends that a log holds.
fn writer(
    scratch: &Scratch,
    log: LogFile,
) -> (Writer, mpsc::Sender<Commit>, watch::Receiver<Durable>) {
    let (queue, received) = mpsc::channel(8);
    let (publish, durable) = watch::channel(Durable {
        revision: Revision::FIRST,
        failure: None,
    });
    let folding = Folding::start(scratch.path(), Revision::FIRST, 0, vec![]).unwrap();
    let writer = Writer {
        folder: scratch.path().to_owned(),
        log,
        log_bytes: u64::MAX,
        queue: received,
        durable: publish,
        folding,
    };
    (writer, queue, durable)
}

#[test]
fn a_full_disk_acknowledges_nothing_and_closes_the_queue() {
    let scratch = Scratch::new();
    // The operating system's own full disk.
    let full = LogFile::at(Path::new("/dev/full"), Revision::FIRST).unwrap();
    let (writer, queue, durable) = writer(&scratch, full);
    queue.try_send(commit(2)).unwrap();
    queue.try_send(commit(3)).unwrap();
    writer.run();
    let durable = durable.borrow();
    assert_eq!(durable.revision, Revision::FIRST);
    let Some(LogError::WriteFailed { source, .. }) = &durable.failure else {
        panic!("{:?}", durable.failure);
    };
    assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
    assert!(queue.try_send(commit(4)).is_err());
}

#[test]
fn a_full_disk_is_noticed_before_the_first_commit() {
    let mut full = LogFile::at(Path::new("/dev/full"), Revision::FIRST).unwrap();
    let error = full.make_room().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
}

#[test]
fn a_commit_out_of_order_is_refused_and_those_before_it_are_kept() {
    let scratch = Scratch::new();
    let log = LogFile::create(scratch.path(), Revision::FIRST).unwrap();
    let (writer, queue, durable) = writer(&scratch, log);
    for revision in [2, 3, 5] {
        queue.try_send(commit(revision)).unwrap();
    }
    writer.run();
    let durable = durable.borrow();
    assert_eq!(durable.revision, Revision(3));
    let Some(LogError::OutOfOrder { expected, given }) = durable.failure else {
        panic!("{:?}", durable.failure);
    };
    assert_eq!((expected, given), (Revision(4), Revision(5)));
}

#[tokio::test]
async fn whoever_waits_or_comes_later_is_told_why() {
    let (log, _) = Log::ephemeral();
    log.reserve().await.unwrap().append(commit(2));
    log.reserve().await.unwrap().append(commit(4));
    log.wait(Revision(2)).await.unwrap();
    let error = log.wait(Revision(3)).await.unwrap_err();
    assert!(matches!(error, LogError::OutOfOrder { .. }), "{error}");
    assert!(log.reserve().await.is_err());
}
