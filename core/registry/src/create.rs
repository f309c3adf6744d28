//! Creating objects.
//!
//! Upstream: `apiserver/pkg/endpoints/handlers/create.go`,
//! `apiserver/pkg/registry/generic/registry/store.go`.

use flyball_storage::{CommitError, Transaction};
use serde_json::{Map, Value, json};

use crate::admission::{Effects, Review};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::kinds::advice;
use crate::managed::Note;
use crate::object::{Meta, Object};
use crate::registry::{Call, Registry, key};
use crate::request::Chance;
use crate::stored::{Stored, text};
use crate::{admission, decode, managed, meta};

impl Registry {
    pub(crate) fn create(
        &mut self,
        call: &Call<'_>,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        let (object, warnings) = decode::object(call)?;
        let object = call.to_kept(object);
        let answer = self.insert(call, object, Note::Update, chance);
        Ok(Answer::of(answer).warned(warnings))
    }

    /// Makes a new object of what was sent.
    pub(crate) fn insert(
        &mut self,
        call: &Call<'_>,
        mut object: Object,
        note: Note,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        if call.resource.is_terminating() {
            let why = "create not allowed while custom resource definition is terminating";
            return Err(Failure::forbidden(&call.resource, object.name(), why));
        }
        let rules = call.rules();
        let given = object.name().to_owned();
        meta::prepare_create(call, &mut object, chance)?;
        // Nodes register with their status; every other kind starts without.
        let keeps_status = call.resource.plural == "nodes" && object.contains_key("status");
        let is_custom = call.resource.of_definition().is_some();
        if call.schema().field("status").is_some() && !keeps_status && !is_custom {
            object.insert("status".to_owned(), Value::Object(Map::new()));
        }
        call.default(&mut object);
        // What admission adds and what the server sets belongs to nobody.
        if note == Note::Update {
            managed::note(call, None, &mut object);
        }
        let review = Review::of_create(self, call, &given);
        let mut effects = Effects::default();
        admission::mutate(&review, &mut object, &mut effects)?;
        meta::generate_name(&mut object, chance);
        self.allocate(call, &mut object, None, chance)?;
        introduce(call, &mut object);
        rules.prepare_create(&mut object, call.request.now);
        let mut errors = meta::validate(call, &object);
        errors.extend(call.mistakes(&object, None));
        if !errors.is_empty() {
            let (group, kind) = (&call.kept().group, &call.kept().kind);
            return Err(Failure::invalid(group, kind, object.name(), &errors));
        }
        admission::validate(&review, &object, &mut effects)?;
        let mut warnings = rules.warnings(&object);
        warnings.extend(advice::on_create(&call.resource, &object));
        warnings.append(&mut effects.warnings);
        let place = key(&call.resource, object.namespace(), object.name());
        if let Some(taken) = self.store().get(&place) {
            let refusal = self.taken(call, &object, &taken.value.object(&call.resource));
            return Ok(Answer::of(Err(refusal)).warned(warnings));
        }
        if call.query.dry_run {
            return Ok(Answer::new(201, text(&object)).warned(warnings));
        }
        if !object.resource_version().is_empty() {
            let message = "resourceVersion should not be set on objects to be created";
            let refusal = Failure::new(500, "", message);
            return Ok(Answer::of(Err(refusal)).warned(warnings));
        }
        let beside = self.beside(call, None, Some((&object, chance)));
        let body = self.write(call, &mut object, |stored| {
            beside.join(effects.join(Transaction::create(place, stored)))
        });
        let body = body.map_err(|_| Failure::already_exists(&call.resource, object.name()))?;
        Ok(Answer::new(201, body).warned(warnings))
    }

    /// Why there cannot be another object of this name.
    fn taken(&self, call: &Call<'_>, object: &Object, by: &Object) -> Failure {
        let mut failure = Failure::already_exists(&call.resource, object.name());
        let status = &mut failure.0;
        if !object.meta_text("generateName").is_empty() {
            let more = ", the server was not able to generate a unique name for the object";
            status.message = format!("{}{more}", status.message).into();
            if let Some(details) = &mut status.details {
                details.retry_after_seconds = 1;
            }
        }
        if by.is_deleting() {
            status.message = format!("object is being deleted: {}", status.message).into();
        }
        failure
    }

    /// Gives the object the version it is about to have, and commits it.
    pub(crate) fn write(
        &mut self,
        call: &Call<'_>,
        object: &mut Object,
        transaction: impl FnOnce(std::sync::Arc<Stored>) -> Transaction<std::sync::Arc<Stored>>,
    ) -> Result<bytes::Bytes, CommitError<std::sync::Arc<Stored>>> {
        let version = self.revision().next().0.to_string();
        object
            .meta_mut()
            .insert("resourceVersion".to_owned(), version.into());
        let stored = call.resource.stored(object);
        let body = crate::stored::whole(&call.resource, &call.resource.bare(&stored));
        self.commit(transaction(stored))?;
        Ok(body)
    }
}

/// Whoever asks for a certificate is named in the request, whatever it says.
fn introduce(call: &Call<'_>, object: &mut Object) {
    if call.resource.plural != "certificatesigningrequests" {
        return;
    }
    let user = call.request.user;
    let Some(Value::Object(spec)) = object.get_mut("spec") else {
        return;
    };
    for (field, value) in [
        ("username", json!(user.name)),
        ("uid", json!(user.uid)),
        ("groups", json!(user.groups)),
        ("extra", json!(user.extra)),
    ] {
        let is_empty = match &value {
            Value::String(text) => text.is_empty(),
            Value::Array(all) => all.is_empty(),
            Value::Object(all) => all.is_empty(),
            _ => true,
        };
        match is_empty {
            true => drop(spec.remove(field)),
            false => drop(spec.insert(field.to_owned(), value)),
        }
    }
}
