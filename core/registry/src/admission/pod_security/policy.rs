//! What the labels of a namespace ask for.
//!
//! Upstream: `pod-security-admission/api/helpers.go`.

use std::fmt;

use crate::field_error::FieldError;
use crate::object::{Meta, Object};

/// How far pods may go, from anything to little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Privileged,
    Baseline,
    Restricted,
}

/// A level as the rules of some version of Kubernetes define it; of the newest if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LevelVersion {
    pub(super) level: Level,
    pub(super) version: Option<u32>,
}

impl fmt::Display for LevelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Privileged => "privileged",
            Level::Baseline => "baseline",
            Level::Restricted => "restricted",
        };
        match self.version {
            Some(minor) => write!(f, "{level}:v1.{minor}"),
            None => write!(f, "{level}:latest"),
        }
    }
}

/// What holds for the pods of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) enforce: LevelVersion,
    pub(super) warn: LevelVersion,
}

impl Policy {
    /// Reads labels; what cannot be read means the strictest to `enforce` and nothing to `warn`.
    pub(super) fn of(namespace: &Object) -> (Self, Vec<FieldError>) {
        let labels = &namespace.meta()["labels"];
        let mut mistakes = Vec::new();
        let enforce = read(labels, "enforce", level, &mut mistakes);
        let enforce_version = read(labels, "enforce-version", version, &mut mistakes);
        // Only its mistakes are told: nothing is logged here.
        let _ = read(labels, "audit", level, &mut mistakes);
        let _ = read(labels, "audit-version", version, &mut mistakes);
        let warn = read(labels, "warn", level, &mut mistakes);
        let warn_version = read(labels, "warn-version", version, &mut mistakes);
        let enforced = LevelVersion {
            level: enforce.map_or(Level::Privileged, |read| read.unwrap_or(Level::Restricted)),
            version: enforce_version.and_then(Option::flatten),
        };
        let mut warned = LevelVersion {
            level: warn.map_or(Level::Privileged, |read| read.unwrap_or(Level::Privileged)),
            version: warn_version.and_then(Option::flatten),
        };
        // Who makes what makes pods learns at once that these will be refused.
        if warn.is_none() && matches!(enforce, Some(Some(level)) if level > warned.level) {
            warned.level = enforced.level;
            if warn_version.is_none() {
                warned.version = enforced.version;
            }
        }
        let policy = Self {
            enforce: enforced,
            warn: warned,
        };
        (policy, mistakes)
    }
}

/// Reads one label, if it is there; nothing inside if it makes no sense.
fn read<T>(
    labels: &serde_json::Value,
    mode: &str,
    parse: fn(&str) -> Result<T, &'static str>,
    mistakes: &mut Vec<FieldError>,
) -> Option<Option<T>> {
    let label = format!("pod-security.kubernetes.io/{mode}");
    let value = labels[&label].as_str()?;
    Some(match parse(value) {
        Ok(read) => Some(read),
        Err(why) => {
            let field = format!("metadata.labels[{label}]");
            mistakes.push(FieldError::invalid(field, value, why));
            None
        }
    })
}

fn level(text: &str) -> Result<Level, &'static str> {
    match text {
        "privileged" => Ok(Level::Privileged),
        "baseline" => Ok(Level::Baseline),
        "restricted" => Ok(Level::Restricted),
        _ => Err("must be one of privileged, baseline, restricted"),
    }
}

/// A minor version, or none for the newest.
fn version(text: &str) -> Result<Option<u32>, &'static str> {
    const WHY: &str = "must be \"latest\" or \"v1.x\"";
    if text == "latest" {
        return Ok(None);
    }
    let digits = text.strip_prefix("v1.").ok_or(WHY)?;
    let is_canonical = digits == "0" || !digits.starts_with('0');
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse() {
        Ok(minor) if is_canonical && is_number => Ok(Some(minor)),
        _ => Err(WHY),
    }
}
