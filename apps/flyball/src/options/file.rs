//! The configuration file: upstream's `KubeControllerManagerConfiguration`, which upstream itself
//! cannot read.
//!
//! Each flag of the table says where its value lives, so the file's keys are exactly the table's
//! paths, the sections of [`tuning`](super::tuning), and the few fields of `/configz` that no flag
//! sets. Keys are compared without regard to case, because upstream prints `Generic` where its
//! documents say `generic`.

use std::collections::BTreeMap;

use super::configz::{API_VERSION, KIND, UNCHANGING};
use super::controllers::CONTROLLERS;
use super::flags::{self, Flag};
use super::nearest::suggestion;
use super::settings::{Origin, Place, Settings};
use super::tree::{Node, Shape};
use super::tuning::{self, Overrides};
use super::value::{Kind, Value};

/// Reads a file over the defaults. Everything that is wrong is told, with its place.
///
/// # Errors
/// One message for each mistake.
pub(super) fn read(
    name: &str,
    text: &str,
    settings: &mut Settings,
) -> Result<Overrides, Vec<String>> {
    let mut reader = Reader {
        name,
        settings,
        overrides: Overrides::new(),
        problems: Vec::new(),
    };
    match Node::read(text) {
        Ok(document) => reader.document(&document),
        Err(error) => reader.problems.push(format!(
            "{name}:{}:{}: not valid YAML: {}",
            error.line, error.column, error.reason
        )),
    }
    if reader.problems.is_empty() {
        Ok(reader.overrides)
    } else {
        Err(reader.problems)
    }
}

struct Reader<'a> {
    name: &'a str,
    settings: &'a mut Settings,
    overrides: Overrides,
    problems: Vec<String>,
}

impl Reader<'_> {
    fn document(&mut self, document: &Node) {
        let Shape::Map(entries) = &document.shape else {
            self.complain(
                document,
                format!("expected kind {KIND}, found {}", document.noun()),
            );
            return;
        };
        for (field, want) in [("apiVersion", API_VERSION), ("kind", KIND)] {
            match entries.iter().find(|(key, _)| key.scalar() == Some(field)) {
                Some((_, value)) if value.scalar() == Some(want) => {}
                Some((_, value)) => {
                    let found = value.scalar().unwrap_or(value.noun());
                    self.complain(value, format!("{field} is {found:?}, must be {want:?}"));
                }
                None => self.complain(document, format!("{field} is missing, must be {want:?}")),
            }
        }
        let settings = entries
            .iter()
            .filter(|(key, _)| !matches!(key.scalar(), Some("apiVersion" | "kind")));
        for (key, value) in settings {
            self.entry("", key, value);
        }
    }

    /// One key below `prefix` (which ends in a dot, or is empty at the top).
    fn entry(&mut self, prefix: &str, key: &Node, value: &Node) {
        let Some(word) = key.scalar() else {
            return self.complain(key, format!("a key must be a word, found {}", key.noun()));
        };
        let path = format!("{prefix}{word}");
        if let Some(flag) = flags::all()
            .map(|(_, flag)| flag)
            .find(|flag| same(flag.path, &path))
        {
            return self.flag(flag, value);
        }
        if let Some((controller, key, kind)) = tuning_key(&path) {
            if let Some(parsed) = self.scalar(value, kind, &path) {
                let place = self.place(value);
                self.overrides
                    .entry(controller)
                    .or_default()
                    .insert(key, (parsed, place));
            }
            return;
        }
        // Fields that upstream prints and nothing sets are read past, so that /configz can be fed
        // back.
        if UNCHANGING.iter().any(|(known, _)| same(known, &path)) {
            return;
        }
        let below = format!("{path}.");
        if !known_paths().any(|known| starts_same(&known, &below)) {
            let siblings: Vec<String> = known_paths().filter_map(|p| sibling(&p, prefix)).collect();
            let meant = suggestion(word, siblings.iter().map(String::as_str));
            return self.complain(key, format!("unknown key {path:?}{meant}"));
        }
        match &value.shape {
            Shape::Map(entries) => {
                for (key, value) in entries {
                    self.entry(&below, key, value);
                }
            }
            // `section:` with nothing below it changes nothing.
            Shape::Null => {}
            _ => self.complain(
                value,
                format!("{path} must be a mapping, found {}", value.noun()),
            ),
        }
    }

    fn flag(&mut self, flag: &'static Flag, value: &Node) {
        let parsed = match flag.kind {
            Kind::TextList | Kind::Int32List | Kind::CertificateKeys => self.list(value, flag),
            Kind::TextMap | Kind::FeatureGates => self.map(value, flag),
            kind => self.scalar(value, kind, flag.path),
        };
        if let Some(parsed) = parsed {
            let place = self.place(value);
            self.settings.set(flag.name, parsed, Origin::File(place));
        }
    }

    fn scalar(&mut self, node: &Node, kind: Kind, path: &str) -> Option<Value> {
        let Some(text) = node.scalar() else {
            let want = kind.type_name();
            self.complain(
                node,
                format!("{path} must be one {want}, found {}", node.noun()),
            );
            return None;
        };
        match kind.parse(text) {
            Ok(value) => Some(value),
            Err(reason) => {
                self.complain(node, format!("invalid value {text:?} for {path}: {reason}"));
                None
            }
        }
    }

    fn list(&mut self, node: &Node, flag: &Flag) -> Option<Value> {
        let Shape::List(items) = &node.shape else {
            self.complain(
                node,
                format!("{} must be a list, found {}", flag.path, node.noun()),
            );
            return None;
        };
        // The items stand for themselves: a comma inside one does not split it.
        let item_kind = match flag.kind {
            Kind::TextList => Kind::Text,
            kind => kind,
        };
        let mut words = Vec::new();
        for item in items {
            match self.scalar(item, item_kind, flag.path)? {
                Value::Text(word) => words.push(word),
                Value::List(more) => words.extend(more),
                _ => {}
            }
        }
        Some(Value::List(words))
    }

    fn map(&mut self, node: &Node, flag: &Flag) -> Option<Value> {
        let Shape::Map(entries) = &node.shape else {
            self.complain(
                node,
                format!("{} must be a mapping, found {}", flag.path, node.noun()),
            );
            return None;
        };
        let item_kind = if flag.kind == Kind::FeatureGates {
            Kind::Bool
        } else {
            Kind::Text
        };
        let mut pairs = BTreeMap::new();
        for (key, value) in entries {
            let Some(name) = key.scalar() else { continue };
            let path = format!("{}.{name}", flag.path);
            let value = self.scalar(value, item_kind, &path)?;
            pairs.insert(name.to_owned(), value.to_text());
        }
        Some(Value::Map(pairs))
    }

    fn place(&self, node: &Node) -> Place {
        Place {
            file: self.name.to_owned(),
            line: node.line,
            column: node.column,
        }
    }

    fn complain(&mut self, node: &Node, what: String) {
        let place = self.place(node);
        self.problems.push(format!("{place}: {what}"));
    }
}

/// The controller, key and kind of a path such as `DeploymentController.maxRetries`.
fn tuning_key(path: &str) -> Option<(&'static str, &'static str, Kind)> {
    let (section, key) = path.split_once('.')?;
    let known = CONTROLLERS
        .iter()
        .find(|known| same(known.section, section))?;
    let (key, kind) = tuning::KEYS.iter().find(|(name, _)| same(name, key))?;
    Some((known.name, key, *kind))
}

fn known_paths() -> impl Iterator<Item = String> {
    let flags = flags::all().map(|(_, flag)| flag.path.to_owned());
    let constants = UNCHANGING.iter().map(|(path, _)| (*path).to_owned());
    let tunings = CONTROLLERS.iter().flat_map(|known| {
        tuning::KEYS
            .iter()
            .map(|(key, _)| format!("{}.{key}", known.section))
    });
    flags.chain(constants).chain(tunings)
}

/// The word that follows `prefix` in a path, if the path lies below it.
fn sibling(path: &str, prefix: &str) -> Option<String> {
    if !starts_same(path, prefix) {
        return None;
    }
    path.get(prefix.len()..)?
        .split('.')
        .next()
        .map(str::to_owned)
}

fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

fn starts_same(path: &str, prefix: &str) -> bool {
    path.get(..prefix.len())
        .is_some_and(|start| same(start, prefix))
}
