//! The table can be read, and agrees with the types in `core/schema`, which come from another source.

use std::collections::{BTreeMap, BTreeSet};

use flyball_schema::{Schema, Shape, TextFormat, builtin};

use super::*;

#[test]
fn the_embedded_table_can_be_read() {
    let table = Table::read(TEXT).unwrap();
    let messages = TEXT.lines().filter(|line| !line.starts_with("= "));
    assert_eq!(table.messages.len(), messages.count());
    assert_eq!(places(TEXT).len(), table.messages.len());
}

/// The names of all messages, such as `core/v1.PodSpec`, in their places.
fn names() -> Vec<String> {
    let mut places: Vec<_> = places(TEXT).into_iter().collect();
    places.sort_by_key(|(_, place)| *place);
    let name = |((package, name), _)| format!("{package}.{name}");
    places.into_iter().map(name).collect()
}

#[test]
fn a_line_that_cannot_be_read_is_named() {
    for line in ["Box 1:lid", "Box x:lid:string", "Box 1:lid:Lid", "Box@what"] {
        let text = format!("= boxes/v1 boxes/v1\n{line}\n");
        assert_eq!(Table::read(&text).unwrap_err(), line);
    }
}

#[test]
fn only_kinds_are_found_and_options_in_every_version() {
    let table = table();
    let names = names();
    let name = |api_version, kind| {
        let found = table.kind(api_version, kind)?;
        let place = (0..names.len()).find(|place| std::ptr::eq(table.message(*place), found))?;
        names.get(place).map(String::as_str)
    };
    assert_eq!(name("apps/v1", "Deployment"), Some("apps/v1.Deployment"));
    assert_eq!(name("apps/v1", "DeploymentSpec"), None);
    assert_eq!(name("v1", "Deployment"), None);
    assert_eq!(name("v1", "Pod"), Some("core/v1.Pod"));
    let options = Some("meta/v1.DeleteOptions");
    assert_eq!(name("apps/v1", "DeleteOptions"), options);
    assert_eq!(name("v1", "DeleteOptions"), options);
    assert_eq!(name("v1", "Status"), Some("meta/v1.Status"));
    assert_eq!(name("apps/v1", "Status"), None);
}

#[test]
fn every_kind_that_a_server_takes_is_there() {
    for resource in &builtin().resources {
        let api_version = resource.api_version();
        let found = table().kind(&api_version, &resource.kind);
        assert!(found.is_some(), "{api_version} {}", resource.kind);
        let list = table().kind(&api_version, &resource.list_kind);
        let is_listed = resource.verbs.iter().any(|verb| verb == "list");
        assert!(
            !is_listed || list.is_some(),
            "{api_version} {}",
            resource.list_kind
        );
    }
    for (api_version, kind) in [
        ("autoscaling/v1", "Scale"),
        ("policy/v1", "Eviction"),
        ("v1", "Binding"),
        ("authentication.k8s.io/v1", "TokenRequest"),
        ("authorization.k8s.io/v1", "SelfSubjectRulesReview"),
    ] {
        assert!(table().kind(api_version, kind).is_some(), "{kind}");
    }
}

/// The name of a type of `core/schema` in the table.
fn table_name(name: &str) -> Option<String> {
    const PREFIXES: &[&str] = &[
        "io.k8s.apimachinery.pkg.apis.",
        "io.k8s.apimachinery.pkg.api.",
        "io.k8s.apimachinery.pkg.util.",
        "io.k8s.apimachinery.pkg.",
        "io.k8s.apiextensions-apiserver.pkg.apis.",
        "io.k8s.kube-aggregator.pkg.apis.",
        "io.k8s.api.",
    ];
    let rest = PREFIXES
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))?;
    let (package, name) = rest.rsplit_once('.')?;
    Some(format!("{}.{name}", package.replace('.', "/")))
}

/// The fields of a message in JSON.
fn flattened<'t>(
    table: &'t Table<'t>,
    of: &'t Message<'t>,
    into: &mut BTreeMap<&'t str, &'t Field<'t>>,
) {
    for field in &of.fields {
        match field.of {
            Kind::Message(place) if field.name.is_empty() => {
                flattened(table, table.message(place), into);
            }
            _ => drop(into.insert(field.name, field)),
        }
    }
}

/// A word for what values look like, the same for both sources if they agree.
fn word(table: &Table<'_>, names: &[String], of: Kind, arity: Arity) -> String {
    let one = match of {
        Kind::Text => "text".to_owned(),
        Kind::Bytes => "bytes".to_owned(),
        Kind::Bool => "bool".to_owned(),
        Kind::Int32 => "int32".to_owned(),
        Kind::Int64 => "int64".to_owned(),
        Kind::Double => "double".to_owned(),
        Kind::Json => "any".to_owned(),
        Kind::Message(place) => {
            let of = table.message(place);
            match of.form {
                Form::Object => names[place].clone(),
                Form::Value => word(table, names, of.fields[0].of, of.fields[0].arity),
                Form::Last => "any".to_owned(),
                Form::Quantity => "quantity".to_owned(),
                Form::IntOrString => "int or text".to_owned(),
                Form::Time => "time".to_owned(),
                Form::MicroTime => "microtime".to_owned(),
            }
        }
    };
    match arity {
        Arity::One => one,
        Arity::Many => format!("list of {one}"),
        Arity::Map => format!("map of {one}"),
    }
}

fn schema_word(of: Schema<'_>) -> String {
    match of.shape() {
        Shape::Object(object) if object.open && object.fields.is_empty() => "any".to_owned(),
        Shape::Object(_) => table_name(&of.get().name).unwrap_or_default(),
        Shape::Map { value, .. } => format!("map of {}", schema_word(of.at(*value))),
        Shape::List(list) => format!("list of {}", schema_word(of.at(list.item))),
        Shape::Text(TextFormat::Plain) => "text".to_owned(),
        Shape::Text(TextFormat::Bytes) => "bytes".to_owned(),
        Shape::Text(TextFormat::Time) => "time".to_owned(),
        Shape::Text(TextFormat::MicroTime) => "microtime".to_owned(),
        Shape::Text(TextFormat::Quantity) => "quantity".to_owned(),
        Shape::Integer { bits } => format!("int{bits}"),
        Shape::Number => "double".to_owned(),
        Shape::Boolean => "bool".to_owned(),
        Shape::IntOrText => "int or text".to_owned(),
        Shape::Any => "any".to_owned(),
    }
}

#[test]
fn the_table_and_the_schemas_agree() {
    let table = table();
    let names = names();
    let places: BTreeMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let built_in = builtin();
    let mut compared = 0;
    let mut differences = BTreeSet::new();
    for (id, of) in built_in.types.iter() {
        let (Some(name), Shape::Object(object)) = (table_name(&of.name), &of.shape) else {
            continue;
        };
        let Some(place) = places.get(name.as_str()) else {
            differences.insert(format!("{name}: no message"));
            continue;
        };
        let message = table.message(*place);
        if message.form != Form::Object {
            continue;
        }
        let mut fields = BTreeMap::new();
        flattened(table, message, &mut fields);
        for field in &object.fields {
            let Some(known) = fields.remove(field.name.as_str()) else {
                let of_type = matches!(field.name.as_str(), "apiVersion" | "kind");
                let is_kind = object.fields.iter().any(|field| field.name == "kind");
                if !(of_type && is_kind) {
                    differences.insert(format!("{name}.{}: not in the table", field.name));
                }
                continue;
            };
            compared += 1;
            let ours = word(table, &names, known.of, known.arity);
            let theirs = schema_word(built_in.types.schema(id).at(field.of));
            if ours != theirs {
                differences.insert(format!("{name}.{}: {ours}, {theirs}", field.name));
            }
        }
        for field in fields.keys() {
            differences.insert(format!("{name}.{field}: not in the schema"));
        }
    }
    let differences: Vec<String> = differences.into_iter().collect();
    assert_eq!(differences, Vec::<String>::new());
    assert!(compared > 1_800, "{compared}");
}
