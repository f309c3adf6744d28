//! Which controllers run: the table of upstream's names, and the reading of `--controllers`.
//!
//! The table knows every controller of kube-controller-manager v1.36.4, built here or not, so that
//! a list written for upstream is understood. What is built is not this module's business: the
//! caller passes it in, and [`Selection::not_built`] names what was asked for and will be missing.

mod table;

pub use table::CONTROLLERS;

use super::nearest::suggestion;

/// What is known about one of upstream's controllers, whether or not it is built here.
#[derive(Debug)]
pub struct Known {
    /// The canonical name.
    pub name: &'static str,
    /// Older names that `--controllers` still takes.
    pub aliases: &'static [&'static str],
    /// How `*` treats it.
    pub default: ByDefault,
    /// The name of its client: its service account in kube-system, and the end of its user agent.
    pub client: &'static str,
    /// Its section of the configuration file.
    pub section: &'static str,
    /// How many keys it works on at once, and the flag that changes this.
    pub workers: Workers,
}

/// How `*` treats a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByDefault {
    /// `*` turns it on.
    On,
    /// It runs only if named.
    Off,
    /// `*` turns it on if these feature gates are all on.
    Gated(&'static [&'static str]),
    /// Nothing runs under this name even upstream: cloud providers took it over.
    Cloud,
}

/// How many keys a controller works on at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// As many as this flag says.
    Flag(&'static str),
    /// As many as upstream's code says.
    Fixed(u32),
}

/// The controller of this canonical name or alias.
pub fn find(name: &str) -> Option<&'static Known> {
    CONTROLLERS
        .iter()
        .find(|known| known.name == name || known.aliases.contains(&name))
}

/// An entry of `--controllers` that names no controller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} is not in the list of known controllers{}\nKnown controllers: {}",
    suggestion(.name, CONTROLLERS.iter().flat_map(names_of)),
    sorted_names().join(", ")
)]
pub struct UnknownController {
    /// The entry, without its minus sign.
    pub name: String,
}

fn names_of(known: &'static Known) -> impl Iterator<Item = &'static str> {
    std::iter::once(known.name).chain(known.aliases.iter().copied())
}

fn sorted_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = CONTROLLERS.iter().map(|known| known.name).collect();
    names.sort_unstable();
    names
}

/// The names for the help text.
pub(crate) fn listing() -> String {
    let off = CONTROLLERS
        .iter()
        .filter(|known| known.default == ByDefault::Off);
    let off: Vec<&str> = off.map(|known| known.name).collect();
    format!(
        "Known: {}. Off by default: {}.",
        sorted_names().join(", "),
        off.join(", ")
    )
}

/// A parsed `--controllers` list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    choices: Vec<Choice>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Choice {
    EveryDefault,
    Run(&'static str),
    LeaveOut(&'static str),
}

impl Selection {
    /// Reads a comma-separated list, as on a command line.
    ///
    /// # Errors
    /// What is wrong with the list, or every entry that names no known controller.
    pub fn parse_list(list: &str) -> Result<Self, String> {
        let entries = super::csv::read_record(list)?;
        let told = |unknown: Vec<UnknownController>| {
            let told: Vec<String> = unknown.iter().map(ToString::to_string).collect();
            told.join("\n")
        };
        Self::parse(&entries).map_err(told)
    }

    /// Reads the entries: `*`, `name`, `-name`, by canonical name or alias.
    ///
    /// # Errors
    /// Every entry that names no known controller.
    pub fn parse(entries: &[String]) -> Result<Self, Vec<UnknownController>> {
        let mut choices = Vec::new();
        let mut unknown = Vec::new();
        for entry in entries {
            let name = entry.strip_prefix('-').unwrap_or(entry);
            match find(name) {
                _ if entry == "*" => choices.push(Choice::EveryDefault),
                Some(known) if entry.starts_with('-') => choices.push(Choice::LeaveOut(known.name)),
                Some(known) => choices.push(Choice::Run(known.name)),
                None => unknown.push(UnknownController {
                    name: name.to_owned(),
                }),
            }
        }
        if unknown.is_empty() {
            Ok(Self { choices })
        } else {
            Err(unknown)
        }
    }

    /// Whether the controller of this canonical name is wanted. The first entry that names it
    /// decides; without one, `*` anywhere in the list turns on what is on by default. Feature gates
    /// are not looked at.
    pub fn enabled(&self, name: &str) -> bool {
        for choice in &self.choices {
            match choice {
                Choice::Run(this) if *this == name => return true,
                Choice::LeaveOut(this) if *this == name => return false,
                _ => {}
            }
        }
        self.choices.contains(&Choice::EveryDefault)
            && CONTROLLERS
                .iter()
                .any(|known| known.name == name && known.default != ByDefault::Off)
    }

    /// The controllers that are wanted but not among the built ones, in alphabetical order.
    ///
    /// Left out are those that would not run upstream either: the cloud provider's, and gated ones
    /// that were not named and whose gates are off (`gate_on` answers for a gate).
    pub fn not_built(&self, built: &[&str], gate_on: impl Fn(&str) -> bool) -> Vec<&'static str> {
        let mut missing: Vec<&'static str> = CONTROLLERS
            .iter()
            .filter(|known| self.enabled(known.name) && !built.contains(&known.name))
            .filter(|known| match known.default {
                ByDefault::Cloud => self.names(known.name),
                ByDefault::Gated(gates) => {
                    self.names(known.name) || gates.iter().all(|gate| gate_on(gate))
                }
                ByDefault::On | ByDefault::Off => true,
            })
            .map(|known| known.name)
            .collect();
        missing.sort_unstable();
        missing
    }

    /// Whether an entry asks for this controller by name.
    pub fn names(&self, name: &str) -> bool {
        self.choices
            .iter()
            .any(|choice| matches!(choice, Choice::Run(this) if *this == name))
    }
}

#[cfg(test)]
mod tests;
