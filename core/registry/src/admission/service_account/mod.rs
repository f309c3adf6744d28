//! ServiceAccount: pods run as an account that exists, and find its token where they expect it.
//!
//! Which secrets a pod may refer to is in `secrets`, how it gets its token in `mount`. The plugin works
//! only in a cluster where somebody gives every namespace its account: elsewhere no pod would ever be
//! admitted.
//!
//! Upstream: `plugin/pkg/admission/serviceaccount`.

mod mount;
mod secrets;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Effects, Operation, Plugin, Review, field_mut};
use crate::failure::Failure;
use crate::object::{Meta, Object, at};
use crate::path::Path;
use crate::registry::Registry;
use crate::request::{Method, Request};

const ACCOUNTS: (&str, &str) = ("", "serviceaccounts");
const DEFAULT: &str = "default";
const MIRROR: &str = "kubernetes.io/config.mirror";

/// Gives pods an account and its token.
pub(super) struct ServiceAccount;

impl Plugin for ServiceAccount {
    fn mutate(
        &self,
        review: &Review<'_>,
        object: &mut Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        if !concerns(review) || review.operation != Operation::Create {
            return Ok(());
        }
        // The node would not recognize a mirror pod that was changed.
        if is_mirror(object) {
            return check_mirror(review, object);
        }
        let spec = field_mut(object, "spec");
        if text(spec.get("serviceAccountName")).is_empty() {
            spec.insert("serviceAccountName".to_owned(), DEFAULT.into());
        }
        let name = text(spec.get("serviceAccountName")).to_owned();
        spec.insert("serviceAccount".to_owned(), name.into());
        let account = account(review, object)?;
        if mount::is_wanted(&account, object) {
            mount::add(object);
        }
        let spec = field_mut(object, "spec");
        let own = spec.get("imagePullSecrets").and_then(Value::as_array);
        let given = account.get("imagePullSecrets").and_then(Value::as_array);
        if own.is_none_or(Vec::is_empty)
            && let Some(given) = given.filter(|given| !given.is_empty())
        {
            let names = given
                .iter()
                .map(|one| json!({"name": text(one.get("name"))}));
            spec.insert("imagePullSecrets".to_owned(), names.collect());
        }
        Ok(())
    }

    fn validate(
        &self,
        review: &Review<'_>,
        object: &Object,
        effects: &mut Effects,
    ) -> Result<(), Failure> {
        if review.is_about("", "serviceaccounts") {
            effects
                .warnings
                .extend(secrets::warning(object, review.old));
        }
        if !concerns(review) {
            return Ok(());
        }
        let is_creation = review.operation == Operation::Create;
        if !is_creation && review.subresource != "ephemeralcontainers" {
            return Ok(());
        }
        if is_creation && is_mirror(object) {
            return check_mirror(review, object);
        }
        if text(Some(at(object, "spec.serviceAccountName"))).is_empty() {
            let why = format!(
                "no service account specified for pod {}/{}",
                review.namespace,
                object.name()
            );
            return Err(review.forbidden(Some(object), why));
        }
        let account = account(review, object)?;
        match secrets::foreign(&account, object, is_creation) {
            Some(why) => Err(review.forbidden(Some(object), why)),
            None => Ok(()),
        }
    }
}

/// Whether the plugin has a say.
fn concerns(review: &Review<'_>) -> bool {
    let part = matches!(review.subresource, "" | "ephemeralcontainers");
    review.registry.requires_accounts() && part && review.is_of("", "pods")
}

fn is_mirror(pod: &Object) -> bool {
    pod.meta()["annotations"].get(MIRROR).is_some()
}

/// A mirror pod shows what a node runs on its own: it has no part in what the cluster keeps.
fn check_mirror(review: &Review<'_>, pod: &Object) -> Result<(), Failure> {
    let why = if !text(Some(at(pod, "spec.serviceAccountName"))).is_empty() {
        "a mirror pod may not reference service accounts"
    } else if secrets::has_any(pod) {
        "a mirror pod may not reference secrets"
    } else if mount::has_token(pod) {
        "a mirror pod may not use ServiceAccountToken volume projections"
    } else {
        return Ok(());
    };
    Err(review.forbidden(Some(pod), why))
}

/// The account of a pod, which must exist.
fn account(review: &Review<'_>, pod: &Object) -> Result<Arc<Object>, Failure> {
    let name = text(Some(at(pod, "spec.serviceAccountName")));
    let namespace = review.namespace;
    review.find(ACCOUNTS, namespace, name).ok_or_else(|| {
        let why = format!(
            "error looking up service account {namespace}/{name}: serviceaccount {name:?} not found"
        );
        review.forbidden(Some(pod), why)
    })
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

impl Registry {
    /// Whether a request makes a pod in a namespace that is so young that it has no account yet.
    /// Upstream gives the account about a second to appear before it refuses the pod.
    pub fn awaits_account(&self, request: &Request<'_>) -> bool {
        let Path::Resource(path) = Path::parse(request.path) else {
            return false;
        };
        let makes_pod = request.method == Method::Post
            && path.group.is_empty()
            && path.resource == "pods"
            && path.name.is_empty();
        makes_pod
            && self.requires_accounts()
            && self.stored("namespaces", "", &path.namespace).is_some()
            && self
                .stored("serviceaccounts", &path.namespace, DEFAULT)
                .is_none()
    }
}
