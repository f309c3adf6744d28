//! Cases: objects in, actions out, as YAML that explains itself.
//!
//! ```yaml
//! about: A set that lacks pods creates them, slowly at first.   # one sentence, the rule
//! origin: pkg/controller/replicaset/replica_set_test.go TestX   # optional: upstream's test
//! now: 2026-01-01T00:00:00Z                                     # optional
//! objects:                      # what the caches show; short (see short.rs) or whole objects
//!   - ReplicaSet: web
//!     replicas: 3
//!   - Pod: web-a
//!     owner: ReplicaSet web
//!     ready: true
//! meanwhile:                    # optional: what has changed since the caches last heard
//!   put: [{Pod: web-b}]
//!   gone: [Pod default/web-a]
//! key: default/web              # whom to sync
//! answers:                      # optional: what becomes of a stage's requests, in order
//!   pods: [ok, "Forbidden: exceeded quota", lost]
//! expect: |                     # what one sync does and how it ends; see text.rs
//!   stage pods (slow start)
//!   …
//!   rests: scaled up: desired 3, active 1
//! ```
//!
//! An answer is `ok` (whatever the server would say), `lost` (it took effect, the answer did not
//! arrive), or a reason, with or without a message; `FieldInvalid` is the `Invalid` of validation,
//! which names a field. Records are not requests and have no answer.
//! `UPDATE_EXPECT=1 cargo test` writes what really happened into the `expect` of every case.

mod diff;
mod play;
mod short;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use flyball_api::ObjectName;
use flyball_plan::{Controller, Key};

use crate::World;
use play::Case;

/// A key that a case can name.
pub trait CaseKey: Key {
    /// The key that is meant; `None` if the text names none.
    fn named(text: &str) -> Option<Self>;
}

impl CaseKey for ObjectName {
    fn named(text: &str) -> Option<Self> {
        Some(match text.split_once('/') {
            Some((namespace, name)) => Self::new(namespace, name),
            None => Self::new("", text),
        })
    }
}

/// Makes an empty world fit for a controller.
type Prepared = fn(World) -> World;

/// Checks every `*.yaml` in a folder, which is relative to the crate under test. Panics with all
/// that went otherwise than expected, or if there is nothing to check; with `UPDATE_EXPECT` set,
/// accepts whatever happened.
pub fn check_cases<C: Controller<Key: CaseKey>>(controller: &C, folder: impl AsRef<Path>) {
    check_cases_in(controller, folder, |world| world);
}

/// As [`check_cases`], in worlds that know what `prepared` adds: see [`World::knowing`].
pub fn check_cases_in<C: Controller<Key: CaseKey>>(
    controller: &C,
    folder: impl AsRef<Path>,
    prepared: Prepared,
) {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let wrong = check(controller, folder.as_ref(), prepared, update);
    assert!(
        wrong.is_empty(),
        "\n{}\nUPDATE_EXPECT=1 accepts what happened.",
        wrong.join("\n")
    );
}

/// What a controller does otherwise than the cases of a folder say.
pub fn case_differences<C: Controller<Key: CaseKey>>(
    controller: &C,
    folder: impl AsRef<Path>,
) -> Vec<String> {
    check(controller, folder.as_ref(), |world| world, false)
}

fn check<C: Controller<Key: CaseKey>>(
    controller: &C,
    folder: &Path,
    prepared: Prepared,
    update: bool,
) -> Vec<String> {
    let files = match yaml_files(folder) {
        Ok(files) if files.is_empty() => return vec![format!("{} has no cases", folder.display())],
        Ok(files) => files,
        Err(error) => return vec![format!("{}: {error}", folder.display())],
    };
    let checked = files
        .iter()
        .map(|file| check_file(controller, file, prepared, update));
    checked.filter_map(Result::err).collect()
}

fn yaml_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn check_file<C: Controller<Key: CaseKey>>(
    controller: &C,
    file: &Path,
    prepared: Prepared,
    update: bool,
) -> Result<(), String> {
    let named = |what: String| format!("{}: {what}", file.display());
    let yaml = std::fs::read_to_string(file).map_err(|error| named(error.to_string()))?;
    let case = Case::read(&yaml).map_err(named)?;
    let happened = case.play(controller, prepared).map_err(named)?;
    if happened == case.expect {
        return Ok(());
    }
    if update {
        let accepted = with_expect(&yaml, &happened);
        return std::fs::write(file, accepted).map_err(|error| named(error.to_string()));
    }
    Err(named(format!(
        "{}\n{}",
        case.about,
        diff::lines(&case.expect, &happened)
    )))
}

/// The text of a case with its `expect` exchanged or added.
fn with_expect(yaml: &str, expect: &str) -> String {
    let mut out = String::new();
    let mut lines = yaml.lines().peekable();
    while let Some(line) = lines.next_if(|line| !line.starts_with("expect:")) {
        out.push_str(line);
        out.push('\n');
    }
    out.push_str("expect: |\n");
    for line in expect.lines() {
        out.push_str(if line.is_empty() { "" } else { "  " });
        out.push_str(line);
        out.push('\n');
    }
    lines.next();
    // What belongs to the old text is indented or empty; anything else comes after it.
    let after = lines.skip_while(|line| line.is_empty() || line.starts_with(' '));
    for line in after {
        out.push_str(line);
        out.push('\n');
    }
    out
}
