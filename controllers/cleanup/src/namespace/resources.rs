//! What a namespace may contain, as far as the server tells.

use std::sync::Arc;

use flyball_api::discovery::{Discovery, Resource};
use flyball_api::views::Pod;
use flyball_plan::Answer;

/// How many resources one stage is about; the four stages of each portion have names of their own.
pub(super) const PORTION: usize = 1_000;

/// The resources to be emptied: pods before all others.
pub(super) struct Resources {
    pub(super) pods: Vec<Resource>,
    pub(super) others: Vec<Resource>,
    /// Why these may not be all.
    pub(super) failure: Option<String>,
    /// Which group version, if any, is none that can be asked for.
    pub(super) malformed: Option<String>,
}

impl Resources {
    /// What the server answered.
    pub(super) fn of(answer: Option<&Answer>) -> Self {
        let (found, failure) = match answer {
            Some(Answer::Discovered(found)) => (found.clone(), failure(found)),
            Some(Answer::Failed(error)) => (Arc::default(), Some(error.to_string())),
            _ => (Arc::default(), Some("no answer".to_owned())),
        };
        let is_pods = |resource: &&Resource| resource.kind.is_same_resource(&Pod::KIND);
        let mut malformed = found.failures().iter().filter(|it| it.is_malformed());
        let malformed = malformed.next().map(|it| it.reason.clone());
        let (pods, others) = found
            .in_namespaces()
            .partition::<Vec<&Resource>, _>(is_pods);
        Self {
            pods: pods.into_iter().copied().collect(),
            others: others.into_iter().copied().collect(),
            failure,
            malformed,
        }
    }
}

/// Why a discovery may not name all resources, in upstream's words where it has some.
fn failure(found: &Discovery) -> Option<String> {
    let mut failures: Vec<String> = found
        .failures()
        .iter()
        .filter(|it| !it.is_malformed())
        .map(|it| format!("{}: {}", it.group_version(), it.reason))
        .collect();
    failures.sort_unstable();
    if !failures.is_empty() {
        let (count, all) = (failures.len(), failures.join(", "));
        return Some(format!(
            "Discovery failed for some groups, {count} failing: unable to retrieve the complete list of server APIs: {all}"
        ));
    }
    // Half of it is forbidden, or of a server that only seems to be there.
    let mut core = found.resources().iter().map(|it| it.kind.group.is_empty());
    let (has_core, has_others) = (core.clone().any(|is| is), core.any(|is| !is));
    (!has_core || !has_others)
        .then(|| "the server told of a part of its API groups only".to_owned())
}

#[cfg(test)]
mod tests {
    use flyball_api::Kind;
    use flyball_api::discovery::{Failure, Verbs};

    use super::*;

    fn resource(group: &'static str, plural: &'static str, verbs: &[&str]) -> Resource {
        Resource {
            kind: Kind::namespaced(group, "v1", "Thing", plural),
            verbs: Verbs::named(verbs.iter().copied()),
            preferred: true,
        }
    }

    #[test]
    fn what_can_be_deleted_is_emptied_and_pods_come_first() {
        let found = Discovery::of(
            [
                resource("", "bindings", &["create"]),
                resource("", "pods", &["delete", "list"]),
                resource("apps", "deployments", &["delete"]),
                resource("metrics.k8s.io", "pods", &["get", "list"]),
            ],
            [],
        );
        let found = Resources::of(Some(&Answer::Discovered(Arc::new(found))));
        let names = |all: &[Resource]| {
            let names: Vec<String> = all.iter().map(|it| it.kind.to_string()).collect();
            names.join(" ")
        };
        assert_eq!(names(&found.pods), "pods");
        assert_eq!(names(&found.others), "deployments.apps");
        assert_eq!(found.failure, None);
    }

    #[test]
    fn a_discovery_that_lacks_something_says_what() {
        let said = |resources: &[Resource], failures: &[(&str, &str)]| {
            let failures = failures.iter().map(|(group, reason)| Failure {
                group: (*group).into(),
                version: "v1".into(),
                reason: (*reason).to_owned(),
            });
            let found = Discovery::of(resources.iter().copied(), failures);
            failure(&found).unwrap_or_default()
        };
        let (core, apps) = (
            resource("", "pods", &[]),
            resource("apps", "deployments", &[]),
        );
        assert_eq!(said(&[core, apps], &[]), "");
        assert_eq!(
            said(&[core, apps], &[("b.io", "stale"), ("a.io", "dead")]),
            "Discovery failed for some groups, 2 failing: unable to retrieve the complete list of server APIs: \
             a.io/v1: dead, b.io/v1: stale"
        );
        let part = "the server told of a part of its API groups only";
        assert_eq!(
            [said(&[core], &[]), said(&[apps], &[]), said(&[], &[])],
            [part; 3]
        );
    }
}
