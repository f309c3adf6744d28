//! Whom a token speaks for: its time, its audience, and that what it speaks of still exists.
//!
//! Upstream: `pkg/serviceaccount/{jwt,claims}.go`.

use std::time::Duration;

use flyball_api::{Text, Timestamp};
use flyball_rbac::User;
use flyball_schema::builtin;

use super::claims::{Claims, Ref};
use super::{ISSUER, signed};
use crate::object::{Meta, Object};
use crate::registry::{Registry, key};

/// How far clocks may be apart, and how long something that is being deleted still counts.
const LEEWAY: Duration = Duration::from_secs(60);

/// A token was not believed, with the reason as upstream tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRefused(pub String);

impl TokenRefused {
    /// It is not a token of this issuer at all.
    pub(super) fn foreign() -> Self {
        Self("invalid bearer token".to_owned())
    }

    /// It claims to be of this issuer, but.
    pub(super) fn ours(why: impl AsRef<str>) -> Self {
        Self(format!("[invalid bearer token, {}]", why.as_ref()))
    }
}

/// A token that was believed.
#[derive(Clone, Debug, PartialEq)]
pub struct Identified {
    /// Whom it speaks for.
    pub user: User,
    /// To which of those who were asked for.
    pub audiences: Vec<String>,
}

impl Registry {
    /// Whom a token speaks for to one of these audiences; to this server if there are none.
    pub(crate) fn identify_token(
        &self,
        token: &str,
        audiences: &[String],
        now: Timestamp,
    ) -> Result<Identified, TokenRefused> {
        let issuer = self.issuer().ok_or_else(TokenRefused::foreign)?;
        let claims = signed::open(&*issuer.signer, token)?;
        self.identify(&claims, audiences, now)
    }

    /// Whom the claims of a genuine token speak for to one of these audiences; to this server if
    /// there are none.
    pub fn identify(
        &self,
        claims: &Claims,
        audiences: &[String],
        now: Timestamp,
    ) -> Result<Identified, TokenRefused> {
        let own = [ISSUER.to_owned()];
        let (said, asked) = (or(&claims.aud, &own), or(audiences, &own));
        let both: Vec<String> = said
            .iter()
            .filter(|one| asked.contains(one))
            .cloned()
            .collect();
        if both.is_empty() {
            let why = format!(
                "token audiences {} is invalid for the target audiences {}",
                quoted(said),
                quoted(asked)
            );
            return Err(TokenRefused::ours(why));
        }
        check_time(claims, now)?;
        let user = self.account(claims, now)?;
        Ok(Identified {
            user,
            audiences: both,
        })
    }

    /// The account that a token is of, with what it is bound to; all of it must exist.
    fn account(&self, claims: &Claims, now: Timestamp) -> Result<User, TokenRefused> {
        let said = &claims.kubernetes;
        let account = &said.serviceaccount;
        if account.name.is_empty() {
            return Err(TokenRefused::ours("resource name may not be empty"));
        }
        let Some(found) = self.stored("serviceaccounts", &said.namespace, &account.name) else {
            let why = format!("serviceaccounts {:?} not found", account.name);
            return Err(TokenRefused::ours(why));
        };
        if found.uid() != account.uid {
            let why = format!(
                "service account UID ({}) does not match claim ({})",
                found.uid(),
                account.uid
            );
            return Err(TokenRefused::ours(why));
        }
        if is_gone(&found, now) {
            let why = format!(
                "service account {}/{} has been deleted",
                said.namespace, account.name
            );
            return Err(TokenRefused::ours(why));
        }
        let mut user = User::service_account(&said.namespace, &account.name, &account.uid);
        let mut note = |key: &str, value: &str| {
            if !value.is_empty() {
                let key = format!("authentication.kubernetes.io/{key}");
                user.extra.insert(key.into(), vec![Text::from(value)]);
            }
        };
        if let Some(secret) = &said.secret {
            self.bound("secret", &said.namespace, secret, now)?;
        }
        if let Some(pod) = &said.pod {
            self.bound("pod", &said.namespace, pod, now)?;
            note("pod-name", &pod.name);
            note("pod-uid", &pod.uid);
        }
        if let Some(node) = &said.node {
            // The node of a pod is only told; a token of the node itself ends with it.
            if said.pod.is_none() {
                self.bound("node", "", node, now)?;
            }
            note("node-name", &node.name);
            note("node-uid", &node.uid);
        }
        if !claims.jti.is_empty() {
            note("credential-id", &format!("JTI={}", claims.jti));
        }
        Ok(user)
    }

    /// What a token is bound to must exist.
    fn bound(
        &self,
        kind: &str,
        namespace: &str,
        to: &Ref,
        now: Timestamp,
    ) -> Result<(), TokenRefused> {
        let invalidated = || TokenRefused::ours("service account token has been invalidated");
        let found = self.stored(&format!("{kind}s"), namespace, &to.name);
        let found = found.ok_or_else(invalidated)?;
        if found.uid() != to.uid {
            let why = format!(
                "{kind} UID ({}) does not match service account {kind} ref claim ({})",
                found.uid(),
                to.uid
            );
            return Err(TokenRefused::ours(why));
        }
        match is_gone(&found, now) {
            true => Err(invalidated()),
            false => Ok(()),
        }
    }

    /// An object of the core group.
    pub(crate) fn stored(&self, plural: &str, namespace: &str, name: &str) -> Option<Object> {
        let resource = builtin().resource("", "v1", plural)?;
        let found = self.store().get(&key(resource, namespace, name))?;
        Some(found.value.object(resource))
    }
}

fn check_time(claims: &Claims, now: Timestamp) -> Result<(), TokenRefused> {
    let (early, late) = (now.saturating_sub(LEEWAY), now.saturating_add(LEEWAY));
    let is_after = |moment: Option<i64>, limit: Timestamp| {
        moment.is_some_and(|moment| moment > limit.unix_seconds())
    };
    let refused = |why: &str| Err(TokenRefused::ours(why));
    if is_after(claims.nbf, late) {
        return refused("service account token is not valid yet");
    }
    if claims.exp.is_some_and(|end| end < early.unix_seconds()) {
        return refused("service account token has expired");
    }
    if is_after(claims.iat, late) {
        return refused("service account token is issued in the future");
    }
    Ok(())
}

fn or<'a>(list: &'a [String], own: &'a [String]) -> &'a [String] {
    match list {
        [] => own,
        list => list,
    }
}

/// Whether an object has been on its way out for a while.
fn is_gone(object: &Object, now: Timestamp) -> bool {
    let since: Option<Timestamp> = object.meta_text("deletionTimestamp").parse().ok();
    since.is_some_and(|since| since < now.saturating_sub(LEEWAY))
}

/// `["a" "b"]`, as upstream writes lists.
fn quoted(list: &[String]) -> String {
    let all: Vec<String> = list.iter().map(|one| format!("{one:?}")).collect();
    format!("[{}]", all.join(" "))
}
