//! Damage before the end is reported, with the place, and nothing is dropped.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use flyball_storage::{Revision, Transaction};

use super::scratch::{Kept, Scratch};
use crate::frame::HEAD;
use crate::log_file::LogFile;
use crate::record::put_commit;
use crate::{Commit, Log, OpenError, Options, Write};

/// A folder with three commits in one log, each in a frame of its own, and where they begin.
async fn three() -> (Scratch, Vec<u64>) {
    let scratch = Scratch::new();
    let mut kept = Kept::open(scratch.path()).unwrap();
    let mut starts = Vec::new();
    for number in 0..3 {
        starts.push(scratch.log_length());
        let value = Bytes::from(vec![b'x'; 1000]);
        kept.commit(Transaction::create(format!("/a/b/{number}"), value))
            .await;
    }
    drop(kept);
    (scratch, starts)
}

fn damage_of(folder: &Path) -> (PathBuf, u64) {
    match Log::open(folder, Options::default()) {
        Err(OpenError::Damaged { path, offset, .. }) => (path, offset),
        Err(error) => panic!("{error}"),
        Ok((_, recovered)) => panic!("opened at {}", recovered.revision()),
    }
}

#[tokio::test]
async fn a_changed_byte_anywhere_in_a_log_is_reported() {
    let (scratch, starts) = three().await;
    let path = scratch.log();
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
        let expected = starts.iter().rfind(|start| **start <= at as u64);
        let expected = expected.copied().unwrap_or(0);
        assert_eq!(damage_of(scratch.path()), (path.clone(), expected), "{at}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "the file is left alone");
    }
}

#[tokio::test]
async fn a_part_of_a_log_that_is_gone_is_reported() {
    let (scratch, starts) = three().await;
    let path = scratch.log();
    let whole = fs::read(&path).unwrap();
    let (first, second) = (starts[0] as usize, starts[1] as usize);
    // Zeros, as of a lost sector, and bytes that have been cut out.
    let mut zeros = whole.clone();
    zeros[first..second].fill(0);
    let cut = [&whole[..first], &whole[second..]].concat();
    for bytes in [zeros, cut] {
        fs::write(&path, bytes).unwrap();
        assert_eq!(damage_of(scratch.path()), (path.clone(), starts[0]));
    }
}

#[tokio::test]
async fn a_log_that_is_missing_between_others_is_reported() {
    let scratch = Scratch::new();
    let options = Options {
        log_bytes: 1,
        ..Options::default()
    };
    let mut kept = Kept::open_with(scratch.path(), options).unwrap();
    kept.commit(Transaction::create("/a/b/c", Bytes::from("x")))
        .await;
    drop(kept);
    let log = scratch.log();
    let later = scratch.path().join("log-00000000000000000009");
    fs::rename(log, &later).unwrap();
    assert_eq!(damage_of(scratch.path()), (later, 0));
}

#[tokio::test]
async fn a_log_cut_off_before_another_is_reported() {
    let (scratch, starts) = three().await;
    let path = scratch.log();
    let mut next = LogFile::create(scratch.path(), Revision(4)).unwrap();
    next.append(&mut commit_frame(5)).unwrap();
    assert_eq!(open(scratch.path()), Revision(5));
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(damage_of(scratch.path()), (path.clone(), starts[2]));
    // Cut between two records it is whole, but does not lead to the next one.
    fs::write(&path, &whole[..starts[2] as usize]).unwrap();
    assert_eq!(damage_of(scratch.path()).1, 0);
}

/// A frame with one commit, its head still to be written.
fn commit_frame(revision: u64) -> Vec<u8> {
    let mut buffer = vec![0; HEAD];
    let commit = Commit {
        revision: Revision(revision),
        writes: vec![Write::Delete {
            key: "/a/b/0".into(),
        }],
    };
    put_commit(&mut buffer, &commit);
    buffer
}

fn open(folder: &Path) -> Revision {
    Log::open(folder, Options::default()).unwrap().1.revision()
}

#[tokio::test]
async fn a_damaged_snapshot_is_reported() {
    let scratch = Scratch::new();
    let options = Options {
        log_bytes: 1,
        ..Options::default()
    };
    let mut kept = Kept::open_with(scratch.path(), options).unwrap();
    let mut number = 0;
    let is_folded = || {
        let files = scratch.files();
        files
            .iter()
            .any(|name| name.starts_with("snapshot-") && !name.contains('.'))
    };
    while !is_folded() {
        let value = Bytes::from(vec![b'x'; 100]);
        kept.commit(Transaction::create(format!("/a/b/{number}"), value))
            .await;
        number += 1;
    }
    drop(kept);
    let files = scratch.files();
    let name = files.iter().rfind(|name| name.starts_with("snapshot-"));
    let path = scratch.path().join(name.unwrap());
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(3) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(damage_of(scratch.path()).0, path, "{at}");
        fs::write(&path, &whole[..at]).unwrap();
        assert_eq!(damage_of(scratch.path()).0, path, "cut at {at}");
    }
}
