//! Parts of custom objects that have paths of their own: status and scale, if the definition says so.
//!
//! Upstream: `serveStatus` and `serveScale` in
//! `apiextensions-apiserver/pkg/apiserver/customresource_handler.go`.

use std::sync::Arc;

use flyball_schema::{builtin, decode_value};
use flyball_storage::Revision;
use serde_json::Value;

use super::decode::wrong_patch;
use super::kind::Custom;
use super::scale::Scale;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::managed::Note;
use crate::object::{Meta, Object};
use crate::registry::{Call, Registry};
use crate::request::Chance;
use crate::update::Part;
use crate::{decode, patch};

/// What a patch made of a scale must be a scale.
fn check_scale(sent: &Value) -> Result<(), Failure> {
    let Some(schema) = builtin().kind("autoscaling", "v1", "Scale") else {
        return Ok(());
    };
    match decode_value(schema, sent.clone()) {
        Ok(_) => Ok(()),
        Err(why) => Err(wrong_patch(&sent.to_string(), &why.to_string())),
    }
}

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
            ("status", "update", _) => {
                let (new, warnings) = decode::object(call)?;
                let (seen, old) = self.read(call)?;
                let answer =
                    self.replace(call, (Part::Status, Note::Update), seen, &old, new, chance)?;
                Ok(answer.warned(warnings))
            }
            ("status", "patch", _) => self.patch_part(call, Part::Status, chance),
            ("scale", "get", Some(scale)) => {
                let (_, object) = self.read(call)?;
                Ok(Answer::document(&scale.of(&object)?))
            }
            ("scale", "update", Some(scale)) => {
                let sent = decode::any(call)?;
                let name = sent["metadata"]["name"].as_str().unwrap_or_default();
                if name.is_empty() {
                    return Err(Failure::bad_request(format!(
                        "the name of the object ({} based on URL) was undeterminable: name must be provided",
                        call.path.name
                    )));
                }
                let (seen, old) = self.read(call)?;
                self.custom_scale(call, scale, (seen, &old), &sent, chance)
            }
            ("scale", "patch", Some(scale)) => {
                let (seen, old) = self.read(call)?;
                let sent = patch::patched_scale(call, scale.of(&old)?)?;
                check_scale(&sent)?;
                self.custom_scale(call, scale, (seen, &old), &sent, chance)
            }
            _ => Err(Failure::verb_not_supported(&call.resource, verb)),
        }
    }

    fn custom_scale(
        &mut self,
        call: &Call<'_>,
        scale: &Scale,
        (seen, old): (Revision, &Object),
        sent: &Value,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        let version = sent["metadata"]["resourceVersion"].as_str();
        if version.is_some_and(|version| !version.is_empty() && version != old.resource_version()) {
            return Err(Failure::modified(&call.resource, old.name()));
        }
        let mut new = old.clone();
        scale.set(
            &mut new,
            sent["spec"]["replicas"].as_i64().unwrap_or_default(),
        );
        let answer = self.replace(call, (Part::Body, Note::Update), seen, old, new, chance)?;
        let object: Object = serde_json::from_slice(&answer.body).unwrap_or_default();
        Ok(Answer::document(&scale.of(&object)?))
    }
}
