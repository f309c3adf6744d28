//! The trees: how they are grown, felled and seen.

use std::collections::HashMap;

use anyhow::{Context as _, Result};
use flyball_conformance::{Objects, Propagation};
use futures::{StreamExt as _, TryStreamExt as _};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::sight::Seen;

/// Requests of the harness in flight at most.
const CONCURRENCY: usize = 16;

/// Namespaces that trees are spread over.
const NAMESPACES: usize = 10;

const NAMESPACE_PREFIX: &str = "bench-";

/// How many trees there are, and of which shape.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) roots: usize,
    pub(super) children: usize,
    pub(super) leaves: usize,
}

impl Size {
    /// All objects.
    pub(super) fn objects(self) -> usize {
        self.roots + self.middle() + self.leaves_in_all()
    }

    /// Children of all roots.
    pub(super) fn middle(self) -> usize {
        self.roots * self.children
    }

    /// Leaves of all children.
    pub(super) fn leaves_in_all(self) -> usize {
        self.middle() * self.leaves
    }
}

/// Trees that are grown and felled.
pub(super) struct Forest {
    pub(super) objects: Objects,
    pub(super) size: Size,
}

/// An object that others are to belong to.
#[derive(Clone)]
struct Owner {
    number: usize,
    name: String,
    uid: String,
}

impl Forest {
    pub(super) async fn create_namespaces(&self) -> Result<()> {
        for number in 0..NAMESPACES.min(self.size.roots) {
            self.objects.create_namespace(&namespace(number)).await?;
        }
        Ok(())
    }

    /// Creates all trees, owners first.
    pub(super) async fn grow(&self) -> Result<()> {
        let roots = (0..self.size.roots).map(|number| (number, name_of_root(number), None));
        let roots = self.create_all(roots.collect()).await?;
        let children = below(&roots, self.size.children);
        let children = self.create_all(children).await?;
        let leaves = below(&children, self.size.leaves);
        self.create_all(leaves).await.map(drop)
    }

    /// Asks for the end of the roots; with Orphan, of their children, too.
    pub(super) async fn fell(&self, policy: Propagation) -> Result<()> {
        let mut names: Vec<(usize, String)> = Vec::new();
        for number in 0..self.size.roots {
            let root = name_of_root(number);
            if policy == Propagation::Orphan {
                let children = (0..self.size.children).map(|child| format!("{root}-{child}"));
                names.extend(children.map(|name| (number, name)));
            }
            names.push((number, root));
        }
        futures::stream::iter(names)
            .map(async |(number, name)| {
                let namespace = namespace(number);
                self.objects
                    .delete("ConfigMap", &namespace, &name, policy)
                    .await
            })
            .buffer_unordered(CONCURRENCY)
            .try_collect()
            .await
    }

    /// Removes whatever is left, without anybody's help.
    pub(super) async fn clear(&self) -> Result<()> {
        for number in 0..NAMESPACES.min(self.size.roots) {
            self.objects
                .delete_all("ConfigMap", &namespace(number))
                .await?;
        }
        Ok(())
    }

    async fn create_all(&self, wanted: Vec<(usize, String, Option<Owner>)>) -> Result<Vec<Owner>> {
        futures::stream::iter(wanted)
            .map(async |(number, name, owner)| {
                let object = config_map(&name, owner.as_ref());
                let created = self.objects.create(&namespace(number), &object).await?;
                let uid = created["metadata"]["uid"].as_str().context("a uid")?;
                Ok(Owner {
                    number,
                    name,
                    uid: uid.to_owned(),
                })
            })
            .buffer_unordered(CONCURRENCY)
            .try_collect()
            .await
    }
}

/// `count` dependents for each owner.
fn below(owners: &[Owner], count: usize) -> Vec<(usize, String, Option<Owner>)> {
    let dependents = |owner: &Owner| {
        let owner = owner.clone();
        (0..count).map(move |at| {
            let name = format!("{}-{at}", owner.name);
            (owner.number, name, Some(owner.clone()))
        })
    };
    owners.iter().flat_map(dependents).collect()
}

fn name_of_root(number: usize) -> String {
    format!("tree-{number}")
}

fn namespace(number: usize) -> String {
    format!("{NAMESPACE_PREFIX}{}", number % NAMESPACES)
}

fn config_map(name: &str, owner: Option<&Owner>) -> Value {
    let owners: Vec<Value> = owner
        .iter()
        .map(|owner| {
            json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "name": owner.name,
                "uid": owner.uid,
                "blockOwnerDeletion": true,
            })
        })
        .collect();
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": name, "ownerReferences": owners },
        "data": { "log-level": "info" },
    })
}

/// The objects of the trees as last seen.
#[derive(Default)]
pub(super) struct Standing {
    /// Whether each has an owner, by uid.
    seen: HashMap<String, bool>,
    owned: usize,
}

impl Standing {
    /// How many there are.
    pub(super) fn alive(&self) -> usize {
        self.seen.len()
    }

    /// How many of them have an owner.
    pub(super) fn owned(&self) -> usize {
        self.owned
    }
}

#[derive(Deserialize)]
struct Partial {
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    uid: String,
    namespace: String,
    #[serde(default)]
    owner_references: Vec<IgnoredAny>,
}

impl Seen for Standing {
    const PATH: &'static str = "/api/v1/configmaps";
    const ACCEPT: &'static str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

    fn put(&mut self, object: &RawValue) -> Result<()> {
        let Partial { metadata } = serde_json::from_str(object.get())?;
        if !metadata.namespace.starts_with(NAMESPACE_PREFIX) {
            return Ok(());
        }
        let is_owned = !metadata.owner_references.is_empty();
        let before = self.seen.insert(metadata.uid, is_owned);
        self.owned += usize::from(is_owned);
        self.owned -= usize::from(before == Some(true));
        Ok(())
    }

    fn remove(&mut self, object: &RawValue) -> Result<()> {
        let Partial { metadata } = serde_json::from_str(object.get())?;
        let before = self.seen.remove(&metadata.uid);
        self.owned -= usize::from(before == Some(true));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_trees_are_twenty_thousand_objects() {
        let size = Size {
            roots: 20,
            children: 9,
            leaves: 110,
        };
        assert_eq!(
            (size.objects(), size.middle(), size.leaves_in_all()),
            (20_000, 180, 19_800)
        );
    }

    #[test]
    fn owned_objects_are_counted_as_they_come_change_and_go() {
        let object = |uid: &str, namespace: &str, owners: usize| {
            let owners = vec![json!({}); owners];
            let metadata = json!({"uid": uid, "namespace": namespace, "ownerReferences": owners});
            serde_json::value::to_raw_value(&json!({ "metadata": metadata })).unwrap()
        };
        let mut standing = Standing::default();
        let mut counts = Vec::new();
        for (uid, namespace, owners, is_there) in [
            ("a", "bench-1", 0, true),
            ("b", "bench-1", 1, true),
            ("c", "kube-system", 1, true),
            ("b", "bench-1", 1, true),
            ("b", "bench-1", 0, true),
            ("a", "bench-1", 1, true),
            ("a", "bench-1", 1, false),
            ("c", "kube-system", 1, false),
        ] {
            let object = object(uid, namespace, owners);
            match is_there {
                true => standing.put(&object).unwrap(),
                false => standing.remove(&object).unwrap(),
            }
            counts.push((standing.alive(), standing.owned()));
        }
        let expected = [
            (1, 0),
            (2, 1),
            (2, 1),
            (2, 1),
            (2, 0),
            (2, 1),
            (1, 0),
            (1, 0),
        ];
        assert_eq!(counts, expected);
    }
}
