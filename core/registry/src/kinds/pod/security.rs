//! Mistakes in what pods and containers may do on their node.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::windows;
use crate::kinds::checks;
use crate::kinds::spot::{Errors, Spot};

const PROFILE_TYPES: &[&str] = &["Localhost", "RuntimeDefault", "Unconfined"];
const APP_ARMOR_PROFILE_MAX: usize = 4095;
const SYSCTL_MAX: usize = 253;
const SYSCTL_RULE: &str = "must have at most 253 characters and match regex \
                           ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

/// The context of all containers of a pod.
pub(super) fn check_pod(spec: &Spot, old: Option<&Value>, errors: &mut Errors) {
    let context = spec.get("securityContext");
    for field in ["fsGroup", "runAsUser", "runAsGroup"] {
        checks::id(&context.get(field), errors);
    }
    let groups = context.get("supplementalGroups");
    groups.items().for_each(|group| checks::id(&group, errors));
    let shares = spec.get("shareProcessNamespace");
    if shares.flag() && spec.get("hostPID").flag() {
        let told = context.told_as("shareProcessNamespace", shares.value());
        errors.push(told.invalid("ShareProcessNamespace and HostPID cannot both be enabled"));
    }
    check_sysctls(spec, &context.get("sysctls"), errors);
    let known = &["Always", "OnRootMismatch"];
    checks::one_of_if_set(&context.get("fsGroupChangePolicy"), known, errors);
    check_seccomp(&context.get("seccompProfile"), errors);
    windows::check_options(&context.get("windowsOptions"), errors);
    check_app_armor(&context.get("appArmorProfile"), errors);
    let known = &["Merge", "Strict"];
    checks::one_of_if_set(&context.get("supplementalGroupsPolicy"), known, errors);
    // Upstream's other policy is off by default, but not for pods that have one.
    let policy = "seLinuxChangePolicy";
    let had = old.is_some_and(|old| !old["securityContext"][policy].is_null());
    let known: &[&str] = match had {
        true => &["MountOption", "Recursive"],
        false => &["Recursive"],
    };
    checks::one_of_if_set(&context.get(policy), known, errors);
}

/// The context of one container.
pub(super) fn check_container(context: &Spot, host_users: bool, errors: &mut Errors) {
    if !context.is_set() {
        return;
    }
    checks::id(&context.get("runAsUser"), errors);
    checks::id(&context.get("runAsGroup"), errors);
    let mount = context.get("procMount");
    checks::one_of_if_set(&mount, &["Default", "Unmasked"], errors);
    if host_users && mount.text() == "Unmasked" {
        errors.push(mount.invalid("`hostUsers` must be false to use `Unmasked`"));
    }
    check_seccomp(&context.get("seccompProfile"), errors);
    let escalates = context.get("allowPrivilegeEscalation");
    if escalates.is_set() && !escalates.flag() {
        if context.get("privileged").flag() {
            errors.push(context.invalid(
                "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
            ));
        }
        let capabilities = context.get("capabilities");
        let added = capabilities.get("add");
        for _ in added.items().filter(|one| one.text() == "CAP_SYS_ADMIN") {
            errors.push(context.invalid(
                "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
            ));
        }
    }
    windows::check_options(&context.get("windowsOptions"), errors);
    check_app_armor(&context.get("appArmorProfile"), errors);
}

fn check_sysctls(spec: &Spot, sysctls: &Spot, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for sysctl in sysctls.items() {
        let name = sysctl.get("name");
        if checks::required(&name, errors) {
            if !is_sysctl(name.text()) {
                errors.push(name.invalid(SYSCTL_RULE));
            } else if names.contains(name.text()) {
                errors.push(name.duplicate());
            }
        }
        let dotted = name.text().replace('/', ".");
        let is_network = dotted.starts_with("net.");
        let is_queue = ["kernel.shm", "kernel.msg", "fs.mqueue."]
            .iter()
            .any(|start| dotted.starts_with(start))
            || dotted == "kernel.sem";
        if is_network && spec.get("hostNetwork").flag() {
            errors.push(name.invalid("may not be specified when 'hostNetwork' is true"));
        } else if is_queue && spec.get("hostIPC").flag() {
            errors.push(name.invalid("may not be specified when 'hostIPC' is true"));
        }
        names.insert(name.text());
    }
}

fn is_sysctl(name: &str) -> bool {
    let is_end = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let is_segment = |segment: &str| {
        let bytes = segment.as_bytes();
        is_end(bytes.first())
            && is_end(bytes.last())
            && bytes
                .iter()
                .all(|byte| is_end(Some(byte)) || b"-_".contains(byte))
    };
    name.len() <= SYSCTL_MAX && name.split(['.', '/']).all(is_segment)
}

fn check_seccomp(profile: &Spot, errors: &mut Errors) {
    if !profile.is_set() {
        return;
    }
    let (kind, file) = (profile.get("type"), profile.get("localhostProfile"));
    if kind.is_empty() {
        errors.push(kind.required("type is required when seccompProfile is set"));
    } else if !PROFILE_TYPES.contains(&kind.text()) {
        errors.push(kind.not_supported(PROFILE_TYPES));
    }
    match (kind.text() == "Localhost", file.is_set()) {
        (true, false) => errors.push(file.required("must be set when seccomp type is Localhost")),
        (true, true) => checks::descending_path(&file, errors),
        (false, true) => {
            let told = profile.told_as("localhostProfile", profile.value());
            errors.push(told.invalid("can only be set when seccomp type is Localhost"));
        }
        (false, false) => {}
    }
}

fn check_app_armor(profile: &Spot, errors: &mut Errors) {
    if !profile.is_set() {
        return;
    }
    let (kind, name) = (profile.get("type"), profile.get("localhostProfile"));
    let missing = "must be set when AppArmor type is Localhost";
    match kind.text() {
        "Localhost" if !name.is_set() => errors.push(name.required(missing)),
        "Localhost" => {
            if name.text().trim() != name.text() {
                errors.push(name.invalid("must not be padded with whitespace"));
            } else if name.is_empty() {
                errors.push(name.required(missing));
            }
            if name.text().len() > APP_ARMOR_PROFILE_MAX {
                errors.push(name.too_long(APP_ARMOR_PROFILE_MAX));
            }
        }
        "RuntimeDefault" | "Unconfined" => {
            if name.is_set() {
                errors.push(name.invalid("can only be set when AppArmor type is Localhost"));
            }
        }
        "" => errors.push(kind.required("type is required when appArmorProfile is set")),
        _ => errors.push(kind.not_supported(PROFILE_TYPES)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sysctls_have_segments_between_dots_or_slashes() {
        for (name, fits) in [
            ("kernel.shm_rmid_forced", true),
            ("net/ipv4/tcp-x", true),
            ("a", true),
            ("", false),
            ("a..b", false),
            ("_a", false),
            ("A", false),
        ] {
            assert_eq!(is_sysctl(name), fits, "{name}");
        }
    }
}
