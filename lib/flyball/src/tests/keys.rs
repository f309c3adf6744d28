//! The keys of a data folder: made once under its lock, complete, and matching.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::*;

/// A data folder that is removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("flyball-keys-{}", uuid::Uuid::new_v4())))
    }

    /// A folder that a plane has used before.
    async fn used() -> Self {
        let scratch = Self::new();
        start(&scratch.0).await.unwrap().stop().await;
        scratch
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn start(folder: &Path) -> Result<Plane, String> {
    let options = PlaneOptions {
        data: Some(folder.to_owned()),
        parts: Vec::new(),
        ..PlaneOptions::default()
    };
    let started = Plane::start_with(options).await;
    started.map_err(|failed| failed.to_string())
}

#[tokio::test]
async fn a_start_that_is_refused_writes_no_keys() {
    let scratch = Scratch::new();
    let plane = start(&scratch.0).await.unwrap();
    for name in ["ca.crt", "ca.key", "sa.key", "sa.pub"] {
        fs::remove_file(scratch.file(name)).unwrap();
    }
    let refused = start(&scratch.0).await.err().unwrap();
    assert!(
        refused.contains("is in use by another process"),
        "{refused}"
    );
    for name in ["ca.crt", "ca.key", "sa.key", "sa.pub"] {
        assert!(!scratch.file(name).exists(), "{name}");
    }
    plane.stop().await;
}

#[tokio::test]
async fn a_store_without_one_of_its_keys_is_not_opened() {
    for name in ["ca.crt", "ca.key", "sa.key"] {
        let scratch = Scratch::used().await;
        fs::remove_file(scratch.file(name)).unwrap();
        let refused = start(&scratch.0).await.err().unwrap();
        let missing = format!("{} is missing", scratch.file(name).display());
        assert!(refused.contains(&missing), "{refused}");
        assert!(refused.contains("restore it from a copy"), "{refused}");
        assert!(!scratch.file(name).exists(), "{name}");
    }
}

#[tokio::test]
async fn keys_that_do_not_match_are_not_used() {
    for (name, parts) in [
        ("ca.key", ["ca.key", "does not match", "ca.crt"]),
        ("sa.pub", ["sa.pub", "does not match", "sa.key"]),
    ] {
        let (scratch, other) = (Scratch::used().await, Scratch::used().await);
        fs::copy(other.file(name), scratch.file(name)).unwrap();
        let refused = start(&scratch.0).await.err().unwrap();
        for part in parts {
            assert!(refused.contains(part), "{name}: {refused}");
        }
    }
}

#[tokio::test]
async fn a_public_key_that_was_lost_is_written_again() {
    let scratch = Scratch::used().await;
    let public = fs::read(scratch.file("sa.pub")).unwrap();
    fs::remove_file(scratch.file("sa.pub")).unwrap();
    start(&scratch.0).await.unwrap().stop().await;
    assert_eq!(fs::read(scratch.file("sa.pub")).unwrap(), public);
}

#[tokio::test]
async fn a_start_that_was_interrupted_is_made_up_for() {
    let scratch = Scratch::used().await;
    // The first start came as far as its first key, and never to the store.
    fs::remove_dir_all(scratch.file("store")).unwrap();
    for name in ["ca.crt", "sa.key", "sa.pub"] {
        fs::remove_file(scratch.file(name)).unwrap();
    }
    fs::write(scratch.file("sa.key.unfinished"), "-----BEG").unwrap();
    start(&scratch.0).await.unwrap().stop().await;
    start(&scratch.0).await.unwrap().stop().await;
    assert!(!scratch.file("sa.key.unfinished").exists());
}

#[tokio::test]
async fn keys_and_their_folder_are_for_their_owner_only() {
    let scratch = Scratch::used().await;
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(scratch.0.clone()), 0o700);
    for name in ["ca.crt", "ca.key", "sa.key", "sa.pub"] {
        assert_eq!(mode(scratch.file(name)), 0o600, "{name}");
    }
}
