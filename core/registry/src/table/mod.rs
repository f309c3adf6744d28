//! Objects as rows of a table, which is what `kubectl get` asks for and prints.
//!
//! The server decides which columns a kind has and computes the cells, so that every client shows the
//! same. A [`Table`] says how; [`Table::render`] makes the document. Columns of built-in kinds are in one
//! file per family, found by `printers`; those of custom resources are data.
//!
//! Upstream: `pkg/printers/internalversion/printers.go`, `apiserver/pkg/registry/rest/table.go`,
//! `apiextensions-apiserver/pkg/registry/customresource/tableconvertor`. Descriptions of columns are ours.

mod access;
mod admission;
mod age;
mod autoscaling;
mod cluster;
mod columns;
mod custom;
mod events;
mod jobs;
mod json_path;
mod nodes;
mod pods;
mod printers;
mod row;
mod services;
mod volumes;
mod workloads;

#[cfg(test)]
mod tests;

use flyball_api::Timestamp;
use serde_json::{Value, json};

use self::custom::CustomColumns;
use self::row::Row;
use crate::object::Object;

/// What a row carries of its object beside the cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IncludeObject {
    /// Nothing.
    None,
    /// Its metadata.
    #[default]
    Metadata,
    /// All of it.
    Object,
}

impl IncludeObject {
    /// Reads the value of the query parameter `includeObject`; the error is what upstream answers with
    /// code 400.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "" | "Metadata" => Ok(Self::Metadata),
            "None" => Ok(Self::None),
            "Object" => Ok(Self::Object),
            other => Err(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: \
                 must be 'Metadata', 'Object', 'None', or empty"
            )),
        }
    }
}

/// How to show objects of one kind as a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'a> {
    /// The API group of the kind.
    pub(crate) group: &'a str,
    /// The kind of the objects, which is `Scale` for the subresource of that name.
    pub(crate) kind: &'a str,
    /// The `additionalPrinterColumns` of the version of a custom resource, which may be none; nothing for
    /// built-in kinds.
    pub(crate) custom: Option<&'a [Value]>,
    /// What rows carry of their objects.
    pub(crate) include: IncludeObject,
    /// Whether columns are described; in a watch only the first event does.
    pub(crate) headers: bool,
    /// The moment that ages are counted to.
    pub(crate) now: Timestamp,
}

impl Table<'_> {
    /// The table of these objects. The metadata is that of the list, or the resource version of the one
    /// object that was asked for.
    pub(crate) fn render<'o>(
        &self,
        objects: impl IntoIterator<Item = &'o Object>,
        metadata: Value,
    ) -> Value {
        let custom = self.custom.map(CustomColumns::read);
        let objects = objects.into_iter();
        let rows: Vec<Value> = objects
            .map(|object| self.row(object, custom.as_ref()))
            .collect();
        // Kinds without columns of their own have no rows rather than none, as upstream writes them.
        let is_plain =
            custom.is_none() && std::ptr::eq(printers::of(self.group, self.kind), &cluster::OTHERS);
        let rows = match rows.is_empty() && is_plain {
            true => Value::Null,
            false => Value::Array(rows),
        };
        let columns = match (self.headers, &custom) {
            (false, _) => Value::Null,
            (true, Some(custom)) => custom.definitions(),
            (true, None) => {
                let columns = printers::of(self.group, self.kind).columns.iter();
                columns.map(columns::Column::definition).collect()
            }
        };
        json!({
            "kind": "Table",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata,
            "columnDefinitions": columns,
            "rows": rows,
        })
    }

    fn row(&self, object: &Object, custom: Option<&CustomColumns>) -> Value {
        let row = Row {
            object,
            now: self.now,
        };
        let cells = match custom {
            Some(custom) => custom.cells(&row),
            None => (printers::of(self.group, self.kind).cells)(&row),
        };
        let mut shown = json!({ "cells": cells, "object": self.included(object) });
        let is_pod = custom.is_none() && (self.group, self.kind) == ("", "Pod");
        if let Some(condition) = is_pod.then(|| pods::completed(&row)).flatten() {
            shown["conditions"] = json!([condition]);
        }
        shown
    }

    fn included(&self, object: &Object) -> Value {
        // Whoever streams a list without objects must still see where it ends.
        let ends_initial = || crate::watch::ends_initial(object);
        match self.include {
            IncludeObject::None if !ends_initial() => Value::Null,
            IncludeObject::Object => Value::Object(object.clone()),
            IncludeObject::None | IncludeObject::Metadata => json!({
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": crate::list::own_metadata(object, self.kind),
            }),
        }
    }
}
