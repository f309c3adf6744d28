//! Ways in: Ingresses and IngressClasses.
//!
//! Upstream: `pkg/apis/networking/{v1/defaults.go,validation/validation.go}`.

use super::NameRule;
use super::checks;
use super::fill::Fill::{Empty, OptionalText};
use super::fill::{each, fill};
use super::ip;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::names;
use crate::object::{Meta, Object, at};

const PATH_TYPES: &[&str] = &["Exact", "ImplementationSpecific", "Prefix"];
const ODD_SEQUENCES: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];
const CONTROLLER_MAX: usize = 250;
/// Where the class was said before there was a field.
const CLASS: &str = "kubernetes.io/ingress.class";
const WILDCARD_RULE: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, \
                             which must consist of lower case alphanumeric characters, '-' or '.' and end with an \
                             alphanumeric character (e.g. '*.example.com', regex used for validation is \
                             '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

pub(super) static INGRESS: Sheet = Sheet {
    defaults: &[("spec", Empty)],
    fresh_status: true,
    create: |ingress, _| {
        each(ingress, "status", &mut |status| {
            fill(status, &[("loadBalancer", Empty)])
        });
    },
    generation: &["spec"],
    check: check_ingress,
    check_create: |ingress, errors| {
        let class = at(ingress, "spec.ingressClassName").as_str();
        let annotation = ingress.meta()["annotations"][CLASS].as_str();
        if let Some((told, _)) = annotation.zip(class).filter(|(one, other)| one != other) {
            let why = "must match `ingressClassName` when both are specified";
            errors.push(FieldError::invalid(
                format!("annotations.{CLASS}"),
                told,
                why,
            ));
        }
    },
    check_status,
    ..Sheet::PLAIN
};

pub(super) static INGRESS_CLASS: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.parameters.scope", OptionalText("Cluster")),
    ],
    generation: &["spec"],
    check: check_class,
    check_whole_update: Some(|new, old, errors| {
        let spec = Spot::of(new, "spec");
        checks::immutable_text(&spec.get("controller"), at(old, "spec.controller"), errors);
        check_class(new, errors);
    }),
    ..Sheet::PLAIN
};

fn check_class(class: &Object, errors: &mut Errors) {
    let spec = Spot::of(class, "spec");
    let controller = spec.get("controller");
    if controller.text().len() > CONTROLLER_MAX {
        errors.push(controller.too_long(CONTROLLER_MAX));
    }
    checks::domain_prefixed_path(&controller, errors);
    let parameters = spec.get("parameters");
    if !parameters.is_set() {
        return;
    }
    check_reference(&parameters, errors);
    let (scope, namespace) = (parameters.get("scope"), parameters.get("namespace"));
    match scope.text() {
        _ if !scope.is_set() => errors.push(scope.required("")),
        "Namespace" if !namespace.is_set() => {
            errors.push(namespace.required("`parameters.scope` is set to 'Namespace'"));
        }
        "Namespace" => checks::name(&namespace, NameRule::Label, errors),
        "Cluster" if namespace.is_set() => {
            errors.push(namespace.forbidden("`parameters.scope` is set to 'Cluster'"));
        }
        _ => checks::one_of_if_set(&scope, &["Cluster", "Namespace"], errors),
    }
}

/// An object of any kind in any group.
fn check_reference(reference: &Spot, errors: &mut Errors) {
    let group = reference.get("apiGroup");
    if group.is_set() {
        checks::name(&group, NameRule::Subdomain, errors);
    }
    for field in ["kind", "name"] {
        checks::required_name(&reference.get(field), NameRule::PathSegment, errors);
    }
}

fn check_ingress(ingress: &Object, errors: &mut Errors) {
    let spec = Spot::of(ingress, "spec");
    let (rules, otherwise) = (spec.get("rules"), spec.get("defaultBackend"));
    if rules.is_empty() && !otherwise.is_set() {
        errors.push(FieldError::invalid(
            "spec",
            rules.value().clone(),
            "either `defaultBackend` or `rules` must be specified",
        ));
    }
    if otherwise.is_set() {
        check_backend(&otherwise, errors);
    }
    for rule in rules.items() {
        let host = rule.get("host");
        if !host.is_empty() {
            if ip::sloppy(host.text()).is_some() {
                errors.push(host.invalid("must be a DNS name, not an IP address"));
            }
            check_host(&host, errors);
        }
        let http = rule.get("http");
        let paths = http.get("paths");
        if http.is_set() && paths.is_empty() {
            errors.push(paths.required(""));
        }
        for path in paths.items() {
            check_path(&path, errors);
        }
    }
    let tls = spec.get("tls");
    for one in tls.items() {
        let hosts = one.get("hosts");
        hosts.items().for_each(|host| check_host(&host, errors));
        let secret = one.get("secretName");
        if !secret.is_empty() {
            checks::name(&secret, NameRule::Subdomain, errors);
        }
    }
    let class = spec.get("ingressClassName");
    if class.is_set() {
        checks::name(&class, NameRule::Subdomain, errors);
    }
}

/// A name of a host, or all names below one.
fn check_host(host: &Spot, errors: &mut Errors) {
    if !host.text().contains('*') {
        checks::name(host, NameRule::Subdomain, errors);
        return;
    }
    let rest = host.text().strip_prefix("*.");
    let fits = |rest: &str| {
        let wrong = names::mistakes(NameRule::Subdomain, rest, false);
        wrong
            .iter()
            .all(|why| why.starts_with("must be no more than"))
    };
    if host.text().len() > 253 {
        errors.push(host.invalid("must be no more than 253 characters"));
    }
    if !rest.is_some_and(fits) {
        errors.push(host.invalid(WILDCARD_RULE));
    }
}

fn check_path(path: &Spot, errors: &mut Errors) {
    let (kind, text) = (path.get("pathType"), path.get("path"));
    if !kind.is_set() {
        errors.push(kind.required("pathType must be specified"));
        return;
    }
    let is_relative = !text.text().starts_with('/');
    match kind.text() {
        "Exact" | "Prefix" => {
            if is_relative {
                errors.push(text.invalid_text("must be an absolute path"));
            }
            for odd in ODD_SEQUENCES {
                if text.text().contains(odd) {
                    errors.push(text.invalid(format!("must not contain '{odd}'")));
                }
            }
            for odd in ["/..", "/."] {
                if text.text().ends_with(odd) {
                    errors.push(text.invalid(format!("cannot end with '{odd}'")));
                }
            }
        }
        "ImplementationSpecific" => {
            if !text.is_empty() && is_relative {
                errors.push(text.invalid("must be an absolute path"));
            }
        }
        _ => errors.push(kind.not_supported(PATH_TYPES)),
    }
    check_backend(&path.get("backend"), errors);
}

fn check_backend(backend: &Spot, errors: &mut Errors) {
    let (service, resource) = (backend.get("service"), backend.get("resource"));
    match (service.is_set(), resource.is_set()) {
        (true, true) => {
            let why = "cannot set both resource and service backends";
            errors.push(FieldError::invalid(backend.path(), "", why));
        }
        (false, false) => {
            let why = "resource or service backend is required";
            errors.push(FieldError::invalid(backend.path(), "", why));
        }
        (false, true) => check_reference(&resource, errors),
        (true, false) => {
            checks::required_name(&service.get("name"), NameRule::Label, errors);
            let port = service.get("port");
            let (name, number) = (port.get("name"), port.get("number"));
            match (!name.is_empty(), number.number() != 0) {
                (true, true) => {
                    let why = "cannot set both port name & port number";
                    errors.push(FieldError::invalid(backend.path(), "", why));
                }
                (true, false) => checks::port_name(&name, errors),
                (false, true) => checks::port_number(&number, errors),
                (false, false) => errors.push(backend.required("port name or number is required")),
            }
        }
    }
}

fn check_status(new: &Object, old: &Object, errors: &mut Errors) {
    let status = Spot::of(new, "status");
    let balancer = status.get("loadBalancer");
    let points = balancer.get("ingress");
    let before = at(old, "status.loadBalancer.ingress").as_array();
    let before = before.into_iter().flatten();
    let before: Vec<&str> = before.filter_map(|point| point["ip"].as_str()).collect();
    for point in points.items() {
        let (address, host) = (point.get("ip"), point.get("hostname"));
        if !address.is_empty() {
            checks::address(&address, &before, errors);
        }
        if !host.is_empty() {
            checks::name(&host, NameRule::Subdomain, errors);
            if ip::sloppy(host.text()).is_some() {
                errors.push(host.invalid("must be a DNS name, not an IP address"));
            }
        }
    }
}
