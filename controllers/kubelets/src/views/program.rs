//! What the command of a container is known to do.
//!
//! Nothing runs here, but some commands say all there is to know: `sleep 30`, `sh -c "echo done; exit 3"`. Whatever
//! is not understood to the last word counts as unknown.

use std::time::Duration;

use flyball_api::Text;

/// The longest nap that is believed; a longer one lasts for ever.
const SLEEP_SECONDS_MAX: f64 = 1e9;

/// What a container's command is known to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Program {
    /// Nobody knows.
    #[default]
    Unknown,
    /// It runs until it is told to stop.
    Runs,
    /// It ends by itself.
    Exits {
        /// After how long.
        after: Duration,
        /// With which code.
        code: i32,
    },
}

impl Program {
    /// What a command with its arguments does.
    pub(super) fn of(command: &[Text], arguments: &[Text]) -> Self {
        let words: Vec<&str> = command.iter().chain(arguments).map(Text::as_str).collect();
        match words.as_slice() {
            [shell, "-c", script] if matches!(name(shell), "sh" | "ash" | "bash") => {
                Self::of_script(script)
            }
            words => Self::of_words(words),
        }
    }

    /// Simple commands one after the other. Quotes, variables, pipes and the like are not understood.
    fn of_script(script: &str) -> Self {
        let lines = script.replace("&&", "\n&&").replace(';', "\n");
        if lines
            .replace("&&", "")
            .contains(|c| "|&$`(){}<>'\"*?#!\\".contains(c))
        {
            return Self::Unknown;
        }
        let (mut after, mut code) = (Duration::ZERO, 0);
        for line in lines.lines().map(str::trim) {
            let (line, needs_success) = match line.strip_prefix("&&") {
                Some(rest) => (rest, true),
                None => (line, false),
            };
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.is_empty() || (needs_success && code != 0) {
                continue;
            }
            if words == ["exit"] {
                // Without a number the last code counts.
                break;
            }
            match Self::of_words(&words) {
                Self::Exits {
                    after: more,
                    code: said,
                } => (after, code) = (after.saturating_add(more), said),
                other => return other,
            }
            if words.first() == Some(&"exit") {
                break;
            }
        }
        Self::Exits { after, code }
    }

    fn of_words(words: &[&str]) -> Self {
        let exits = |after, code| Self::Exits { after, code };
        let Some((first, rest)) = words.split_first() else {
            return Self::Unknown;
        };
        match (name(first), rest) {
            ("true" | ":", _) | ("echo", _) => exits(Duration::ZERO, 0),
            ("false", _) => exits(Duration::ZERO, 1),
            ("exit", [code]) => match code.parse::<u8>() {
                Ok(code) => exits(Duration::ZERO, code.into()),
                Err(_) => Self::Unknown,
            },
            ("pause", []) | ("agnhost", ["pause"]) => Self::Runs,
            ("sleep", ["inf" | "infinity"]) => Self::Runs,
            ("sleep", [time]) => match seconds(time) {
                Some(seconds) if seconds > SLEEP_SECONDS_MAX => Self::Runs,
                Some(seconds) => exits(Duration::from_secs_f64(seconds), 0),
                None => Self::Unknown,
            },
            _ => Self::Unknown,
        }
    }
}

/// The name of a program without its folder.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// A time as `sleep` takes it: a number, and a letter for the unit.
fn seconds(time: &str) -> Option<f64> {
    let (number, unit) = match time.strip_suffix(['s', 'm', 'h', 'd']) {
        Some(number) => (number, time.chars().last()?),
        None => (time, 's'),
    };
    let number: f64 = number.parse().ok()?;
    let seconds = number
        * match unit {
            'm' => 60.0,
            'h' => 3_600.0,
            'd' => 86_400.0,
            _ => 1.0,
        };
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: Program = Program::Unknown;

    fn exits(millis: u64, code: i32) -> Program {
        Program::Exits {
            after: Duration::from_millis(millis),
            code,
        }
    }

    #[test]
    fn a_command_is_known_only_if_every_word_of_it_is() {
        for (words, expected) in [
            (&[][..], UNKNOWN),
            (&["serve"], UNKNOWN),
            (&["/bin/true"], exits(0, 0)),
            (&["false"], exits(0, 1)),
            (&["/pause"], Program::Runs),
            (&["/agnhost", "pause"], Program::Runs),
            (&["/agnhost", "netexec"], UNKNOWN),
            (&["sleep", "30"], exits(30_000, 0)),
            (&["sleep", "1.5m"], exits(90_000, 0)),
            (&["sleep", "infinity"], Program::Runs),
            (&["sleep", "1e300"], Program::Runs),
            (&["sleep", "NaN"], UNKNOWN),
            (&["sleep", "-1"], UNKNOWN),
            (&["sleep", "soon"], UNKNOWN),
            (&["sleep"], UNKNOWN),
        ] {
            let words: Vec<Text> = words.iter().map(|word| Text::from(*word)).collect();
            assert_eq!(Program::of(&words, &[]), expected, "{words:?}");
            assert_eq!(Program::of(&[], &words), expected, "{words:?}");
        }
    }

    #[test]
    fn a_script_is_known_only_if_every_command_of_it_is() {
        for (script, expected) in [
            ("", exits(0, 0)),
            ("exit 7", exits(0, 7)),
            ("exit", exits(0, 0)),
            ("false; exit", exits(0, 1)),
            ("exit 256", UNKNOWN),
            ("echo hello; sleep 2; exit 3; sleep 9", exits(2_000, 3)),
            ("sleep 1 && false && sleep 9", exits(1_000, 1)),
            ("false && exit 3", exits(0, 1)),
            ("sleep 1\nfalse\ntrue", exits(1_000, 0)),
            ("sleep 1 && sleep infinity", Program::Runs),
            ("sleep 1; serve", UNKNOWN),
            ("sleep 5 & wait", UNKNOWN),
            ("exit $CODE", UNKNOWN),
            ("while true; do sleep 1; done", UNKNOWN),
            ("echo 'a; exit 1'", UNKNOWN),
        ] {
            let words = ["/bin/sh", "-c", script].map(Text::from);
            assert_eq!(Program::of(&words, &[]), expected, "{script:?}");
        }
    }
}
