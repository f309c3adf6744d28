//! Custom resources: from a CustomResourceDefinition to a resource and its types.

mod checks;
mod convert;
mod defaults;
mod formats;
mod go_number;
mod structural;
mod validate;

use flyball_api::Text;
use serde_json::Value;

use crate::{Resource, Subresource, Types};

pub use checks::ValueFault;
pub use convert::{custom_type, value_type};
pub use defaults::{apply_defaults, drop_nulls};
pub use formats::is_known as is_known_format;
pub use go_number::go_number;
pub use structural::{SchemaFault, SchemaFaultKind, structural_faults};
pub use validate::{list_faults, value_faults, value_faults_of_update};

/// The resource that a version of a CustomResourceDefinition defines, with the arena of its types.
///
/// The definition is expected to be valid; nothing comes of one that lacks a name, or of a version that it does not
/// have. Whether the version is served is the caller's question.
pub fn custom_resource(definition: &Value, version: &str) -> Option<(Types, Resource)> {
    let spec = definition.get("spec")?;
    let names = spec.get("names")?;
    let group = spec.get("group")?.as_str()?;
    let kind = names.get("kind")?.as_str()?;
    let versions = spec.get("versions")?.as_array()?;
    let named = |of: &&Value| of.get("name").and_then(Value::as_str) == Some(version);
    let of_version = versions.iter().find(named)?;
    let schema = of_version.pointer("/schema/openAPIV3Schema");
    let name = type_name(group, version, kind);
    let (types, of) = custom_type(&name, schema.unwrap_or(&Value::Null));
    let or = |field: &str, otherwise: String| {
        let text = names.get(field).and_then(Value::as_str);
        Text::from(
            text.filter(|text| !text.is_empty())
                .map_or(otherwise, str::to_owned),
        )
    };
    let resource = Resource {
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
        list_kind: or("listKind", format!("{kind}List")),
        plural: names.get("plural")?.as_str()?.into(),
        singular: or("singular", kind.to_lowercase()),
        short_names: texts(names.get("shortNames")),
        categories: texts(names.get("categories")),
        namespaced: spec.get("scope").and_then(Value::as_str) == Some("Namespaced"),
        verbs: words(VERBS),
        subresources: subresources(of_version, group, version, kind),
        of,
    };
    Some((types, resource))
}

/// In the order in which upstream's discovery lists them for custom resources.
const VERBS: &[&str] = &[
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

fn subresources(of_version: &Value, group: &str, version: &str, kind: &str) -> Box<[Subresource]> {
    let has = |name: &str| {
        of_version
            .pointer(&format!("/subresources/{name}"))
            .is_some()
    };
    let part = |name: &str, group: &str, version: &str, kind: &str| Subresource {
        name: name.into(),
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
        verbs: words(&["get", "patch", "update"]),
    };
    let status = has("status").then(|| part("status", group, version, kind));
    let scale = has("scale").then(|| part("scale", "autoscaling", "v1", "Scale"));
    status.into_iter().chain(scale).collect()
}

/// `com.example.stable.v1.CronTab`, as documents name it.
fn type_name(group: &str, version: &str, kind: &str) -> String {
    let mut parts: Vec<&str> = group.split('.').rev().collect();
    parts.extend([version, kind]);
    parts.join(".")
}

fn words(words: &[&str]) -> Box<[Text]> {
    words.iter().map(|word| Text::from(*word)).collect()
}

fn texts(list: Option<&Value>) -> Box<[Text]> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(Text::from).collect()
}

/// The field of a schema, if it is there and not null.
fn field<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get(name).filter(|value| !value.is_null())
}

fn text<'a>(schema: &'a Value, name: &str) -> &'a str {
    schema.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn flag(schema: &Value, name: &str) -> bool {
    schema
        .get(name)
        .and_then(Value::as_bool)
        .unwrap_or_default()
}

/// The named parts of a schema, such as its `properties`.
fn entries<'a>(schema: &'a Value, name: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let entries = schema
        .get(name)
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    entries.map(|(name, of)| (name.as_str(), of))
}

#[cfg(test)]
mod tests;
