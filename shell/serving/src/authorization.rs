//! May they? Members of certain groups always, certain paths always, otherwise as the API server decides.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ServeError;
use crate::authentication::User;
use crate::digest::sha256;
use crate::expiring_cache::ExpiringCache;
use crate::options::AuthorizationOptions;
use crate::review::{Answered, ReviewFailed, Reviewer};

const REVIEW_PATH: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
/// As many decisions as upstream keeps.
const DECISIONS_MAX: usize = 8192;

/// The decision about one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    Allowed,
    Forbidden { reason: String },
}

/// Decides what an authenticated user may do.
pub(crate) struct Authorizer {
    groups: HashSet<String>,
    paths: OpenPaths,
    delegate: Option<Delegate>,
}

impl Authorizer {
    pub(crate) fn new(options: AuthorizationOptions) -> Result<Self, ServeError> {
        if options.client.is_none() {
            tracing::warn!(
                "No authorization-kubeconfig provided, so SubjectAccessReview of authorization tokens won't work."
            );
        }
        let delegate = options.client.map(|client| Delegate {
            reviewer: Reviewer::new(client, options.backoff, options.review_timeout),
            decisions: ExpiringCache::new(DECISIONS_MAX),
            allow_ttl: options.allow_ttl,
            deny_ttl: options.deny_ttl,
        });
        Ok(Self {
            groups: options.always_allow_groups.into_iter().collect(),
            paths: OpenPaths::parse(&options.always_allow_paths)?,
            delegate,
        })
    }

    /// The decision, or an error when the API server could not be asked.
    pub(crate) async fn authorize(
        &self,
        user: &User,
        verb: &str,
        path: &str,
    ) -> Result<Decision, ReviewFailed> {
        if user.groups.iter().any(|group| self.groups.contains(group)) || self.paths.contain(path) {
            return Ok(Decision::Allowed);
        }
        match &self.delegate {
            Some(delegate) => delegate.decide(user, verb, path).await,
            None => Ok(Decision::Forbidden {
                reason: String::new(),
            }),
        }
    }
}

/// `--authorization-always-allow-paths`: exact, or any ending after a trailing `*`. A leading slash is optional.
#[derive(Debug)]
struct OpenPaths {
    exact: HashSet<String>,
    prefixes: Vec<String>,
}

impl OpenPaths {
    fn parse(paths: &[String]) -> Result<Self, ServeError> {
        let mut parsed = Self {
            exact: HashSet::new(),
            prefixes: Vec::new(),
        };
        for path in paths {
            let path = path.strip_prefix('/').unwrap_or(path);
            let (start, open_ended) = match path.strip_suffix('*') {
                Some(start) => (start, true),
                None => (path, false),
            };
            if start.contains('*') {
                let problem = format!("only trailing * allowed in {path:?}");
                return Err(ServeError::OptionInvalid(problem));
            }
            if open_ended {
                parsed.prefixes.push(start.to_owned());
            } else {
                parsed.exact.insert(start.to_owned());
            }
        }
        Ok(parsed)
    }

    fn contain(&self, path: &str) -> bool {
        let path = path.strip_prefix('/').unwrap_or(path);
        self.exact.contains(path) || self.prefixes.iter().any(|prefix| path.starts_with(prefix))
    }
}

/// Decisions by SubjectAccessReview, remembered for a while.
struct Delegate {
    reviewer: Reviewer,
    decisions: ExpiringCache<ReviewStatus>,
    allow_ttl: Duration,
    deny_ttl: Duration,
}

impl Delegate {
    async fn decide(&self, user: &User, verb: &str, path: &str) -> Result<Decision, ReviewFailed> {
        let review = Review {
            api_version: "authorization.k8s.io/v1",
            kind: "SubjectAccessReview",
            spec: ReviewSpec {
                non_resource_attributes: Attributes { path, verb },
                user: &user.name,
                groups: &user.groups,
                uid: &user.uid,
                extra: &user.extra,
            },
        };
        let key = match serde_json::to_vec(&review.spec) {
            Ok(spec) => sha256(&[&spec]),
            Err(_) => {
                return Ok(Decision::Forbidden {
                    reason: String::new(),
                });
            }
        };
        if let Some(known) = self.decisions.get(&key) {
            return Ok(known.decision());
        }
        let known = || {
            self.decisions
                .get(&key)
                .map(|status| ReviewAnswer { status })
        };
        match self.reviewer.post(REVIEW_PATH, &review, known).await? {
            Answered::Known(answer) => Ok(answer.status.decision()),
            Answered::Fresh(answer) => {
                let ttl = if answer.status.allowed {
                    self.allow_ttl
                } else {
                    self.deny_ttl
                };
                self.decisions.insert(key, answer.status.clone(), ttl);
                Ok(answer.status.decision())
            }
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    api_version: &'static str,
    kind: &'static str,
    spec: ReviewSpec<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReviewSpec<'a> {
    non_resource_attributes: Attributes<'a>,
    user: &'a str,
    groups: &'a [String],
    #[serde(skip_serializing_if = "str::is_empty")]
    uid: &'a str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    extra: &'a BTreeMap<String, Vec<String>>,
}

#[derive(Serialize)]
struct Attributes<'a> {
    path: &'a str,
    verb: &'a str,
}

#[derive(Deserialize)]
struct ReviewAnswer {
    #[serde(default)]
    status: ReviewStatus,
}

#[derive(Clone, Default, Deserialize)]
struct ReviewStatus {
    #[serde(default)]
    allowed: bool,
    #[serde(default)]
    denied: bool,
    #[serde(default)]
    reason: String,
}

impl ReviewStatus {
    /// An answer that both allows and denies is a denial.
    fn decision(self) -> Decision {
        if self.allowed && !self.denied {
            Decision::Allowed
        } else {
            Decision::Forbidden {
                reason: self.reason,
            }
        }
    }
}

#[cfg(test)]
mod tests;
