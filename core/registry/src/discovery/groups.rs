//! Groups and their versions, in the order in which clients should prefer them.
//!
//! Upstream: the priorities of API services in `pkg/controlplane/apiserver` and
//! `cmd/kube-apiserver/app/aggregator.go`; `apimachinery/pkg/version`.

use std::cmp::Reverse;

use flyball_schema::Resource;

/// The groups of built-in kinds, most preferred first.
const BUILT_IN: [&str; 22] = [
    "",
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
];

/// A group and its versions, most preferred first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group<'a> {
    pub(super) name: &'a str,
    pub(super) versions: Vec<&'a str>,
}

/// Whether a group is one of upstream's own.
pub(super) fn is_built_in(group: &str) -> bool {
    BUILT_IN.contains(&group)
}

/// The groups that are served. Those of custom resources come last, by name.
pub(super) fn groups<'a>(resources: &[&'a Resource]) -> Vec<Group<'a>> {
    let mut all: Vec<Group<'a>> = Vec::new();
    for resource in resources {
        let (name, version) = (resource.group.as_str(), resource.version.as_str());
        match all.iter_mut().find(|group| group.name == name) {
            Some(group) if group.versions.contains(&version) => {}
            Some(group) => group.versions.push(version),
            None => {
                let versions = vec![version];
                all.push(Group { name, versions });
            }
        }
    }
    for group in &mut all {
        group.versions.sort_by_key(|version| precedence(version));
    }
    let place = |name: &str| {
        BUILT_IN
            .iter()
            .position(|one| *one == name)
            .unwrap_or(BUILT_IN.len())
    };
    all.sort_by_key(|group| (place(group.name), group.name));
    all
}

/// Sorts versions: stable before beta before alpha, higher numbers first, then whatever looks otherwise.
pub(crate) fn precedence(version: &str) -> (Reverse<Option<Numbers>>, &str) {
    (Reverse(numbered(version)), version)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stability {
    Alpha,
    Beta,
    Stable,
}

/// How far a version has matured, and its two numbers.
pub(crate) type Numbers = (Stability, u64, u64);

/// The parts of a version such as `v1` or `v2beta3`.
fn numbered(version: &str) -> Option<Numbers> {
    let rest = version.strip_prefix('v')?;
    let (major, rest) = rest.split_at(
        rest.find(|one: char| !one.is_ascii_digit())
            .unwrap_or(rest.len()),
    );
    let major = major.parse().ok()?;
    if rest.is_empty() {
        return Some((Stability::Stable, major, 0));
    }
    let (stability, minor) = match rest.strip_prefix("beta") {
        Some(minor) => (Stability::Beta, minor),
        None => (Stability::Alpha, rest.strip_prefix("alpha")?),
    };
    let digits = minor.bytes().all(|one| one.is_ascii_digit());
    let minor = minor.parse().ok().filter(|_| digits)?;
    Some((stability, major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_come_before_beta_and_alpha_and_higher_before_lower() {
        let sorted = [
            "v10",
            "v2",
            "v1",
            "v11beta2",
            "v10beta3",
            "v3beta1",
            "v12alpha1",
            "v11alpha2",
            "foo1",
            "foo10",
            "v1beta",
            "v1gamma2",
            "vx",
        ];
        let mut versions = sorted;
        versions.reverse();
        versions.sort_by_key(|version| precedence(version));
        assert_eq!(versions, sorted);
    }
}
