//! Owners and what belongs to them: custom resources, deleted in all three ways, and made again
//! under the same name.

use fastrand::Rng;
use flyball_plan::Propagation;
use serde_json::{Value, json};

use super::{Edit, Edits, SPACES};

/// The group of the custom resources.
pub(crate) const CUSTOM_GROUP: &str = "sim.example.com";

/// Where definitions are made.
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The definition of the owners.
const DEFINITION: &str = "widgets.sim.example.com";

/// What holds an object until somebody takes it off.
pub(super) const HOLD: &str = "sim.example.com/hold";

/// Draws a definition and a few families.
pub(super) fn draw(draws: &mut Rng, edits: &mut Edits) {
    edits.create(draws.u64(0..10_000), DEFINITIONS, definition());
    // Now and then the kind itself goes, with all its objects, and comes back.
    if draws.u32(0..6) == 0 {
        let at = draws.u64(60_000..edits.end - 120_000);
        let path = format!("{DEFINITIONS}/{DEFINITION}");
        edits.delete(at, path, None);
        edits.create(at + draws.u64(5_000..60_000), DEFINITIONS, definition());
    }
    // More kinds are defined on the way, and must be listed before anything is believed absent.
    for plural in ["gadgets", "gizmos"] {
        let at = draws.u64(30_000..edits.end - 30_000);
        edits.create(at, DEFINITIONS, definition_of(plural));
    }
    // Now and then the kind gains a version, which discovery prefers from then on.
    if draws.u32(0..3) == 0 {
        let path = format!("{DEFINITIONS}/{DEFINITION}");
        let at = draws.u64(60_000..edits.end - 60_000);
        edits.merge(
            at,
            &path,
            json!({"spec": {"versions": versions(&["v1", "v2"])}}),
        );
    }
    for number in 0..draws.usize(1..4) {
        family(draws, edits, number);
    }
}

/// Versions of the definition, all served, of which the first is stored.
pub(crate) fn versions(names: &[&str]) -> Value {
    let versions = names.iter().enumerate().map(|(at, name)| {
        json!({
            "name": name, "served": true, "storage": at == 0,
            "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }},
        })
    });
    versions.collect()
}

pub(crate) fn definition() -> Value {
    definition_of("widgets")
}

fn definition_of(plural: &str) -> Value {
    let singular = plural.trim_end_matches('s');
    let kind = format!("{}{}", singular[..1].to_uppercase(), &singular[1..]);
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{CUSTOM_GROUP}")},
        "spec": {
            "group": CUSTOM_GROUP, "scope": "Namespaced",
            "names": {"plural": plural, "singular": singular, "kind": kind},
            "versions": versions(&["v1"]),
        },
    })
}

/// The widgets of a namespace.
pub(crate) fn widgets(space: &str) -> String {
    format!("/apis/{CUSTOM_GROUP}/v1/namespaces/{space}/widgets")
}

pub(crate) fn widget(name: &str) -> Value {
    json!({
        "apiVersion": format!("{CUSTOM_GROUP}/v1"), "kind": "Widget", "metadata": {"name": name},
    })
}

/// A child of a family: a ConfigMap, a Secret or a custom resource.
fn child(plural: &str, name: &str) -> Value {
    if plural == "widgets" {
        return widget(name);
    }
    let kind = match plural {
        "secrets" => "Secret",
        _ => "ConfigMap",
    };
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}})
}

fn family(draws: &mut Rng, edits: &mut Edits, number: usize) {
    let space = SPACES[draws.usize(0..SPACES.len())];
    let name = format!("o{number}");
    let owners = widgets(space);
    let born = draws.u64(5_000..90_000);
    edits.create(born, &owners, widget(&name));
    let owner = format!("{owners}/{name}");
    let leaves = draws.u64(born + 5_000..edits.end - 30_000);
    for at in 0..draws.usize(1..4) {
        children(
            draws,
            edits,
            &owner,
            &format!("{name}-{at}"),
            (born, leaves),
        );
    }
    let how = match draws.u32(0..8) {
        0 => None,
        1..4 => Some(Propagation::Background),
        4..6 => Some(Propagation::Foreground),
        _ => Some(Propagation::Orphan),
    };
    if draws.u32(0..6) > 0 {
        edits.delete(leaves, owner.clone(), how);
        if draws.bool() {
            let again = leaves + draws.u64(0..20_000);
            edits.create(again, &owners, widget(&name));
            let until = edits.end;
            children(
                draws,
                edits,
                &owner,
                &format!("{name}-again"),
                (again, until),
            );
        }
    }
}

/// A child, perhaps with a child of its own, a second owner, or something that holds it.
fn children(draws: &mut Rng, edits: &mut Edits, owner: &str, name: &str, (from, to): (u64, u64)) {
    let (parent, _) = owner.rsplit_once('/').unwrap_or_default();
    let space = parent.split('/').nth(5).unwrap_or_default();
    let plural = ["configmaps", "secrets", "widgets"][draws.usize(0..3)];
    let path = match plural {
        "widgets" => widgets(space),
        _ => format!("/api/v1/namespaces/{space}/{plural}"),
    };
    let born = draws.u64(from..to.max(from + 1));
    let mut body = child(plural, name);
    let is_held = draws.u32(0..5) == 0;
    if is_held {
        body["metadata"]["finalizers"] = json!([HOLD]);
        let free = born + draws.u64(1_000..60_000);
        let patch = json!({"metadata": {"finalizers": null}});
        edits.merge(free, &format!("{path}/{name}"), patch.clone());
        // What was made only later is freed in the end too.
        edits.merge(edits.end, &format!("{path}/{name}"), patch);
    }
    let mut owners = vec![owner.to_owned()];
    if draws.u32(0..4) == 0 {
        owners.push(format!("{parent}/o{}", draws.u32(0..3)));
    }
    let blocks = draws.u32(0..3) > 0;
    edits.own(born, path.clone(), body, owners, blocks);
    if draws.u32(0..3) == 0 {
        let body = child("configmaps", &format!("{name}-of"));
        let owners = vec![format!("{path}/{name}")];
        let at = born + draws.u64(500..20_000);
        let path = format!("/api/v1/namespaces/{space}/configmaps");
        edits.own(at, path, body, owners, draws.bool());
    }
}

impl Edits {
    pub(super) fn delete(&mut self, at: u64, path: String, propagation: Option<Propagation>) {
        self.all.push((at, Edit::Delete { path, propagation }));
    }

    fn own(&mut self, at: u64, path: String, body: Value, owners: Vec<String>, blocks: bool) {
        let edit = Edit::Own {
            path,
            body,
            owners,
            blocks,
        };
        self.all.push((at, edit));
    }
}
