//! Mistakes in what is particular about an operating system.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use super::defaults::VISITED;
use crate::field_error::FieldError;
use crate::kinds::NameRule;
use crate::kinds::checks;
use crate::kinds::spot::{Errors, Spot};

const CREDENTIAL_SPEC_MAX: usize = 64 << 10;
const DOMAIN_MAX: usize = 256;
const USER_MAX: usize = 104;

/// What pods on Windows cannot say of all their containers, in upstream's order.
const POD_FIELDS: [(bool, &str); 15] = [
    (true, "appArmorProfile"),
    (true, "seLinuxOptions"),
    (false, "hostUsers"),
    (false, "hostPID"),
    (false, "hostIPC"),
    (true, "seccompProfile"),
    (true, "fsGroup"),
    (true, "fsGroupChangePolicy"),
    (true, "sysctls"),
    (false, "shareProcessNamespace"),
    (true, "runAsUser"),
    (true, "runAsGroup"),
    (true, "supplementalGroups"),
    (true, "supplementalGroupsPolicy"),
    (true, "seLinuxChangePolicy"),
];
/// What containers on Windows cannot have.
const CONTAINER_FIELDS: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

/// The operating system of a pod, and what does not go with it.
pub(super) fn check_os(spec: &Spot, errors: &mut Errors) {
    let os = spec.get("os");
    if !os.is_set() {
        return;
    }
    let name = os.get("name");
    match name.text() {
        "" => errors.push(name.required("")),
        "linux" => check_linux(spec, errors),
        "windows" => check_windows(spec, errors),
        other => {
            let known = &["linux", "windows"];
            errors.push(FieldError::not_supported(os.path(), other, known));
        }
    }
}

fn check_linux(spec: &Spot, errors: &mut Errors) {
    let why = "windows options cannot be set for a linux pod";
    let context = spec.get("securityContext");
    if context.get("windowsOptions").is_set() {
        errors.push(context.get("windowsOptions").forbidden(why));
    }
    for field in VISITED {
        let containers = spec.get(field);
        for container in containers.items() {
            let context = container.get("securityContext");
            if context.get("windowsOptions").is_set() {
                errors.push(context.get("windowsOptions").forbidden(why));
            }
        }
    }
}

fn check_windows(spec: &Spot, errors: &mut Errors) {
    let why = "cannot be set for a windows pod";
    let context = spec.get("securityContext");
    for (in_context, field) in POD_FIELDS {
        let value = match in_context {
            true => context.get(field),
            false => spec.get(field),
        };
        // A flag of upstream's own type cannot tell false from nothing.
        let is_plain = matches!(field, "hostPID" | "hostIPC");
        let is_list = field == "sysctls";
        let is_given = match (is_plain, is_list) {
            (true, _) => value.flag(),
            (_, true) => !value.is_empty(),
            _ => value.is_set(),
        };
        if is_given {
            errors.push(value.forbidden(why));
        }
    }
    for field in VISITED {
        let containers = spec.get(field);
        for container in containers.items() {
            let context = container.get("securityContext");
            for field in CONTAINER_FIELDS {
                if context.get(field).is_set() {
                    errors.push(context.get(field).forbidden(why));
                }
            }
        }
    }
}

/// Containers that are processes of the node: all of a pod's or none.
pub(super) fn check_host_process(spec: &Spot, errors: &mut Errors) {
    let context = spec.get("securityContext");
    let options = context.get("windowsOptions");
    let of_pod = options.get("hostProcess");
    let (mut all, mut count) = (0, 0);
    for field in VISITED {
        let containers = spec.get(field);
        for container in containers.items() {
            all += 1;
            let context = container.get("securityContext");
            let options = context.get("windowsOptions");
            let own = options.get("hostProcess");
            if of_pod.is_set() && own.is_set() && of_pod.flag() != own.flag() {
                errors.push(own.invalid(format!(
                    "pod hostProcess value must be identical if both are specified, was {}",
                    of_pod.flag()
                )));
            }
            let counts = if own.is_set() {
                own.flag()
            } else {
                of_pod.flag()
            };
            count += usize::from(counts);
        }
    }
    if count == 0 {
        return;
    }
    if count != all {
        let why = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        errors.push(FieldError::invalid(spec.path(), "", why));
    }
    let network = spec.get("hostNetwork");
    if !network.flag() {
        let why = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.push(FieldError::invalid(network.path(), false, why));
    }
}

/// The options of a pod or a container on Windows.
pub(super) fn check_options(options: &Spot, errors: &mut Errors) {
    let name = options.get("gmsaCredentialSpecName");
    if name.is_set() {
        checks::name(&name, NameRule::Subdomain, errors);
    }
    let spec = options.get("gmsaCredentialSpec");
    if spec.is_set() && spec.is_empty() {
        errors.push(spec.invalid("gmsaCredentialSpec cannot be an empty string"));
    } else if spec.text().len() > CREDENTIAL_SPEC_MAX {
        errors.push(spec.invalid("gmsaCredentialSpec size must be under 64 KiB"));
    }
    let user = options.get("runAsUserName");
    if user.is_set() {
        let mistakes = user_mistakes(user.text());
        errors.extend(mistakes.into_iter().map(|why| user.invalid(why)));
    }
}

fn user_mistakes(name: &str) -> Vec<String> {
    if name.is_empty() {
        return vec!["runAsUserName cannot be an empty string".to_owned()];
    }
    if name.bytes().any(|byte| byte.is_ascii_control()) {
        return vec!["runAsUserName cannot contain control characters".to_owned()];
    }
    let parts: Vec<&str> = name.split('\\').collect();
    let (domain, user) = match parts.as_slice() {
        [user] => (None, *user),
        [domain, user] => (Some(*domain), *user),
        _ => return vec!["runAsUserName cannot contain more than one backslash".to_owned()],
    };
    let mut mistakes = Vec::new();
    let mut say = |wrong: bool, why: &str| {
        if wrong {
            mistakes.push(why.to_owned());
        }
    };
    say(
        domain.is_some_and(|domain| domain.len() >= DOMAIN_MAX),
        "runAsUserName's Domain length must be under 256 characters",
    );
    say(
        domain.is_some_and(|domain| !is_net_bios(domain) && !is_dns(domain)),
        "runAsUserName's Domain doesn't match the NetBios nor the DNS format",
    );
    say(user.is_empty(), "runAsUserName's User cannot be empty");
    say(
        user.len() > USER_MAX,
        "runAsUserName's User length must not be longer than 104 characters",
    );
    say(
        !user.is_empty() && user.bytes().all(|byte| b". ".contains(&byte)),
        "runAsUserName's User cannot contain only periods or spaces",
    );
    say(
        user.contains(|letter: char| "\"/\\:;|=,+*?<>@[]".contains(letter)),
        "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]",
    );
    mistakes
}

fn is_net_bios(domain: &str) -> bool {
    let is_odd = |letter: char| "\\/:*?\"<>|".contains(letter);
    (1..=15).contains(&domain.chars().count())
        && !domain.starts_with('.')
        && !domain.contains(is_odd)
}

fn is_dns(domain: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    domain.split('.').all(|label| {
        let bytes = label.as_bytes();
        bytes.len() <= 63
            && is_end(bytes.first())
            && is_end(bytes.last())
            && bytes.iter().all(|byte| is_end(Some(byte)) || *byte == b'-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_may_have_a_domain_and_must_have_a_name() {
        for (name, count) in [
            ("user", 0),
            ("NT AUTHORITY\\SYSTEM", 0),
            ("example.com\\user", 0),
            ("", 1),
            ("a\\b\\c", 1),
            ("\\user", 1),
            ("domain\\", 1),
            ("a:b", 1),
            ("..", 1),
        ] {
            assert_eq!(user_mistakes(name).len(), count, "{name}");
        }
    }
}
