//! Every flag with its value and where the value came from.

use std::collections::BTreeMap;
use std::fmt;

use super::duration::GoDuration;
use super::flags::{self, Effect, Flag};
use super::value::Value;

/// Where a value came from. A later variant wins over an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The table of flags.
    Default,
    /// The configuration file.
    File(Place),
    /// The command line.
    CommandLine,
}

/// A position in the configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1.
    pub column: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One flag's effective value.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The flag.
    pub flag: &'static Flag,
    /// What setting it does.
    pub effect: Effect,
    /// Its value.
    pub value: Value,
    /// Where the value came from.
    pub origin: Origin,
}

/// The values of all flags.
#[derive(Clone, Debug)]
pub struct Settings {
    by_name: BTreeMap<&'static str, Setting>,
}

impl Default for Settings {
    fn default() -> Self {
        let setting = |(group, flag): (&'static flags::Group, &'static Flag)| Setting {
            flag,
            effect: group.effect_of(flag),
            value: flag.kind.default_value(flag.default),
            origin: Origin::Default,
        };
        Self {
            by_name: flags::all()
                .map(setting)
                .map(|s| (s.flag.name, s))
                .collect(),
        }
    }
}

impl Settings {
    /// All settings, by flag name.
    pub fn iter(&self) -> impl Iterator<Item = &Setting> {
        self.by_name.values()
    }

    /// Replaces a value.
    pub(super) fn set(&mut self, name: &str, value: Value, origin: Origin) {
        if let Some(setting) = self.by_name.get_mut(name) {
            setting.value = value;
            setting.origin = origin;
        }
    }

    /// Where the value of a flag came from, for error messages: the flag, or the place in the file.
    pub fn place(&self, name: &str) -> String {
        let setting = self.get(name);
        match &setting.origin {
            Origin::File(place) => format!("{place} ({})", setting.flag.path),
            Origin::Default | Origin::CommandLine => format!("--{name}"),
        }
    }

    /// The setting of a flag of the table. The name must be in the table: it is written in our
    /// code, never read from the user, and every reader runs in each test that builds options.
    pub fn get(&self, name: &str) -> &Setting {
        match self.by_name.get(name) {
            Some(setting) => setting,
            None => unreachable!("--{name} is not in the table of flags"),
        }
    }

    /// The value of a flag that is either true or false.
    pub fn bool(&self, name: &str) -> bool {
        match &self.get(name).value {
            Value::Bool(value) => *value,
            other => unreachable!("--{name} is not a bool but {other:?}"),
        }
    }

    /// The value of an integer flag.
    pub fn int(&self, name: &str) -> i64 {
        match &self.get(name).value {
            Value::Int(value) => *value,
            other => unreachable!("--{name} is not an integer but {other:?}"),
        }
    }

    /// The value of a flag that is a number.
    pub fn float(&self, name: &str) -> f64 {
        match &self.get(name).value {
            Value::Float(value) => *value,
            other => unreachable!("--{name} is not a number but {other:?}"),
        }
    }

    /// The value of a flag that is kept as text.
    pub fn text(&self, name: &str) -> &str {
        match &self.get(name).value {
            Value::Text(value) => value,
            other => unreachable!("--{name} is not a text but {other:?}"),
        }
    }

    /// The value of a list flag.
    pub fn list(&self, name: &str) -> &[String] {
        match &self.get(name).value {
            Value::List(value) => value,
            other => unreachable!("--{name} is not a list but {other:?}"),
        }
    }

    /// The value of a map flag.
    pub fn map(&self, name: &str) -> &BTreeMap<String, String> {
        match &self.get(name).value {
            Value::Map(value) => value,
            other => unreachable!("--{name} is not a map but {other:?}"),
        }
    }

    /// The value of a duration flag.
    pub fn duration(&self, name: &str) -> GoDuration {
        match &self.get(name).value {
            Value::Duration(value) => *value,
            other => unreachable!("--{name} is not a duration but {other:?}"),
        }
    }
}
