//! The one binary: `flyball controller-manager`, or kube-controller-manager by that name.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is the program's voice"
)]

use std::process::ExitCode;

use flyball_cli::commands;

/// Gives freed memory back sooner and wastes less of it than the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    match commands::run(&words) {
        Ok(Some(text)) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Ok(None) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
