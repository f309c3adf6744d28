//! Replacing objects.
//!
//! Upstream: `apiserver/pkg/endpoints/handlers/update.go`,
//! `apiserver/pkg/registry/generic/registry/store.go`.

use flyball_storage::{Revision, Transaction};

use crate::admission::{Effects, Review};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::kinds::advice;
use crate::managed::Note;
use crate::object::{Meta, Object, at};
use crate::owner_references::{self, Origin};
use crate::registry::{Call, Registry, key};
use crate::request::Chance;
use crate::stored::text;
use crate::{admission, custom, decode, managed, meta};

/// Which part of an object a write is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The object but for its status.
    Body,
    /// Its status.
    Status,
    /// Another part of it, named by the path.
    Other,
}

impl Registry {
    pub(crate) fn update(
        &mut self,
        call: &Call<'_>,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        let (mut new, mut warnings) = decode::object(call)?;
        owner_references::unite(&mut new, Origin::Sent, &mut warnings);
        if let Err(refusal) = meta::check_place(call, &mut new) {
            return Ok(Answer::of(Err(refusal)).warned(warnings));
        }
        let new = call.to_kept(new);
        let answer = match call.path.check().and_then(|()| self.read(call)) {
            Ok((seen, old)) => {
                self.replace(call, (Part::Body, Note::Update), seen, &old, new, chance)
            }
            Err(missing) => self.insert_missing(call, new, missing, chance),
        };
        Ok(Answer::of(answer).warned(warnings))
    }

    /// Makes what was to be replaced and is not there, if its kind allows that.
    pub(crate) fn insert_missing(
        &mut self,
        call: &Call<'_>,
        new: Object,
        missing: Failure,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        if !call.rules().creates_on_update() || missing.code() != 404 {
            return Err(missing);
        }
        meta::check_absent(call, &new)?;
        self.insert(call, new, Note::Update, chance)
    }

    /// Makes `new` the state of an object that was seen as `old`.
    pub(crate) fn replace(
        &mut self,
        call: &Call<'_>,
        (part, note): (Part, Note),
        seen: Revision,
        old: &Object,
        mut new: Object,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        let rules = call.rules();
        meta::prepare_update(call, &mut new, old)?;
        // Owners are told apart in what was sent, which need not be of the type.
        let is_odd = self.notes(note) && managed::misfits(call, &new);
        match part {
            Part::Body if call.resource.subresource("status").is_some() => {
                keep(&mut new, old, |field| field == "status");
            }
            Part::Body | Part::Other => {}
            Part::Status => keep(&mut new, old, |field| {
                !matches!(field, "status" | "metadata")
            }),
        }
        let emptied = call.default(&mut new);
        // What admission adds and what the server sets belongs to nobody.
        if self.notes(note) {
            managed::note(call, Some(old), &mut new);
        }
        if is_odd {
            new.meta_mut().remove("managedFields");
        }
        let review = Review::of_update(self, call, old);
        let mut effects = Effects::default();
        admission::mutate(&review, &mut new, &mut effects)?;
        self.allocate(call, &mut new, Some(old), chance)?;
        match part {
            Part::Body => rules.prepare_update(&mut new, old),
            Part::Status => {
                if managed::keeps_metadata(call) {
                    keep_metadata(&mut new, old);
                }
                rules.prepare_status_update(&mut new, old);
                rules.prepare_part("status", &mut new, old, call.request.now);
            }
            Part::Other => {
                let name = call.path.subresource.as_str();
                rules.prepare_part(name, &mut new, old, call.request.now);
            }
        }
        let counts = part != Part::Status && rules.has_generation();
        let is_counted = || {
            let told_apart = rules.tells_empty_from_none();
            emptied.contains(&told_apart) || rules.bumps_generation(&new, old)
        };
        if counts && is_counted() {
            let generation = old.generation() + 1;
            new.meta_mut()
                .insert("generation".to_owned(), generation.into());
        }
        let mut errors = meta::validate_update(call, &new, old);
        let odd = custom::type_mistakes(call, &new);
        errors.extend(match part {
            _ if !odd.is_empty() => odd,
            Part::Body => call.mistakes(&new, Some(old)),
            Part::Status => rules.validate_status_update(&new, old),
            Part::Other => rules.validate_part(&call.path.subresource, &new, old),
        });
        if !errors.is_empty() {
            let (group, kind) = custom::told_kind(call, &new);
            return Err(Failure::invalid(&group, &kind, old.name(), &errors));
        }
        admission::validate(&review, &new, &mut effects)?;
        let mut warnings = match part {
            Part::Body => {
                let mut told = rules.warnings_on_update(&new, old);
                told.extend(advice::on_update(&call.resource, &new, old));
                told
            }
            Part::Status | Part::Other => Vec::new(),
        };
        warnings.append(&mut effects.warnings);
        call.conclude(&mut new, &emptied);
        managed::keep_times(&mut new, old);
        let is_finished = is_finished(call, &new, old);
        let is_same = new == *old && !is_finished && !self.is_rewritten(call);
        if call.query.dry_run || is_same {
            return Ok(Answer::new(200, call.as_if_kept(&new)).warned(warnings));
        }
        let place = key(&call.resource, old.namespace(), old.name());
        // An object that nothing holds back any more goes with the write that let it go.
        let answer = if is_finished {
            let beside = self.beside(call, Some(old), None);
            let removed = self.commit(beside.join(Transaction::remove(place, seen)));
            removed.map(|()| Answer::new(200, text(&new)))
        } else {
            let beside = self.beside(call, Some(old), Some((&new, chance)));
            let update =
                |stored| beside.join(effects.join(Transaction::update(place, seen, stored)));
            let body = self.write(call, &mut new, update);
            body.map(|body| Answer::new(200, body))
        };
        let answer = answer.map_err(|_| Failure::modified(&call.resource, old.name()))?;
        Ok(answer.warned(warnings))
    }
}

impl Registry {
    /// Whether an object is written although nothing in it is new. Upstream does so with the first write of a claim
    /// after it was made, because what it has stored until then is in another form.
    fn is_rewritten(&self, call: &Call<'_>) -> bool {
        let is_claim =
            call.resource.group.is_empty() && call.resource.plural == "persistentvolumeclaims";
        is_claim
            && self
                .find(call)
                .is_some_and(|item| item.created == item.modified)
    }
}

/// Whether an object was told to go and nothing keeps it. A namespace is kept by what is in it.
fn is_finished(call: &Call<'_>, new: &Object, old: &Object) -> bool {
    let waits = old.meta()["deletionGracePeriodSeconds"].as_i64();
    let kept = at(new, "spec.finalizers").as_array();
    let is_kept = kept.is_some_and(|all| !all.is_empty()) && is_namespace(call);
    old.is_deleting() && !new.has_finalizers() && waits.unwrap_or_default() == 0 && !is_kept
}

fn is_namespace(call: &Call<'_>) -> bool {
    call.resource.group.is_empty() && call.resource.plural == "namespaces"
}

/// A write of the status leaves the metadata of some kinds alone; who changed what is written down all the same.
fn keep_metadata(new: &mut Object, old: &Object) {
    let meta = new.meta_mut();
    for field in [
        "deletionTimestamp",
        "generation",
        "selfLink",
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
    ] {
        match old.meta().get(field) {
            Some(value) => drop(meta.insert(field.to_owned(), value.clone())),
            None => drop(meta.remove(field)),
        }
    }
}

/// Takes the fields that `kept` names from the old state.
fn keep(new: &mut Object, old: &Object, kept: impl Fn(&str) -> bool) {
    new.retain(|field, _| !kept(field));
    for (field, value) in old.iter().filter(|(field, _)| kept(field)) {
        new.insert(field.clone(), value.clone());
    }
}
