//! Reports: what a sync saw, which rule decided, what it waits for.

use std::fmt;
use std::time::Duration;

use crate::{Rule, Tally, Target, Wait};

/// How many objects a report explains one by one.
pub const DETAILS_MAX: usize = 100;

/// Why a sync did what it did, or did nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The rule that decided.
    pub rule: Rule,
    /// What was seen, as name and value.
    pub saw: Vec<(&'static str, String)>,
    /// What must happen for anything to change; `None` when the desired state is reached.
    pub waits_for: Option<Wait>,
    /// Objects that wait for reasons of their own, where one sync decides about many; at most
    /// [`DETAILS_MAX`].
    pub details: Vec<Detail>,
    /// When the key is looked at again, if nothing changes. The engine writes it.
    pub again: Again,
    /// What the sync adds to the controller's own metrics.
    pub tallies: Vec<Tally>,
}

/// One of many objects that a sync decided about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// The object.
    pub about: Target,
    /// The rule that decided about it.
    pub rule: Rule,
    /// What it waits for.
    pub waits_for: Wait,
}

/// When a key is looked at again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Again {
    /// When something changes.
    #[default]
    OnChange,
    /// After this time, or earlier if something changes.
    After(Duration),
}

impl Report {
    /// A report that names the deciding rule.
    pub fn new(rule: Rule) -> Self {
        Self {
            rule,
            ..Self::default()
        }
    }

    /// Adds something that was seen.
    pub fn saw(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.saw.push((name, value.to_string()));
        self
    }

    /// Says what is waited for.
    pub fn waits_for(mut self, what: Wait) -> Self {
        self.waits_for = Some(what);
        self
    }

    /// Adds what single objects wait for, as many as a report holds.
    pub fn details(mut self, details: impl IntoIterator<Item = Detail>) -> Self {
        let room = DETAILS_MAX - self.details.len().min(DETAILS_MAX);
        self.details.extend(details.into_iter().take(room));
        self
    }

    /// Adds to the controller's own metrics.
    pub fn tallies(mut self, tallies: impl IntoIterator<Item = Tally>) -> Self {
        self.tallies.extend(tallies);
        self
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule.text)?;
        for (i, (name, value)) in self.saw.iter().enumerate() {
            f.write_str(if i == 0 { ": " } else { ", " })?;
            write!(f, "{name} {value}")?;
        }
        if let Some(what) = &self.waits_for {
            write!(f, "; waits for {what}")?;
        }
        Ok(())
    }
}
