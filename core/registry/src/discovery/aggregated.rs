//! The aggregated document: all groups, versions and resources at once.

use flyball_schema::{Resource, Subresource};
use serde_json::{Value, json};

use super::groups::{self, Group};

/// The core group, or all others.
pub(super) fn list(resources: &[&Resource], core: bool) -> Value {
    let groups = groups::groups(resources);
    let groups = groups.iter().filter(|group| group.name.is_empty() == core);
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": groups.map(|group| item(group, resources)).collect::<Vec<_>>(),
    })
}

fn item(group: &Group<'_>, resources: &[&Resource]) -> Value {
    let versions = group.versions.iter().map(|version| {
        let of = |one: &&&Resource| one.group == group.name && one.version == *version;
        json!({
            "version": version,
            "resources": resources.iter().filter(of).map(|one| described(one)).collect::<Vec<_>>(),
            "freshness": "Current",
        })
    });
    let metadata = match group.name {
        "" => json!({}),
        name => json!({ "name": name }),
    };
    json!({ "metadata": metadata, "versions": versions.collect::<Vec<_>>() })
}

fn described(resource: &Resource) -> Value {
    let mut entry = json!({
        "resource": resource.plural,
        "responseKind": response(resource, [&resource.group, &resource.version, &resource.kind]),
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": resource.verbs,
    });
    let parts = resource
        .subresources
        .iter()
        .map(|part| subresource(resource, part));
    let parts: Vec<Value> = parts.collect();
    if !resource.short_names.is_empty() {
        entry["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        entry["categories"] = json!(resource.categories);
    }
    if !parts.is_empty() {
        entry["subresources"] = parts.into();
    }
    entry
}

fn subresource(resource: &Resource, part: &Subresource) -> Value {
    json!({
        "subresource": part.name,
        "responseKind": response(resource, [&part.group, &part.version, &part.kind]),
        "verbs": part.verbs,
    })
}

/// What is answered. As upstream, built-in resources leave out the group and version that are their own.
fn response(resource: &Resource, [group, version, kind]: [&str; 3]) -> Value {
    let own = resource.group == group && resource.version == version;
    if own && groups::is_built_in(group) {
        return json!({ "group": "", "version": "", "kind": kind });
    }
    json!({ "group": group, "version": version, "kind": kind })
}
