//! What kube-apiserver v1.36.4 made of the same objects.
//!
//! Each file in `golden/` holds objects as they were sent to a real one, with what it stored, or
//! with the mistakes it found. Left out of what it stored is what others than these rules decide:
//! uid, times, managed fields, allocated addresses and ports, and what its admission plugins add.

use flyball_api::Timestamp;
use flyball_schema::{builtin, decode_value};
use serde_json::{Value, json};

use super::{NameRule, Rules, of};
use crate::object::{Meta, Object};

macro_rules! golden {
    ($($name:literal),* $(,)?) => {
        const FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("golden/", $name, ".json")))),*];
    };
}

golden![
    "apiservices",
    "certificatesigningrequests",
    "clusterrolebindings",
    "clusterroles",
    "configmaps",
    "cronjobs",
    "csidrivers",
    "customresourcedefinitions",
    "daemonsets",
    "deployments",
    "endpoints",
    "endpointslices",
    "events",
    "events.k8s.io",
    "horizontalpodautoscalers",
    "ingressclasses",
    "ingresses",
    "jobs",
    "leases",
    "limitranges",
    "mutatingwebhookconfigurations",
    "namespaces",
    "networkpolicies",
    "nodes",
    "persistentvolumeclaims",
    "persistentvolumes",
    "poddisruptionbudgets",
    "pods",
    "podtemplates",
    "priorityclasses",
    "replicasets",
    "replicationcontrollers",
    "resourcequotas",
    "rolebindings",
    "roles",
    "runtimeclasses",
    "secrets",
    "serviceaccounts",
    "services",
    "statefulsets",
    "storageclasses",
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "validatingwebhookconfigurations",
];

/// Every case, with the rules of its kind and the object as these rules make it.
fn each(mut act: impl FnMut(&str, &Value, &dyn Rules, Object)) {
    for (file, text) in FILES {
        let cases: Vec<Value> = serde_json::from_str(text).unwrap();
        for case in cases {
            let name = format!("{file}: {}", case["title"]);
            let input = case["input"].clone();
            let version = input["apiVersion"].as_str().unwrap();
            let (group, version) = version.split_once('/').unwrap_or(("", version));
            let kind = input["kind"].as_str().unwrap();
            let resource = builtin().resource_of(group, version, kind).expect(&name);
            let schema = builtin().kind(group, version, kind).expect(&name);
            let decoded = decode_value(schema, input.clone()).expect(&name).value;
            let Value::Object(mut object) = decoded else {
                panic!("{name}: not an object")
            };
            let rules = of(resource);
            rules.default(&mut object);
            object.meta_mut().insert("uid".to_owned(), "UID".into());
            if resource.namespaced {
                object
                    .meta_mut()
                    .insert("namespace".to_owned(), "default".into());
            }
            rules.prepare_create(&mut object, Timestamp::UNIX_EPOCH);
            act(&name, &case, rules, object);
        }
    }
}

#[test]
fn what_is_stored_is_what_upstream_stores() {
    let mut wrong = Vec::new();
    each(|name, case, rules, mut object| {
        let Value::Object(mut stored) = case["stored"].clone() else {
            return;
        };
        let generation = stored.meta_mut().remove("generation");
        if generation.is_some() != rules.has_generation() {
            wrong.push(format!("{name}: generation {generation:?}"));
        }
        object
            .meta_mut()
            .retain(|field, _| field != "uid" && field != "namespace");
        let text = |field: &str| case["input"][field].as_str().unwrap_or_default();
        let (version, kind) = (text("apiVersion"), text("kind"));
        // Definitions keep the form that they were sent in.
        if kind != "CustomResourceDefinition" {
            flyball_protobuf::store(version, kind, &mut object);
        }
        if object != stored {
            let lines = |object: Object| {
                let mut lines = Vec::new();
                leaves("", &Value::Object(object), &mut lines);
                lines
            };
            let (ours, theirs) = (lines(object), lines(stored));
            let minus = theirs.iter().filter(|line| !ours.contains(line));
            let plus = ours.iter().filter(|line| !theirs.contains(line));
            let minus = minus.map(|line| format!("  - {line}\n"));
            let differences: String = minus
                .chain(plus.map(|line| format!("  + {line}\n")))
                .collect();
            wrong.push(format!("{name}:\n{differences}"));
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The object as lines that can be compared one by one.
fn leaves(path: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter()
                .for_each(|(key, value)| leaves(&format!("{path}.{key}"), value, lines));
        }
        Value::Array(list) if !list.is_empty() => {
            let items = list.iter().enumerate();
            items.for_each(|(index, value)| leaves(&format!("{path}[{index}]"), value, lines));
        }
        _ => lines.push(format!("{path} = {value}")),
    }
}

#[test]
fn what_is_refused_is_what_upstream_refuses() {
    let mut wrong = Vec::new();
    each(|name, case, rules, object| {
        let mut ours: Vec<String> = rules
            .validate_create(&object)
            .iter()
            .map(|error| without_maps(&error.to_string()))
            .collect();
        ours.dedup();
        let theirs = case
            .get("mistakes")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let theirs: Vec<String> = theirs
            .map(|mistake| without_maps(mistake.as_str().unwrap()))
            .collect();
        let minus = theirs.iter().filter(|line| !ours.contains(line));
        let plus = ours.iter().filter(|line| !theirs.contains(line));
        let minus = minus.map(|line| format!("  - {line}\n"));
        let differences: String = minus
            .chain(plus.map(|line| format!("  + {line}\n")))
            .collect();
        if !differences.is_empty() {
            wrong.push(format!("{name}:\n{differences}"));
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The text of a mistake without a map in it: upstream writes the fields of its own structs.
fn without_maps(mistake: &str) -> String {
    match (mistake.find("value: {\""), mistake.rfind('}')) {
        (Some(start), Some(end)) if start < end => {
            format!("{}value: {{}}{}", &mistake[..start], &mistake[end + 1..])
        }
        _ => mistake.to_owned(),
    }
}

#[test]
fn defaults_leave_alone_what_they_made() {
    each(|name, _, rules, object| {
        let mut again = object.clone();
        rules.default(&mut again);
        assert_eq!(json!(again), json!(object), "{name}");
    });
}

#[test]
fn an_object_that_stays_as_it_is_is_no_mistake_and_no_new_generation() {
    each(|name, case, rules, object| {
        if case.get("stored").is_none() {
            return;
        }
        let mut again = object.clone();
        rules.prepare_update(&mut again, &object);
        assert_eq!(json!(again), json!(object), "{name}");
        assert_eq!(rules.validate_update(&again, &object), [], "{name}");
        assert_eq!(rules.validate_status_update(&again, &object), [], "{name}");
        assert!(!rules.bumps_generation(&again, &object), "{name}");
    });
}

/// A JSON merge patch.
fn merge(into: &mut Value, change: &Value) {
    let (Value::Object(into), Value::Object(change)) = (&mut *into, change) else {
        *into = change.clone();
        return;
    };
    for (key, change) in change {
        match change {
            Value::Null => drop(into.remove(key)),
            _ => merge(into.entry(key).or_insert(Value::Null), change),
        }
    }
}

#[test]
fn what_an_update_may_change_is_what_upstream_lets_it_change() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("golden/updates.json")).unwrap();
    let mut wrong = Vec::new();
    for case in cases {
        let name = case["title"].as_str().unwrap();
        let Value::Object(old) = case["old"].clone() else {
            panic!("{name}: not an object")
        };
        let mut new = case["old"].clone();
        merge(&mut new, &case["change"]);
        let Value::Object(mut new) = new else {
            panic!("{name}: not an object")
        };
        let version = old["apiVersion"].as_str().unwrap();
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        let kind = old["kind"].as_str().unwrap();
        let rules = of(builtin().resource_of(group, version, kind).unwrap());
        rules.default(&mut new);
        if kind == "Service" {
            crate::services::keep_allocated(&mut new, &old);
        }
        rules.prepare_update(&mut new, &old);
        let ours = rules.validate_update(&new, &old);
        let ours: Vec<String> = ours
            .iter()
            .map(|error| without_maps(&error.to_string()))
            .collect();
        let theirs = case["mistakes"].as_array().into_iter().flatten();
        let theirs: Vec<String> = theirs
            .map(|mistake| without_maps(mistake.as_str().unwrap()))
            .collect();
        let minus = theirs.iter().filter(|line| !ours.contains(line));
        let plus = ours.iter().filter(|line| !theirs.contains(line));
        let minus = minus.map(|line| format!("  - {line}\n"));
        let mut differences: String = minus
            .chain(plus.map(|line| format!("  + {line}\n")))
            .collect();
        if theirs.is_empty() {
            let counts = rules.has_generation() && rules.bumps_generation(&new, &old);
            if json!(counts) != case["counts"] {
                differences += &format!("  counts as a generation: {counts}\n");
            }
            if new.get("spec").unwrap_or(&Value::Null) != &case["spec"] {
                differences += &format!("  - {}\n  + {}\n", case["spec"], json!(new.get("spec")));
            }
            if new.meta()["annotations"] != case["annotations"] {
                differences += &format!("  annotations {}\n", new.meta()["annotations"]);
            }
        }
        if !differences.is_empty() {
            wrong.push(format!("{name}:\n{differences}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_follow_the_rule_of_their_kind() {
    for (group, plural, rule) in [
        ("", "pods", NameRule::Subdomain),
        ("", "namespaces", NameRule::Label),
        ("", "services", NameRule::Label),
        ("", "events", NameRule::PathSegment),
        ("apps", "statefulsets", NameRule::Label),
        ("events.k8s.io", "events", NameRule::Subdomain),
        ("rbac.authorization.k8s.io", "roles", NameRule::PathSegment),
        (
            "rbac.authorization.k8s.io",
            "clusterrolebindings",
            NameRule::PathSegment,
        ),
        (
            "certificates.k8s.io",
            "certificatesigningrequests",
            NameRule::PathSegment,
        ),
    ] {
        let resource = builtin().resource(group, "v1", plural).expect(plural);
        assert_eq!(of(resource).name_rule(), rule, "{group} {plural}");
    }
}

#[test]
fn fields_can_be_selected_where_upstream_lets_them() {
    for (group, plural, fields) in [
        ("", "namespaces", &["status.phase", "name"][..]),
        ("", "nodes", &["spec.unschedulable"]),
        ("", "secrets", &["type"]),
        ("", "services", &["spec.clusterIP", "spec.type"]),
        ("", "replicationcontrollers", &["status.replicas"]),
        ("apps", "replicasets", &[]),
        ("apps", "deployments", &[]),
        ("batch", "jobs", &["status.successful"]),
        (
            "certificates.k8s.io",
            "certificatesigningrequests",
            &["spec.signerName"],
        ),
    ] {
        let resource = builtin().resource(group, "v1", plural).expect(plural);
        assert_eq!(of(resource).selectable_fields(), fields, "{group} {plural}");
    }
}
