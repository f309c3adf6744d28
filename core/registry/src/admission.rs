//! What a cluster wants of a write beyond what its kind does: that its namespace lives.
//!
//! Upstream: `plugin/pkg/admission/namespace/lifecycle`.

use flyball_schema::builtin;

use crate::failure::Failure;
use crate::object::{Meta, Object};
use crate::registry::{Call, Registry, key};

/// Namespaces that cannot be deleted.
pub(crate) const IMMORTAL: &[&str] = &["default", "kube-system", "kube-public"];

impl Registry {
    /// Refuses to create what would be lost, or in a namespace that does not exist.
    pub(crate) fn admit_create(&self, call: &Call<'_>, object: &Object) -> Result<(), Failure> {
        if !call.resource.namespaced {
            return Ok(());
        }
        let Some(namespaces) = builtin().resource("", "v1", "namespaces") else {
            return Ok(());
        };
        let namespace = object.namespace();
        let found = self.store().get(&key(namespaces, "", namespace));
        let found = found.ok_or_else(|| Failure::not_found(namespaces, namespace))?;
        let found = found.value.object(namespaces);
        if found.is_deleting() {
            let why = format!(
                "unable to create new content in namespace {namespace} because it is being terminated"
            );
            let refused = Failure::forbidden(&call.resource, object.name(), &why);
            let cause = format!("namespace {namespace} is being terminated");
            return Err(refused.with_cause("NamespaceTerminating", &cause, "metadata.namespace"));
        }
        Ok(())
    }
}
