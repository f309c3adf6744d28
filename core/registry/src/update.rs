//! Replacing objects.
//!
//! Upstream: `apiserver/pkg/endpoints/handlers/update.go`,
//! `apiserver/pkg/registry/generic/registry/store.go`.

use flyball_storage::{Revision, Transaction};
use serde_json::Value;

use crate::admission::{Effects, Review};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::kinds::advice;
use crate::managed::Note;
use crate::object::{Meta, Object, at};
use crate::owner_references::{self, Origin};
use crate::registry::{Call, Registry, key};
use crate::request::Chance;
use crate::structures::field_of;
use crate::{admission, custom, decode, depth, managed, meta};

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
        let end = new.meta().get("deletionTimestamp").cloned();
        let applied = new.meta().get("managedFields").cloned();
        meta::prepare_update(call, &mut new, old)?;
        // Owners are told apart in what was sent, which need not be of the type.
        let is_odd = self.notes(note) && managed::misfits(call, &new);
        let emptied = call.default(&mut new);
        // What admission adds and what the server sets belongs to nobody.
        if self.notes(note) {
            // Whoever sent another end owns it, although it does not count.
            set_end(&mut new, end);
            managed::note(call, Some(old), &mut new);
            if old.is_deleting() {
                set_end(&mut new, old.meta().get("deletionTimestamp").cloned());
            }
        }
        if note == Note::Applied {
            managed::settle(&mut new, applied);
        }
        if is_odd {
            new.meta_mut().remove("managedFields");
        }
        match part {
            Part::Body if call.resource.subresource("status").is_some() => {
                keep(&mut new, old, |field| field == "status");
            }
            Part::Body | Part::Other => {}
            Part::Status => keep(&mut new, old, |field| {
                !matches!(field, "status" | "metadata")
            }),
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
                if new.labels().is_empty() {
                    // Some kinds take the labels of their template, which is not the one that was sent.
                    call.default(&mut new);
                }
            }
            Part::Other => {
                let name = call.path.subresource.as_str();
                rules.prepare_part(name, &mut new, old, call.request.now);
            }
        }
        let counts = part != Part::Status && rules.has_generation();
        let is_counted = || {
            let told_apart = rules.tells_empty_from_none();
            emptied.iter().any(|place| field_of(place) == told_apart)
                || rules.bumps_generation(&new, old)
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
            Part::Body => {
                let mut mistakes = call.mistakes(&new, Some(old));
                mistakes.extend(rules.validate_emptied(&emptied, old));
                mistakes
            }
            Part::Status => rules.validate_status_update(&new, old),
            Part::Other => {
                let mut mistakes = rules.validate_part(&call.path.subresource, &new, old);
                mistakes.extend(rules.validate_emptied(&emptied, old));
                mistakes
            }
        });
        if !errors.is_empty() {
            let (group, kind) = custom::told_kind(call, &new);
            let errors = call.as_upstream_tells(errors, &emptied);
            return Err(Failure::invalid(&group, &kind, old.name(), &errors));
        }
        let mut warnings = match part {
            Part::Body => {
                let mut told = rules.warnings_on_update(&new, old);
                told.extend(advice::on_update(&call.resource, &new, old));
                told
            }
            Part::Status | Part::Other => Vec::new(),
        };
        if let Err(refusal) = admission::validate(&review, &new, &mut effects) {
            return Ok(Answer::from(refusal).warned(warnings));
        }
        warnings.append(&mut effects.warnings);
        call.conclude(&mut new, &emptied);
        let is_finished = is_finished(call, &new, old);
        if !call.query.dry_run && !is_finished {
            // Only what is kept loses it.
            new.meta_mut().remove("selfLink");
        }
        managed::keep_times(&mut new, old);
        depth::check(call, &new, Some(old))?;
        let is_same = new == *old && !is_finished && !self.is_rewritten(call, old);
        if call.query.dry_run || is_same {
            return Ok(Answer::new(200, call.as_if_kept(&new)).warned(warnings));
        }
        let place = key(&call.resource, old.namespace(), old.name());
        // An object that nothing holds back any more goes with the write that let it go.
        let answer = if is_finished {
            let beside = self.beside(call, Some(old), None);
            let removed = self.commit(beside.join(Transaction::remove(place, seen)));
            removed.map(|()| Answer::new(200, call.told(&new)))
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
    /// Whether an object is written although nothing in it is new. Upstream does so with the first write of a claim,
    /// and of a job that shows the labels of its pods, after it was made: what it has stored until then is in another
    /// form.
    fn is_rewritten(&self, call: &Call<'_>, old: &Object) -> bool {
        let is_other = match (call.resource.group.as_str(), call.resource.plural.as_str()) {
            ("", "persistentvolumeclaims") => true,
            ("batch", "jobs") => shows_labels_of_pods(old),
            _ => false,
        };
        is_other
            && self
                .find(call)
                .is_some_and(|item| item.created == item.modified)
    }
}

/// Whether a job was made without labels, so that it is shown with those that its pods get.
fn shows_labels_of_pods(job: &Object) -> bool {
    let labels = &job.meta()["labels"];
    let owners = job.meta()["managedFields"].as_array();
    let owned = |owner: &Value| owner.pointer("/fieldsV1/f:metadata/f:labels").is_some();
    labels.get("batch.kubernetes.io/controller-uid").is_some()
        && labels == at(job, "spec.template.metadata.labels")
        && !owners.is_some_and(|owners| owners.iter().any(owned))
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

/// Sets when an object was told to go.
fn set_end(object: &mut Object, end: Option<Value>) {
    let (meta, field) = (object.meta_mut(), "deletionTimestamp");
    match end {
        Some(end) => drop(meta.insert(field.to_owned(), end)),
        None => drop(meta.remove(field)),
    }
}

/// Takes the fields that `kept` names from the old state.
fn keep(new: &mut Object, old: &Object, kept: impl Fn(&str) -> bool) {
    new.retain(|field, _| !kept(field));
    for (field, value) in old.iter().filter(|(field, _)| kept(field)) {
        new.insert(field.clone(), value.clone());
    }
}
