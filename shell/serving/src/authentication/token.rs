//! A bearer token, which only the API server can judge.

use std::collections::BTreeMap;
use std::time::Duration;

use http::HeaderMap;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::{Objection, Opinion, User};
use crate::digest::{random, sha256};
use crate::expiring_cache::{ExpiringCache, Key};
use crate::options::AuthenticationOptions;
use crate::review::{Answered, Reviewer};

const REVIEW_PATH: &str = "/apis/authentication.k8s.io/v1/tokenreviews";
/// Enough for every scraper of a cluster, and a bound for those who send a new token each time.
const TOKENS_MAX: usize = 4096;

/// Judges tokens by TokenReview and remembers the verdict for a while.
pub(super) struct Tokens {
    reviewer: Reviewer,
    review_timeout: Duration,
    verdicts: ExpiringCache<ReviewStatus>,
    ttl: Duration,
    // Cache keys are digests of this and the token: tokens do not stay in memory, and nobody can prepare keys.
    salt: [u8; 32],
}

impl Tokens {
    /// `None` without a client: then every token is ignored, as upstream does.
    pub(super) fn new(options: &AuthenticationOptions) -> Option<Self> {
        let client = options.client.clone()?;
        let timeout = options.token_review_timeout;
        Some(Self {
            reviewer: Reviewer::new(client, options.backoff, timeout),
            review_timeout: timeout,
            verdicts: ExpiringCache::new(TOKENS_MAX),
            ttl: options.token_cache_ttl,
            salt: random().unwrap_or_default(),
        })
    }

    pub(super) async fn opinion(&self, headers: &HeaderMap) -> Opinion {
        let Some(value) = headers.get(http::header::AUTHORIZATION) else {
            return Ok(None);
        };
        let Ok(value) = std::str::from_utf8(value.as_bytes()) else {
            return Err(Objection(
                "the Authorization header is not UTF-8".to_owned(),
            ));
        };
        match bearer(value) {
            Some(token) => self.verdict(token).await?.opinion(),
            None => Ok(None),
        }
    }

    async fn verdict(&self, token: &str) -> Result<ReviewStatus, Objection> {
        let key: Key = sha256(&[&self.salt, token.as_bytes()]);
        if let Some(known) = self.verdicts.get(&key) {
            return Ok(known);
        }
        let review = Review {
            api_version: "authentication.k8s.io/v1",
            kind: "TokenReview",
            spec: ReviewSpec { token },
        };
        let known = || {
            self.verdicts
                .get(&key)
                .map(|status| ReviewAnswer { status })
        };
        let asked = self.reviewer.post(REVIEW_PATH, &review, known);
        let answered = timeout(self.review_timeout, asked)
            .await
            .map_err(|_| Objection("no TokenReview in time".to_owned()))?
            .map_err(|error| Objection(error.to_string()))?;
        match answered {
            Answered::Known(answer) => Ok(answer.status),
            Answered::Fresh(answer) => {
                // An answer with an error is not a verdict: the next request asks again.
                if answer.status.authenticated || answer.status.error.is_empty() {
                    self.verdicts.insert(key, answer.status.clone(), self.ttl);
                }
                Ok(answer.status)
            }
        }
    }
}

/// The token of an Authorization header, if it is one of ours: `Bearer <token>`, anything after it ignored.
fn bearer(value: &str) -> Option<&str> {
    let mut parts = value.trim().splitn(3, ' ');
    let scheme = parts.next()?;
    let token = parts.next()?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    api_version: &'static str,
    kind: &'static str,
    spec: ReviewSpec<'a>,
}

#[derive(Serialize)]
struct ReviewSpec<'a> {
    token: &'a str,
}

#[derive(Deserialize)]
struct ReviewAnswer {
    #[serde(default)]
    status: ReviewStatus,
}

#[derive(Clone, Default, Deserialize)]
struct ReviewStatus {
    #[serde(default)]
    authenticated: bool,
    #[serde(default)]
    user: ReviewUser,
    #[serde(default)]
    error: String,
}

#[derive(Clone, Default, Deserialize)]
struct ReviewUser {
    #[serde(default)]
    username: String,
    #[serde(default)]
    uid: String,
    #[serde(default)]
    groups: Vec<String>,
    #[serde(default)]
    extra: BTreeMap<String, Vec<String>>,
}

impl ReviewStatus {
    fn opinion(self) -> Opinion {
        if !self.authenticated {
            let why = if self.error.is_empty() {
                "invalid bearer token"
            } else {
                &self.error
            };
            return Err(Objection(why.to_owned()));
        }
        let ReviewUser {
            username,
            uid,
            groups,
            extra,
        } = self.user;
        Ok(Some(User {
            name: username,
            uid,
            groups,
            extra,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::bearer;

    #[test]
    fn a_bearer_token_is_the_second_word() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("  bEaReR abc def "), Some("abc"));
        for none in ["", "Bearer", "Bearer ", "Bearer  abc", "Basic abc", "abc"] {
            assert_eq!(bearer(none), None, "{none:?}");
        }
    }
}
