//! The options of reads and writes: how they are read, and what may be combined.

use serde_json::Value;

use super::selectors::{fields, labels};
use super::{FieldValidation, Pairs, Query, VersionMatch};
use crate::failure::Failure;
use crate::field_error::FieldError;

/// The longest name of a manager of fields.
const FIELD_MANAGER_BYTES_MAX: usize = 128;

/// Options of lists and watches.
pub(super) fn list_options(pairs: Pairs<'_>, watch: bool) -> Result<Query, Failure> {
    // Upstream reads numbers before selectors, and both before it looks at combinations.
    let timeout = pairs.number("timeoutSeconds")?;
    let limit = pairs.number("limit")?.unwrap_or_default();
    let labels = labels(pairs.first("labelSelector").unwrap_or_default())?;
    let fields = fields(pairs.first("fieldSelector").unwrap_or_default())?;
    let text = |key: &str| pairs.first(key).unwrap_or_default();
    let (version, go_on) = (text("resourceVersion"), text("continue"));
    let word = text("resourceVersionMatch");
    let initial_events = pairs.flag("sendInitialEvents");
    let errors = match watch {
        true => watch_mistakes(word, initial_events, go_on),
        false => list_mistakes(word, version, initial_events, go_on),
    };
    refuse("ListOptions", &errors)?;
    Ok(Query {
        labels,
        fields,
        bookmarks: pairs.flag("allowWatchBookmarks").unwrap_or_default(),
        initial_events,
        timeout_seconds: timeout.and_then(|seconds| u64::try_from(seconds).ok()),
        version: version.into(),
        version_match: match word {
            "Exact" => Some(VersionMatch::Exact),
            "NotOlderThan" => Some(VersionMatch::NotOlderThan),
            _ => None,
        },
        limit: usize::try_from(limit).unwrap_or_default(),
        go_on: go_on.into(),
        ..Query::default()
    })
}

fn list_mistakes(
    word: &str,
    version: &str,
    initial_events: Option<bool>,
    go_on: &str,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut forbid = |why: &str| errors.push(FieldError::forbidden(MATCH, why));
    if !word.is_empty() {
        if version.is_empty() {
            forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
        }
        if !go_on.is_empty() {
            forbid("resourceVersionMatch is forbidden when continue is provided");
        }
        if !matches!(word, "Exact" | "NotOlderThan") {
            let known = ["Exact", "NotOlderThan", ""];
            errors.push(FieldError::not_supported(MATCH, word, &known));
        }
        if word == "Exact" && version == "0" {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            errors.push(FieldError::forbidden(MATCH, why));
        }
    }
    if initial_events.is_some() {
        let why = "sendInitialEvents is forbidden for list";
        errors.push(FieldError::forbidden("sendInitialEvents", why));
    }
    errors
}

fn watch_mistakes(word: &str, initial_events: Option<bool>, go_on: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if initial_events.is_some() && word != "NotOlderThan" {
        let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        errors.push(FieldError::forbidden(MATCH, why));
    }
    if !word.is_empty() {
        if initial_events.is_none() {
            let why =
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            errors.push(FieldError::forbidden(MATCH, why));
        }
        if word != "NotOlderThan" {
            errors.push(FieldError::not_supported(MATCH, word, &["NotOlderThan"]));
        }
        if !go_on.is_empty() {
            let why = "resourceVersionMatch is forbidden when continue is provided";
            errors.push(FieldError::forbidden(MATCH, why));
        }
    }
    errors
}

const MATCH: &str = "resourceVersionMatch";

/// Options of writes. `applies` is given for patches, and says whether one is applied.
pub(super) fn write_options(
    pairs: Pairs<'_>,
    kind: &str,
    applies: Option<bool>,
) -> Result<Query, Failure> {
    let manager = pairs.first("fieldManager").unwrap_or_default();
    let force = pairs.flag("force");
    let mut errors = Vec::new();
    match applies {
        Some(true) if manager.is_empty() => {
            let why = "is required for apply patch";
            errors.push(FieldError::required("fieldManager", why));
        }
        Some(false) if force.is_some() => {
            let why = "may not be specified for non-apply patch";
            errors.push(FieldError::forbidden("force", why));
        }
        _ => {}
    }
    errors.extend(manager_mistakes(manager));
    let dry_run: Vec<&str> = pairs.all("dryRun").collect();
    errors.extend(dry_run_mistakes(&dry_run));
    let word = pairs.first("fieldValidation").unwrap_or_default();
    let field_validation = match word {
        "Ignore" => FieldValidation::Ignore,
        "Strict" => FieldValidation::Strict,
        "" | "Warn" => FieldValidation::Warn,
        _ => {
            let known = ["", "Ignore", "Strict", "Warn"];
            errors.push(FieldError::not_supported("fieldValidation", word, &known));
            FieldValidation::Warn
        }
    };
    refuse(kind, &errors)?;
    Ok(Query {
        dry_run: !dry_run.is_empty(),
        field_manager: manager.into(),
        field_validation,
        force: force.unwrap_or_default(),
        ..Query::default()
    })
}

fn manager_mistakes(manager: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if manager.len() > FIELD_MANAGER_BYTES_MAX {
        let why = format!("may not be more than {FIELD_MANAGER_BYTES_MAX} bytes");
        errors.push(FieldError::too_long("fieldManager", why));
    }
    for (at, letter) in manager.char_indices() {
        if !crate::quoted::is_printable(letter) {
            let why = format!(
                "invalid character U+{:04X} (at position {at})",
                u32::from(letter)
            );
            errors.push(FieldError::invalid("fieldManager", manager, why));
        }
    }
    errors
}

/// The mistakes in the values of `dryRun`.
pub(super) fn dry_run_mistakes(values: &[&str]) -> Option<FieldError> {
    let odd = values.iter().any(|value| *value != "All");
    odd.then(|| FieldError::not_supported("dryRun", Value::from(values.to_vec()), &["All"]))
}

/// Refuses options that have mistakes.
pub(super) fn refuse(kind: &str, errors: &[FieldError]) -> Result<(), Failure> {
    match errors {
        [] => Ok(()),
        errors => Err(Failure::invalid("meta.k8s.io", kind, "", errors)),
    }
}
