//! What the user asked for and will not get: said once, at the start, with the reason.

use std::collections::BTreeMap;

use super::Options;
use super::flags::Effect;
use super::settings::{Origin, Setting};
use super::tls;
use super::value::Value;

/// What this program can do, for [`Options::warnings`].
#[derive(Clone, Copy, Debug)]
pub struct Built<'a> {
    /// Canonical names of the controllers that are built.
    pub controllers: &'a [&'a str],
    /// Feature gates that change what they do.
    pub gates: &'a [&'a str],
}

impl Options {
    /// The warnings to log at the start: controllers that are wanted and not built, flags and gates
    /// that were set and change nothing. Flags with the same reason share one warning.
    pub fn warnings(&self, built: Built<'_>) -> Vec<String> {
        let mut warnings: Vec<String> = self
            .not_built(built.controllers)
            .into_iter()
            .map(|name| {
                format!("controller {name} is not built into this program yet and does not run")
            })
            .collect();
        let mut flags_by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
        // Turning off what is not there is obeyed.
        let told_of = |setting: &&Setting| {
            setting.origin != Origin::Default && setting.value != Value::Bool(false)
        };
        for setting in self.settings.iter().filter(told_of) {
            if let Some(reason) = without_effect(setting.effect, built) {
                let place = self.settings.place(setting.flag.name);
                flags_by_reason.entry(reason).or_default().push(place);
            }
        }
        let told = |(reason, flags): (String, Vec<String>)| {
            let verb = if flags.len() == 1 { "has" } else { "have" };
            format!("{} {verb} no effect: {reason}", flags.join(", "))
        };
        warnings.extend(flags_by_reason.into_iter().map(told));
        for gate in self.generic.feature_gates.changed() {
            if !built.gates.contains(&gate) {
                warnings.push(format!("feature gate {gate} has no effect in this program"));
            }
        }
        warnings.extend(self.tls_warnings());
        warnings
    }

    /// The controllers that are wanted but not built.
    pub fn not_built(&self, built: &[&str]) -> Vec<&'static str> {
        let gates = &self.generic.feature_gates;
        self.generic
            .selection
            .not_built(built, |gate| gates.enabled(gate))
    }

    fn tls_warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let weak = tls::cipher_suites_left_out(self.settings.list("tls-cipher-suites"));
        if !weak.is_empty() {
            let flag = self.settings.place("tls-cipher-suites");
            warnings.push(format!(
                "{flag}: not offered, being too weak: {}",
                weak.join(", ")
            ));
        }
        let version = self.settings.text("tls-min-version");
        if matches!(version, "VersionTLS10" | "VersionTLS11") {
            let flag = self.settings.place("tls-min-version");
            warnings.push(format!(
                "{flag}: TLS 1.2 is the oldest version offered, not {version}"
            ));
        }
        warnings
    }
}

fn without_effect(effect: Effect, built: Built<'_>) -> Option<String> {
    match effect {
        Effect::Used => None,
        Effect::Controller(name) if built.controllers.contains(&name) => None,
        Effect::Controller(name) => Some(format!("{name} is not built into this program yet")),
        Effect::Nothing(reason) => Some(reason.to_owned()),
        Effect::Deprecated(reason) => Some(format!("deprecated, {reason}")),
    }
}
