//! HorizontalPodAutoscalers of the first version, which knows one measure: the share of cpu.
//!
//! What it cannot say is told in annotations, in the notation of that version.

use serde_json::{Map, Value, json};

use super::behavior;
use super::metrics::{self, Side};
use crate::object::{Meta, Object, at};

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
const CURRENT: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";

/// Annotations that stand for fields and nothing else.
const STAND_INS: [&str; 6] = [
    METRICS,
    BEHAVIOR,
    CURRENT,
    CONDITIONS,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];

/// The share of cpu that is aimed at if nothing else is.
const CPU_PERCENT: i64 = 80;

fn cpu(percent: &Value) -> Value {
    json!({
        "type": "Resource",
        "resource": {
            "name": "cpu",
            "target": {"type": "Utilization", "averageUtilization": percent},
        },
    })
}

/// The share of cpu that a measure is about.
fn cpu_percent(metric: &Value) -> Option<&Value> {
    let is_cpu = metric["type"] == "Resource" && metric["resource"]["name"] == "cpu";
    let percent = &metric["resource"]["target"]["averageUtilization"];
    Some(percent).filter(|percent| is_cpu && !percent.is_null())
}

fn annotation(scaler: &Object, name: &str) -> Option<Value> {
    let text = scaler.meta()["annotations"][name].as_str()?;
    serde_json::from_str(text).ok()
}

fn without_stand_ins(scaler: &mut Object) {
    let meta = scaler.meta_mut();
    if let Some(Value::Object(annotations)) = meta.get_mut("annotations") {
        annotations.retain(|name, _| !STAND_INS.contains(&name.as_str()));
        if annotations.is_empty() {
            meta.remove("annotations");
        }
    }
}

fn list(scaler: &Object, path: &str) -> Vec<Value> {
    at(scaler, path).as_array().cloned().unwrap_or_default()
}

fn copy(from: &Value, to: &mut Map<String, Value>, fields: &[&str]) {
    for field in fields {
        if let Some(value) = from.get(*field) {
            to.insert((*field).to_owned(), value.clone());
        }
    }
}

pub(super) fn to_kept(mut scaler: Object) -> Object {
    let before = at(&scaler, "spec").clone();
    let mut spec = Map::new();
    copy(
        &before,
        &mut spec,
        &["scaleTargetRef", "minReplicas", "maxReplicas"],
    );
    if before["minReplicas"].is_null() {
        spec.insert("minReplicas".to_owned(), 1.into());
    }
    spec.entry("scaleTargetRef").or_insert_with(|| json!({}));
    let own = &before["targetCPUUtilizationPercentage"];
    let own = (!own.is_null()).then(|| cpu(own));
    let others = annotation(&scaler, METRICS).and_then(|all| {
        all.as_array()?
            .iter()
            .map(|metric| metrics::read(metric, Side::Target))
            .collect::<Option<Vec<_>>>()
    });
    let mut all: Vec<Value> = others.unwrap_or_default();
    all.extend(own);
    if all.is_empty() {
        all.push(cpu(&CPU_PERCENT.into()));
    }
    spec.insert("metrics".to_owned(), all.into());
    let behavior = annotation(&scaler, BEHAVIOR).and_then(|written| behavior::read(&written));
    if let Some(behavior) = behavior {
        spec.insert("behavior".to_owned(), behavior);
    }
    let before = at(&scaler, "status").clone();
    let mut status = Map::new();
    let counts = ["observedGeneration", "lastScaleTime"];
    copy(&before, &mut status, &counts);
    copy(&before, &mut status, &["desiredReplicas"]);
    // None is what is not there, as the kept version writes it.
    if before["currentReplicas"]
        .as_i64()
        .is_some_and(|count| count != 0)
    {
        copy(&before, &mut status, &["currentReplicas"]);
    }
    let written = annotation(&scaler, CURRENT).and_then(|all| {
        all.as_array()?
            .iter()
            .map(|metric| metrics::read(metric, Side::Current))
            .collect::<Option<Vec<_>>>()
    });
    let percent = &before["currentCPUUtilizationPercentage"];
    let current = match written {
        Some(all) => Value::from(all),
        None if percent.is_null() => Value::Null,
        None => json!([{
            "type": "Resource",
            "resource": {"name": "cpu", "current": {"averageUtilization": percent}},
        }]),
    };
    status.insert("currentMetrics".to_owned(), current);
    if let Some(conditions) = annotation(&scaler, CONDITIONS).filter(Value::is_array) {
        status.insert("conditions".to_owned(), conditions);
    }
    without_stand_ins(&mut scaler);
    scaler.insert("spec".to_owned(), spec.into());
    scaler.insert("status".to_owned(), status.into());
    scaler
}

pub(super) fn from_kept(mut scaler: Object) -> Object {
    without_stand_ins(&mut scaler);
    let before = at(&scaler, "spec").clone();
    let mut spec = Map::new();
    copy(
        &before,
        &mut spec,
        &["scaleTargetRef", "minReplicas", "maxReplicas"],
    );
    let all = list(&scaler, "spec.metrics");
    if let Some(percent) = all.iter().find_map(cpu_percent) {
        let field = "targetCPUUtilizationPercentage";
        spec.insert(field.to_owned(), percent.clone());
    }
    let mut annotations: Vec<(&str, String)> = Vec::new();
    let others = all.iter().filter(|one| cpu_percent(one).is_none());
    let others: Vec<String> = others
        .map(|metric| metrics::write(metric, Side::Target))
        .collect();
    if !others.is_empty() {
        annotations.push((METRICS, format!("[{}]", others.join(","))));
    }
    let current = list(&scaler, "status.currentMetrics");
    if !current.is_empty() {
        let told: Vec<String> = current
            .iter()
            .map(|metric| metrics::write(metric, Side::Current))
            .collect();
        annotations.push((CURRENT, format!("[{}]", told.join(","))));
    }
    if !before["behavior"].is_null() {
        annotations.push((BEHAVIOR, behavior::write(&before["behavior"])));
    }
    let conditions = list(&scaler, "status.conditions");
    if !conditions.is_empty() {
        let told: Vec<String> = conditions.iter().map(metrics::write_condition).collect();
        annotations.push((CONDITIONS, format!("[{}]", told.join(","))));
    }
    let before = at(&scaler, "status").clone();
    let mut status = Map::new();
    copy(
        &before,
        &mut status,
        &["observedGeneration", "lastScaleTime"],
    );
    for field in ["currentReplicas", "desiredReplicas"] {
        let count = before[field].as_i64().unwrap_or_default();
        status.insert(field.to_owned(), count.into());
    }
    let percents = current
        .iter()
        .filter(|one| one["type"] == "Resource" && one["resource"]["name"] == "cpu");
    let mut percents = percents.map(|one| &one["resource"]["current"]["averageUtilization"]);
    if let Some(percent) = percents.rfind(|percent| !percent.is_null()) {
        let field = "currentCPUUtilizationPercentage";
        status.insert(field.to_owned(), percent.clone());
    }
    for (name, text) in annotations {
        let all = scaler
            .meta_mut()
            .entry("annotations")
            .or_insert_with(|| json!({}));
        all[name] = text.into();
    }
    scaler.insert("spec".to_owned(), spec.into());
    scaler.insert("status".to_owned(), status.into());
    scaler
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Object {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn what_the_first_version_cannot_say_survives_it() {
        let kept = object(json!({
            "metadata": {"name": "a", "annotations": {"x": "y"}},
            "spec": {
                "maxReplicas": 3,
                "minReplicas": 1,
                "scaleTargetRef": {"kind": "Deployment", "name": "x"},
                "metrics": [
                    {"type": "Pods", "pods": {
                        "metric": {"name": "qps"},
                        "target": {"type": "AverageValue", "averageValue": "10"},
                    }},
                    {"type": "Resource", "resource": {
                        "name": "cpu",
                        "target": {"type": "Utilization", "averageUtilization": 70},
                    }},
                ],
                "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}},
            },
            "status": {
                "desiredReplicas": 1,
                "currentMetrics": [{"type": "Pods", "pods": {
                    "metric": {"name": "qps"},
                    "current": {"averageValue": "7"},
                }}],
                "conditions": [
                    {"type": "AbleToScale", "status": "True", "lastTransitionTime": "t"},
                ],
            },
        }));
        let told = from_kept(kept.clone());
        assert_eq!(told["spec"]["targetCPUUtilizationPercentage"], 70);
        assert_eq!(
            told["metadata"]["annotations"][METRICS],
            r#"[{"type":"Pods","pods":{"metricName":"qps","targetAverageValue":"10"}}]"#
        );
        assert_eq!(to_kept(told), kept);
    }

    #[test]
    fn nonsense_in_annotations_is_dropped() {
        let scaler = object(json!({
            "metadata": {"annotations": {METRICS: "nonsense", BEHAVIOR: "[]"}},
            "spec": {"maxReplicas": 3},
        }));
        let kept = to_kept(scaler);
        assert_eq!(kept["spec"]["metrics"], json!([cpu(&json!(80))]));
        assert!(kept.meta()["annotations"].is_null());
        assert!(kept["spec"]["behavior"].is_null());
    }
}
