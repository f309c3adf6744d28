//! The newcomer's first minutes: a fresh clone and the README's two commands, nothing else.
//!
//! The commands are read from the README itself, so it cannot promise what does not work: they are the lines of its
//! first fenced `sh` block. Only committed work is cloned; that is the point.

use std::path::Path;

use crate::command::{self, Outcome};

/// Clones the repository at `root` and runs the README's commands in the clone.
///
/// The folder is removed when everything worked and kept, with its path printed, when something did not.
pub(crate) fn run(root: &Path) -> Outcome {
    let folder = std::env::temp_dir().join(format!("flyball-clean-clone-{}", std::process::id()));
    let shown = folder.display().to_string();
    let outcome = clone_and_run(root, &folder);
    match outcome {
        Ok(()) => std::fs::remove_dir_all(&folder)
            .map_err(|error| format!("worked, but {shown} cannot be removed: {error}")),
        Err(reason) => Err(format!("{reason}; the clone is kept in {shown}")),
    }
}

fn clone_and_run(root: &Path, folder: &Path) -> Outcome {
    let from = root.display().to_string();
    let to = folder.display().to_string();
    run_program(
        root,
        "git",
        &["clone", "--quiet", "--no-hardlinks", &from, &to],
    )?;
    let readme = std::fs::read_to_string(folder.join("README.md"))
        .map_err(|error| format!("cannot read README.md: {error}"))?;
    let commands = commands(&readme);
    if commands.len() != 2 {
        return Err(format!(
            "README.md's first `sh` block has {} commands; it promises two",
            commands.len()
        ));
    }
    for command in &commands {
        // Its own target folder, whatever this process was told: a clean clone compiles everything.
        let line = format!("unset CARGO_TARGET_DIR; exec {command}");
        if command.ends_with(" up") {
            // It runs until it is told to stop; a data folder of its own keeps the newcomer's alone.
            let line = format!("{line} --data-dir newcomer --listen 127.0.0.1:0");
            command::run_until(folder, &line, "everything is ready")?;
        } else {
            run_program(folder, "sh", &["-c", &line])?;
        }
    }
    command::say("a newcomer gets through");
    Ok(())
}

fn run_program(folder: &Path, program: &str, arguments: &[&str]) -> Outcome {
    command::run(folder, program, program, arguments)
}

/// The commands of the first fenced `sh` block: one per line, continued after a backslash, comments left out.
fn commands(readme: &str) -> Vec<String> {
    let mut lines = readme
        .lines()
        .skip_while(|line| line.trim() != "```sh")
        .skip(1);
    let mut commands = Vec::new();
    let mut current = String::new();
    for line in lines.by_ref().take_while(|line| line.trim() != "```") {
        let line = line.trim();
        let line = line.strip_prefix("$ ").unwrap_or(line);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(part) = line.strip_suffix('\\') {
            current.push_str(part);
            continue;
        }
        current.push_str(line);
        commands.push(std::mem::take(&mut current));
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are_the_lines_of_the_first_shell_block() {
        let readme = "# Name\n\n```text\nno\n```\n\n```sh\n# why\n$ cargo test\ncargo \\\n  run\n```\n\n```sh\nlater\n```\n";
        assert_eq!(commands(readme), ["cargo test", "cargo run"]);
    }

    #[test]
    fn a_readme_without_a_shell_block_has_no_commands() {
        assert!(commands("# Name\n\ncargo test\n").is_empty());
    }
}
