//! What pods have to say to show that they want little.
//!
//! Upstream: the checks of level restricted in `pod-security-admission/policy`.

use serde_json::Value;

use super::baseline::{bad_seccomp, has_bad_seccomp, masked_proc, uses};
use super::checks::{Violation, named, plural, quoted, set, setters};
use super::subject::Subject;

/// Sources of volumes that lead nowhere but into the cluster.
const VOLUMES: &[&str] = &[
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

fn context(container: &Value) -> &Value {
    &container["securityContext"]
}

/// Pods for Windows cannot say what Linux knows.
fn is_exempt(subject: &Subject<'_>, minor: u32) -> bool {
    minor >= 25 && subject.is_windows()
}

pub(super) fn privilege_escalation(subject: &Subject<'_>, minor: u32) -> Violation {
    let bad = subject.those(|one| context(one)["allowPrivilegeEscalation"] != false);
    if bad.is_empty() || is_exempt(subject, minor) {
        return None;
    }
    let who = named("container", &bad);
    Some((
        "allowPrivilegeEscalation != false".to_owned(),
        format!("{who} must set securityContext.allowPrivilegeEscalation=false"),
    ))
}

pub(super) fn capabilities(subject: &Subject<'_>, minor: u32) -> Violation {
    if is_exempt(subject, minor) {
        return None;
    }
    let list = |one: &Value, field: &str| -> Vec<String> {
        let all = context(one)["capabilities"][field]
            .as_array()
            .into_iter()
            .flatten();
        all.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let added = |one: &Value| -> Vec<String> {
        let all = list(one, "add").into_iter();
        all.filter(|one| one != "NET_BIND_SERVICE").collect()
    };
    let keeping = subject.those(|one| !list(one, "drop").iter().any(|one| one == "ALL"));
    let adding = subject.those(|one| !added(one).is_empty());
    let mut wrong = Vec::new();
    if !keeping.is_empty() {
        let who = named("container", &keeping);
        wrong.push(format!(
            "{who} must set securityContext.capabilities.drop=[\"ALL\"]"
        ));
    }
    if !adding.is_empty() {
        let all: Vec<String> = subject.containers().flat_map(added).collect();
        wrong.push(format!(
            "{} must not include {} in securityContext.capabilities.add",
            named("container", &adding),
            quoted(&set(all.iter().map(String::as_str))),
        ));
    }
    (!wrong.is_empty()).then(|| ("unrestricted capabilities".to_owned(), wrong.join("; ")))
}

pub(super) fn proc_mount(subject: &Subject<'_>, _: u32) -> Violation {
    masked_proc(subject)
}

pub(super) fn volumes(subject: &Subject<'_>, _: u32) -> Violation {
    let all = subject.spec["volumes"].as_array().into_iter().flatten();
    let sources = |volume: &'_ Value| {
        let fields = volume.as_object().into_iter().flatten();
        let used = fields.filter(|(field, value)| *field != "name" && !value.is_null());
        used.map(|(field, _)| field.clone())
            .collect::<Vec<String>>()
    };
    let bad = all.filter(|volume| {
        !sources(volume)
            .iter()
            .any(|one| VOLUMES.contains(&one.as_str()))
    });
    let bad: Vec<&Value> = bad.collect();
    if bad.is_empty() {
        return None;
    }
    let names: Vec<&str> = bad
        .iter()
        .map(|one| one["name"].as_str().unwrap_or_default())
        .collect();
    let kinds = bad.iter().map(|volume| sources(volume).into_iter().next());
    let kinds: Vec<String> = kinds
        .map(|kind| kind.unwrap_or_else(|| "unknown".to_owned()))
        .collect();
    let kinds = set(kinds.iter().map(String::as_str));
    let detail = format!(
        "{} {} {} {}",
        named("volume", &names),
        uses(names.len()),
        plural("restricted volume type", kinds.len()),
        quoted(&kinds),
    );
    Some(("restricted volume types".to_owned(), detail))
}

pub(super) fn non_root(subject: &Subject<'_>, minor: u32) -> Violation {
    if minor >= 35 && subject.has_own_users() {
        return None;
    }
    let reason = "runAsNonRoot != true".to_owned();
    let says = |context: &Value| context["runAsNonRoot"].as_bool();
    let refusing = subject.those(|one| says(context(one)) == Some(false));
    let for_all = says(subject.context());
    if let Some(who) = setters(for_all == Some(false), &refusing) {
        return Some((
            reason,
            format!("{who} must not set securityContext.runAsNonRoot=false"),
        ));
    }
    let silent = subject.those(|one| says(context(one)).is_none());
    if silent.is_empty() || for_all == Some(true) {
        return None;
    }
    let who = named("container", &silent);
    Some((
        reason,
        format!("pod or {who} must set securityContext.runAsNonRoot=true"),
    ))
}

pub(super) fn user(subject: &Subject<'_>, minor: u32) -> Violation {
    if minor >= 35 && subject.has_own_users() {
        return None;
    }
    let is_root = |context: &Value| context["runAsUser"] == 0;
    let bad = subject.those(|one| is_root(context(one)));
    let who = setters(is_root(subject.context()), &bad)?;
    Some((
        "runAsUser=0".to_owned(),
        format!("{who} must not set runAsUser=0"),
    ))
}

pub(super) fn seccomp(subject: &Subject<'_>, minor: u32) -> Violation {
    if is_exempt(subject, minor) {
        return None;
    }
    let reason = "seccompProfile".to_owned();
    let bad = subject.those(|one| has_bad_seccomp(context(one)));
    if let Some(who) = setters(has_bad_seccomp(subject.context()), &bad) {
        return Some((reason, format!("{who} {}", bad_seccomp(subject))));
    }
    let silent = subject.those(|one| context(one)["seccompProfile"].is_null());
    if silent.is_empty() || !subject.context()["seccompProfile"].is_null() {
        return None;
    }
    let who = named("container", &silent);
    let detail = format!(
        "pod or {who} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\""
    );
    Some((reason, detail))
}
