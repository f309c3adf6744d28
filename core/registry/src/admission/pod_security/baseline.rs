//! What no pod may do that is not trusted with its node: the known ways out of a container.
//!
//! Upstream: the checks of level baseline in `pod-security-admission/policy`.

use serde_json::Value;

use super::checks::{Violation, named, plural, quoted, set, setters};
use super::subject::Subject;

const CAPABILITIES: &[&str] = &[
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// Kernel settings that concern the pod alone, with the version that allowed each.
const SYSCTLS: &[(&str, u32)] = &[
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_wmem", 32),
];

const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

fn violation(reason: &str, detail: String) -> Violation {
    Some((reason.to_owned(), detail))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn texts(value: &Value) -> impl Iterator<Item = &str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// What a container says for itself.
fn context(container: &Value) -> &Value {
    &container["securityContext"]
}

pub(super) fn app_armor(subject: &Subject<'_>, _: u32) -> Violation {
    let is_bad = |context: &Value| {
        let profile = &context["appArmorProfile"];
        !profile.is_null() && !matches!(text(&profile["type"]), "RuntimeDefault" | "Localhost")
    };
    let bad = subject.those(|one| is_bad(context(one)));
    let contexts = [subject.context()]
        .into_iter()
        .chain(subject.containers().map(context));
    let bad_contexts = contexts.filter(|one| is_bad(one));
    let mut values: Vec<String> =
        set(bad_contexts.map(|one| text(&one["appArmorProfile"]["type"])))
            .into_iter()
            .map(str::to_owned)
            .collect();
    let annotations = subject.annotations.as_object().into_iter().flatten();
    let mut annotated: Vec<String> = annotations
        .filter(|(key, value)| {
            let value = text(value);
            let fits =
                value.is_empty() || value == "runtime/default" || value.starts_with("localhost/");
            key.starts_with(APP_ARMOR) && !fits
        })
        .map(|(key, value)| format!("{key}={:?}", text(value)))
        .collect();
    annotated.sort_unstable();
    let by_annotation = (!annotated.is_empty()).then(|| plural("annotation", annotated.len()));
    let who = setters(is_bad(subject.context()), &bad);
    let who: Vec<String> = who.into_iter().chain(by_annotation).collect();
    if who.is_empty() {
        return None;
    }
    values.append(&mut annotated);
    let detail = format!(
        "{} must not set AppArmor profile type to {}",
        who.join(" and "),
        quoted(&values)
    );
    violation(&plural("forbidden AppArmor profile", values.len()), detail)
}

pub(super) fn capabilities(subject: &Subject<'_>, _: u32) -> Violation {
    let added = |one: &Value| -> Vec<String> {
        let all = texts(&context(one)["capabilities"]["add"]);
        all.filter(|one| !CAPABILITIES.contains(one))
            .map(str::to_owned)
            .collect()
    };
    let bad = subject.those(|one| !added(one).is_empty());
    if bad.is_empty() {
        return None;
    }
    let all: Vec<String> = subject.containers().flat_map(added).collect();
    let detail = format!(
        "{} must not include {} in securityContext.capabilities.add",
        named("container", &bad),
        quoted(&set(all.iter().map(String::as_str))),
    );
    violation("non-default capabilities", detail)
}

pub(super) fn host_namespaces(subject: &Subject<'_>, _: u32) -> Violation {
    let all = ["hostNetwork", "hostPID", "hostIPC"].into_iter();
    let used = all.filter(|field| subject.spec[*field] == true);
    let used: Vec<String> = used.map(|field| format!("{field}=true")).collect();
    (!used.is_empty()).then(|| ("host namespaces".to_owned(), used.join(", ")))
}

pub(super) fn host_paths(subject: &Subject<'_>, _: u32) -> Violation {
    let volumes = subject.spec["volumes"].as_array().into_iter().flatten();
    let bad = volumes.filter(|volume| volume["hostPath"].is_object());
    let bad: Vec<&str> = bad.map(|volume| text(&volume["name"])).collect();
    (!bad.is_empty()).then(|| ("hostPath volumes".to_owned(), named("volume", &bad)))
}

pub(super) fn host_ports(subject: &Subject<'_>, _: u32) -> Violation {
    let ports = |one: &Value| -> Vec<String> {
        let all = one["ports"].as_array().into_iter().flatten();
        let used = all.filter_map(|port| port["hostPort"].as_i64().filter(|port| *port != 0));
        used.map(|port| port.to_string()).collect()
    };
    let bad = subject.those(|one| !ports(one).is_empty());
    if bad.is_empty() {
        return None;
    }
    let all: Vec<String> = subject.containers().flat_map(ports).collect();
    let all = set(all.iter().map(String::as_str));
    let detail = format!(
        "{} {} {} {}",
        named("container", &bad),
        uses(bad.len()),
        plural("hostPort", all.len()),
        all.join(", "),
    );
    violation("hostPort", detail)
}

/// What one does, or many do.
pub(super) fn uses(number: usize) -> &'static str {
    match number {
        1 => "uses",
        _ => "use",
    }
}

pub(super) fn probe_hosts(subject: &Subject<'_>, _: u32) -> Violation {
    let hosts = |one: &Value| -> Vec<String> {
        let probes = ["livenessProbe", "readinessProbe", "startupProbe"].map(|probe| &one[probe]);
        let handlers = ["postStart", "preStop"].map(|hook| &one["lifecycle"][hook]);
        let all = probes.into_iter().chain(handlers);
        let hosts = all.flat_map(|one| [&one["httpGet"]["host"], &one["tcpSocket"]["host"]]);
        hosts
            .map(text)
            .filter(|host| !host.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let bad = set(subject.those(|one| !hosts(one).is_empty()).into_iter());
    if bad.is_empty() {
        return None;
    }
    let all: Vec<String> = subject.containers().flat_map(hosts).collect();
    let all = set(all.iter().map(String::as_str));
    let detail = format!(
        "{} {} {}",
        named("container", &bad),
        uses(bad.len()),
        named("probe or lifecycle host", &all),
    );
    violation("probe or lifecycle host", detail)
}

pub(super) fn privileged(subject: &Subject<'_>, _: u32) -> Violation {
    let bad = subject.those(|one| context(one)["privileged"] == true);
    let detail = || {
        format!(
            "{} must not set securityContext.privileged=true",
            named("container", &bad)
        )
    };
    (!bad.is_empty()).then(|| ("privileged".to_owned(), detail()))
}

pub(super) fn proc_mount(subject: &Subject<'_>, minor: u32) -> Violation {
    match minor >= 35 && subject.has_own_users() {
        true => None,
        false => masked_proc(subject),
    }
}

/// Whether every container sees `/proc` as containers should.
pub(super) fn masked_proc(subject: &Subject<'_>) -> Violation {
    let mount = |one: &'_ Value| text(&context(one)["procMount"]).to_owned();
    let is_bad = |one: &Value| !matches!(mount(one).as_str(), "" | "Default");
    let bad = subject.those(is_bad);
    if bad.is_empty() {
        return None;
    }
    let all: Vec<String> = subject
        .containers()
        .filter(|one| is_bad(one))
        .map(mount)
        .collect();
    let detail = format!(
        "{} must not set securityContext.procMount to {}",
        named("container", &bad),
        quoted(&set(all.iter().map(String::as_str))),
    );
    violation("procMount", detail)
}

pub(super) fn se_linux(subject: &Subject<'_>, minor: u32) -> Violation {
    let fits = |kind: &str| match kind {
        "" | "container_t" | "container_init_t" | "container_kvm_t" => true,
        "container_engine_t" => minor >= 31,
        _ => false,
    };
    let options = |context: &'_ Value| context["seLinuxOptions"].clone();
    let is_bad = |one: &Value| {
        let one = options(one);
        !fits(text(&one["type"]))
            || !text(&one["user"]).is_empty()
            || !text(&one["role"]).is_empty()
    };
    let bad = subject.those(|one| is_bad(context(one)));
    let who = setters(is_bad(subject.context()), &bad)?;
    let contexts = [subject.context()]
        .into_iter()
        .chain(subject.containers().map(context));
    let all: Vec<Value> = contexts.map(options).collect();
    let kinds = set(all
        .iter()
        .map(|one| text(&one["type"]))
        .filter(|kind| !fits(kind)));
    let is_set = |field: &str| all.iter().any(|one| !text(&one[field]).is_empty());
    let mut wrong = Vec::new();
    if !kinds.is_empty() {
        wrong.push(named("type", &kinds));
    }
    for field in ["user", "role"] {
        if is_set(field) {
            wrong.push(format!("{field} may not be set"));
        }
    }
    let detail = format!(
        "{who} set forbidden securityContext.seLinuxOptions: {}",
        wrong.join("; ")
    );
    violation("seLinuxOptions", detail)
}

pub(super) fn seccomp(subject: &Subject<'_>, minor: u32) -> Violation {
    if minor < 19 {
        return annotated_seccomp(subject);
    }
    let bad = subject.those(|one| has_bad_seccomp(context(one)));
    let who = setters(has_bad_seccomp(subject.context()), &bad)?;
    violation("seccompProfile", format!("{who} {}", bad_seccomp(subject)))
}

/// Whether a profile is named that is none of those that are safe.
pub(super) fn has_bad_seccomp(context: &Value) -> bool {
    let profile = &context["seccompProfile"];
    !profile.is_null() && !matches!(text(&profile["type"]), "RuntimeDefault" | "Localhost")
}

/// What whoever names such a profile is told.
pub(super) fn bad_seccomp(subject: &Subject<'_>) -> String {
    let contexts = [subject.context()]
        .into_iter()
        .chain(subject.containers().map(context));
    let bad = contexts.filter(|one| has_bad_seccomp(one));
    let values = set(bad.map(|one| text(&one["seccompProfile"]["type"])));
    format!(
        "must not set securityContext.seccompProfile.type to {}",
        quoted(&values)
    )
}

fn annotated_seccomp(subject: &Subject<'_>) -> Violation {
    let pod = ["seccomp.security.alpha.kubernetes.io/pod".to_owned()].into_iter();
    let containers = subject.containers().map(|one| {
        format!(
            "container.seccomp.security.alpha.kubernetes.io/{}",
            text(&one["name"])
        )
    });
    let bad = pod.chain(containers).filter_map(|key| {
        let value = subject.annotations[&key].as_str()?;
        let fits = matches!(value, "runtime/default" | "docker/default")
            || value.starts_with("localhost/");
        (!fits).then(|| format!("{key}={value:?}"))
    });
    let bad: Vec<String> = bad.collect();
    let bad = set(bad.iter().map(String::as_str));
    let detail = || {
        format!(
            "forbidden {} {}",
            plural("annotation", bad.len()),
            bad.join(", ")
        )
    };
    (!bad.is_empty()).then(|| ("seccompProfile".to_owned(), detail()))
}

pub(super) fn sysctls(subject: &Subject<'_>, minor: u32) -> Violation {
    let fits = |name: &str| {
        SYSCTLS
            .iter()
            .any(|(one, since)| *one == name && minor >= *since)
    };
    let all = subject.context()["sysctls"]
        .as_array()
        .into_iter()
        .flatten();
    let bad: Vec<&str> = all
        .map(|one| text(&one["name"]))
        .filter(|name| !fits(name))
        .collect();
    (!bad.is_empty()).then(|| ("forbidden sysctls".to_owned(), bad.join(", ")))
}

pub(super) fn windows_host_process(subject: &Subject<'_>, _: u32) -> Violation {
    let is_bad = |context: &Value| context["windowsOptions"]["hostProcess"] == true;
    let bad = subject.those(|one| is_bad(context(one)));
    let who = setters(is_bad(subject.context()), &bad)?;
    let detail = format!("{who} must not set securityContext.windowsOptions.hostProcess=true");
    violation("hostProcess", detail)
}
