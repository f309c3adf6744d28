//! Mistakes in the variables of a container.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use super::field_refs;
use crate::field_error::FieldError;
use crate::kinds::NameRule;
use crate::kinds::checks;
use crate::kinds::spot::{Errors, Spot};
use crate::names;

const NAME_RULE: &str = "a valid environment variable name must consist only of printable ASCII characters other \
                         than '='";
const SOURCES: [&str; 5] = [
    "fieldRef",
    "resourceFieldRef",
    "configMapKeyRef",
    "secretKeyRef",
    "fileKeyRef",
];

/// Variables, one by one.
pub(super) fn check(env: &Spot, errors: &mut Errors) {
    for variable in env.items() {
        let name = variable.get("name");
        if checks::required(&name, errors) {
            check_name(&name, errors);
        }
        let from = variable.get("valueFrom");
        if !from.is_set() {
            continue;
        }
        check_source(&from, errors);
        let sources = SOURCES.map(|source| from.get(source));
        let sources = sources.iter().filter(|source| source.is_set()).count();
        let wrong = if sources == 0 {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        } else if !variable.get("value").is_empty() {
            "may not be specified when `value` is not empty"
        } else if sources > 1 {
            "may not have more than one field specified at a time"
        } else {
            continue;
        };
        errors.push(FieldError::invalid(from.path(), "", wrong));
    }
}

fn check_name(name: &Spot, errors: &mut Errors) {
    let fits = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b'=';
    if !name.text().bytes().all(fits) {
        errors.push(name.invalid(NAME_RULE));
    }
}

fn check_source(from: &Spot, errors: &mut Errors) {
    let field = from.get("fieldRef");
    if field.is_set() {
        field_refs::check_field(&field, field_refs::FOR_VARIABLES, errors);
    }
    let resource = from.get("resourceFieldRef");
    if resource.is_set() {
        field_refs::check_resource(&resource, false, errors);
    }
    for source in ["configMapKeyRef", "secretKeyRef"] {
        let source = from.get(source);
        if source.is_set() {
            checks::name(&source.get("name"), NameRule::Subdomain, errors);
            let key = source.get("key");
            if checks::required(&key, errors) {
                checks::config_key(&key, key.text(), errors);
            }
        }
    }
    let file = from.get("fileKeyRef");
    if file.is_set() {
        let key = file.get("key");
        if checks::required(&key, errors) {
            check_name(&key, errors);
        }
        checks::required_name(&file.get("volumeName"), NameRule::Label, errors);
        let path = file.get("path");
        if checks::required(&path, errors) {
            checks::no_steps_back(&path, errors);
        }
    }
}

/// Variables that come as a whole from somewhere.
pub(super) fn check_from(env_from: &Spot, errors: &mut Errors) {
    for source in env_from.items() {
        let prefix = source.get("prefix");
        check_name(&prefix, errors);
        let mut count = 0;
        for field in ["configMapRef", "secretRef"] {
            let reference = source.get(field);
            if reference.is_set() {
                count += 1;
                let name = reference.get("name");
                if checks::required(&name, errors) {
                    // Upstream takes what might be the beginning of a name.
                    let wrong = names::mistakes(NameRule::Subdomain, name.text(), true);
                    errors.extend(wrong.into_iter().map(|why| name.invalid(why)));
                }
            }
        }
        let wrong = match count {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        errors.push(FieldError::invalid(env_from.path(), "", wrong));
    }
}

/// The volumes that variables are read from must be there, and be empty directories.
pub(super) fn check_files(spec: &Spot, errors: &mut Errors) {
    let volumes = spec.get("volumes");
    for field in super::defaults::VISITED {
        let containers = spec.get(field);
        for container in containers.items() {
            let env = container.get("env");
            for variable in env.items() {
                let from = variable.get("valueFrom");
                let file = from.get("fileKeyRef");
                if !file.is_set() {
                    continue;
                }
                let name = file.get("volumeName");
                let volume = volumes
                    .items()
                    .find(|one| one.get("name").text() == name.text());
                match volume {
                    None => errors.push(name.not_found()),
                    Some(volume) if !volume.get("emptyDir").is_set() => {
                        errors.push(name.invalid("referenced volume must be of type emptyDir"));
                    }
                    Some(_) => {}
                }
            }
        }
    }
}
