//! What is derived and what is stated is what upstream publishes.
//!
//! `merging.txt` and `required.txt` list the merge markers and the required fields of upstream's
//! `api/openapi-spec/swagger.json`, `discovery.txt` the resources of its `api/discovery` without the subresources that
//! need a kubelet, all of v1.36.4.

use std::collections::BTreeSet;

use flyball_schema::{BuiltIn, Field, ListKind, Shape, Strategic, builtin};

/// Fails with the lines that are on one side only.
#[track_caller]
fn check(ours: BTreeSet<String>, upstream: &str) {
    let upstream: BTreeSet<String> = upstream.lines().map(str::to_owned).collect();
    let missing: Vec<_> = upstream.difference(&ours).collect();
    let surplus: Vec<_> = ours.difference(&upstream).collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "only upstream: {missing:#?}\nonly ours: {surplus:#?}"
    );
}

#[test]
fn lists_and_maps_merge_as_upstream_marks_them() {
    let builtin = builtin();
    let mut lines = BTreeSet::new();
    for (id, of) in builtin.types.iter() {
        let Shape::Object(object) = &of.shape else {
            continue;
        };
        if builtin.named(&of.name).map(|first| first.id()) != Some(id) {
            continue;
        }
        if object.atomic {
            lines.insert(format!("{} atomic", of.name));
        }
        for field in &object.fields {
            let words = markers(builtin, field);
            if !words.is_empty() {
                lines.insert(format!("{}.{} {}", of.name, field.name, words.join(" ")));
            }
        }
    }
    check(lines, include_str!("merging.txt"));
}

fn markers(builtin: &BuiltIn, field: &Field) -> Vec<String> {
    let of = builtin.types.get(field.of);
    let mut words = Vec::new();
    match &of.shape {
        Shape::List(list) => {
            match &list.kind {
                ListKind::Atomic => {}
                ListKind::Set => words.push("set".to_owned()),
                ListKind::Map { keys } => words.push(format!("map:{}", keys.join(","))),
            }
            match &list.strategic {
                Strategic::Replace => {}
                Strategic::MergeBy(key) => words.push(format!("merge:{key}")),
                Strategic::MergeValues => words.push("merge".to_owned()),
            }
        }
        Shape::Map { atomic: true, .. } => words.push("atomic".to_owned()),
        _ => {}
    }
    let first = builtin.named(&of.name).map(|first| first.id());
    if first.is_some_and(|first| first != field.of) {
        words.push("granular".to_owned());
    }
    if field.retain_keys {
        words.push("retainKeys".to_owned());
    }
    if field.replaced {
        words.push("replace".to_owned());
    }
    words
}

#[test]
fn fields_are_required_where_upstream_requires_them() {
    let mut lines = BTreeSet::new();
    for (_, of) in builtin().types.iter() {
        if let Shape::Object(object) = &of.shape {
            let required = object.fields.iter().filter(|field| field.required);
            let names: Vec<&str> = required.map(|field| field.name.as_str()).collect();
            if !names.is_empty() {
                lines.insert(format!("{} {}", of.name, names.join(" ")));
            }
        }
    }
    check(lines, include_str!("required.txt"));
}

#[test]
fn resources_are_offered_as_upstream_offers_them() {
    let mut lines = BTreeSet::new();
    for resource in &builtin().resources {
        let of = resource.api_version();
        let scope = match resource.namespaced {
            true => "Namespaced",
            false => "Cluster",
        };
        let or_none = |words: &[_]| match words {
            [] => "-".to_owned(),
            words => words.join(","),
        };
        lines.insert(format!(
            "{of} {} {} {scope} {of}.{} {} {} {}",
            resource.plural,
            resource.singular,
            resource.kind,
            resource.verbs.join(","),
            or_none(&resource.short_names),
            or_none(&resource.categories),
        ));
        for part in &resource.subresources {
            let group_version = match part.group.as_str() {
                "" => part.version.to_string(),
                group => format!("{group}/{}", part.version),
            };
            lines.insert(format!(
                "{of} {}/{} - {scope} {group_version}.{} {} - -",
                resource.plural,
                part.name,
                part.kind,
                part.verbs.join(","),
            ));
        }
    }
    check(lines, include_str!("discovery.txt"));
}
