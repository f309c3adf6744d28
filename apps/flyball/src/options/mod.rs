//! The command line and the configuration of `flyball controller-manager`.
//!
//! ```text
//!          ┌─ defaults ─────────────────────────┐
//! flags ───┼─ file (YAML, --config) ────────────┼→ settings ─ assemble, checks → Options
//! (table)  └─ command_line (clap, pflag rules) ─┘                   └→ warnings, /configz
//! ```
//!
//! The table of [`flags`] holds every flag of kube-controller-manager v1.36.4, because a manifest
//! written for it must start unchanged. A flag that changes nothing here says so:
//! [`Options::warnings`]. The command line wins over the file, and the file over the defaults.
//! Mistakes are collected, so that one start tells all of them.

mod assemble;
mod checks;
mod command_line;
mod configz;
pub mod controllers;
mod csv;
mod duration;
pub mod features;
mod file;
pub mod flags;
mod help;
mod nearest;
mod settings;
mod tls;
mod tree;
mod tuning;
mod typed;
mod value;
mod warnings;

pub use command_line::command;
pub use configz::GROUP as CONFIGZ_GROUP;
pub use duration::GoDuration;
pub use help::KUBERNETES_VERSION;
pub use settings::{Origin, Place, Setting, Settings};
pub use tuning::Tuning;
pub use typed::{
    Authentication, Authorization, CertificateFiles, Client, Generic, LeaderElection, LogFormat,
    Logging, NamedCertificate, Rate, RequestHeader, Serving, TlsVersion, Tunings,
};
pub use value::{Kind, Value};
pub use warnings::Built;

use assemble::Assembly;
use command_line::CommandLine;
use controllers::{CONTROLLERS, Workers};

/// Everything that was configured, checked.
#[derive(Clone, Debug)]
pub struct Options {
    /// What concerns the program as a whole.
    pub generic: Generic,
    /// When and how we lead.
    pub leader_election: LeaderElection,
    /// How we reach the API server.
    pub client: Client,
    /// The HTTPS port.
    pub serving: Serving,
    /// Who is asking it.
    pub authentication: Authentication,
    /// What they may ask.
    pub authorization: Authorization,
    /// What is logged.
    pub logging: Logging,
    /// How hard each controller works.
    pub tunings: Tunings,
    /// Every flag with its value and origin: for `/flagz`, the start-up log, and controllers with
    /// settings of their own.
    pub settings: Settings,
}

/// What a command line asks for.
#[derive(Debug)]
pub enum Request {
    /// Print this text to stdout and exit with 0.
    Print(String),
    /// Run with these options.
    Run(Box<Options>),
}

/// Why a command line or a file cannot be obeyed. Print it to stderr and exit with 1.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.render())]
pub struct OptionsError {
    program: String,
    /// Everything that is wrong, one message each.
    pub problems: Vec<String>,
}

impl OptionsError {
    fn render(&self) -> String {
        let list = match &self.problems[..] {
            [one] => format!("Error: {one}"),
            many => format!(
                "Error: {} problems:\n  - {}",
                many.len(),
                many.join("\n  - ")
            ),
        };
        format!("{list}\nRun '{} --help' for all flags.", self.program)
    }
}

/// Reads the words after the program's name, and the file they may name.
///
/// # Errors
/// Everything that is wrong: with the syntax of the command line first, else with all values
/// together.
pub fn parse(program: &str, words: &[String]) -> Result<Request, OptionsError> {
    let fail = |problems| OptionsError {
        program: program.to_owned(),
        problems,
    };
    let read = command_line::read(program, words).map_err(|problem| fail(vec![problem]))?;
    let (given, mut problems, config) = match read {
        CommandLine::Print(text) => return Ok(Request::Print(text)),
        CommandLine::Run {
            given,
            problems,
            config,
        } => (given, problems, config),
    };
    let mut settings = Settings::default();
    let mut overrides = tuning::Overrides::new();
    if let Some(path) = config {
        match std::fs::read_to_string(&path) {
            Ok(text) => match file::read(&path, &text, &mut settings) {
                Ok(read) => overrides = read,
                Err(more) => problems.extend(more),
            },
            Err(error) => problems.push(format!(
                "--config: cannot read {path:?}: {error}; name a readable YAML file"
            )),
        }
    }
    command_line::apply(given, &mut settings);
    Options::assemble(settings, &overrides, problems)
        .map(|options| Request::Run(Box::new(options)))
        .map_err(fail)
}

impl Options {
    fn assemble(
        mut settings: Settings,
        overrides: &tuning::Overrides,
        problems: Vec<String>,
    ) -> Result<Self, Vec<String>> {
        let mut assembly = Assembly {
            settings: &settings,
            problems,
        };
        let generic = assembly.generic();
        let leader_election = assembly.leader_election();
        let client = assembly.client();
        let serving = assembly.serving();
        let authentication = assembly.authentication();
        let authorization = assembly.authorization();
        let logging = assembly.logging();
        assembly.remaining();
        let mut problems = assembly.problems;
        let tunings = tuning::read(&settings, overrides, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        // From here on the flag and our own `workers` key agree, whichever of them was set.
        for known in CONTROLLERS {
            if let (Workers::Flag(flag), Some(tuning)) = (known.workers, tunings.get(known.name)) {
                let origin = settings.get(flag).origin.clone();
                settings.set(flag, Value::Int(i64::from(tuning.workers)), origin);
            }
        }
        Ok(Self {
            generic,
            leader_election,
            client,
            serving,
            authentication,
            authorization,
            logging,
            tunings,
            settings,
        })
    }

    /// The body of `/configz`. Written to a file, it is a configuration with the same effect.
    pub fn to_configz(&self) -> serde_json::Value {
        configz::render(&self.settings, &self.tunings)
    }

    /// The body of `/flagz`: `name="value"` lines, by name, as upstream logs them at its start too.
    pub fn flag_lines(&self) -> impl Iterator<Item = String> {
        self.settings
            .iter()
            .map(|s| format!("--{}={:?}", s.flag.name, s.value.to_text()))
    }
}

#[cfg(test)]
mod tests;
