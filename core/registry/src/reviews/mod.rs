//! Reviews: questions in the shape of objects, answered at once and never stored.
//!
//! Who may do what (`access`), what may I do here (`access`, too), who am I and whose token is this
//! (`identity`). Nothing is written, so a dry run is the same as a real one.
//!
//! Upstream: `pkg/registry/authorization`, `pkg/registry/authentication`.

mod access;
mod identity;
mod selectors;
#[cfg(test)]
mod tests;

use flyball_schema::Resource;

use crate::answer::Answer;
use crate::failure::Failure;
use crate::object::{Meta, Object};
use crate::owner_references::{self, Origin};
use crate::registry::{Call, Registry};
use crate::stored::text;
use crate::{decode, managed, meta};

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

/// Whether a resource is a question.
pub(crate) fn is_review(resource: &Resource) -> bool {
    matches!(resource.group.as_str(), AUTHENTICATION | AUTHORIZATION)
}

impl Registry {
    /// Answers a question.
    pub(crate) fn review(&self, verb: &str, call: &Call<'_>) -> Result<Answer, Failure> {
        let path = &call.path;
        let is_placed = call.resource.namespaced != path.namespace.is_empty();
        if !is_placed || !path.name.is_empty() {
            return Err(Failure::no_such_path());
        }
        if verb != "create" {
            return Err(Failure::method_not_allowed());
        }
        let (mut object, mut warnings) = decode::object(call)?;
        owner_references::unite(&mut object, Origin::Sent, &mut warnings);
        let answered = self.answer(call, object);
        let answer = answered.map(|answered| Answer::new(201, text(&answered)));
        Ok(Answer::of(answer).warned(warnings))
    }

    fn answer(&self, call: &Call<'_>, mut object: Object) -> Result<Object, Failure> {
        settle(call, &mut object)?;
        match call.resource.plural.as_str() {
            "selfsubjectaccessreviews" | "subjectaccessreviews" | "localsubjectaccessreviews" => {
                self.access(call, object)
            }
            "selfsubjectrulesreviews" => self.rules_here(call, &object),
            "selfsubjectreviews" => Ok(identity::who(call)),
            "tokenreviews" => self.whose(call, object),
            _ => Err(Failure::no_such_path()),
        }
    }
}

/// Makes the metadata of a question what it has to be, whatever was sent.
fn settle(call: &Call<'_>, object: &mut Object) -> Result<(), Failure> {
    meta::place(call, object)?;
    let wiped = [
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "managedFields",
        "selfLink",
        "uid",
    ];
    for field in wiped {
        object.meta_mut().remove(field);
    }
    call.resource.settle(object);
    managed::note(call, None, object);
    Ok(())
}
