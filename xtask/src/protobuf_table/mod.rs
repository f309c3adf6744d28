//! The table of messages that `core/protobuf` embeds, made from the modules that upstream publishes.
//!
//! Two files know half of it each. A `generated.proto` has the messages: numbers, types, lists, maps. The Go types
//! beside it have what JSON needs: the name, whether a field is inlined, and whether zero means absent or is always
//! written, which depends on pointers and on `omitempty`. The number of a field is in both and joins them.
//!
//! What is written is names, numbers and types; `core/protobuf/src/table.rs` says how to read it.

mod go;
mod proto;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::command::{self, Outcome, root};
use go::{GoField, GoType};
use proto::{Arity, Message};

/// Where messages are found: a module, a folder in it, and the name of what lies directly in that folder.
const PLACES: &[(&str, &str, &str)] = &[
    ("api", "", ""),
    ("apimachinery", "pkg/apis", ""),
    ("apimachinery", "pkg/api/resource", "resource"),
    ("apimachinery", "pkg/runtime", "runtime"),
    ("apimachinery", "pkg/util/intstr", "intstr"),
    ("apiextensions-apiserver", "pkg/apis", ""),
    ("kube-aggregator", "pkg/apis", ""),
];

/// Versions that no server of this release offers any more, and upstream's samples for its own tests.
const LEFT_OUT: &[&str] = &[
    "admission/",
    "apidiscovery/v2beta1",
    "apps/v1beta",
    "authentication/v1alpha1",
    "authentication/v1beta1",
    "authorization/v1beta1",
    "autoscaling/v2beta",
    "batch/v1beta1",
    "discovery/v1beta1",
    "events/v1beta1",
    "extensions/",
    "flowcontrol/v1beta",
    "imagepolicy/",
    "node/v1alpha1",
    "node/v1beta1",
    "policy/v1beta1",
    "rbac/v1alpha1",
    "rbac/v1beta1",
    "scheduling/v1beta1",
    "apiextensions/v1beta1",
    "apiregistration/v1beta1",
    "runtime/schema",
    "testapigroup/",
];

/// The envelope, which the decoder reads by itself, and what no field of any kind is.
const NOT_IN_JSON: &[&str] = &[
    "meta/v1.Duration",
    "meta/v1.Timestamp",
    "resource.QuantityValue",
    "runtime.TypeMeta",
    "runtime.Unknown",
];

/// Messages that JSON writes as something else than an object, and how.
const FORMS: &[(&str, &str)] = &[
    ("apiextensions/v1.JSON", "value"),
    ("apiextensions/v1.JSONSchemaPropsOrArray", "last"),
    ("apiextensions/v1.JSONSchemaPropsOrBool", "last"),
    ("apiextensions/v1.JSONSchemaPropsOrStringArray", "last"),
    ("authentication/v1.ExtraValue", "value"),
    ("authorization/v1.ExtraValue", "value"),
    ("certificates/v1.ExtraValue", "value"),
    ("certificates/v1beta1.ExtraValue", "value"),
    ("certificates/v1alpha1.ExtraValue", "value"),
    ("intstr.IntOrString", "intorstring"),
    ("meta/v1.FieldsV1", "value"),
    ("meta/v1.MicroTime", "microtime"),
    ("meta/v1.Time", "time"),
    ("meta/v1.Verbs", "value"),
    ("resource.Quantity", "quantity"),
    ("runtime.RawExtension", "value"),
];

/// Go types that are declared as another package's struct.
const SAME_AS: &[(&str, &str, &str)] = &[
    (
        "admissionregistration/v1alpha1.MatchCondition",
        "admissionregistration/v1",
        "MatchCondition",
    ),
    ("core/v1.List", "meta/v1", "List"),
];

/// Messages whose bytes are JSON of their own.
const RAW: &[&str] = &[
    "apiextensions/v1.JSON",
    "meta/v1.FieldsV1",
    "runtime.RawExtension",
];

/// A folder with messages: what is asked of upstream, and what was found.
struct Package {
    name: String,
    api_version: Option<String>,
    messages: Vec<Message>,
    types: BTreeMap<String, GoType>,
}

/// Writes the table from the modules in the folder that `arguments` names.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let [folder] = arguments else {
        return Err("takes the folder of the modules, such as ~/go/pkg/mod/k8s.io".to_owned());
    };
    let mut packages = Vec::new();
    for (module, below, name) in PLACES {
        let base = module_folder(Path::new(folder), module)?.join(below);
        let mut files = Vec::new();
        find_protos(&base, &mut files)?;
        for file in files {
            let place = file.parent().unwrap_or(&base);
            let inner = place.strip_prefix(&base).unwrap_or(place);
            let name = match inner.to_string_lossy() {
                inner if inner.is_empty() => (*name).to_owned(),
                inner if name.is_empty() => inner.into_owned(),
                inner => format!("{name}/{inner}"),
            };
            if !LEFT_OUT.iter().any(|left| name.starts_with(left)) {
                packages.push(read_package(name, place)?);
            }
        }
    }
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    let table = table(&packages)?;
    let path = root().join("core/protobuf/src/table.txt");
    std::fs::write(&path, &table).map_err(|error| format!("{}: {error}", path.display()))?;
    let messages: usize = packages.iter().map(|package| package.messages.len()).sum();
    let (packages, size) = (packages.len(), table.len());
    command::say(&format!(
        "{packages} packages, {messages} messages, {size} bytes"
    ));
    Ok(())
}

/// The folder of a module, whose name ends with its version.
fn module_folder(folder: &Path, module: &str) -> Result<PathBuf, String> {
    let mut found = Vec::new();
    for path in list(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.split('@').next() == Some(module) {
            found.push(path);
        }
    }
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(format!("{} has no module `{module}`", folder.display())),
        _ => Err(format!("several versions of `{module}`: {found:?}")),
    }
}

fn list(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error| format!("cannot read {}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(unreadable)?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|of| of.path())).collect();
    paths.map_err(unreadable)
}

fn find_protos(folder: &Path, found: &mut Vec<PathBuf>) -> Outcome {
    for path in list(folder)? {
        if path.is_dir() {
            find_protos(&path, found)?;
        } else if path.ends_with("generated.proto") {
            found.push(path);
        }
    }
    Ok(())
}

fn read_package(name: String, folder: &Path) -> Result<Package, String> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let messages = proto::messages(&read(&folder.join("generated.proto"))?)?;
    let mut types = BTreeMap::new();
    let mut api_version = None;
    for path in list(folder)? {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        if !file.ends_with(".go") || file.ends_with("_test.go") || file.ends_with(".pb.go") {
            continue;
        }
        let text = read(&path)?;
        types.append(&mut go::types(&text)?);
        if let Some(group) = go::group_name(&text) {
            let version = folder.file_name().unwrap_or_default().to_string_lossy();
            api_version = Some(match group {
                "" => version.into_owned(),
                group => format!("{group}/{version}"),
            });
        }
    }
    Ok(Package {
        name,
        api_version,
        messages,
        types,
    })
}

fn table(packages: &[Package]) -> Result<String, String> {
    let mut text = String::new();
    for package in packages {
        let api_version = package.api_version.as_deref().unwrap_or("-");
        let _ = writeln!(text, "= {} {api_version}", package.name);
        for message in &package.messages {
            let name = format!("{}.{}", package.name, message.name);
            if NOT_IN_JSON.contains(&name.as_str()) {
                continue;
            }
            let of = match SAME_AS.iter().find(|(same, ..)| *same == name) {
                Some((_, package, of)) => packages
                    .iter()
                    .find(|other| other.name == *package)
                    .and_then(|other| other.types.get(*of)),
                None => package.types.get(&message.name),
            };
            let line = line(&name, message, of).map_err(|error| format!("{name}: {error}"))?;
            text.push_str(&line);
        }
    }
    Ok(text)
}

/// One message: its name, then `number:name:type` for each field.
fn line(name: &str, message: &Message, of: Option<&GoType>) -> Result<String, String> {
    let form = FORMS.iter().find(|(special, _)| *special == name);
    let mut line = String::new();
    if of.is_some_and(|of| of.is_kind) {
        line.push('+');
    }
    line.push_str(&message.name);
    if let Some((_, form)) = form {
        let _ = write!(line, "@{form}");
    }
    for field in &message.fields {
        let mut kind = short_type(&field.of);
        if RAW.contains(&name) && kind == "bytes" {
            kind = "json".to_owned();
        }
        // The fields of a message with a form of its own never get into JSON under a name.
        let as_it_is = GoField {
            json: field.name.clone(),
            inline: false,
            pointer: true,
            omitempty: false,
            omitzero: false,
        };
        let known = match form {
            Some(_) => Some(&as_it_is),
            None => of.and_then(|of| of.fields.get(&field.number)),
        };
        let known = known.ok_or_else(|| format!("no Go field has number {}", field.number))?;
        let json = if known.inline { "" } else { &known.json };
        let arity = match field.arity {
            Arity::One => "",
            Arity::Many => "[]",
            Arity::Map => "{}",
        };
        let lowercase = kind.starts_with(|first: char| first.is_lowercase());
        let scalar = field.arity == Arity::One && lowercase && !kind.contains('.');
        // Go leaves out no struct that is there by value, `omitempty` or not.
        let structure = field.arity == Arity::One && !scalar;
        let absent = known.omitzero || (known.omitempty && !structure);
        let mark = match (known.pointer, absent) {
            (true, false) if form.is_none() && !known.omitempty => "~",
            (true, _) => "",
            (false, false) if !known.inline => "!",
            (false, true) if scalar || structure => "?",
            _ => "",
        };
        let _ = write!(line, " {}:{json}:{arity}{kind}{mark}", field.number);
    }
    line.push('\n');
    Ok(line)
}

/// The name of a type in the table: a scalar, a message of the same package, or `package.Message`.
fn short_type(of: &str) -> String {
    const PREFIXES: &[&str] = &[
        ".k8s.io.apimachinery.pkg.apis.",
        ".k8s.io.apimachinery.pkg.util.",
        ".k8s.io.apimachinery.pkg.api.",
        ".k8s.io.apimachinery.pkg.",
        ".k8s.io.apiextensions_apiserver.pkg.apis.",
        ".k8s.io.kube_aggregator.pkg.apis.",
        ".k8s.io.api.",
    ];
    let found = PREFIXES.iter().find_map(|prefix| of.strip_prefix(prefix));
    if let Some((package, name)) = found.and_then(|rest| rest.rsplit_once('.')) {
        return format!("{}.{name}", package.replace('.', "/"));
    }
    of.to_owned()
}

#[cfg(test)]
mod tests;
