//! Parts of objects that have paths of their own, and who answers for each.
//!
//! Upstream: `pkg/registry/*/*/storage/storage.go`.

use crate::admission::{self, Effects, Review};
use crate::answer::Answer;
use crate::decode;
use crate::failure::Failure;
use crate::managed::Note;
use crate::object::Object;
use crate::owner_references::{self, Origin};
use crate::registry::{Call, Registry};
use crate::request::Chance;
use crate::update::Part;

impl Registry {
    /// Does what is asked of a part.
    pub(crate) fn part(
        &mut self,
        verb: &str,
        call: &Call<'_>,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        if let Some(custom) = call.resource.of_definition() {
            return self.custom_part(verb, call, custom, chance);
        }
        let part = call.resource.subresource(&call.path.subresource);
        let part = part.ok_or_else(Failure::no_such_path)?;
        if !part.verbs.iter().any(|one| one == verb) {
            return Err(Failure::method_not_allowed());
        }
        match (part.name.as_str(), verb) {
            ("status", "get") => self.get(call),
            ("status", "update") => self.update_part(call, Part::Status, chance),
            ("status", "patch") => self.patch_part(call, Part::Status, chance),
            ("approval" | "ephemeralcontainers" | "resize", _) => match verb {
                "get" => self.get(call),
                "update" => self.update_part(call, Part::Other, chance),
                _ => self.patch_part(call, Part::Other, chance),
            },
            ("scale", _) => self.scale(verb, call, chance),
            ("binding", "create") => self.bind(call),
            ("eviction", "create") => self.evict(call, chance),
            ("finalize", "update") => self.update_part(call, Part::Other, chance),
            ("token", "create") => self.issue(call, chance),
            // No other part is served.
            _ => Err(Failure::no_such_path()),
        }
    }

    /// Asks admission about what is sent to a part, before the object is looked at, and answers what
    /// it made of it.
    pub(crate) fn admit_part(&self, call: &Call<'_>, mut sent: Object) -> Result<Object, Failure> {
        let review = Review::of_create(self, call, &call.path.name);
        let mut effects = Effects::default();
        admission::mutate(&review, &mut sent, &mut effects)?;
        admission::validate(&review, &sent, &mut effects)?;
        Ok(sent)
    }

    /// Replaces a part of an object by what was sent.
    pub(crate) fn update_part(
        &mut self,
        call: &Call<'_>,
        part: Part,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        let (mut new, mut warnings) = decode::object(call)?;
        owner_references::unite(&mut new, Origin::Sent, &mut warnings);
        if let Err(refusal) = crate::meta::check_place(call, &mut new) {
            return Ok(Answer::of(Err(refusal)).warned(warnings));
        }
        let new = call.to_kept(new);
        let answer = match call.path.check().and_then(|()| self.read(call)) {
            Ok((seen, old)) => self.replace(call, (part, Note::Update), seen, &old, new, chance),
            // Whoever may make an object by replacing it may do so by replacing its status.
            Err(missing) => self.insert_missing(call, new, missing, chance),
        };
        Ok(Answer::of(answer).warned(warnings))
    }
}
