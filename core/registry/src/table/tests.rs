//! Tables against those of a real kube-apiserver v1.36.4, which are in `golden`: objects as it returned
//! them, the names, types, formats and priorities of its columns, its cells, and the moment it was asked.

use std::collections::BTreeSet;
use std::path::Path;

use flyball_api::Timestamp;
use flyball_schema::builtin;
use serde_json::{Value, json};

use super::{IncludeObject, Table};
use crate::object::Object;

/// All golden files with their names.
fn golden() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/table/golden");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, serde_json::from_str(&text).unwrap())
    };
    let mut files: Vec<_> = files.map(read).collect();
    files.sort_by(|left, right| left.0.cmp(&right.0));
    files
}

/// The group and the kind that a golden file is about.
fn kind(file: &Value) -> (String, String) {
    let version = file["apiVersion"].as_str().unwrap();
    let plural = file["resource"].as_str().unwrap();
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let kind = match builtin().resource(group, version, plural) {
        Some(resource) => resource.kind.to_string(),
        None => plural.to_owned(),
    };
    (group.to_owned(), kind)
}

#[test]
fn cells_and_columns_are_those_of_upstream() {
    let mut rows_seen = 0;
    for (name, file) in golden() {
        let (group, kind) = kind(&file);
        let custom = file["additionalPrinterColumns"].as_array();
        let table = Table {
            group: &group,
            kind: &kind,
            custom: custom.map(Vec::as_slice),
            include: IncludeObject::None,
            headers: true,
            now: file["now"].as_str().unwrap().parse().unwrap(),
        };
        let rows = file["rows"].as_array().unwrap();
        let objects = rows.iter().map(|row| row["object"].as_object().unwrap());
        let shown = table.render(objects, json!({}));

        let columns = shown["columnDefinitions"].as_array().unwrap().iter();
        let columns: Value = columns
            .map(|one| json!([one["name"], one["type"], one["format"], one["priority"]]))
            .collect();
        assert_eq!(columns, file["columns"], "{name}");
        for (row, shown) in rows.iter().zip(shown["rows"].as_array().unwrap()) {
            let of = &row["object"]["metadata"]["name"];
            assert_eq!(shown["cells"], row["cells"], "{name} {of}");
            assert_eq!(
                shown.get("conditions"),
                row.get("conditions"),
                "{name} {of}"
            );
            rows_seen += 1;
        }
    }
    assert!(rows_seen > 150, "only {rows_seen} rows");
}

#[test]
fn every_kind_that_can_be_listed_is_compared() {
    let compared: BTreeSet<_> = golden().iter().map(|(_, file)| kind(file)).collect();
    for resource in &builtin().resources {
        let listed = resource.verbs.iter().any(|verb| verb == "list");
        let key = (resource.group.to_string(), resource.kind.to_string());
        assert!(!listed || compared.contains(&key), "{key:?}");
    }
}

#[test]
fn every_column_says_what_it_is_for() {
    for resource in &builtin().resources {
        let columns = super::printers::of(&resource.group, &resource.kind).columns;
        for column in columns {
            let definition = column.definition();
            let description = definition["description"].as_str().unwrap();
            assert!(
                description.ends_with('.'),
                "{} {}",
                resource.kind,
                column.name
            );
        }
    }
}

fn object(value: Value) -> Object {
    value.as_object().unwrap().clone()
}

fn of_namespaces(include: IncludeObject, headers: bool) -> Value {
    let table = Table {
        group: "",
        kind: "Namespace",
        custom: None,
        include,
        headers,
        now: Timestamp::from_unix_seconds(100),
    };
    let namespace = object(json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": { "name": "a", "creationTimestamp": "1970-01-01T00:00:10Z" },
        "status": { "phase": "Active" },
    }));
    table.render([&namespace], json!({ "resourceVersion": "7" }))
}

#[test]
fn rows_carry_what_was_asked_for() {
    let table = of_namespaces(IncludeObject::None, true);
    assert_eq!(table["kind"], "Table");
    assert_eq!(table["apiVersion"], "meta.k8s.io/v1");
    assert_eq!(table["metadata"], json!({ "resourceVersion": "7" }));
    assert_eq!(
        table["rows"],
        json!([{ "cells": ["a", "Active", "90s"], "object": null }])
    );

    let partial = &of_namespaces(IncludeObject::Metadata, true)["rows"][0]["object"];
    let metadata = json!({ "name": "a", "creationTimestamp": "1970-01-01T00:00:10Z" });
    let expected = json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata });
    assert_eq!(partial, &expected);

    let whole = &of_namespaces(IncludeObject::Object, true)["rows"][0]["object"];
    assert_eq!(whole["status"], json!({ "phase": "Active" }));
}

#[test]
fn later_events_of_a_watch_have_no_headers() {
    let table = of_namespaces(IncludeObject::None, false);
    assert_eq!(table["columnDefinitions"], Value::Null);
    assert_eq!(table["rows"][0]["cells"][0], "a");
}

#[test]
fn what_to_include_is_one_of_three_words() {
    assert_eq!(IncludeObject::parse(""), Ok(IncludeObject::Metadata));
    assert_eq!(
        IncludeObject::parse("Metadata"),
        Ok(IncludeObject::Metadata)
    );
    assert_eq!(IncludeObject::parse("Object"), Ok(IncludeObject::Object));
    assert_eq!(IncludeObject::parse("None"), Ok(IncludeObject::None));
    let message = "Unable to convert to Table as requested: includeObject: Invalid value: \"Foo\": \
                   must be 'Metadata', 'Object', 'None', or empty";
    assert_eq!(IncludeObject::parse("Foo"), Err(message.into()));
}

#[test]
fn objects_of_any_shape_have_rows() {
    let wrong = [
        json!({}),
        json!({ "metadata": 3, "spec": [], "status": "x" }),
    ];
    let odd = json!({
        "metadata": { "name": 1, "annotations": [], "labels": 2, "ownerReferences": {} },
        "spec": {
            "selector": 3, "template": [], "containers": "x", "ports": {}, "metrics": [1, "x", {}],
            "readinessGates": [1], "initContainers": [1], "rules": [1], "paramRef": 1, "claimRef": 1,
            "capacity": { "storage": {} },
        },
        "status": {
            "conditions": [1, {}], "containerStatuses": [1, {}], "initContainerStatuses": [{}],
            "hard": { "a": [] }, "used": 1, "loadBalancer": { "ingress": [1] }, "podIPs": [1],
        },
        "subjects": [1], "subsets": [1], "endpoints": [1], "ports": [1], "series": {}, "conditions": [1],
    });
    for resource in &builtin().resources {
        for value in wrong.iter().chain([&odd]) {
            let table = Table {
                group: &resource.group,
                kind: &resource.kind,
                custom: None,
                include: IncludeObject::Metadata,
                headers: true,
                now: Timestamp::UNIX_EPOCH,
            };
            let shown = table.render([&object(value.clone())], json!({}));
            let cells = shown["rows"][0]["cells"].as_array().unwrap();
            let columns = shown["columnDefinitions"].as_array().unwrap();
            let extra = usize::from(resource.kind == "IPAddress");
            assert_eq!(cells.len(), columns.len() + extra, "{}", resource.kind);
        }
    }
}
