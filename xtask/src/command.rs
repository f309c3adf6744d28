//! Running a program the way a reader could: the command line is printed first, then run.

use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Why a task stopped, in one sentence for the terminal.
pub(crate) type Outcome = Result<(), String>;

/// Prints a line on stdout. A closed pipe is the reader's choice, not an error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Prints a line on stderr.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The repository's top folder: the parent of this package.
pub(crate) fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}

/// The cargo that started us, so that a toolchain chosen on the command line stays chosen.
pub(crate) fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Runs `cargo` with `arguments` in the repository's top folder.
pub(crate) fn run_cargo(arguments: &[&str]) -> Outcome {
    run(&root(), &cargo(), "cargo", arguments)
}

/// Runs `program` in `folder`, printed as `shown` and its arguments, and says how long it took.
pub(crate) fn run(folder: &Path, program: &str, shown: &str, arguments: &[&str]) -> Outcome {
    let line = command_line(shown, arguments);
    say(&format!("$ {line}"));
    let start = Instant::now();
    execute(folder, program, arguments).map_err(|reason| format!("`{line}` {reason}"))?;
    say(&format!("  {:.1} s", start.elapsed().as_secs_f64()));
    Ok(())
}

fn execute(folder: &Path, program: &str, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(program);
    let status = command.args(arguments).current_dir(folder).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("failed ({status})")),
        Err(error) => Err(format!("cannot be started: {error}")),
    }
}

/// Runs a shell line in `folder` until it prints a line with `phrase`, then asks it to stop, which must end it well.
pub(crate) fn run_until(folder: &Path, line: &str, phrase: &str) -> Outcome {
    say(&format!("$ {line}"));
    let told = |reason: String| format!("`{line}` {reason}");
    let mut child = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| told(format!("cannot be started: {error}")))?;
    let output = child.stdout.take().map(BufReader::new);
    let mut lines = output.into_iter().flat_map(BufRead::lines);
    let said = lines.any(|said| {
        let said = said.unwrap_or_default();
        say(&said);
        said.contains(phrase)
    });
    if said {
        let pid = child.id().to_string();
        // Not INT, which what a shell runs in the background ignores.
        execute(folder, "kill", &["-TERM", &pid]).map_err(told)?;
    }
    let status = child.wait().map_err(|error| told(error.to_string()))?;
    match (said, status.success()) {
        (true, true) => Ok(()),
        (false, _) => Err(told(format!("ended without saying {phrase:?} ({status})"))),
        (true, false) => Err(told(format!("did not stop well ({status})"))),
    }
}

/// The command as one would type it: arguments with blanks are quoted.
fn command_line(program: &str, arguments: &[&str]) -> String {
    let mut line = program.to_owned();
    for argument in arguments {
        line.push(' ');
        if argument.is_empty() || argument.contains(char::is_whitespace) {
            line.push_str(&format!("'{argument}'"));
        } else {
            line.push_str(argument);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_command_can_be_typed_again() {
        assert_eq!(
            command_line("sh", &["-c", "echo one two", ""]),
            "sh -c 'echo one two' ''"
        );
    }

    #[test]
    fn a_failing_command_is_an_error() {
        assert_eq!(execute(&root(), "sh", &["-c", "exit 0"]), Ok(()));
        let reason = execute(&root(), "sh", &["-c", "exit 3"]).unwrap_err();
        assert!(reason.contains("exit status: 3"), "{reason}");
    }

    #[test]
    fn a_command_that_does_not_end_is_asked_to_once_it_has_spoken() {
        let waits = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done";
        assert_eq!(run_until(&root(), waits, "ready"), Ok(()));
        let silent = run_until(&root(), "echo no", "ready").unwrap_err();
        assert!(silent.contains("without saying"), "{silent}");
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let reason = execute(&root(), "no-such-program", &[]).unwrap_err();
        assert!(reason.contains("cannot be started"), "{reason}");
    }
}
