//! The command line, read by clap as pflag would read it.
//!
//! The rules that users of upstream rely on: `--flag=value` and `--flag value` are the same; a bare
//! boolean is true and never takes the next word; `_` and `-` are one letter in a flag's name;
//! lists take commas and repetition; any other repeated flag keeps its last value. clap finds the
//! flags and their texts; the texts are read by [`Kind::parse`](super::value::Kind::parse), so that
//! the command line and the file agree on every type.

use clap::builder::ValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::flags::{self, Effect, Flag};
use super::settings::{Origin, Settings};
use super::value::{Kind, Value};
use super::{controllers, help};

/// What the command line says.
#[derive(Debug)]
pub(super) enum CommandLine {
    /// Print this and stop.
    Print(String),
    /// Run.
    Run {
        /// The texts given for each flag, parsed.
        given: Vec<(&'static Flag, Value)>,
        /// Texts that could not be parsed.
        problems: Vec<String>,
        /// The configuration file.
        config: Option<String>,
    },
}

/// Reads the words after the program's name.
///
/// # Errors
/// What is wrong with the syntax: an unknown flag, a missing value, a word that belongs to no flag.
pub(super) fn read(program: &str, words: &[String]) -> Result<CommandLine, String> {
    let words = with_hyphens(program, words)?;
    let argv = std::iter::once(program.to_owned()).chain(words);
    let matches = match command(program).try_get_matches_from(argv) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            return Ok(CommandLine::Print(format!(
                "{}\n",
                error.render().to_string().trim_end()
            )));
        }
        Err(error) => return Err(explain(program, &error)),
    };
    if let Some(text) = help::version_text(matches.get_one::<String>("version"))? {
        return Ok(CommandLine::Print(text));
    }
    let mut given = Vec::new();
    let mut problems = Vec::new();
    for (_, flag) in flags::all() {
        match value_of(flag, &matches) {
            Ok(None) => {}
            Ok(Some(value)) => given.push((flag, value)),
            Err(problem) => problems.push(problem),
        }
    }
    let config = matches
        .get_one::<String>("config")
        .filter(|path| !path.is_empty())
        .cloned();
    Ok(CommandLine::Run {
        given,
        problems,
        config,
    })
}

/// Puts the values of the command line over those that are there already.
pub(super) fn apply(given: Vec<(&'static Flag, Value)>, settings: &mut Settings) {
    for (flag, value) in given {
        settings.set(flag.name, value, Origin::CommandLine);
    }
}

/// The clap command made from the table of flags.
pub fn command(program: &str) -> Command {
    let table = flags::all().map(|(group, flag)| {
        let hidden = matches!(group.effect_of(flag), Effect::Deprecated(_));
        argument(flag).help_heading(group.title).hide(hidden)
    });
    Command::new("controller-manager")
        .about(help::ABOUT)
        .help_template("{about}\n\nUsage:\n  {usage}\n\n{all-args}\n")
        .override_usage(format!("{program} [flags]"))
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args(table)
        .arg(
            text_argument("config", "string")
                .help_heading("Flyball flags")
                .help(
                    "YAML file with the same settings (kind KubeControllerManagerConfiguration); \
                 flags win over it",
                ),
        )
        .arg(
            Arg::new("help")
                .short('h')
                .long("help")
                .action(ArgAction::Help)
                .help_heading("Global flags")
                .help("Print this text"),
        )
        .arg(
            optional_argument("version", "version")
                .help_heading("Global flags")
                .help("Print the version; --version=raw prints it in detail"),
        )
}

fn argument(flag: &Flag) -> Arg {
    let arg = match flag.kind {
        Kind::Bool => optional_argument(flag.name, "bool"),
        kind => text_argument(flag.name, kind.type_name()),
    };
    let help = match flag.name {
        "controllers" => format!("{} {}", flag.help, controllers::listing()),
        _ => flag.help.to_owned(),
    };
    let arg = arg.help(help + &help::default_note(flag));
    if flag.name == "v" {
        arg.short('v')
    } else {
        arg
    }
}

fn text_argument(name: &'static str, value_name: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name(value_name)
        .num_args(1)
        .allow_hyphen_values(true)
        .value_parser(ValueParser::string())
        .action(ArgAction::Append)
}

/// A flag whose value must be attached with `=`, so that the next word is never taken for it.
fn optional_argument(name: &'static str, value_name: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name(value_name)
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("true")
        .value_parser(ValueParser::string())
        .action(ArgAction::Append)
}

/// The value of a flag from all its occurrences; none if it was not given.
fn value_of(flag: &'static Flag, matches: &ArgMatches) -> Result<Option<Value>, String> {
    let mut whole: Option<Value> = None;
    for text in matches.get_many::<String>(flag.name).into_iter().flatten() {
        let value = flag.kind.parse(text).map_err(|reason| {
            format!(
                "invalid argument {text:?} for \"{}\" flag: {reason}",
                flag.spelling()
            )
        })?;
        match &mut whole {
            Some(whole) => whole.absorb(value),
            None => whole = Some(value),
        }
    }
    Ok(whole)
}

/// Rewrites `_` to `-` in the names of flags, and refuses words that look like flags but cannot be.
fn with_hyphens(program: &str, words: &[String]) -> Result<Vec<String>, String> {
    let mut out = Vec::with_capacity(words.len());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            match words.next() {
                Some(word) => return Err(superfluous(program, word)),
                None => break,
            }
        }
        let Some(body) = word.strip_prefix("--") else {
            out.push(word.clone());
            if word == "-v" {
                out.extend(words.next().cloned());
            }
            continue;
        };
        if body.starts_with('-') || body.starts_with('=') {
            return Err(format!("bad flag syntax: {word}"));
        }
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (body, None),
        };
        let name = name.replace('_', "-");
        let takes_next = value.is_none()
            && (name == "config" || flags::find(&name).is_some_and(|flag| flag.kind != Kind::Bool));
        out.push(match value {
            Some(value) => format!("--{name}={value}"),
            None => format!("--{name}"),
        });
        if takes_next {
            out.extend(words.next().cloned());
        }
    }
    Ok(out)
}

fn superfluous(program: &str, word: &str) -> String {
    format!("{program:?} does not take any arguments, got [{word:?}]")
}

/// Says what clap found wrong in the words upstream's users know.
fn explain(program: &str, error: &clap::Error) -> String {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => texts.first().cloned(),
        _ => None,
    };
    // clap shows an argument with its value's name: `--kubeconfig <string>`.
    let bare = |text: String| {
        text.split([' ', '[', '<'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let word = context(ContextKind::InvalidArg).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument if !word.starts_with('-') => superfluous(program, &word),
        ErrorKind::UnknownArgument => {
            let meant = context(ContextKind::SuggestedArg)
                .map(|flag| format!("; did you mean {}?", bare(flag)))
                .unwrap_or_default();
            match word.strip_prefix("--") {
                Some(_) => format!("unknown flag: {word}{meant}"),
                None => format!("unknown shorthand flag: {word}{meant}"),
            }
        }
        ErrorKind::InvalidValue | ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues => {
            format!("flag needs an argument: {}", bare(word))
        }
        _ => error
            .render()
            .to_string()
            .trim_start_matches("error: ")
            .trim_end()
            .to_owned(),
    }
}
