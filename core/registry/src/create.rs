//! Creating objects.
//!
//! Upstream: `apiserver/pkg/endpoints/handlers/create.go`,
//! `apiserver/pkg/registry/generic/registry/store.go`.

use flyball_rbac::{Attributes, Target};
use flyball_storage::{CommitError, Transaction};
use serde_json::{Map, Value, json};

use crate::admission::{Effects, Review};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::field_error::FieldError;
use crate::kinds::{NameRule, advice};
use crate::managed::Note;
use crate::object::{Meta, Object};
use crate::owner_references::{self, Origin};
use crate::registry::{Call, Registry, key};
use crate::request::{Chance, Method};
use crate::stored::Stored;
use crate::{admission, custom, decode, depth, managed, meta};

/// How often a name is drawn before the object is refused because it is taken.
const DRAWS_MAX: usize = 8;

/// What only events of their own group are strict about.
const STRICT_EVENT_FIELDS: &[&str] = &[
    "series",
    "eventTime",
    "type",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "source",
];

impl Registry {
    pub(crate) fn create(
        &mut self,
        call: &Call<'_>,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        let (mut object, mut warnings) = decode::object(call)?;
        owner_references::unite(&mut object, Origin::Sent, &mut warnings);
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
        let is_fresh = call.schema().field("status").is_some() && !keeps_status && !is_custom;
        // Who sends a status owns it, although it is not kept.
        let is_part = call.path.subresource == "status";
        if is_fresh && !is_part {
            object.insert("status".to_owned(), Value::Object(Map::new()));
        }
        let emptied = call.default(&mut object);
        // What admission adds and what the server sets belongs to nobody.
        if self.notes(note) {
            managed::note(call, None, &mut object);
        }
        if is_fresh && is_part {
            object.insert("status".to_owned(), Value::Object(Map::new()));
            call.default(&mut object);
        }
        let review = Review::of_create(self, call, &given);
        let mut effects = Effects::default();
        admission::mutate(&review, &mut object, &mut effects)?;
        self.generate_name(call, &mut object, chance);
        self.allocate(call, &mut object, None, chance)?;
        introduce(call, &mut object);
        rules.prepare_create(&mut object, call.request.now);
        let mut errors = custom::type_mistakes(call, &object);
        if errors.is_empty() {
            errors = mistakes(call, &object);
        }
        if !errors.is_empty() {
            let (group, kind) = custom::told_kind(call, &object);
            let errors = call.as_upstream_tells(errors, &emptied);
            return Err(Failure::invalid(&group, &kind, object.name(), &errors));
        }
        let mut warnings = rules.warnings(&object);
        warnings.extend(advice::on_create(&call.resource, &object));
        let admitted = self
            .check_create(call)
            .and_then(|()| admission::validate(&review, &object, &mut effects));
        if let Err(refusal) = admitted {
            return Ok(Answer::from(refusal).warned(warnings));
        }
        warnings.append(&mut effects.warnings);
        call.conclude(&mut object, &emptied);
        depth::check(call, &object, None)?;
        let place = key(&call.resource, object.namespace(), object.name());
        // What is made by replacing or applying may name a version, which means nothing.
        let names_version = object
            .resource_version()
            .parse()
            .is_ok_and(|version: u64| version > 0);
        if call.request.method == Method::Post && names_version && !call.query.dry_run {
            let message = "resourceVersion should not be set on objects to be created";
            let refusal = Failure::new(500, "", message);
            return Ok(Answer::of(Err(refusal)).warned(warnings));
        }
        let version = object.resource_version();
        let is_odd = !version.is_empty() && version.parse::<u64>().is_err();
        if call.request.method != Method::Post && is_odd && !call.query.dry_run {
            let refusal = Failure::new(500, "", meta::no_number(version));
            return Ok(Answer::of(Err(refusal)).warned(warnings));
        }
        if let Some(taken) = self.store().get(&place) {
            let refusal = self.taken(call, &object, &taken.value.object(&call.resource));
            return Ok(Answer::of(Err(refusal)).warned(warnings));
        }
        if call.query.dry_run {
            return Ok(Answer::new(201, call.as_if_kept(&object)).warned(warnings));
        }
        let beside = self.beside(call, None, Some((&object, chance)));
        let body = self.write(call, &mut object, |stored| {
            beside.join(effects.join(Transaction::create(place, stored)))
        });
        let body = body.map_err(|_| Failure::already_exists(&call.resource, object.name()))?;
        Ok(Answer::new(201, body).warned(warnings))
    }

    /// Refuses a PUT or a server-side apply that creates an object, unless its user may create it: the request was
    /// authorized as an update or a patch. As upstream does, between validation and validating admission.
    fn check_create(&self, call: &Call<'_>) -> Result<(), Failure> {
        if call.request.method == Method::Post {
            return Ok(());
        }
        self.allow(&Attributes {
            user: call.request.user,
            verb: "create",
            target: Target::Resource(call.path.target()),
        })
    }

    /// Draws a name for a new object that has only the beginning of one, some more times if it is taken.
    fn generate_name(&self, call: &Call<'_>, object: &mut Object, chance: &mut Chance<'_>) {
        let is_limit_range =
            call.resource.group.is_empty() && call.resource.plural == "limitranges";
        let Some(prefix) = meta::generated_prefix(object) else {
            // These are named whether somebody asks for it or not.
            if is_limit_range && object.name().is_empty() {
                let name = chance.uid();
                object.meta_mut().insert("name".to_owned(), name.into());
            }
            return;
        };
        for _ in 0..DRAWS_MAX {
            // Addresses have no names that could be drawn.
            let name = match call.rules().name_rule() {
                NameRule::Address => object.meta_text("generateName").to_owned(),
                _ => format!("{prefix}{}", chance.suffix()),
            };
            let place = key(&call.resource, object.namespace(), &name);
            object.meta_mut().insert("name".to_owned(), name.into());
            if self.store().get(&place).is_none() {
                return;
            }
        }
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

/// The mistakes in a new object, in upstream's order: some kinds leave their metadata to be looked at if nothing else
/// is wrong, or after everything else.
fn mistakes(call: &Call<'_>, object: &Object) -> Vec<FieldError> {
    let (mut of_meta, mut own) = (meta::validate(call, object), call.mistakes(object, None));
    let resource = (call.resource.group.as_str(), call.resource.plural.as_str());
    match resource {
        ("", "events") | ("policy", "poddisruptionbudgets") if !own.is_empty() => own,
        // Any name will do for the kind itself; that it is a part of a path is looked at last.
        ("certificates.k8s.io", "certificatesigningrequests") => {
            of_meta.append(&mut own);
            let is_named =
                |error: &FieldError| error.field == "metadata.name" && !object.name().is_empty();
            if !of_meta.iter().all(is_named) {
                of_meta.retain(|error| !is_named(error));
            }
            of_meta
        }
        ("events.k8s.io", "events") => {
            // Between what all events have to fulfil and what only these have.
            let is_own = |error: &FieldError| {
                let first = error.field.split('.').next().unwrap_or_default();
                STRICT_EVENT_FIELDS.contains(&first)
            };
            let at = own.iter().position(is_own).unwrap_or(own.len());
            own.splice(at..at, of_meta);
            own
        }
        ("apiextensions.k8s.io", "customresourcedefinitions") => {
            // What a definition is called is looked at with its name.
            let is_name = |error: &FieldError| {
                matches!(
                    error.field.as_str(),
                    "metadata.name" | "metadata.generateName"
                )
            };
            let (mut names, rest): (Vec<_>, Vec<_>) = own.into_iter().partition(is_name);
            names.retain(|error| error.field != "metadata.name" || !object.name().is_empty());
            let (mut all, more): (Vec<_>, Vec<_>) = of_meta.into_iter().partition(is_name);
            all.extend(names);
            all.sort_by_key(|error| error.field == "metadata.name");
            all.extend(more);
            all.extend(rest);
            all
        }
        _ => {
            of_meta.append(&mut own);
            of_meta
        }
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
