//! Objects with one wrong value, and what kube-apiserver v1.36.4 says to each.
//!
//! `conformance rules` records the files in `rules/`: objects of a kind, and cases that spoil one of them in one
//! place, with the causes of the refusal, if it is one. Causes are compared once each, in their order. Where upstream
//! appends the difference of two of its Go structures, that is left out.

use serde_json::Value;

use super::Server;
use crate::Method;

macro_rules! rules {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                replay(include_str!(concat!("rules/", stringify!($name), ".json")));
            }
        )*
    };
}

/// What upstream says and we cannot: expressions are not compiled, and there is no list of time zones.
const LEFT_OUT: [&str; 2] = ["compilation failed", "unknown time zone"];

rules! {
    admissionregistration_k8s_io_v1_mutatingadmissionpolicies
    admissionregistration_k8s_io_v1_mutatingadmissionpolicybindings
    admissionregistration_k8s_io_v1_mutatingwebhookconfigurations
    admissionregistration_k8s_io_v1_validatingadmissionpolicies
    admissionregistration_k8s_io_v1_validatingadmissionpolicybindings
    admissionregistration_k8s_io_v1_validatingwebhookconfigurations
    apiextensions_k8s_io_v1_customresourcedefinitions
    apiregistration_k8s_io_v1_apiservices
    apps_v1_controllerrevisions
    apps_v1_daemonsets
    apps_v1_deployments
    apps_v1_replicasets
    apps_v1_statefulsets
    autoscaling_v1_horizontalpodautoscalers
    autoscaling_v2_horizontalpodautoscalers
    batch_v1_cronjobs
    batch_v1_jobs
    certificates_k8s_io_v1_certificatesigningrequests
    coordination_k8s_io_v1_leases
    discovery_k8s_io_v1_endpointslices
    events_k8s_io_v1_events
    networking_k8s_io_v1_ingressclasses
    networking_k8s_io_v1_ingresses
    networking_k8s_io_v1_ipaddresses
    networking_k8s_io_v1_networkpolicies
    networking_k8s_io_v1_servicecidrs
    node_k8s_io_v1_runtimeclasses
    policy_v1_poddisruptionbudgets
    rbac_authorization_k8s_io_v1_clusterrolebindings
    rbac_authorization_k8s_io_v1_clusterroles
    rbac_authorization_k8s_io_v1_rolebindings
    rbac_authorization_k8s_io_v1_roles
    scheduling_k8s_io_v1_priorityclasses
    storage_k8s_io_v1_csidrivers
    storage_k8s_io_v1_csinodes
    storage_k8s_io_v1_csistoragecapacities
    storage_k8s_io_v1_storageclasses
    storage_k8s_io_v1_volumeattachments
    storage_k8s_io_v1_volumeattributesclasses
    v1_configmaps
    v1_endpoints
    v1_events
    v1_limitranges
    v1_namespaces
    v1_nodes
    v1_persistentvolumeclaims
    v1_persistentvolumes
    v1_pods
    v1_podtemplates
    v1_replicationcontrollers
    v1_resourcequotas
    v1_secrets
    v1_serviceaccounts
    v1_services
}

/// Plays all cases of a file and fails with what is said differently.
fn replay(text: &str) {
    let file: Value = serde_json::from_str(&expanded(text)).unwrap();
    let path = file["path"].as_str().unwrap();
    let cases = file["cases"].as_array().unwrap();
    let mut wrong = Vec::new();
    for (number, body) in file["bodies"].as_array().unwrap().iter().enumerate() {
        let mut server = Server::new();
        for case in cases.iter().filter(|case| case["create"] == number) {
            let spoilt = spoilt(body, case);
            let target = format!("{path}?dryRun=All");
            judge(
                &mut server,
                Method::Post,
                &target,
                &spoilt,
                case,
                &mut wrong,
            );
        }
        let of_update =
            |case: &&Value| case["update"] == number || number == 0 && case["status"].is_number();
        if !cases.iter().any(|case| of_update(&case)) {
            continue;
        }
        let (code, stored) = server.post(path, body);
        assert_eq!(code, 201, "{stored}");
        let name = body["metadata"]["name"].as_str().unwrap();
        let given = |case: &Value| -> Value {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let case = case.to_string();
            let case = case.replace("$UID", &text(&stored["metadata"]["uid"]));
            let case = case.replace("$ADDRESS", &text(&stored["spec"]["clusterIP"]));
            serde_json::from_str(&case).unwrap()
        };
        for case in cases.iter().filter(of_update) {
            let case = &given(case);
            let mut object = stored.clone();
            let mut target = format!("{path}/{name}");
            if let Some(status) = case["status"].as_u64() {
                object["status"] = file["statuses"][status as usize].clone();
                target += "/status";
            }
            let Some(spoilt) = spoilt(&object, case) else {
                wrong.push(format!("{}: there is no such place", case["at"]));
                continue;
            };
            judge(
                &mut server,
                Method::Put,
                &format!("{target}?dryRun=All"),
                &Some(spoilt),
                case,
                &mut wrong,
            );
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n{} of {} differ",
        wrong.join("\n"),
        wrong.len(),
        cases.len()
    );
}

fn judge(
    server: &mut Server,
    method: Method,
    target: &str,
    spoilt: &Option<Value>,
    case: &Value,
    wrong: &mut Vec<String>,
) {
    let Some(spoilt) = spoilt else {
        wrong.push(format!("{}: there is no such place", case["at"]));
        return;
    };
    let (code, answer) = server.send(method, target, "application/json", spoilt);
    let causes = answer["details"]["causes"].as_array().into_iter().flatten();
    let ours = causes.map(|cause| {
        let text = |field: &str| cause[field].as_str().unwrap_or_default();
        format!("{}: {}", text("field"), text("message"))
    });
    let ours = once(ours.collect());
    let theirs = case["says"].as_array().unwrap().iter();
    let theirs = once(
        theirs
            .map(|said| said.as_str().unwrap().to_owned())
            .collect(),
    );
    if theirs
        .iter()
        .any(|said| LEFT_OUT.iter().any(|part| said.contains(part)))
    {
        return;
    }
    let expected = if theirs.is_empty() {
        code / 100 == 2
    } else {
        code == 422
    };
    if ours == theirs && expected {
        return;
    }
    let mut lines = format!(
        "{method:?} {target} {} = {}: {code}",
        case["at"], case["set"]
    );
    if ours.is_empty() && code / 100 != 2 {
        lines += &format!(" {}", answer["message"]);
    }
    theirs
        .iter()
        .for_each(|line| lines += &format!("\n  - {line}"));
    ours.iter()
        .for_each(|line| lines += &format!("\n  + {line}"));
    wrong.push(lines);
}

/// The causes, each once.
fn once(causes: Vec<String>) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for cause in causes {
        let cause = without_uids(&cause);
        if !once.contains(&cause) {
            once.push(cause);
        }
    }
    once
}

/// A cause without the identity that the object would have had.
fn without_uids(cause: &str) -> String {
    const KEY: &str = "controller-uid\":\"";
    let mut parts = cause.split(KEY);
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (_, rest) = part.split_at_checked(36).unwrap_or(("", part));
        out += KEY;
        out += if rest.starts_with('"') { rest } else { part };
    }
    out
}

/// An object with the wrong value of a case; none if it has no such place.
fn spoilt(object: &Value, case: &Value) -> Option<Value> {
    let mut object = object.clone();
    let (parent, key) = case["at"].as_str()?.rsplit_once('/')?;
    let key = key.replace("~1", "/").replace("~0", "~");
    match (object.pointer_mut(parent)?, case.get("set")) {
        (Value::Object(fields), Some(value)) => drop(fields.insert(key, value.clone())),
        (Value::Object(fields), None) => drop(fields.remove(&key)?),
        (Value::Array(items), Some(value)) => {
            *items.get_mut(key.parse::<usize>().ok()?)? = value.clone()
        }
        (Value::Array(items), None) => drop(items.remove(key.parse().ok()?)),
        _ => return None,
    }
    Some(object)
}

/// The text of a file with long runs of one letter written out.
fn expanded(text: &str) -> String {
    let mut parts = text.split("<a*");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (length, rest) = part.split_once('>').unwrap();
        out += &"a".repeat(length.parse().unwrap());
        out += rest;
    }
    out
}
