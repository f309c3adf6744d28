//! Mistakes in probes and in what runs after a start or before a stop.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use crate::kinds::checks;
use crate::kinds::spot::{Errors, Spot};

const HANDLERS: [&str; 5] = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"];

/// The probes and the lifecycle of a container.
pub(super) fn check(container: &Spot, errors: &mut Errors) {
    let lifecycle = container.get("lifecycle");
    for moment in [lifecycle.get("postStart"), lifecycle.get("preStop")] {
        if moment.is_set() {
            check_handler(&moment, errors);
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = container.get(name);
        if !probe.is_set() {
            continue;
        }
        check_probe(&probe, errors);
        if name == "readinessProbe" {
            let grace = probe.get("terminationGracePeriodSeconds");
            if grace.is_set() {
                errors.push(grace.invalid("must not be set for readinessProbes"));
            }
        } else {
            let threshold = probe.get("successThreshold");
            if threshold.int() != Some(1) {
                errors.push(threshold.invalid("must be 1"));
            }
        }
    }
}

fn check_probe(probe: &Spot, errors: &mut Errors) {
    check_handler(probe, errors);
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

fn check_handler(owner: &Spot, errors: &mut Errors) {
    let given = HANDLERS.map(|name| owner.get(name));
    let mut given = given.iter().filter(|handler| handler.is_set());
    let Some(first) = given.next() else {
        errors.push(owner.required("must specify a handler type"));
        return;
    };
    if owner.get("exec").is_set() {
        checks::required(&first.get("command"), errors);
    } else if owner.get("httpGet").is_set() {
        checks::required(&first.get("path"), errors);
        checks::port_number_or_name(&first.get("port"), errors);
        checks::one_of_if_set(&first.get("scheme"), &["HTTP", "HTTPS"], errors);
    } else if owner.get("tcpSocket").is_set() || owner.get("grpc").is_set() {
        checks::port_number_or_name(&first.get("port"), errors);
    }
    for other in given {
        errors.push(other.forbidden("may not specify more than 1 handler type"));
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
            check(&Spot::root("c", &container), &mut errors);
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(texts.join("\n"), expected, "{probe}");
        }
    }
}
