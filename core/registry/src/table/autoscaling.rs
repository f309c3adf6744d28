//! Autoscalers and scales.

use serde_json::{Value, json};

use super::columns::{AGE, NAME, Printer, cells, date, integer, text as column};
use super::row::{Row, list, quantity, shortened, text};

/// How many metrics are shown of each autoscaler.
const SHOWN_MAX: usize = 2;

pub(super) const AUTOSCALERS: Printer = Printer {
    columns: &[
        NAME,
        column("Reference", "What it scales."),
        column("Targets", "The first metrics: what is, and what should be."),
        column("MinPods", "How many pods there are at least."),
        column("MaxPods", "How many pods there are at most."),
        column("Replicas", "How many pods there are."),
        AGE,
    ],
    cells: |row| {
        let target = row.at("spec.scaleTargetRef");
        let least = row.at("spec.minReplicas").as_i64();
        cells![
            row.name(),
            format!("{}/{}", text(&target["kind"]), text(&target["name"])),
            targets(row),
            least.map_or_else(|| "<unset>".into(), |least| least.to_string()),
            row.number("spec.maxReplicas"),
            row.number("status.currentReplicas"),
            row.age(),
        ]
    },
};

fn targets(row: &Row<'_>) -> String {
    let (old_wanted, old_found) = of_version_1(row);
    let wanted = [list(row.at("spec.metrics")), &old_wanted].concat();
    let found = [list(row.at("status.currentMetrics")), &old_found].concat();
    if wanted.is_empty() {
        return "<none>".into();
    }
    let shown = wanted.iter().enumerate();
    let shown = shown.map(|(at, wanted)| metric(wanted, found.get(at).unwrap_or(&Value::Null)));
    shortened(&shown.collect::<Vec<_>>(), SHOWN_MAX, ", ")
}

/// What `autoscaling/v1` says, as metrics of version 2: processor time in fields, all else in annotations.
///
/// The order is lost in version 1 if processor time is not the first metric.
fn of_version_1(row: &Row<'_>) -> (Vec<Value>, Vec<Value>) {
    let percent = |path: &str, side: &str| {
        let percent = row.at(path).as_i64();
        let metric = percent.map(|percent| {
            let value = json!({ "averageUtilization": percent });
            json!({ "type": "Resource", "resource": { "name": "cpu", side: value } })
        });
        Vec::from_iter(metric)
    };
    let mut wanted = percent("spec.targetCPUUtilizationPercentage", "target");
    wanted.extend(annotated(
        row,
        "autoscaling.alpha.kubernetes.io/metrics",
        "target",
    ));
    let mut found = annotated(
        row,
        "autoscaling.alpha.kubernetes.io/current-metrics",
        "current",
    );
    if found.is_empty() {
        found = percent("status.currentCPUUtilizationPercentage", "current");
    }
    (wanted, found)
}

/// Metrics that version 1 keeps as JSON in an annotation.
fn annotated(row: &Row<'_>, annotation: &str, side: &str) -> Vec<Value> {
    let written = row.annotation(annotation).unwrap_or_default();
    let metrics: Vec<Value> = serde_json::from_str(written).unwrap_or_default();
    let translate = |metric: Value| {
        let source = metric
            .as_object()
            .into_iter()
            .flatten()
            .find(|(_, part)| part.is_object());
        let Some((key, part)) = source else {
            return metric;
        };
        let field = |name: &str| part.get(format!("{side}{name}")).cloned();
        let average = field("AverageValue").or_else(|| part.get("averageValue").cloned());
        let value = json!({
            "averageUtilization": field("AverageUtilization"),
            "averageValue": average,
            "value": field("Value"),
        });
        json!({ "type": metric["type"], key: { "name": part["name"], side: value } })
    };
    metrics.into_iter().map(translate).collect()
}

fn metric(wanted: &Value, found: &Value) -> String {
    let of = match text(&wanted["type"]) {
        "External" => "external",
        "Object" => "object",
        "Pods" => "pods",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".into(),
    };
    let (wanted, found) = (&wanted[of], &found[of]);
    let (target, current) = (&wanted["target"], &found["current"]);
    let unknown = || "<unknown>".to_owned();
    match of {
        "external" | "object" if !target["averageValue"].is_null() => {
            let average = &current["averageValue"];
            let current = if average.is_null() {
                unknown()
            } else {
                quantity(average)
            };
            format!("{current}/{} (avg)", quantity(&target["averageValue"]))
        }
        "external" | "object" => {
            let current = if found.is_null() {
                unknown()
            } else {
                quantity(&current["value"])
            };
            format!("{current}/{}", quantity(&target["value"]))
        }
        "pods" => {
            let current = if found.is_null() {
                unknown()
            } else {
                quantity(&current["averageValue"])
            };
            format!("{current}/{}", quantity(&target["averageValue"]))
        }
        _ if !target["averageValue"].is_null() => {
            let current = if found.is_null() {
                unknown()
            } else {
                quantity(&current["averageValue"])
            };
            format!(
                "{}: {current}/{}",
                text(&wanted["name"]),
                quantity(&target["averageValue"])
            )
        }
        _ => {
            let percent = |of: &Value, other: &str| match of["averageUtilization"].as_i64() {
                Some(percent) => format!("{percent}%"),
                None => other.to_owned(),
            };
            let (current, target) = (percent(current, "<unknown>"), percent(target, "<auto>"));
            format!("{}: {current}/{target}", text(&wanted["name"]))
        }
    }
}

/// Scales of custom objects, which another of upstream's servers shows.
pub(super) const CUSTOM_SCALES: Printer = Printer {
    columns: &[
        NAME,
        integer("Desired", "How many pods there should be."),
        integer("Available", "How many pods there are."),
        date("Age", super::columns::AGE_DESCRIPTION),
    ],
    // What is not told of a scale is not in its row.
    cells: |row| {
        cells![
            row.name(),
            row.at("spec.replicas").clone(),
            row.at("status.replicas").clone(),
            row.age()
        ]
    },
};

pub(super) const SCALES: Printer = Printer {
    columns: &[
        column("Name", super::columns::NAME_DESCRIPTION),
        integer("Desired", "How many pods there should be."),
        integer("Available", "How many pods there are."),
        AGE,
    ],
    cells: |row| {
        cells![
            row.name(),
            row.number("spec.replicas"),
            row.number("status.replicas"),
            row.age()
        ]
    },
};
