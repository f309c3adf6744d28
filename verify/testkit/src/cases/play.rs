//! One case: read it, play it, tell what happened.

use std::collections::BTreeMap;
use std::fmt::Write;

use flyball_api::{ApiError, NAMESPACE_TERMINATING, ObjectName, Status, StatusCause, Timestamp};
use flyball_plan::{Answers, COMMON, Controller, Now, Rest, Revisit, Step, Target, lint};
use serde::Deserialize;
use serde_json::Value;

use super::{CaseKey, Prepared, short};
use crate::run::Stage;
use crate::{Caches, Fault, World};

/// As many stages as an engine allows.
const STAGES_MAX: usize = 32;

/// A case as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// The rule that it shows.
    pub(super) about: String,
    /// The upstream test that it was taken from: for readers only.
    #[serde(default, rename = "origin")]
    _origin: Option<String>,
    #[serde(default)]
    now: Option<Timestamp>,
    objects: Vec<Value>,
    key: String,
    #[serde(default)]
    meanwhile: Meanwhile,
    #[serde(default)]
    answers: BTreeMap<String, Vec<String>>,
    /// What it should do.
    #[serde(default)]
    pub(super) expect: String,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Meanwhile {
    put: Vec<Value>,
    gone: Vec<String>,
}

impl Case {
    pub(super) fn read(yaml: &str) -> Result<Self, String> {
        serde_saphyr::from_str(yaml).map_err(|error| error.to_string())
    }

    /// Runs one sync and tells what it did.
    pub(super) fn play<C>(&self, controller: &C, prepared: Prepared) -> Result<String, String>
    where
        C: Controller<Key: CaseKey>,
    {
        let mut world = prepared(self.now.map_or_else(World::default, World::new));
        for object in &self.objects {
            world.put(short::whole(object)?);
        }
        let mut caches = Caches::watched_by::<C>(&world);
        caches.catch_up(&world);
        for object in &self.meanwhile.put {
            world.put(short::whole(object)?);
        }
        for gone in &self.meanwhile.gone {
            let target = find(&world, gone)?;
            world.remove(&target);
        }
        let Some(key) = C::Key::named(&self.key) else {
            return Err(format!("{:?} names nothing to sync", self.key));
        };
        let Some(seen) = controller.observe(&key, &caches.snapshot(), &C::Memory::default()) else {
            return Ok("absent\n".to_owned());
        };
        let (mut out, mut answers) = (String::new(), Answers::none());
        while answers.len() <= STAGES_MAX {
            let actions = match controller.step(&seen, &answers, Now::at(world.now())) {
                Step::Rest(rest) => {
                    let details = rest.report.details.iter().map(|detail| detail.rule);
                    for rule in details.chain([rest.report.rule]) {
                        if !C::RULES.contains(&rule) && !COMMON.contains(&rule) {
                            return Err(format!("{rule:?} is no rule of the controller"));
                        }
                    }
                    out.push_str(&ending(&rest));
                    self.check_answers(&answers)?;
                    return Ok(out);
                }
                Step::Do(actions) => actions,
            };
            for found in lint(&actions) {
                let _ = writeln!(out, "lint: {found:?}");
            }
            self.plan_faults(actions.stage, &mut world)?;
            let stage = Stage::run(&mut world, actions, &self.key, &mut |_| Ok(()))?;
            world.heal();
            let _ = write!(out, "{stage}");
            answers.push(stage.actions, stage.answers);
        }
        Err(format!("does not rest after {STAGES_MAX} stages:\n{out}"))
    }

    fn plan_faults(&self, stage: &str, world: &mut World) -> Result<(), String> {
        let answers = self.answers.get(stage).into_iter().flatten();
        for (nth, answer) in (0..).zip(answers) {
            if let Some(fault) = fault(answer)? {
                world.fail(nth, fault);
            }
        }
        Ok(())
    }

    /// An answer for a stage that never came would make the case say less than it seems to.
    fn check_answers(&self, given: &Answers) -> Result<(), String> {
        match self
            .answers
            .keys()
            .find(|stage| given.stage(stage).is_none())
        {
            Some(stage) => Err(format!("there was no stage {stage:?} to answer")),
            None => Ok(()),
        }
    }
}

fn ending(rest: &Rest) -> String {
    let report = &rest.report;
    match &rest.revisit {
        Revisit::OnChange => format!("rests: {report}\n"),
        Revisit::After(time) => format!("looks again in {time:?}: {report}\n"),
        Revisit::BackOff(error) => format!("retries ({error}): {report}\n"),
        Revisit::Conflict(error) => format!("looks again soon ({error}): {report}\n"),
        Revisit::Permanent(error) => format!("refused for good ({error}): {report}\n"),
    }
}

/// Finds `Pod default/web-a`.
fn find(world: &World, text: &str) -> Result<Target, String> {
    let (kind, name) = text.split_once(' ').unwrap_or((text, ""));
    let name = ObjectName::named(name).unwrap_or_default();
    let found = world
        .objects()
        .find(|(id, _)| id.0.kind == kind && id.1 == name);
    found
        .map(|((kind, name), _)| Target {
            kind: *kind,
            name: name.clone(),
        })
        .ok_or_else(|| format!("there is no {text}"))
}

/// An answer of validation that names a field, as `Invalid` alone, said by webhooks, does not.
const FIELD_INVALID: &str = "FieldInvalid";

/// Reads `ok`, `lost`, or a reason with or without a message.
fn fault(text: &str) -> Result<Option<Fault>, String> {
    let (reason, message) = text
        .split_once(": ")
        .unwrap_or((text, "so the case wants it"));
    let code = match reason {
        "ok" => return Ok(None),
        "lost" => return Ok(Some(Fault::AnswerLost)),
        "NotFound" => 404,
        "Conflict" | "AlreadyExists" => 409,
        "Invalid" | FIELD_INVALID => 422,
        "Forbidden" | NAMESPACE_TERMINATING => 403,
        "Timeout" => 504,
        "TooManyRequests" => 429,
        "InternalError" => 500,
        _ => {
            return Err(format!(
                "{reason:?} is no answer: ok, lost, or a reason as NotFound"
            ));
        }
    };
    let mut status = Status::failure(code, reason, message);
    if reason == NAMESPACE_TERMINATING {
        status.reason = "Forbidden".into();
        let cause = StatusCause {
            cause_type: reason.into(),
            ..StatusCause::default()
        };
        status.details.get_or_insert_default().causes.push(cause);
    }
    if reason == FIELD_INVALID {
        status.reason = "Invalid".into();
        let cause = StatusCause {
            field: "spec".into(),
            ..StatusCause::default()
        };
        status.details.get_or_insert_default().causes.push(cause);
    }
    Ok(Some(Fault::Refused(ApiError::from_status(status))))
}
