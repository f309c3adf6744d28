//! `cargo xtask`: the project's menu of tasks, with nothing to install.
//!
//! Without arguments it lists what there is. Every task prints each command before running it, so that whoever
//! wants to type the command by hand can. The project's own rules live in [`tidy`]; they are also ordinary tests of
//! this package, so a plain `cargo test --workspace` checks them.

mod clean_clone;
mod command;
mod protobuf_table;
mod tasks;
mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let Some(name) = name else {
        command::say(&tasks::menu());
        return ExitCode::SUCCESS;
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        command::say(&tasks::menu());
        return ExitCode::SUCCESS;
    }
    let Some(task) = tasks::find(&name) else {
        command::complain(&format!("there is no task `{name}`\n\n{}", tasks::menu()));
        return ExitCode::from(2);
    };
    match task.run(&rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            command::complain(&format!("{name}: {reason}"));
            ExitCode::FAILURE
        }
    }
}
