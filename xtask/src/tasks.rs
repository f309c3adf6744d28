//! The tasks: one table, one line of explanation each.
//!
//! All release tasks build the same set of packages in one go. Cargo chooses the features of shared dependencies per
//! selection of packages, so building the harness alone would compile hyper, serde and everything above them again.

use crate::clean_clone;
use crate::command::{Outcome, root, run, run_cargo};
use crate::protobuf_table;
use crate::tidy;

/// Something one can ask `cargo xtask` to do.
pub(crate) struct Task {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Outcome,
}

impl Task {
    /// Does it, with the words that followed its name.
    pub(crate) fn run(&self, arguments: &[String]) -> Outcome {
        if self.arguments.is_empty() && !arguments.is_empty() {
            return Err(format!("takes no arguments, got `{}`", arguments.join(" ")));
        }
        (self.run)(arguments)
    }
}

const TASKS: &[Task] = &[
    Task {
        name: "verify",
        arguments: "",
        about: "formatting, lints, tests and tidy; never writes to the sources",
        run: |_| verify(),
    },
    Task {
        name: "fix",
        arguments: "",
        about: "formats the sources and applies what clippy can mend by itself",
        run: |_| fix(),
    },
    Task {
        name: "tidy",
        arguments: "",
        about: "the project's own rules: layers, purity, names, sizes, links (part of the tests)",
        run: |_| tidy::report(&root()),
    },
    Task {
        name: "conformance",
        arguments: "[args]",
        about: "scenarios, then Kubernetes' e2e tests, with the Go manager and ours on a real API server",
        run: conformance,
    },
    Task {
        name: "faults",
        arguments: "[args]",
        about: "puts our manager through crashes, lag, nonsense and handovers on a real API server",
        run: faults,
    },
    Task {
        name: "clients",
        arguments: "[args]",
        about: "kubectl of two releases, helm and client-go's informers against `flyball up`",
        run: clients,
    },
    Task {
        name: "bench",
        arguments: "[args]",
        about: "the Go manager and ours side by side: wall, CPU, memory, requests",
        run: bench,
    },
    Task {
        name: "bytes",
        arguments: "[args]",
        about: "bytes of memory per cached object, for every kind",
        run: bytes,
    },
    Task {
        name: "parity",
        arguments: "",
        about: "writes docs/parity-controllers.md: what controllers do, and what shows it",
        run: |_| tidy::write_parity(&root()),
    },
    Task {
        name: "protobuf-table",
        arguments: "<folder>",
        about: "writes the table of core/protobuf from upstream's Go modules in a folder",
        run: protobuf_table::run,
    },
    Task {
        name: "clean-clone",
        arguments: "",
        about: "clones the last commit into a fresh folder and runs the README's two commands there",
        run: |_| clean_clone::run(&root()),
    },
];

const MANAGER: &str = "flyball";
const CONFORMANCE: &str = "conformance";
const BENCH: &str = "bench";

/// The programs that tasks start after building them.
#[cfg(test)]
pub(crate) const PROGRAMS: &[&str] = &[MANAGER, CONFORMANCE, BENCH];

/// The task called `name`.
pub(crate) fn find(name: &str) -> Option<&'static Task> {
    TASKS.iter().find(|task| task.name == name)
}

/// What there is to choose from, one line each.
pub(crate) fn menu() -> String {
    let mut text = String::from("usage: cargo xtask <task>\n");
    for task in TASKS {
        let call = format!("{} {}", task.name, task.arguments);
        text.push_str(&format!("\n  {:<20}{}", call.trim_end(), task.about));
    }
    text
}

fn verify() -> Outcome {
    // From the quickest to the slowest, so that a slip shows early. The tests hold tidy too; here it also lists
    // what is merely large.
    run_cargo(&["fmt", "--all", "--check"])?;
    tidy::report(&root())?;
    run_cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ])?;
    run_cargo(&["test", "--workspace", "--locked"])
}

fn fix() -> Outcome {
    run_cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--fix",
        "--allow-dirty",
        "--allow-staged",
    ])?;
    // Last, because mended code is not always formatted code.
    run_cargo(&["fmt", "--all"])
}

/// Builds the manager and the programs that measure it, in one selection of packages.
fn build_release() -> Outcome {
    run_cargo(&[
        "build",
        "--release",
        "--locked",
        "-p",
        "flyball-cli",
        "-p",
        "flyball-conformance",
        "-p",
        "flyball-bench",
    ])
}

/// The path of a program that [`build_release`] built.
fn built(program: &str) -> String {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let path = root().join(target).join("release").join(program);
    path.display().to_string()
}

fn run_built(program: &str, first: &[&str], rest: &[String]) -> Outcome {
    let program = built(program);
    let rest = rest.iter().map(String::as_str);
    let arguments: Vec<&str> = first.iter().copied().chain(rest).collect();
    run(&root(), &program, &program, &arguments)
}

/// The scenarios, then upstream's own e2e tests; or the one whose name comes first.
fn conformance(arguments: &[String]) -> Outcome {
    build_release()?;
    let manager = built(MANAGER);
    let scenarios = |rest: &[String]| run_built(CONFORMANCE, &["run", "--manager", &manager], rest);
    let e2e = |rest: &[String]| run_built(CONFORMANCE, &["e2e", "--flyball", &manager], rest);
    match arguments.split_first() {
        Some((first, rest)) if first == "e2e" => e2e(rest),
        Some((first, rest)) if first == "scenarios" => scenarios(rest),
        Some(_) => scenarios(arguments),
        // A scenario that fails does not hide how the tests fare.
        None => scenarios(&[]).and(e2e(&[])),
    }
}

fn faults(arguments: &[String]) -> Outcome {
    build_release()?;
    run_built(
        CONFORMANCE,
        &["faults", "--manager", &built(MANAGER)],
        arguments,
    )
}

fn clients(arguments: &[String]) -> Outcome {
    build_release()?;
    run_built(
        CONFORMANCE,
        &["clients", "--flyball", &built(MANAGER)],
        arguments,
    )
}

/// One of the comparisons with upstream's manager; workloads unless another is named first.
fn bench(arguments: &[String]) -> Outcome {
    build_release()?;
    let (which, rest) = match arguments.split_first() {
        Some((first, rest)) if !first.starts_with('-') => (first.as_str(), rest),
        _ => ("workloads", arguments),
    };
    run_built(BENCH, &[which, "--manager-binary", &built(MANAGER)], rest)
}

fn bytes(arguments: &[String]) -> Outcome {
    build_release()?;
    run_built(BENCH, &["bytes"], arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_menu_lists_every_task_on_one_line() {
        let menu = menu();
        for task in TASKS {
            let lines = menu
                .lines()
                .filter(|line| line.trim_start().starts_with(task.name));
            assert_eq!(lines.count(), 1, "{}", task.name);
        }
        assert!(menu.lines().all(|line| line.len() <= 110), "{menu}");
    }

    #[test]
    fn a_task_without_arguments_refuses_them() {
        let reason = find("tidy")
            .unwrap()
            .run(&["twice".to_owned()])
            .unwrap_err();
        assert!(reason.contains("twice"), "{reason}");
    }

    #[test]
    fn an_unknown_task_is_not_found() {
        assert!(find("tidyy").is_none());
    }
}
