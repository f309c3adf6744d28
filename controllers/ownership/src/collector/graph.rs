//! The graph of owners and dependents as text, for people and Graphviz.
//!
//! Upstream, `dump.go`: the same nodes, attributes and edges, in the same order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

use flyball_api::{Kind, OwnerReference, Uid};
use flyball_informer::{Brief, Snapshot};

use super::finalizers::waits_for_dependents;

/// Everything that owns or is owned, or, given identities, what these are related to in any degree.
pub fn graph(store: &Snapshot, uids: &[Uid]) -> String {
    let related = (!uids.is_empty()).then(|| related(store, uids));
    let mut nodes: BTreeMap<String, String> = BTreeMap::new();
    let mut edges: BTreeSet<(String, String)> = BTreeSet::new();
    let mut missing: BTreeMap<String, &OwnerReference> = BTreeMap::new();
    for view in store.views() {
        for object in view.all() {
            let wanted = related.as_ref().is_none_or(|it| it.contains(object.uid));
            let owners = object.lineage.owners;
            if !wanted || (owners.is_empty() && !has_dependents(store, object.uid)) {
                continue;
            }
            let uid = object.uid.to_string();
            for owner in owners {
                edges.insert((uid.clone(), owner.uid.to_string()));
                missing.insert(owner.uid.to_string(), owner);
            }
            nodes.insert(uid, seen(view.kind(), &object));
        }
    }
    for (uid, owner) in missing {
        nodes.entry(uid).or_insert_with(|| unseen(owner));
    }
    let mut text = "strict digraph full {\n".to_owned();
    if !nodes.is_empty() {
        text.push_str("  // Node definitions.\n");
        text.extend(nodes.into_values());
    }
    if !edges.is_empty() {
        text.push_str("  // Edge definitions.\n");
        for (from, to) in edges {
            let _ = writeln!(text, "  {from:?} -> {to:?};");
        }
    }
    text.push_str("}\n");
    text
}

fn has_dependents(store: &Snapshot, uid: &Uid) -> bool {
    store.dependents(uid).next().is_some()
}

/// All identities that are connected with these.
fn related(store: &Snapshot, uids: &[Uid]) -> BTreeSet<Uid> {
    let mut found = BTreeSet::new();
    let mut ahead: VecDeque<Uid> = uids.iter().cloned().collect();
    while let Some(uid) = ahead.pop_front() {
        if !found.insert(uid.clone()) {
            continue;
        }
        let owners = store.find(&uid).map(|(_, object)| object.lineage.owners);
        let owners = owners.into_iter().flatten().map(|owner| &owner.uid);
        ahead.extend(owners.cloned());
        let dependents = store.dependents(&uid);
        ahead.extend(dependents.map(|(_, dependent)| dependent.uid.clone()));
    }
    found
}

fn seen(kind: Kind, object: &Brief<'_>) -> String {
    node(&Node {
        group: kind.group,
        version: kind.version,
        kind: kind.kind,
        namespace: object.namespace,
        name: object.name,
        uid: object.uid,
        missing: false,
        being_deleted: object.deleting,
        deleting_dependents: waits_for_dependents(object),
    })
}

fn unseen(owner: &OwnerReference) -> String {
    let version = owner.api_version.as_str();
    let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
    node(&Node {
        group,
        version,
        kind: &owner.kind,
        namespace: "",
        name: &owner.name,
        uid: &owner.uid,
        missing: true,
        being_deleted: false,
        deleting_dependents: false,
    })
}

struct Node<'a> {
    group: &'a str,
    version: &'a str,
    kind: &'a str,
    namespace: &'a str,
    name: &'a str,
    uid: &'a Uid,
    missing: bool,
    being_deleted: bool,
    deleting_dependents: bool,
}

fn node(node: &Node<'_>) -> String {
    let uid = node.uid.to_string();
    let dot = if node.group.is_empty() { "" } else { "." };
    let named = format!(
        "{}.{}{dot}{}/{}",
        node.kind, node.version, node.group, node.name
    );
    let states = [
        (node.being_deleted, "beingDeleted"),
        (node.deleting_dependents, "deletingDependents"),
        (node.missing, "missingFromGraph"),
    ];
    let states: Vec<&str> = states
        .iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, state)| *state)
        .collect();
    let mut label = format!("uid={uid}\nnamespace={}\n{named}\n", node.namespace);
    if !states.is_empty() {
        let _ = writeln!(label, "{}", states.join(","));
    }
    let word = |holds: bool| if holds { "true" } else { "false" };
    let attributes = [
        ("label", label.as_str()),
        ("group", node.group),
        ("version", node.version),
        ("kind", node.kind),
        ("namespace", node.namespace),
        ("name", node.name),
        ("uid", &uid),
        ("missing", word(node.missing)),
        ("beingDeleted", word(node.being_deleted)),
        ("deletingDependents", word(node.deleting_dependents)),
        // What nobody has seen is in no graph here: it is missing.
        ("virtual", "false"),
    ];
    let mut text = format!("  {uid:?} [\n");
    for (name, value) in attributes {
        let _ = writeln!(text, "    {name}={value:?}");
    }
    text.push_str("  ];\n");
    text
}
