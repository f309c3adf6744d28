//! The one binary: `flyball controller-manager`, or kube-controller-manager by that name.

use std::io::Write as _;
use std::process::ExitCode;

use flyball_cli::commands;

/// Gives freed memory back sooner and wastes less of it than the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    match commands::run(&words) {
        Ok(Some(text)) => {
            // Whoever closed the pipe has read enough.
            drop(writeln!(std::io::stdout(), "{text}"));
            ExitCode::SUCCESS
        }
        Ok(None) => ExitCode::SUCCESS,
        Err(error) => {
            drop(writeln!(std::io::stderr(), "{}", commands::told(&error)));
            ExitCode::FAILURE
        }
    }
}
