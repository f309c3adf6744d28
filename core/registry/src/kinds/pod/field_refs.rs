//! References from a container to fields of its pod and to its own resources.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`, `pkg/apis/core/pods/helpers.go`.

use flyball_api::Quantity;

use crate::field_error::FieldError;
use crate::kinds::checks::{self, quantity};
use crate::kinds::labels;
use crate::kinds::spot::{Errors, Spot};

/// The fields that a variable can have.
pub(super) const FOR_VARIABLES: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
/// The fields that a file can have.
const FOR_FILES: &[&str] = &[
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];
/// Fields that have a name, though not all of them can be had.
const NAMED: &[&str] = &[
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.serviceAccountName",
    "spec.schedulerName",
    "status.phase",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
const RESOURCES: &[&str] = &[
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];
const HUGE_PAGES: [&str; 2] = ["limits.hugepages-", "requests.hugepages-"];
const DIVISORS: &[&str] = &[
    "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei",
];

/// A reference to a field of the pod, which must be one of those that are known.
pub(super) fn check_field(reference: &Spot, known: &[&str], errors: &mut Errors) {
    let (version, path) = (reference.get("apiVersion"), reference.get("fieldPath"));
    if !checks::required(&version, errors) || !checks::required(&path, errors) {
        return;
    }
    let mut wrong = |why: String| {
        errors.push(path.invalid(format!("error converting fieldPath: {why}")));
    };
    if version.text() != "v1" {
        wrong(format!("unsupported pod version: {}", version.text()));
        return;
    }
    if let Some((field, key)) = subscripted(path.text()) {
        let key = match field {
            "metadata.annotations" => key.to_lowercase(),
            "metadata.labels" => key.to_owned(),
            _ => {
                wrong(format!(
                    "field label does not support subscript: {}",
                    path.text()
                ));
                return;
            }
        };
        let mistakes = labels::key_mistakes(&key).into_iter();
        errors.extend(mistakes.map(|why| FieldError::invalid(reference.path(), key.as_str(), why)));
        return;
    }
    // Clients of old send the older name of the field.
    let field = match path.text() {
        "spec.host" => "spec.nodeName",
        other => other,
    };
    if !NAMED.contains(&field) {
        wrong(format!("field label not supported: {field}"));
    } else if !known.contains(&field) {
        errors.push(FieldError::not_supported(path.path(), field, known));
    }
}

/// The two parts of a path such as `metadata.labels['app']`.
fn subscripted(path: &str) -> Option<(&str, &str)> {
    let (field, key) = path.strip_suffix("']")?.split_once("['")?;
    (!field.is_empty()).then_some((field, key))
}

/// A reference to an amount of a resource; a file must say of which container.
pub(super) fn check_resource(reference: &Spot, is_file: bool, errors: &mut Errors) {
    let (container, resource) = (reference.get("containerName"), reference.get("resource"));
    let name = resource.text();
    let is_huge = HUGE_PAGES.iter().any(|start| name.starts_with(start));
    if is_file && container.is_empty() {
        errors.push(container.required(""));
    } else if checks::required(&resource, errors) && !RESOURCES.contains(&name) && !is_huge {
        errors.push(resource.not_supported(RESOURCES));
    }
    check_divisor(reference, name, errors);
}

fn check_divisor(reference: &Spot, name: &str, errors: &mut Errors) {
    let spot = reference.get("divisor");
    let Some(divisor) = quantity(spot.value()).filter(|amount| *amount != Quantity::ZERO) else {
        return;
    };
    let divisor = divisor.to_string();
    let (known, told): (&[&str], &str) = match name.split_once('.') {
        Some((_, "cpu")) => (&["1m", "1"], "cpu"),
        Some((_, "memory")) => (DIVISORS, "memory"),
        Some((_, "ephemeral-storage")) => (DIVISORS, "local ephemeral storage"),
        Some((_, other)) if other.starts_with("hugepages-") => (DIVISORS, "hugepages"),
        _ => return,
    };
    if !known.contains(&divisor.as_str()) {
        let all = match told {
            "cpu" => "1m and 1".to_owned(),
            _ => known.join(", "),
        };
        let why = format!("only divisor's values {all} are supported with the {told} resource");
        errors.push(FieldError::invalid(spot.path(), name, why));
    }
}

/// A file with a field of the pod or an amount in it, told of as a part of `owner`.
pub(in crate::kinds) fn check_file<'v>(
    file: &Spot<'_, 'v>,
    owner: &Spot<'_, 'v>,
    errors: &mut Errors,
) {
    let path = owner.told_as("path", file.get("path").value());
    checks::required(&path, errors);
    checks::local_path(&path, errors);
    let field = owner.told_as("fieldRef", file.get("fieldRef").value());
    let resource = owner.told_as("resourceFieldRef", file.get("resourceFieldRef").value());
    if field.is_set() {
        check_field(&field, FOR_FILES, errors);
        if resource.is_set() {
            let why = "fieldRef and resourceFieldRef can not be specified simultaneously";
            errors.push(FieldError::invalid(owner.path(), "resource", why));
        }
    } else if resource.is_set() {
        check_resource(&resource, true, errors);
    } else {
        errors.push(owner.required("one of fieldRef and resourceFieldRef is required"));
    }
    checks::file_mode(&owner.told_as("mode", file.get("mode").value()), errors);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscript_stands_in_quotes_and_brackets() {
        for (path, parts) in [
            ("metadata.labels['app']", Some(("metadata.labels", "app"))),
            (
                "metadata.labels['a[b]c']",
                Some(("metadata.labels", "a[b]c")),
            ),
            ("metadata.labels", None),
            ("['app']", None),
        ] {
            assert_eq!(subscripted(path), parts, "{path}");
        }
    }
}
