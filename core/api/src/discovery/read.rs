//! Reading the documents of discovery.
//!
//! Upstream, `client-go/discovery/discovery_client.go`: `/api` and `/apis` are asked for everything
//! at once; a server that does not know how answers with lists of groups, whose versions are then
//! asked for one by one. A version whose answer is marked stale counts as one that failed.

use serde::Deserialize;

use super::{Discovery, Failure, Resource, Verbs, group_version, is_malformed};
use crate::{DecodeError, Kind, Text};

/// A version of a group that is yet to be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    group: Text,
    version: Text,
    /// Its place among the versions of the group; the server prefers the first.
    rank: usize,
}

impl Part {
    /// Where to ask.
    pub fn path(&self) -> String {
        match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        }
    }
}

/// What has been read so far.
#[derive(Debug, Default)]
pub struct Reading {
    resources: Vec<(usize, Resource)>,
    failures: Vec<Failure>,
}

impl Reading {
    /// Nothing read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the answer at `/api` or `/apis`; returns what is to be asked for besides.
    pub fn root(&mut self, body: &[u8]) -> Result<Vec<Part>, DecodeError> {
        let root: Root = serde_json::from_slice(body).map_err(DecodeError::new)?;
        match root {
            Root {
                items: Some(groups),
                ..
            } => {
                for group in groups {
                    self.aggregated(group);
                }
                Ok(Vec::new())
            }
            Root {
                groups: Some(groups),
                ..
            } => {
                let parts = groups.into_iter().flat_map(Group::parts);
                Ok(parts.filter(|part| self.is_askable(part)).collect())
            }
            Root {
                versions: Some(versions),
                ..
            } => {
                let versions = versions.into_iter().enumerate();
                let core = |(rank, version)| Part {
                    group: Text::default(),
                    version,
                    rank,
                };
                Ok(versions.map(core).collect())
            }
            _ => Err(DecodeError::new(
                "not a discovery document: items, groups and versions are missing",
            )),
        }
    }

    /// Takes the answer to a part; one that cannot be read counts as a failure.
    pub fn part(&mut self, part: &Part, body: &[u8]) {
        match serde_json::from_slice::<List>(body) {
            Ok(List { resources }) => {
                for found in resources {
                    let Named {
                        name,
                        kind,
                        namespaced,
                        verbs,
                    } = found;
                    self.found(part, &name, &kind, namespaced, &verbs);
                }
            }
            Err(error) => self.part_failed(part, DecodeError::new(error)),
        }
    }

    /// Notes that a part could not be had.
    pub fn part_failed(&mut self, part: &Part, reason: impl ToString) {
        self.failures.push(Failure {
            group: part.group.clone(),
            version: part.version.clone(),
            reason: reason.to_string(),
        });
    }

    /// What the server has, as far as it was read.
    pub fn finish(self) -> Discovery {
        let Self {
            mut resources,
            failures,
        } = self;
        // By resource, the preferred version first.
        resources.sort_by(|(one_rank, one), (two_rank, two)| {
            let one = (one.kind.group, one.kind.plural, one_rank);
            one.cmp(&(two.kind.group, two.kind.plural, two_rank))
        });
        let mut last: Option<Kind> = None;
        for (_, resource) in &mut resources {
            resource.preferred = !last.is_some_and(|last| last.is_same_resource(&resource.kind));
            last = Some(resource.kind);
        }
        Discovery::of(
            resources.into_iter().map(|(_, resource)| resource),
            failures,
        )
    }

    /// Whether a path can name it; one that none can counts as a failure.
    fn is_askable(&mut self, part: &Part) -> bool {
        let is_malformed = is_malformed(&part.group, &part.version);
        if is_malformed {
            let name = group_version(&part.group, &part.version);
            self.part_failed(part, format!("unexpected GroupVersion string: {name}"));
        }
        !is_malformed
    }

    fn aggregated(&mut self, group: AggregatedGroup) {
        for (rank, version) in group.versions.into_iter().enumerate() {
            let part = Part {
                group: group.metadata.name.clone(),
                version: version.version,
                rank,
            };
            if !self.is_askable(&part) {
                continue;
            }
            if version.freshness == "Stale" {
                let name = group_version(&part.group, &part.version);
                self.part_failed(&part, format!("stale GroupVersion discovery: {name}"));
            }
            for found in version.resources {
                // Without a kind it is a place for subresources only.
                if let Some(ResponseKind { kind }) = found.response_kind {
                    let namespaced = found.scope == "Namespaced";
                    self.found(&part, &found.resource, &kind, namespaced, &found.verbs);
                }
            }
        }
    }

    fn found(&mut self, part: &Part, plural: &str, kind: &str, namespaced: bool, verbs: &[Text]) {
        // With a slash it is a part of another resource.
        if plural.is_empty() || kind.is_empty() || plural.contains('/') {
            return;
        }
        let learnt = Kind::learnt(&part.group, &part.version, kind, plural, namespaced);
        let Some(kind) = learnt else {
            return self.part_failed(part, "more kinds than can be told apart");
        };
        let resource = Resource {
            kind,
            verbs: Verbs::named(verbs.iter().map(Text::as_str)),
            preferred: false,
        };
        self.resources.push((part.rank, resource));
    }
}

/// Any of the three documents that a root may answer with.
#[derive(Deserialize)]
struct Root {
    items: Option<Vec<AggregatedGroup>>,
    groups: Option<Vec<Group>>,
    versions: Option<Vec<Text>>,
}

#[derive(Deserialize)]
struct AggregatedGroup {
    #[serde(default)]
    metadata: GroupMeta,
    #[serde(default)]
    versions: Vec<AggregatedVersion>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GroupMeta {
    name: Text,
}

#[derive(Deserialize)]
#[serde(default)]
struct AggregatedVersion {
    version: Text,
    freshness: Text,
    resources: Vec<AggregatedResource>,
}

impl Default for AggregatedVersion {
    fn default() -> Self {
        Self {
            version: Text::default(),
            freshness: "Current".into(),
            resources: Vec::new(),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AggregatedResource {
    resource: Text,
    response_kind: Option<ResponseKind>,
    scope: Text,
    verbs: Vec<Text>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ResponseKind {
    kind: Text,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    name: Text,
    #[serde(default)]
    versions: Vec<GroupVersion>,
    #[serde(default)]
    preferred_version: Option<GroupVersion>,
}

#[derive(Deserialize)]
struct GroupVersion {
    version: Text,
}

impl Group {
    /// Its versions, the preferred one first.
    fn parts(self) -> impl Iterator<Item = Part> {
        let Self {
            name,
            mut versions,
            preferred_version,
        } = self;
        if let Some(preferred) = preferred_version {
            versions.sort_by_key(|version| version.version != preferred.version);
        }
        let ranked = versions.into_iter().enumerate();
        ranked.map(move |(rank, version)| Part {
            group: name.clone(),
            version: version.version,
            rank,
        })
    }
}

#[derive(Deserialize)]
struct List {
    resources: Vec<Named>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    name: Text,
    kind: Text,
    namespaced: bool,
    verbs: Vec<Text>,
}
