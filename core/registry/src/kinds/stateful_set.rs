//! StatefulSets, and the ControllerRevisions that remember them.
//!
//! Upstream: `pkg/apis/apps/v1/defaults.go`, `pkg/apis/apps/validation/validation.go`,
//! `pkg/registry/apps/statefulset/strategy.go`.

use serde_json::{Value, json};

use super::NameRule;
use super::checks::{self, same};
use super::fill::Fill::{Empty, Int, OptionalText, Text};
use super::fill::{each, fill, fill_each};
use super::labels;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use super::statuses::Counts;
use super::templates;
use crate::object::{Object, at};

/// What may change once a StatefulSet is there.
const CHANGEABLE: [&str; 7] = [
    "replicas",
    "template",
    "updateStrategy",
    "minReadySeconds",
    "ordinals",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
];

pub(super) static STATEFUL_SET: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.podManagementPolicy", Text("OrderedReady")),
        ("spec.persistentVolumeClaimRetentionPolicy", Empty),
        (
            "spec.persistentVolumeClaimRetentionPolicy.whenDeleted",
            Text("Retain"),
        ),
        (
            "spec.persistentVolumeClaimRetentionPolicy.whenScaled",
            Text("Retain"),
        ),
        ("spec.replicas", Int(1)),
        ("spec.revisionHistoryLimit", Int(10)),
        ("spec.serviceName", OptionalText("")),
        ("spec.template", Empty),
        ("spec.updateStrategy", Empty),
    ],
    templates: &["spec.template"],
    default: default_strategy_and_claims,
    fresh_status: true,
    create: |object, _| {
        drop_unavailable(object);
        each(object, "status", &mut |status| {
            fill(
                status,
                &[("replicas", Int(0)), ("availableReplicas", Int(0))],
            );
        });
    },
    update: |new, _| drop_unavailable(new),
    generation: &["spec"],
    check: |object, errors| check(object, true, errors),
    check_whole_update: Some(|new, old, errors| {
        check(new, false, errors);
        check_update(new, old, errors);
    }),
    check_status: |new, old, errors| {
        let counts = Counts {
            all: &[
                "replicas",
                "readyReplicas",
                "currentReplicas",
                "updatedReplicas",
                "availableReplicas",
                "observedGeneration",
                "collisionCount",
            ],
            parts: &[
                "readyReplicas",
                "currentReplicas",
                "updatedReplicas",
                "availableReplicas",
            ],
            ready: "status.readyReplicas",
        };
        counts.check(new, old, errors);
    },
    names: NameRule::Label,
    ..Sheet::PLAIN
};

/// How many pods may be missing during a roll is off by default upstream.
fn drop_unavailable(object: &mut Object) {
    each(
        object,
        "spec.updateStrategy.rollingUpdate",
        &mut |rolling| {
            rolling.remove("maxUnavailable");
        },
    );
}

fn default_strategy_and_claims(object: &mut Object) {
    each(object, "spec.updateStrategy", &mut |strategy| {
        let kind = strategy
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if kind.is_empty() {
            fill(
                strategy,
                &[("type", Text("RollingUpdate")), ("rollingUpdate", Empty)],
            );
        }
        if strategy.get("type") == Some(&json!("RollingUpdate")) {
            fill(strategy, &[("rollingUpdate.partition", Int(0))]);
        }
    });
    each(object, "spec.volumeClaimTemplates[]", &mut |claim| {
        fill(
            claim,
            &[
                ("apiVersion", Text("v1")),
                ("kind", Text("PersistentVolumeClaim")),
            ],
        );
        super::claims::default_claim(claim);
    });
    fill_each(
        object,
        "spec.volumeClaimTemplates[]",
        &[("metadata", Empty)],
    );
}

/// What cannot change is looked at in new objects only.
fn check(object: &Object, is_new: bool, errors: &mut Errors) {
    let spec = Spot::of(object, "spec");
    let policy = spec.get("podManagementPolicy");
    if policy.is_empty() {
        errors.push(policy.required(""));
    } else if !["OrderedReady", "Parallel"].contains(&policy.text()) {
        errors.push(policy.invalid("must be 'OrderedReady' or 'Parallel'"));
    }
    check_strategy(&spec.get("updateStrategy"), errors);
    let retention = spec.get("persistentVolumeClaimRetentionPolicy");
    for moment in ["whenDeleted", "whenScaled"] {
        checks::one_of_if_set(&retention.get(moment), &["Retain", "Delete"], errors);
    }
    let claims = spec.get("volumeClaimTemplates");
    for claim in claims.items().filter(|_| is_new) {
        super::claims::check_spec(&claim.get("spec"), false, errors);
    }
    for field in ["replicas", "minReadySeconds"] {
        checks::not_negative(&spec.get(field), errors);
    }
    checks::not_negative(&spec.get("ordinals").get("start"), errors);
    let service = spec.get("serviceName");
    if is_new && !service.is_empty() {
        checks::name(&service, NameRule::Label, errors);
    }
    let selector = spec.get("selector");
    checks::given(&selector, errors);
    labels::check_selector(&selector, errors);
    if selector.is_set() && templates::is_empty_selector(selector.value()) {
        errors.push(selector.invalid("empty selector is invalid for statefulset"));
    }
    // The claims' volumes are mounted as if the template had them.
    let mut whole = spec.value().clone();
    add_claimed_volumes(&mut whole);
    let whole = Spot::root("spec", &whole);
    let template = whole.get("template");
    match labels::compiled(selector.value()) {
        Some(compiled) => {
            templates::check_selected(&template, &compiled, errors);
            templates::check(&template, errors);
        }
        None => errors.push(selector.invalid("")),
    }
    templates::check_runs_forever(&template, "StatefulSet", errors);
}

fn add_claimed_volumes(spec: &mut Value) {
    let claims = spec["volumeClaimTemplates"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let Some(pod) = spec["template"]["spec"].as_object_mut() else {
        return;
    };
    // The controller sets both from its own and the pod's name.
    pod.remove("subdomain");
    pod.remove("hostname");
    if claims.is_empty() {
        return;
    }
    let mut names: Vec<Value> = Vec::new();
    for claim in &claims {
        let name = &claim["metadata"]["name"];
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let own = pod.remove("volumes");
    let own = own.as_ref().and_then(Value::as_array).into_iter().flatten();
    let own = own
        .filter(|volume| !names.contains(&volume["name"]))
        .cloned();
    let claimed = names
        .iter()
        .map(|name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}}));
    let volumes: Vec<Value> = claimed.chain(own).collect();
    pod.insert("volumes".to_owned(), Value::Array(volumes));
}

fn check_strategy(strategy: &Spot, errors: &mut Errors) {
    let rolling = strategy.get("rollingUpdate");
    match strategy.get("type").text() {
        "" => errors.push(strategy.required("")),
        "OnDelete" if rolling.is_set() => {
            errors.push(rolling.invalid("only allowed for updateStrategy 'RollingUpdate'"));
        }
        "OnDelete" => {}
        "RollingUpdate" => {
            checks::not_negative(&rolling.get("partition"), errors);
            let unavailable = rolling.get("maxUnavailable");
            if unavailable.is_set() {
                checks::number_or_percent(&unavailable, errors);
                if checks::is_zero_share(&unavailable) {
                    errors.push(unavailable.invalid("cannot be 0"));
                }
                checks::at_most_hundred_percent(&unavailable, errors);
            }
        }
        _ => errors.push(strategy.invalid("must be 'RollingUpdate' or 'OnDelete'")),
    }
}

fn check_update(new: &Object, old: &Object, errors: &mut Errors) {
    let rest = |object: &Object| {
        let mut spec = at(object, "spec").as_object().cloned().unwrap_or_default();
        CHANGEABLE.iter().for_each(|field| {
            spec.remove(*field);
        });
        // What kind of template it is goes without saying.
        each(&mut spec, "volumeClaimTemplates[]", &mut |claim| {
            claim.retain(|field, _| field != "apiVersion" && field != "kind");
        });
        Value::Object(spec)
    };
    if !same(&rest(new), &rest(old)) {
        errors.push(Spot::of(new, "spec").forbidden(
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
             'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
             'minReadySeconds' are forbidden",
        ));
    }
}

/// The revisions that remember what workloads were.
pub(super) static CONTROLLER_REVISION: Sheet = Sheet {
    check: |revision, errors| checks::not_negative(&Spot::of(revision, "revision"), errors),
    check_create: |revision, errors| {
        let data = Spot::of(revision, "data");
        if !data.is_set() {
            errors.push(data.required("data is mandatory"));
        } else if !data.value().is_object() {
            errors.push(data.required("data must be a valid JSON object"));
        }
    },
    check_update: |new, old, errors| {
        checks::immutable(&Spot::of(new, "data"), at(old, "data"), errors);
    },
    ..Sheet::PLAIN
};
