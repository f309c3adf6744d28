//! The options of deletes, which are in the body or, if there is none, in the query.

use serde_json::Value;

use super::checks::{dry_run_mistakes, refuse};
use super::{Pairs, Propagation};
use crate::failure::Failure;
use crate::field_error::FieldError;

/// What a delete asks for beside the object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deletion {
    /// How long an object has to go.
    pub(crate) grace_seconds: Option<i64>,
    /// What becomes of dependents, in the old words.
    pub(crate) orphan: Option<bool>,
    /// What becomes of dependents.
    pub(crate) propagation: Option<Propagation>,
    /// Decide but do not do.
    pub(crate) dry_run: bool,
    /// The identity that the object must have.
    pub(crate) uid: Option<String>,
    /// The version that the object must have.
    pub(crate) version: Option<String>,
}

impl Deletion {
    /// Reads the options of a query.
    pub(crate) fn of_query(pairs: &[(String, String)]) -> Result<Self, Failure> {
        let pairs = Pairs(pairs);
        let wanted = |key: &str| {
            let value = pairs.first(key).filter(|value| !value.is_empty());
            value.map(str::to_owned)
        };
        let dry_run: Vec<&str> = pairs.all("dryRun").collect();
        let options = Self {
            grace_seconds: pairs.number("gracePeriodSeconds")?,
            orphan: pairs.flag("orphanDependents"),
            uid: wanted("uid"),
            version: wanted("resourceVersion"),
            ..Self::default()
        };
        options.checked(pairs.first("propagationPolicy"), &dry_run)
    }

    /// Reads the options of a body that has been decoded.
    pub(crate) fn of_body(body: &Value) -> Result<Self, Failure> {
        let wanted = |field: &str| {
            let wanted = body["preconditions"][field].as_str();
            wanted.map(str::to_owned)
        };
        let dry_run = body["dryRun"].as_array().into_iter().flatten();
        let dry_run: Vec<&str> = dry_run.filter_map(Value::as_str).collect();
        let options = Self {
            grace_seconds: body["gracePeriodSeconds"].as_i64(),
            orphan: body["orphanDependents"].as_bool(),
            uid: wanted("uid"),
            version: wanted("resourceVersion"),
            ..Self::default()
        };
        options.checked(body["propagationPolicy"].as_str(), &dry_run)
    }

    fn checked(mut self, propagation: Option<&str>, dry_run: &[&str]) -> Result<Self, Failure> {
        let mut errors = Vec::new();
        if let Some(word) = propagation {
            if self.orphan.is_some() {
                let why = "orphanDependents and deletionPropagation cannot be both set";
                errors.push(FieldError::invalid("propagationPolicy", word, why));
            }
            self.propagation = Propagation::parse(word);
            if self.propagation.is_none() {
                let known = ["Foreground", "Background", "Orphan", "nil"];
                errors.push(FieldError::not_supported("propagationPolicy", word, &known));
            }
        }
        errors.extend(dry_run_mistakes(dry_run));
        refuse("DeleteOptions", &errors)?;
        self.dry_run = !dry_run.is_empty();
        // Negative values are taken for the shortest grace.
        self.grace_seconds = self.grace_seconds.map(|seconds| match seconds {
            ..0 => 1,
            seconds => seconds,
        });
        Ok(self)
    }
}

impl Propagation {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "Background" => Self::Background,
            "Foreground" => Self::Foreground,
            "Orphan" => Self::Orphan,
            _ => return None,
        })
    }
}
