//! NamespaceLifecycle: nothing is made in a namespace that is missing or on its way out, and some
//! namespaces stay for ever.
//!
//! Upstream: `apiserver/pkg/admission/plugin/namespace/lifecycle`.

use flyball_schema::builtin;

use super::{Effects, Operation, Plugin, Review};
use crate::failure::Failure;
use crate::object::{Object, at};

const NAMESPACES: (&str, &str) = ("", "namespaces");

/// Namespaces that cannot be deleted.
const IMMORTAL: &[&str] = &["default", "kube-system", "kube-public"];

/// Refuses writes in namespaces that do not exist, and creation where it would be lost.
pub(super) struct NamespaceLifecycle;

impl Plugin for NamespaceLifecycle {
    fn mutate(
        &self,
        review: &Review<'_>,
        object: &mut Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        let namespace = review.namespace;
        // Whether one may look into a namespace is answered without telling whether there is one.
        let is_access_review = review.is_of("authorization.k8s.io", "localsubjectaccessreviews");
        if !review.resource.namespaced || is_access_review {
            return Ok(());
        }
        let Some(found) = review.find(NAMESPACES, "", namespace) else {
            let namespaces = builtin().resource("", "v1", "namespaces");
            return namespaces.map_or(Ok(()), |resource| {
                Err(Failure::not_found(resource, namespace))
            });
        };
        if review.operation != Operation::Create || at(&found, "status.phase") != "Terminating" {
            return Ok(());
        }
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let cause = format!("namespace {namespace} is being terminated");
        let refused = review.forbidden(Some(object), why);
        Err(refused.with_cause("NamespaceTerminating", &cause, "metadata.namespace"))
    }

    fn delete(&self, review: &Review<'_>) -> Result<(), Failure> {
        if review.is_about("", "namespaces") && IMMORTAL.contains(&review.name) {
            return Err(review.forbidden(review.old, "this namespace may not be deleted"));
        }
        Ok(())
    }
}
