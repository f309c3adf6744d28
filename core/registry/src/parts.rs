//! Parts of objects that have paths of their own, and who answers for each.
//!
//! Upstream: `pkg/registry/*/*/storage/storage.go`.

use flyball_storage::Transaction;

use crate::admission::{self, Effects, Review};
use crate::answer::Answer;
use crate::decode;
use crate::failure::Failure;
use crate::managed::Note;
use crate::object::{Meta, Object, at};
use crate::registry::{Call, Registry, key};
use crate::request::Chance;
use crate::stored::text;
use crate::update::{Part, keep};

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
            ("finalize", "update") => self.finalize(call),
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
    fn update_part(
        &mut self,
        call: &Call<'_>,
        part: Part,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        let (mut new, warnings) = decode::object(call)?;
        crate::meta::check_place(call, &mut new)?;
        let new = call.to_kept(new);
        let (seen, old) = self.read(call)?;
        let answer = self.replace(call, (part, Note::Update), seen, &old, new, chance);
        Ok(Answer::of(answer).warned(warnings))
    }

    /// Replaces the finalizers that a namespace has in its spec; with the last one it may go.
    fn finalize(&mut self, call: &Call<'_>) -> Result<Answer, Failure> {
        let (mut new, _) = decode::object(call)?;
        let (seen, old) = self.read(call)?;
        keep(&mut new, &old, |field| {
            !matches!(field, "spec" | "metadata")
        });
        crate::meta::prepare_update(call, &mut new, &old)?;
        let moved = |_| Failure::modified(&call.resource, old.name());
        let place = key(&call.resource, "", old.name());
        let empty = at(&new, "spec.finalizers")
            .as_array()
            .is_none_or(Vec::is_empty);
        if empty && new.is_deleting() && !new.has_finalizers() {
            self.commit(Transaction::remove(place, seen))
                .map_err(moved)?;
            return Ok(Answer::new(200, text(&new)));
        }
        let update = |stored| Transaction::update(place, seen, stored);
        let body = self.write(call, &mut new, update).map_err(moved)?;
        Ok(Answer::new(200, body))
    }
}
