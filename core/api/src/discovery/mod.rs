//! Discovery: which resources a server has, known only at run time.
//!
//! A [`Reading`] takes the documents of a server, aggregated (`apidiscovery.k8s.io/v2`) or one by
//! one, and gives a [`Discovery`]. What a server could not tell about some groups is kept as
//! [`Failure`]s beside what it did tell: a group that fails for a while must not look as if its
//! resources were gone.

mod read;
#[cfg(test)]
mod tests;
mod verbs;

use crate::{Kind, Text};

pub use read::{Part, Reading};
pub use verbs::{Verb, Verbs};

/// The types of documents asked for at `/api` and `/apis`: everything at once where a server can.
pub const ACCEPT: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// A resource that a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resource {
    /// Its group, version, kind, plural and scope.
    pub kind: Kind,
    /// What can be done with it.
    pub verbs: Verbs,
    /// Whether this is the version of the resource that the server prefers.
    pub preferred: bool,
}

/// A version of a group that a server could not tell about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// The group.
    pub group: Text,
    /// The version.
    pub version: Text,
    /// Why.
    pub reason: String,
}

impl Failure {
    /// `apps/v1`, or `v1` for the core group.
    pub fn group_version(&self) -> String {
        group_version(&self.group, &self.version)
    }

    /// Whether the group or the version is none that a path could name.
    pub fn is_malformed(&self) -> bool {
        is_malformed(&self.group, &self.version)
    }
}

fn group_version(group: &str, version: &str) -> String {
    match group {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    }
}

/// Upstream, `apimachinery/pkg/runtime/schema/group_version.go`: a group version has one slash at
/// most.
fn is_malformed(group: &str, version: &str) -> bool {
    group.contains('/') || version.contains('/')
}

/// The resources that a server has, as far as it could tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    // Invariant: sorted by kind, each kind once.
    resources: Vec<Resource>,
    failures: Vec<Failure>,
}

impl Discovery {
    /// A discovery of these resources; of two with one kind the first counts.
    pub fn of(
        resources: impl IntoIterator<Item = Resource>,
        failures: impl IntoIterator<Item = Failure>,
    ) -> Self {
        let mut resources: Vec<Resource> = resources.into_iter().collect();
        resources.sort_by_key(|resource| resource.kind);
        resources.dedup_by_key(|resource| resource.kind);
        let mut failures: Vec<Failure> = failures.into_iter().collect();
        failures.sort();
        failures.dedup();
        Self {
            resources,
            failures,
        }
    }

    /// Every version of every resource, sorted by kind.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// What the server could not tell.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// Whether no resource at all is known, which no server is like.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// Each resource once, in the version that the server prefers.
    pub fn preferred(&self) -> impl Iterator<Item = &Resource> {
        self.resources.iter().filter(|resource| resource.preferred)
    }

    /// The resources whose objects can be listed, watched and deleted.
    pub fn watchable(&self) -> impl Iterator<Item = &Resource> {
        let needed = [Verb::List, Verb::Watch, Verb::Delete];
        self.preferred()
            .filter(move |resource| needed.iter().all(|verb| resource.verbs.has(*verb)))
    }

    /// The resources whose objects live in namespaces and can be deleted.
    pub fn in_namespaces(&self) -> impl Iterator<Item = &Resource> {
        self.preferred()
            .filter(|resource| resource.kind.namespaced && resource.verbs.has(Verb::Delete))
    }

    /// The resource that objects of this `apiVersion` and `kind` are kept under; `None` if the
    /// server does not have it, or did not tell.
    pub fn kind(&self, api_version: &str, kind: &str) -> Option<Kind> {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let wanted = (group, version, kind);
        let of = |resource: &Resource| {
            let Kind {
                group,
                version,
                kind,
                ..
            } = resource.kind;
            (group, version, kind)
        };
        let at = self
            .resources
            .partition_point(|resource| of(resource) < wanted);
        let found = self.resources.get(at)?;
        (of(found) == wanted).then_some(found.kind)
    }

    /// This discovery with the resources that were `known` before, that it has in no version, and
    /// that are to be kept. Of a group that failed nothing is added: it is not omitted.
    pub fn with_omitted(self, known: &Self, is_kept: impl Fn(Kind) -> bool) -> Self {
        let is_omitted = |kind: &Kind| {
            let mut all = self.resources.iter();
            let mut failures = self.failures.iter();
            !all.any(|found| found.kind.is_same_resource(kind))
                && failures.all(|failure| failure.group != kind.group)
        };
        let known = known.resources.iter();
        let kept = known.filter(|one| is_omitted(&one.kind) && is_kept(one.kind));
        let mut resources: Vec<Resource> = kept.copied().collect();
        if resources.is_empty() {
            return self;
        }
        resources.extend(&self.resources);
        Self::of(resources, self.failures)
    }

    /// This discovery with what was `known` before of every group version that failed now.
    pub fn or_known(self, known: &Self) -> Self {
        let failed = |kind: &Kind| {
            let mut failures = self.failures.iter();
            failures.any(|failure| failure.group == kind.group && failure.version == kind.version)
        };
        let kept = known
            .resources
            .iter()
            .filter(|resource| failed(&resource.kind));
        let mut resources: Vec<Resource> = kept.copied().collect();
        // What was preferred while its group could be asked stays so only if no other version is.
        for resource in &mut resources {
            let mut others = self.resources.iter();
            resource.preferred &=
                !others.any(|other| other.preferred && other.kind.is_same_resource(&resource.kind));
        }
        resources.extend(&self.resources);
        Self::of(resources, self.failures)
    }
}
