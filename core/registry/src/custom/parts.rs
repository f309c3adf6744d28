//! Parts of custom objects that have paths of their own: status and scale, if the definition says so.
//!
//! Upstream: `serveStatus` and `serveScale` in
//! `apiextensions-apiserver/pkg/apiserver/customresource_handler.go`.

use std::sync::Arc;

use super::kind::Custom;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::registry::{Call, Registry};
use crate::request::Chance;
use crate::update::Part;

impl Registry {
    /// Does what is asked of a part of a custom object.
    pub(crate) fn custom_part(
        &mut self,
        verb: &str,
        call: &Call<'_>,
        custom: &Arc<Custom>,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        let part = call.resource.subresource(&call.path.subresource);
        let part = part.ok_or_else(|| Failure::not_found(&call.resource, &call.path.name))?;
        match (part.name.as_str(), verb, &custom.scale) {
            ("status", "get", _) => self.get(call),
            ("status", "update", _) => self.update_part(call, Part::Status, chance),
            ("status", "patch", _) => self.patch_part(call, Part::Status, chance),
            ("scale", "get" | "update" | "patch", Some(_)) => self.scale(verb, call, chance),
            _ => Err(Failure::verb_not_supported(&call.resource, verb)),
        }
    }
}
