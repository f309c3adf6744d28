//! A definition in the form that upstream checks: what all versions say alike stands beside them.
//!
//! Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/v1/conversion.go`.

use serde_json::Value;

use crate::object::{Object, at};

/// What a version says, or all of them together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part<'a> {
    /// The `schema` of a version.
    pub(super) schema: Option<&'a Value>,
    pub(super) subresources: Option<&'a Value>,
    pub(super) columns: Option<&'a Value>,
    pub(super) fields: Option<&'a Value>,
}

/// A version without what all versions say alike.
#[derive(Debug)]
pub(super) struct Version<'a> {
    pub(super) whole: &'a Value,
    pub(super) own: Part<'a>,
}

/// A definition's spec.
#[derive(Debug)]
pub(super) struct Hoisted<'a> {
    pub(super) versions: Vec<Version<'a>>,
    /// What all versions say alike.
    pub(super) shared: Part<'a>,
}

impl<'a> Part<'a> {
    fn of(version: &'a Value) -> Self {
        let field = |name: &str| version.get(name).filter(|value| !value.is_null());
        let list = |name: &str| field(name).filter(|value| *value != &Value::Array(Vec::new()));
        Self {
            schema: field("schema"),
            subresources: field("subresources"),
            columns: list("additionalPrinterColumns"),
            fields: list("selectableFields"),
        }
    }

    /// The schema itself.
    pub(super) fn openapi(&self) -> Option<&'a Value> {
        let schema = self.schema?.get("openAPIV3Schema")?;
        (!schema.is_null()).then_some(schema)
    }

    /// Whether there is a status subresource.
    pub(super) fn has_status(&self) -> bool {
        let status = self.subresources.and_then(|all| all.get("status"));
        status.is_some_and(|status| !status.is_null())
    }
}

impl<'a> Hoisted<'a> {
    pub(super) fn of(definition: &'a Object) -> Self {
        let listed = at(definition, "spec.versions").as_array();
        let all: Vec<(&Value, Part<'a>)> = listed
            .into_iter()
            .flatten()
            .map(|version| (version, Part::of(version)))
            .collect();
        let Some((_, first)) = all.first().copied() else {
            return Self {
                versions: Vec::new(),
                shared: Part::default(),
            };
        };
        let alike = |part: fn(&Part<'a>) -> Option<&'a Value>| {
            all.iter().all(|(_, one)| part(one) == part(&first))
        };
        let schema = alike(|part| part.schema);
        let subresources = alike(|part| part.subresources);
        let columns = alike(|part| part.columns);
        let fields = alike(|part| part.fields);
        let split = |part: &Part<'a>, shared: bool| Part {
            schema: part.schema.filter(|_| schema == shared),
            subresources: part.subresources.filter(|_| subresources == shared),
            columns: part.columns.filter(|_| columns == shared),
            fields: part.fields.filter(|_| fields == shared),
        };
        Self {
            shared: split(&first, true),
            versions: all
                .iter()
                .map(|(whole, part)| Version {
                    whole,
                    own: split(part, false),
                })
                .collect(),
        }
    }

    /// What a version has to say about its subresources.
    pub(super) fn subresources_of(&self, version: &Version<'a>) -> Part<'a> {
        let own = self
            .versions
            .iter()
            .any(|one| one.own.subresources.is_some());
        match own {
            true => version.own,
            false => self.shared,
        }
    }

    /// All schemas.
    pub(super) fn schemas(&self) -> impl Iterator<Item = &'a Value> {
        let own = self
            .versions
            .iter()
            .filter_map(|version| version.own.openapi());
        self.shared.openapi().into_iter().chain(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_versions_say_alike_stands_beside_them() {
        let schema = |kind: &str| json!({"openAPIV3Schema": {"type": kind}});
        let definition = json!({"spec": {"versions": [
            {"name": "v1", "schema": schema("object"), "subresources": {"status": {}}},
            {"name": "v2", "schema": schema("array"), "subresources": {"status": {}}},
        ]}});
        let hoisted = Hoisted::of(definition.as_object().unwrap());
        assert!(hoisted.shared.openapi().is_none() && hoisted.shared.has_status());
        assert!(hoisted.versions[1].own.openapi().is_some());
        assert!(hoisted.subresources_of(&hoisted.versions[0]).has_status());
        assert_eq!(hoisted.schemas().count(), 2);
    }
}
