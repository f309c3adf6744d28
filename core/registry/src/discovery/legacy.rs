//! The older documents: versions, groups, and the resources of one version.

use flyball_schema::{Resource, Subresource};
use serde_json::{Value, json};

use super::groups::{self, Group};

/// `/api`: the versions of the core group.
pub(super) fn versions(resources: &[&Resource], addresses: &[(&str, &str)]) -> Value {
    let core = groups::groups(resources)
        .into_iter()
        .find(|group| group.name.is_empty());
    let addresses = addresses
        .iter()
        .map(|(clients, address)| json!({ "clientCIDR": clients, "serverAddress": address }));
    json!({
        "kind": "APIVersions",
        "versions": core.map(|core| core.versions).unwrap_or_default(),
        "serverAddressByClientCIDRs": addresses.collect::<Vec<_>>(),
    })
}

/// `/apis`: all groups but the core.
pub(super) fn groups(resources: &[&Resource]) -> Value {
    let groups = groups::groups(resources);
    let groups = groups
        .iter()
        .filter(|group| !group.name.is_empty())
        .map(described);
    json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups.collect::<Vec<_>>() })
}

/// `/apis/<group>`: one group; nothing if it is not served.
pub(super) fn group(resources: &[&Resource], name: &str) -> Option<Value> {
    let group = groups::groups(resources)
        .into_iter()
        .find(|group| group.name == name)?;
    let mut document = described(&group);
    document["kind"] = "APIGroup".into();
    document["apiVersion"] = "v1".into();
    Some(document)
}

fn described(group: &Group<'_>) -> Value {
    let version = |version: &&str| json!({ "groupVersion": group_version(group.name, version), "version": version });
    json!({
        "name": group.name,
        "versions": group.versions.iter().map(version).collect::<Vec<_>>(),
        "preferredVersion": group.versions.first().map(version),
    })
}

/// `/api/<version>` and `/apis/<group>/<version>`: the resources; nothing if there are none.
pub(super) fn resources(resources: &[&Resource], group: &str, version: &str) -> Option<Value> {
    let of = |one: &&&Resource| one.group == group && one.version == version;
    let mut entries = Vec::new();
    for resource in resources.iter().filter(of) {
        entries.push(itself(resource));
        entries.extend(
            resource
                .subresources
                .iter()
                .map(|part| subresource(resource, part)),
        );
    }
    if entries.is_empty() {
        return None;
    }
    let mut document = json!({
        "kind": "APIResourceList",
        "groupVersion": group_version(group, version),
        "resources": entries,
    });
    // Upstream's document of the core group is older than this field.
    if !group.is_empty() {
        document["apiVersion"] = "v1".into();
    }
    Some(document)
}

fn itself(resource: &Resource) -> Value {
    let mut entry = json!({
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": resource.verbs,
    });
    if !resource.short_names.is_empty() {
        entry["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        entry["categories"] = json!(resource.categories);
    }
    entry
}

fn subresource(resource: &Resource, part: &Subresource) -> Value {
    let mut entry = json!({
        "name": format!("{}/{}", resource.plural, part.name),
        "singularName": "",
        "namespaced": resource.namespaced,
        "kind": part.kind,
        "verbs": part.verbs,
    });
    if (&part.group, &part.version) != (&resource.group, &resource.version) {
        entry["group"] = json!(part.group);
        entry["version"] = json!(part.version);
    }
    entry
}

fn group_version(group: &str, version: &str) -> String {
    match group {
        "" => version.into(),
        group => format!("{group}/{version}"),
    }
}
