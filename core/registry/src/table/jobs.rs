//! Jobs and what starts them at times.

use serde_json::Value;

use super::age;
use super::columns::{
    AGE, CONTAINERS, IMAGES, NAME, Printer, SELECTOR, boolean, cells, integer, text,
};
use super::row::{Row, containers, selector_or_none};

pub(super) const JOBS: Printer = Printer {
    columns: &[
        NAME,
        text("Status", "How far it has come."),
        text(
            "Completions",
            "How many pods succeeded, of those that must.",
        ),
        text("Duration", "How long it has been running, or ran."),
        AGE,
        CONTAINERS,
        IMAGES,
        SELECTOR,
    ],
    cells: |row| {
        let [names, images] = containers(row.at("spec.template.spec.containers"));
        cells![
            row.name(),
            job_status(row),
            completions(row),
            duration(row),
            row.age(),
            names,
            images,
            selector_or_none(row.at("spec.selector")),
        ]
    },
};

fn job_status(row: &Row<'_>) -> &'static str {
    let is = |of: &str| row.condition(of).is_some_and(|one| one["status"] == "True");
    // What is final comes first.
    if is("Complete") {
        "Complete"
    } else if is("Failed") {
        "Failed"
    } else if row.is_deleting() {
        "Terminating"
    } else if is("Suspended") {
        "Suspended"
    } else if is("FailureTarget") {
        "FailureTarget"
    } else if is("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

fn completions(row: &Row<'_>) -> String {
    let succeeded = row.number("status.succeeded");
    let parallelism = row.number("spec.parallelism");
    match row.at("spec.completions").as_i64() {
        Some(completions) => format!("{succeeded}/{completions}"),
        None if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        None => format!("{succeeded}/1"),
    }
}

fn duration(row: &Row<'_>) -> String {
    let Some(start) = age::time(row.at("status.startTime")) else {
        return String::new();
    };
    age::between(
        start,
        age::time(row.at("status.completionTime")).unwrap_or(row.now),
    )
}

pub(super) const CRON_JOBS: Printer = Printer {
    columns: &[
        NAME,
        text("Schedule", "When jobs start, in cron's notation."),
        text("Timezone", "The time zone of the schedule."),
        boolean("Suspend", "Whether no further jobs start."),
        integer("Active", "How many of its jobs are running."),
        text("Last Schedule", "How long ago a job last started."),
        AGE,
        CONTAINERS,
        IMAGES,
        SELECTOR,
    ],
    cells: |row| {
        let [names, images] = containers(row.at("spec.jobTemplate.spec.template.spec.containers"));
        let suspend = match row.at("spec.suspend") {
            Value::Bool(true) => "True",
            Value::Bool(false) => "False",
            _ => "<unset>",
        };
        let last = match row.at("status.lastScheduleTime") {
            Value::Null => "<none>".into(),
            last => age::since(last, row.now),
        };
        cells![
            row.name(),
            row.text("spec.schedule"),
            row.text_or("spec.timeZone", "<none>"),
            suspend,
            row.count("status.active"),
            last,
            row.age(),
            names,
            images,
            selector_or_none(row.at("spec.jobTemplate.spec.selector")),
        ]
    },
};
