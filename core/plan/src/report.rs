//! Reports: what a sync saw, which rule decided, what it waits for.

use std::fmt;

use crate::Tally;

/// Why a sync did what it did, or did nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The rule that decided, in a few words.
    pub rule: &'static str,
    /// What was seen, as name and value.
    pub saw: Vec<(&'static str, String)>,
    /// What must happen for anything to change; `None` when the desired state is reached.
    pub waits_for: Option<String>,
    /// What the sync adds to the controller's own metrics.
    pub tallies: Vec<Tally>,
}

impl Report {
    /// A report that names the deciding rule.
    pub fn new(rule: &'static str) -> Self {
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
    pub fn waits_for(mut self, what: impl Into<String>) -> Self {
        self.waits_for = Some(what.into());
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
        f.write_str(self.rule)?;
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
