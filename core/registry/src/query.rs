//! What a query string asks for.
//!
//! Upstream: `apimachinery/pkg/apis/meta/v1/types.go` (the options) and
//! `apimachinery/pkg/apis/meta/internalversion/validation`.

use flyball_api::selector::FieldSelector;
use flyball_api::{Selector, Text};
use serde_json::Value;

use crate::failure::Failure;

/// What may be asked beside the path. Words that are not known are passed over, as upstream does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    /// Only objects with such labels.
    pub(crate) labels: Option<Selector>,
    /// Only objects with such fields.
    pub(crate) fields: Option<FieldSelector>,
    /// A stream of changes instead of an answer.
    pub(crate) watch: bool,
    /// Bookmarks among the changes.
    pub(crate) bookmarks: bool,
    /// The state first, as changes.
    pub(crate) initial_events: Option<bool>,
    /// How long to watch.
    pub(crate) timeout_seconds: Option<u64>,
    /// The version to read at or to begin at.
    pub(crate) version: Text,
    /// How exactly `version` is meant.
    pub(crate) version_match: Option<VersionMatch>,
    /// At most so many objects.
    pub(crate) limit: usize,
    /// Where the last page ended.
    pub(crate) go_on: Text,
    /// Decide but do not do.
    pub(crate) dry_run: bool,
    /// Who changes fields.
    pub(crate) field_manager: Text,
    /// What to do about fields that are not known.
    pub(crate) field_validation: FieldValidation,
    /// Take fields over from other managers.
    pub(crate) force: bool,
    /// What becomes of dependents.
    pub(crate) propagation: Option<Propagation>,
    /// How long an object has to go.
    pub(crate) grace_seconds: Option<i64>,
}

/// How exactly a resourceVersion is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionMatch {
    /// This one.
    Exact,
    /// This one or a newer one.
    NotOlderThan,
}

/// What to do about fields that are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    /// Drop them.
    Ignore,
    /// Drop them and say so.
    #[default]
    Warn,
    /// Refuse them.
    Strict,
}

/// What becomes of dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They go afterwards.
    Background,
    /// They go first.
    Foreground,
    /// They stay.
    Orphan,
}

impl Propagation {
    /// Reads upstream's word.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "Background" => Self::Background,
            "Foreground" => Self::Foreground,
            "Orphan" => Self::Orphan,
            _ => return None,
        })
    }
}

impl Query {
    /// Reads decoded pairs; the first of several equal keys counts.
    pub(crate) fn parse<'a>(
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, Failure> {
        let mut query = Self::default();
        for (key, value) in pairs {
            query.take(key, value)?;
        }
        query.check()?;
        Ok(query)
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), Failure> {
        match key {
            "labelSelector" if !value.is_empty() => {
                let parsed = Selector::parse(value);
                let parsed = parsed.map_err(|error| unreadable(key, value, &error.to_string()))?;
                self.labels = Some(parsed);
            }
            "fieldSelector" if !value.is_empty() => {
                let parsed = FieldSelector::parse(value);
                let parsed = parsed.map_err(|error| unreadable(key, value, &error.to_string()))?;
                self.fields = Some(parsed);
            }
            "watch" => self.watch = flag(value),
            "allowWatchBookmarks" => self.bookmarks = flag(value),
            "sendInitialEvents" => self.initial_events = Some(flag(value)),
            "timeoutSeconds" if !value.is_empty() => {
                self.timeout_seconds = Some(number(key, value)?);
            }
            "resourceVersion" => self.version = value.into(),
            "resourceVersionMatch" if !value.is_empty() => {
                self.version_match = Some(match value {
                    "Exact" => VersionMatch::Exact,
                    "NotOlderThan" => VersionMatch::NotOlderThan,
                    _ => {
                        let known = "supported values: \"\", \"Exact\", \"NotOlderThan\"";
                        let what = format!("Unsupported value: {value:?}: {known}");
                        return Err(invalid_list_options(key, &what));
                    }
                });
            }
            "limit" if !value.is_empty() => {
                self.limit = usize::try_from(number(key, value)?).unwrap_or(usize::MAX);
            }
            "continue" => self.go_on = value.into(),
            "dryRun" if !value.is_empty() => {
                if value != "All" {
                    return Err(Failure::bad_request(format!(
                        "invalid dryRun value {value:?}"
                    )));
                }
                self.dry_run = true;
            }
            "fieldManager" => self.field_manager = value.into(),
            "fieldValidation" if !value.is_empty() => {
                self.field_validation = match value {
                    "Ignore" => FieldValidation::Ignore,
                    "Warn" => FieldValidation::Warn,
                    "Strict" => FieldValidation::Strict,
                    _ => {
                        let what = format!("invalid fieldValidation value {value:?}");
                        return Err(Failure::bad_request(what));
                    }
                };
            }
            "force" => self.force = flag(value),
            "propagationPolicy" if !value.is_empty() => {
                let word = Propagation::parse(value);
                let wrong = || Failure::bad_request(format!("invalid propagationPolicy {value:?}"));
                self.propagation = Some(word.ok_or_else(wrong)?);
            }
            "orphanDependents" if !value.is_empty() => {
                self.propagation = Some(match flag(value) {
                    true => Propagation::Orphan,
                    false => Propagation::Background,
                });
            }
            "gracePeriodSeconds" if !value.is_empty() => {
                let seconds = number(key, value)?;
                self.grace_seconds = Some(i64::try_from(seconds).unwrap_or(i64::MAX));
            }
            _ => {}
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Failure> {
        let forbidden =
            |field: &str, why: &str| Err(invalid_list_options(field, &format!("Forbidden: {why}")));
        match (self.initial_events, self.version_match) {
            (Some(_), _) if !self.watch => {
                let why = "sendInitialEvents is forbidden for list";
                return forbidden("sendInitialEvents", why);
            }
            (Some(_), None | Some(VersionMatch::Exact)) => {
                let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
                return forbidden("resourceVersionMatch", why);
            }
            (None, Some(_)) if self.watch => {
                let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
                return forbidden("resourceVersionMatch", why);
            }
            (None, Some(kind)) => {
                if self.version.is_empty() {
                    let why =
                        "resourceVersionMatch is forbidden unless resourceVersion is provided";
                    return forbidden("resourceVersionMatch", why);
                }
                if !self.go_on.is_empty() {
                    let why = "resourceVersionMatch is forbidden when continue is provided";
                    return forbidden("resourceVersionMatch", why);
                }
                if kind == VersionMatch::Exact && self.version == "0" {
                    let why =
                        "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                    return forbidden("resourceVersionMatch", why);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes over what the body of a delete says; the query is what counts only where the body is silent.
    pub(crate) fn merge_delete_options(&mut self, options: &Value) -> Result<(), Failure> {
        if let Some(seconds) = options["gracePeriodSeconds"].as_i64() {
            self.grace_seconds = Some(seconds);
        }
        if let Some(orphan) = options["orphanDependents"].as_bool() {
            self.propagation = Some(match orphan {
                true => Propagation::Orphan,
                false => Propagation::Background,
            });
        }
        if let Some(word) = options["propagationPolicy"]
            .as_str()
            .filter(|word| !word.is_empty())
        {
            let wrong = || Failure::bad_request(format!("invalid propagationPolicy {word:?}"));
            self.propagation = Some(Propagation::parse(word).ok_or_else(wrong)?);
        }
        if options["dryRun"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
        {
            self.dry_run = true;
        }
        Ok(())
    }
}

/// What upstream takes for yes in a query: everything but these.
pub(crate) fn flag(value: &str) -> bool {
    !matches!(value, "false" | "0")
}

fn number(key: &str, value: &str) -> Result<u64, Failure> {
    let parsed = value.parse();
    parsed.map_err(|_| unreadable(key, value, "it is not a whole number that is not negative"))
}

fn unreadable(key: &str, value: &str, why: &str) -> Failure {
    Failure::bad_request(format!("unable to parse {key} {value:?}: {why}"))
}

fn invalid_list_options(field: &str, what: &str) -> Failure {
    let message = format!("ListOptions.meta.k8s.io \"\" is invalid: {field}: {what}");
    Failure::new(422, "Invalid", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(pairs: &[(&str, &str)]) -> String {
        let query = Query::parse(pairs.iter().copied());
        query.unwrap_err().0.message.to_string()
    }

    #[test]
    fn what_is_not_known_is_passed_over() {
        let query = Query::parse([("pretty", "true"), ("limit", "5"), ("watch", "")]).unwrap();
        assert_eq!(query.limit, 5);
        assert!(query.watch);
    }

    #[test]
    fn senseless_values_name_their_key() {
        assert!(failed(&[("limit", "many")]).contains("limit \"many\""));
        assert!(failed(&[("labelSelector", "a in (")]).contains("labelSelector"));
        assert!(failed(&[("fieldValidation", "Odd")]).contains("fieldValidation"));
    }

    #[test]
    fn versions_and_how_they_are_meant_must_fit() {
        let exact = ("resourceVersionMatch", "Exact");
        assert!(failed(&[exact]).contains("forbidden unless resourceVersion is provided"));
        assert!(failed(&[exact, ("watch", "1"), ("resourceVersion", "4")]).contains("for watch"));
        assert!(Query::parse([exact, ("resourceVersion", "4")]).is_ok());
        assert!(failed(&[("sendInitialEvents", "true")]).contains("forbidden for list"));
    }
}
