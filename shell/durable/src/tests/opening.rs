//! What is refused at the door, and what it is told.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use bytes::Bytes;
use flyball_storage::{Revision, Transaction};

use super::scratch::{Kept, Scratch};
use crate::log_file::LogFile;
use crate::{Log, OpenError, Options};

fn refusal(scratch: &Scratch) -> OpenError {
    match Log::open(scratch.path(), Options::default()) {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_folder_that_does_not_exist_is_made() {
    let scratch = Scratch::new();
    let folder = scratch.path().join("some/where");
    let kept = Kept::open(&folder).unwrap();
    assert_eq!(kept.store.revision(), Revision::FIRST);
}

#[tokio::test]
async fn a_second_opener_is_refused_and_told_who_holds_the_folder() {
    let scratch = Scratch::new();
    let first = Kept::open(scratch.path()).unwrap();
    let error = refusal(&scratch);
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains(&scratch.path().display().to_string()),
        "{text}"
    );
    assert!(
        text.contains(&format!("(pid {})", std::process::id())),
        "{text}"
    );
    drop(first);
    Kept::open(scratch.path()).unwrap();
}

#[tokio::test]
async fn another_format_is_refused() {
    let scratch = Scratch::new();
    drop(Kept::open(scratch.path()).unwrap());
    let path = scratch.path().join("FORMAT");
    fs::write(&path, "flyball-durable 2\n").unwrap();
    let text = refusal(&scratch).to_string();
    assert!(text.starts_with(&path.display().to_string()), "{text}");
    assert!(text.contains("\"flyball-durable 2\""), "{text}");
    assert!(text.contains("\"flyball-durable 1\""), "{text}");
}

#[tokio::test]
async fn a_folder_with_other_files_is_refused_and_left_alone() {
    let scratch = Scratch::new();
    fs::write(scratch.path().join("notes.txt"), "mine").unwrap();
    let error = refusal(&scratch);
    assert!(matches!(error, OpenError::NotADataFolder { .. }), "{error}");
    assert!(error.to_string().contains("notes.txt"), "{error}");
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn what_is_stored_is_for_the_user_only() {
    let scratch = Scratch::new();
    let folder = scratch.path().join("data");
    drop(Kept::open(&folder).unwrap());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn data_without_a_format_is_refused() {
    let scratch = Scratch::new();
    drop(Kept::open(scratch.path()).unwrap());
    fs::remove_file(scratch.path().join("FORMAT")).unwrap();
    let error = refusal(&scratch);
    assert!(error.to_string().contains("log-"), "{error}");
    assert!(matches!(error, OpenError::NotADataFolder { .. }), "{error}");
}

#[tokio::test]
async fn a_file_in_place_of_the_folder_is_an_error_that_names_it() {
    let scratch = Scratch::new();
    let path = scratch.path().join("file");
    fs::write(&path, "").unwrap();
    let Err(error) = Log::open(&path, Options::default()) else {
        panic!("it was opened");
    };
    assert!(matches!(error, OpenError::AccessFailed { .. }), "{error}");
    assert!(error.to_string().contains(&path.display().to_string()));
}

#[tokio::test]
async fn files_that_were_never_finished_are_removed() {
    let scratch = Scratch::new();
    drop(Kept::open(scratch.path()).unwrap());
    let left = scratch
        .path()
        .join("snapshot-00000000000000000009.unfinished");
    fs::write(&left, "half").unwrap();
    let mut kept = Kept::open(scratch.path()).unwrap();
    assert!(!left.exists());
    kept.commit(Transaction::create("/a/b/c", Bytes::from("x")))
        .await;
}

#[tokio::test]
async fn a_log_that_was_begun_and_given_up_is_passed_over() {
    let scratch = Scratch::new();
    let mut kept = Kept::open(scratch.path()).unwrap();
    let put = |value: &'static str| Transaction::new().put("/a/b/c", Bytes::from(value));
    let revision = kept.commit(put("1")).await;
    drop(LogFile::create(scratch.path(), revision).unwrap());
    kept.commit(put("2")).await;
    drop(kept);
    // The log that was written on may be torn, as any that is.
    let log = scratch.path().join("log-00000000000000000001");
    let whole = fs::read(&log).unwrap();
    fs::write(&log, [&whole[..], b"frm1"].concat()).unwrap();
    let mut kept = Kept::open(scratch.path()).unwrap();
    assert_eq!(kept.store.revision(), revision.next());
    let (bytes, end) = (fs::read(&log).unwrap(), whole.len());
    assert_eq!(bytes[..end], whole);
    assert!(bytes[end..].iter().all(|byte| *byte == 0));
    kept.commit(put("3")).await;
    let items = kept.items();
    drop(kept);
    assert_eq!(Kept::open(scratch.path()).unwrap().items(), items);
}

#[tokio::test]
async fn watches_can_go_on_across_a_restart() {
    let scratch = Scratch::new();
    let mut kept = Kept::open(scratch.path()).unwrap();
    let seen = kept
        .commit(Transaction::create("/a/b/c", Bytes::from("1")))
        .await;
    kept.commit(Transaction::new().put("/a/b/c", Bytes::from("2")))
        .await;
    drop(kept);
    let kept = Kept::open(scratch.path()).unwrap();
    let read = kept.store.events(seen, "/a/b/", 10).unwrap();
    assert_eq!(read.events.len(), 1);
    assert_eq!(read.events[0].previous.as_ref().unwrap().value, "1");
}
