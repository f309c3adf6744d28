//! ResourceQuota: what a namespace uses stays within what it may use.
//!
//! A quota counts once its status says what is hard and what is used; a controller writes that
//! first. From then on every write that uses more is added to the status of each quota that it
//! concerns, in the same transaction as the write itself, or refused.
//!
//! Upstream: `apiserver/pkg/admission/plugin/resourcequota`, `pkg/quota/v1`. Upstream writes the
//! status before the object; if the object then fails, a controller has to find out.

mod scopes;
mod usage;

use flyball_api::Quantity;
use flyball_rbac::User;

use super::amounts::Amounts;
use super::{Effects, Plugin, Review, field_mut};
use crate::failure::Failure;
use crate::managed;
use crate::object::{Meta, Object, at};
use crate::registry::{Call, key};
use crate::request::{Method, Representation, Request};
use crate::stored::Stored;
use usage::Counted;

const QUOTAS: (&str, &str) = ("", "resourcequotas");

/// Refuses what a quota does not allow, and counts what it does.
pub(super) struct ResourceQuota;

impl Plugin for ResourceQuota {
    fn validate(
        &self,
        review: &Review<'_>,
        object: &Object,
        effects: &mut Effects,
    ) -> Result<(), Failure> {
        if review.namespace.is_empty() || !review.resource.namespaced {
            return Ok(());
        }
        let Some(counted) = Counted::of(review.resource) else {
            return Ok(());
        };
        if !counted.handles(review, object) {
            return Ok(());
        }
        let mut quotas = review.list_seen(QUOTAS, review.namespace);
        if quotas.is_empty() {
            return Ok(());
        }
        for (_, quota) in &quotas {
            scopes::check(&counted, quota)?;
        }
        quotas.retain(|(_, quota)| matches(&counted, quota, object));
        for (_, quota) in &quotas {
            check_countable(review, &counted, quota, object)?;
        }
        let usage = counted.usage(object, review.now);
        let negative = usage.iter().filter(|(_, amount)| **amount < Quantity::ZERO);
        let negative: Vec<&str> = negative.map(|(name, _)| name).collect();
        if !negative.is_empty() {
            let names = negative.join(",");
            let why = format!("quota usage is negative for resource(s): {names}");
            return Err(review.forbidden(Some(object), why));
        }
        for (seen, quota) in quotas {
            // An object that the quota did not concern before is new to it.
            let before = review.old.filter(|old| matches(&counted, &quota, old));
            let more = match before {
                Some(old) => usage.beyond(&counted.usage(old, review.now)),
                None => usage.only(|name| usage.get(name).is_some_and(|one| !one.is_zero())),
            };
            if let Some(used) = charge(review, object, &quota, &more)? {
                let place = key_of(review, &quota);
                let stored = with_used(review, &quota, &used);
                effects.writes.extend(
                    place
                        .zip(stored)
                        .map(|(place, stored)| (place, seen, stored)),
                );
            }
        }
        Ok(())
    }
}

/// Whether a quota counts something of an object.
fn matches(counted: &Counted, quota: &Object, object: &Object) -> bool {
    let hard = Amounts::read(at(quota, "status.hard"));
    hard.names().any(|name| counted.has(name)) && scopes::all_match(counted, quota, object)
}

/// Refuses an object that does not say what a quota wants to count, and everything as long as the
/// quota does not know what is used already.
fn check_countable(
    review: &Review<'_>,
    counted: &Counted,
    quota: &Object,
    object: &Object,
) -> Result<(), Failure> {
    let (hard, used) = (
        Amounts::read(at(quota, "status.hard")),
        Amounts::read(at(quota, "status.used")),
    );
    let names: Vec<&str> = hard.names().filter(|name| counted.has(name)).collect();
    let name = quota.name();
    if let Some(missing) = counted.unsaid(&names, object) {
        let why = format!("failed quota: {name}: must specify {missing}");
        return Err(review.forbidden(Some(object), why));
    }
    if names.iter().any(|name| used.get(name).is_none()) {
        let resources = names.join(",");
        let why = format!("status unknown for quota: {name}, resources: {resources}");
        return Err(review.forbidden(Some(object), why));
    }
    Ok(())
}

/// What is used with this much more; nothing if the quota does not count any of it.
fn charge(
    review: &Review<'_>,
    object: &Object,
    quota: &Object,
    more: &Amounts,
) -> Result<Option<Amounts>, Failure> {
    let hard = Amounts::read(at(quota, "status.hard"));
    let used = Amounts::read(at(quota, "status.used"));
    let requested = more.only(|name| hard.get(name).is_some());
    if requested.is_empty() {
        return Ok(None);
    }
    let mut after = used.clone();
    after.add(&requested);
    let is_over = |name: &str| {
        let (after, hard) = (after.get(name), hard.get(name));
        requested.get(name).is_some() && after.zip(hard).is_some_and(|(after, hard)| after > hard)
    };
    // A status tells what is so already.
    if review.subresource != "status" && hard.names().any(is_over) {
        let told = |amounts: &Amounts| amounts.only(is_over).told();
        let why = format!(
            "exceeded quota: {}, requested: {}, used: {}, limited: {}",
            quota.name(),
            told(&requested),
            told(&used),
            told(&hard),
        );
        return Err(review.forbidden(Some(object), why));
    }
    Ok(Some(after))
}

fn key_of(review: &Review<'_>, quota: &Object) -> Option<String> {
    let quotas = review.registry.served().find(QUOTAS.0, "v1", QUOTAS.1)?;
    Some(key(quotas, quota.namespace(), quota.name()))
}

/// The quota with what is used now, as the server itself would write its status.
fn with_used(
    review: &Review<'_>,
    quota: &Object,
    used: &Amounts,
) -> Option<std::sync::Arc<Stored>> {
    let resource = review.registry.served().find(QUOTAS.0, "v1", QUOTAS.1)?;
    let mut after = quota.clone();
    field_mut(&mut after, "status").insert("used".to_owned(), used.written());
    let user = User::of_groups("system:apiserver", &["system:masters"]);
    let call = Call {
        request: Request {
            method: Method::Put,
            path: "",
            query: &[],
            body: &[],
            content_type: "",
            accept: "",
            user: &user,
            agent: "kube-apiserver",
            now: review.now,
        },
        path: crate::ResourcePath {
            subresource: "status".into(),
            ..crate::ResourcePath::default()
        },
        resource: resource.clone(),
        query: crate::query::Query::default(),
        representation: Representation::Whole,
    };
    managed::note(&call, Some(quota), &mut after);
    let version = review.registry.revision().next().0.to_string();
    after
        .meta_mut()
        .insert("resourceVersion".to_owned(), version.into());
    Some(Stored::new(&after))
}
