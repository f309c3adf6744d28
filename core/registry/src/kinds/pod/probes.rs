//! Mistakes in probes and in what runs after a start or before a stop.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use crate::field_error::FieldError;
use crate::kinds::checks;
use crate::kinds::spot::{Errors, Spot};

const HANDLERS: [&str; 5] = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"];
const SIGNALS: &[&str] = &[
    "SIGABRT",
    "SIGALRM",
    "SIGBUS",
    "SIGCHLD",
    "SIGCLD",
    "SIGCONT",
    "SIGFPE",
    "SIGHUP",
    "SIGILL",
    "SIGINT",
    "SIGIO",
    "SIGIOT",
    "SIGKILL",
    "SIGPIPE",
    "SIGPOLL",
    "SIGPROF",
    "SIGPWR",
    "SIGQUIT",
    "SIGRTMAX",
    "SIGRTMAX-1",
    "SIGRTMAX-10",
    "SIGRTMAX-11",
    "SIGRTMAX-12",
    "SIGRTMAX-13",
    "SIGRTMAX-14",
    "SIGRTMAX-2",
    "SIGRTMAX-3",
    "SIGRTMAX-4",
    "SIGRTMAX-5",
    "SIGRTMAX-6",
    "SIGRTMAX-7",
    "SIGRTMAX-8",
    "SIGRTMAX-9",
    "SIGRTMIN",
    "SIGRTMIN+1",
    "SIGRTMIN+10",
    "SIGRTMIN+11",
    "SIGRTMIN+12",
    "SIGRTMIN+13",
    "SIGRTMIN+14",
    "SIGRTMIN+15",
    "SIGRTMIN+2",
    "SIGRTMIN+3",
    "SIGRTMIN+4",
    "SIGRTMIN+5",
    "SIGRTMIN+6",
    "SIGRTMIN+7",
    "SIGRTMIN+8",
    "SIGRTMIN+9",
    "SIGSEGV",
    "SIGSTKFLT",
    "SIGSTOP",
    "SIGSYS",
    "SIGTERM",
    "SIGTRAP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGUSR1",
    "SIGUSR2",
    "SIGVTALRM",
    "SIGWINCH",
    "SIGXCPU",
    "SIGXFSZ",
];
const WINDOWS_SIGNALS: &[&str] = &["SIGKILL", "SIGTERM"];
const HEADER_RULE: &str = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', \
                           regex used for validation is '[-A-Za-z0-9]+')";

/// The probes and the lifecycle of a container.
pub(super) fn check(spec: &Spot, container: &Spot, errors: &mut Errors) {
    let grace = spec.get("terminationGracePeriodSeconds").int();
    let lifecycle = container.get("lifecycle");
    for moment in [lifecycle.get("postStart"), lifecycle.get("preStop")] {
        if moment.is_set() {
            check_handler(&moment, grace, errors);
        }
    }
    check_stop_signal(spec, &lifecycle.get("stopSignal"), errors);
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = container.get(name);
        if !probe.is_set() {
            continue;
        }
        check_probe(&probe, grace, errors);
        if name == "readinessProbe" {
            let grace = probe.get("terminationGracePeriodSeconds");
            if grace.is_set() {
                errors.push(grace.invalid("must not be set for readinessProbes"));
            }
        } else {
            let threshold = probe.get("successThreshold");
            if threshold.number() != 1 {
                errors.push(threshold.invalid_number("must be 1"));
            }
        }
    }
}

fn check_stop_signal(spec: &Spot, signal: &Spot, errors: &mut Errors) {
    let os = spec.get("os");
    match os.get("name").text() {
        _ if !signal.is_set() => {}
        _ if !os.is_set() => {
            let why = "may not be set for containers with empty `spec.os.name`";
            errors.push(signal.forbidden(why));
        }
        "windows" => checks::one_of_if_set(signal, WINDOWS_SIGNALS, errors),
        "linux" => checks::one_of_if_set(signal, SIGNALS, errors),
        _ => {}
    }
}

fn check_probe(probe: &Spot, grace: Option<i64>, errors: &mut Errors) {
    check_handler(probe, grace, errors);
    for field in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        checks::not_negative(&probe.get(field), errors);
    }
    let grace = probe.get("terminationGracePeriodSeconds");
    if grace.int().is_some_and(|seconds| seconds <= 0) {
        errors.push(grace.invalid("must be greater than 0"));
    }
}

fn check_handler(owner: &Spot, grace: Option<i64>, errors: &mut Errors) {
    let mut is_given = false;
    for field in HANDLERS {
        let handler = owner.get(field);
        if !handler.is_set() {
            continue;
        }
        if is_given {
            errors.push(handler.forbidden("may not specify more than 1 handler type"));
            continue;
        }
        is_given = true;
        match field {
            "exec" => drop(checks::required(&handler.get("command"), errors)),
            "httpGet" => check_request(&handler, errors),
            "tcpSocket" => checks::port_number_or_name(&handler.get("port"), errors),
            "grpc" => checks::port_number(&handler.get("port"), errors),
            _ => check_sleep(&handler, grace, errors),
        }
    }
    if !is_given {
        errors.push(owner.required("must specify a handler type"));
    }
}

fn check_request(request: &Spot, errors: &mut Errors) {
    checks::required(&request.get("path"), errors);
    checks::port_number_or_name(&request.get("port"), errors);
    let scheme = request.get("scheme");
    if !["HTTP", "HTTPS"].contains(&scheme.text()) {
        errors.push(scheme.not_supported(&["HTTP", "HTTPS"]));
    }
    let headers = request.get("httpHeaders");
    for header in headers.items() {
        let name = header.get("name").text();
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if name.is_empty() || !name.bytes().all(fits) {
            // Upstream does not say which header it is.
            errors.push(FieldError::invalid(headers.path(), name, HEADER_RULE));
        }
    }
}

/// A pause before a stop must fit into the time that a stop may take.
fn check_sleep(sleep: &Spot, grace: Option<i64>, errors: &mut Errors) {
    let seconds = sleep.get("seconds").number();
    if let Some(grace) = grace.filter(|grace| !(0..=*grace).contains(&seconds)) {
        let why =
            format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        errors.push(FieldError::invalid(sleep.path(), seconds, why));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_probe_has_one_handler_and_sensible_numbers() {
        for (probe, expected) in [
            (
                json!({"exec": {"command": ["true"]}, "successThreshold": 1}),
                "",
            ),
            (
                json!({"successThreshold": 1}),
                "c.livenessProbe: Required value: must specify a handler type",
            ),
            (
                json!({"tcpSocket": {"port": 1}, "grpc": {"port": 1}, "successThreshold": 1}),
                "c.livenessProbe.grpc: Forbidden: may not specify more than 1 handler type",
            ),
            (
                json!({"tcpSocket": {"port": 0}, "successThreshold": 2}),
                "c.livenessProbe.tcpSocket.port: Invalid value: 0: must be between 1 and 65535, inclusive\n\
                 c.livenessProbe.successThreshold: Invalid value: 2: must be 1",
            ),
        ] {
            let container = json!({"livenessProbe": probe});
            let mut errors = Vec::new();
            let spec = json!({});
            check(
                &Spot::root("spec", &spec),
                &Spot::root("c", &container),
                &mut errors,
            );
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(texts.join("\n"), expected, "{probe}");
        }
    }
}
