//! The rules of a kind as data, for all kinds that are ordinary enough.

use flyball_api::Timestamp;
use serde_json::Value;

use super::checks::same;
use super::fill::{Line, fill};
use super::pod;
use super::spot::Errors;
use super::{NameRule, Rules};
use crate::field_error::FieldError;
use crate::object::{Meta, Object, at};

/// What is particular about a kind; [`Sheet::PLAIN`] has nothing that is.
pub(super) struct Sheet {
    /// What is filled in.
    pub(super) defaults: &'static [Line],
    /// Where its pod templates are.
    pub(super) templates: &'static [&'static str],
    /// What is filled in beyond the table.
    pub(super) default: fn(&mut Object),
    /// Whether a new object starts with an empty status, whatever was sent.
    pub(super) fresh_status: bool,
    /// See [`Rules::prepare_create`].
    pub(super) create: fn(&mut Object, Timestamp),
    /// See [`Rules::prepare_update`].
    pub(super) update: fn(&mut Object, &Object),
    /// See [`Rules::prepare_status_update`].
    pub(super) update_status: fn(&mut Object, &Object),
    /// See [`Rules::prepare_part`].
    pub(super) update_part: fn(&str, &mut Object, &Object, Timestamp),
    /// The fields whose changes the generation counts, the labels and annotations apart; none for a
    /// kind without a generation.
    pub(super) generation: &'static [&'static str],
    /// See [`Rules::tells_empty_from_none`].
    pub(super) counts_empty: &'static str,
    /// See [`Rules::hide`].
    pub(super) hide: fn(&Object) -> Option<(Object, String)>,
    /// See [`Rules::reveal`].
    pub(super) reveal: fn(&mut Object, &str),
    /// See [`Rules::conclude`].
    pub(super) conclude: fn(&mut Object),
    /// Whether changed annotations count too.
    pub(super) counts_annotations: bool,
    /// The mistakes in a new object that an update may keep.
    pub(super) check_create: fn(&Object, &mut Errors),
    /// The mistakes in any version of the object.
    pub(super) check: fn(&Object, &mut Errors),
    /// The mistakes in what an update changes.
    pub(super) check_update: fn(&Object, &Object, &mut Errors),
    /// The mistakes in an update, in upstream's order, for kinds where those in what changes come first.
    pub(super) check_whole_update: Option<fn(&Object, &Object, &mut Errors)>,
    /// See [`Rules::validate_emptied`].
    pub(super) check_emptied: fn(&[String], &Object, &mut Errors),
    /// The mistakes in what an update of the status changes.
    pub(super) check_status: fn(&Object, &Object, &mut Errors),
    /// The mistakes in what an update of another part, or of the status, changes.
    pub(super) check_part: fn(&str, &Object, &Object, &mut Errors),
    /// See [`Rules::warnings`].
    pub(super) warnings: fn(&Object) -> Vec<String>,
    /// See [`Rules::selectable_fields`].
    pub(super) fields: &'static [&'static str],
    /// See [`Rules::name_rule`].
    pub(super) names: NameRule,
    /// See [`Rules::name_mistake`].
    pub(super) name_mistake: fn(&Object, &str) -> Option<String>,
    /// See [`Rules::creates_on_update`].
    pub(super) creates_on_update: bool,
}

impl Sheet {
    /// Nothing in particular.
    pub(super) const PLAIN: Self = Self {
        defaults: &[],
        templates: &[],
        default: |_| {},
        fresh_status: false,
        create: |_, _| {},
        update: |_, _| {},
        update_status: |_, _| {},
        update_part: |_, _, _, _| {},
        generation: &[],
        counts_empty: "",
        hide: |_| None,
        reveal: |_, _| {},
        conclude: |_| {},
        counts_annotations: false,
        check_create: |_, _| {},
        check: |_, _| {},
        check_update: |_, _, _| {},
        check_whole_update: None,
        check_emptied: |_, _, _| {},
        check_status: |_, _, _| {},
        check_part: |_, _, _, _| {},
        warnings: |_| Vec::new(),
        fields: &[],
        names: NameRule::Subdomain,
        name_mistake: |_, _| None,
        creates_on_update: false,
    };
}

impl Rules for Sheet {
    fn default(&self, object: &mut Object) {
        fill(object, self.defaults);
        for way in self.templates {
            pod::default_template(object, way);
        }
        (self.default)(object);
    }

    fn prepare_create(&self, object: &mut Object, now: Timestamp) {
        if self.fresh_status {
            object.insert("status".to_owned(), Value::Object(Object::new()));
        }
        (self.create)(object, now);
    }

    fn prepare_update(&self, new: &mut Object, old: &Object) {
        (self.update)(new, old);
    }

    fn prepare_status_update(&self, new: &mut Object, old: &Object) {
        (self.update_status)(new, old);
    }

    fn prepare_part(&self, part: &str, new: &mut Object, old: &Object, now: Timestamp) {
        (self.update_part)(part, new, old, now);
    }

    fn hide(&self, object: &Object) -> Option<(Object, String)> {
        (self.hide)(object)
    }

    fn reveal(&self, object: &mut Object, hidden: &str) {
        (self.reveal)(object, hidden);
    }

    fn conclude(&self, object: &mut Object) {
        (self.conclude)(object);
    }

    fn tells_empty_from_none(&self) -> &'static str {
        self.counts_empty
    }

    fn has_generation(&self) -> bool {
        !self.generation.is_empty()
    }

    fn bumps_generation(&self, new: &Object, old: &Object) -> bool {
        // An annotation without a value is one.
        let annotations = |object: &Object| {
            let annotations = object.meta()["annotations"].as_object().cloned();
            annotations.unwrap_or_default()
        };
        self.generation
            .iter()
            .any(|field| !same(at(new, field), at(old, field)))
            || (self.counts_annotations && annotations(new) != annotations(old))
    }

    fn validate_create(&self, object: &Object) -> Vec<FieldError> {
        let mut errors = Errors::new();
        (self.check)(object, &mut errors);
        (self.check_create)(object, &mut errors);
        errors
    }

    fn validate_update(&self, new: &Object, old: &Object) -> Vec<FieldError> {
        let mut errors = Errors::new();
        if let Some(check) = self.check_whole_update {
            check(new, old, &mut errors);
            return errors;
        }
        (self.check)(new, &mut errors);
        (self.check_update)(new, old, &mut errors);
        errors
    }

    fn validate_status_update(&self, new: &Object, old: &Object) -> Vec<FieldError> {
        let mut errors = Errors::new();
        (self.check_status)(new, old, &mut errors);
        (self.check_part)("status", new, old, &mut errors);
        errors
    }

    fn validate_emptied(&self, emptied: &[String], old: &Object) -> Vec<FieldError> {
        let mut errors = Errors::new();
        (self.check_emptied)(emptied, old, &mut errors);
        errors
    }

    fn validate_part(&self, part: &str, new: &Object, old: &Object) -> Vec<FieldError> {
        let mut errors = Errors::new();
        (self.check_part)(part, new, old, &mut errors);
        errors
    }

    fn warnings(&self, object: &Object) -> Vec<String> {
        (self.warnings)(object)
    }

    fn selectable_fields(&self) -> &'static [&'static str] {
        self.fields
    }

    fn name_rule(&self) -> NameRule {
        self.names
    }

    fn name_mistake(&self, object: &Object, name: &str) -> Option<String> {
        (self.name_mistake)(object, name)
    }

    fn creates_on_update(&self) -> bool {
        self.creates_on_update
    }
}
