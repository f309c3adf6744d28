//! The project's own rules, checked like everything else: by tests.
//!
//! A check is a function from what it looks at (the files as text, the Rust sources with comments and strings told
//! apart, or the packages as cargo sees them) to findings. It does no I/O, so each check has a test that feeds it a
//! few strings and sees it fail: a rule that cannot fail protects nothing. `tests.rs` runs them all on this
//! repository; `cargo xtask tidy` prints the same findings.
//!
//! Every finding says where, what, and what to do about it.

mod anatomy;
mod coverage;
mod decisions;
mod declarations;
mod effects;
mod imports;
mod layers;
mod links;
mod manifests;
mod modules;
mod names;
mod packages;
mod parity;
mod purity;
mod sizes;
mod sources;
mod spans;
mod stories;
mod syntax;
mod tree;
mod unfinished;
mod vocabulary;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;

use crate::command::{Outcome, complain, say};
use packages::Packages;
use sources::Sources;
use tree::Tree;

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    what: String,
    remedy: String,
}

impl Finding {
    fn new(
        path: impl Into<String>,
        line: usize,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            path: path.into(),
            line,
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: {}; {}",
            self.path, self.line, self.what, self.remedy
        )
    }
}

/// All that the checks look at, read once.
struct Project {
    tree: Tree,
    sources: Sources,
    packages: Packages,
}

impl Project {
    fn read(root: &Path) -> Result<Self, String> {
        let tree = Tree::read(root)?;
        let sources = Sources::of(&tree);
        let packages = Packages::read(root)?;
        Ok(Self {
            tree,
            sources,
            packages,
        })
    }
}

/// A rule of the project.
struct Check {
    name: &'static str,
    find: fn(&Project) -> Vec<Finding>,
}

const CHECKS: &[Check] = &[
    Check {
        name: "layers: a crate knows only the layers below its own",
        find: |project| layers::check(&project.packages),
    },
    Check {
        name: "purity: nothing with effects below shell",
        find: |project| purity::check(&project.packages),
    },
    Check {
        name: "effects: no clock, file, socket, thread or async in pure sources",
        find: |project| effects::check(&project.sources),
    },
    Check {
        name: "sizes: a file is one idea",
        find: |project| sizes::check(&project.sources),
    },
    Check {
        name: "names: paths and types say what they are",
        find: |project| names::check(&project.tree, &project.sources),
    },
    Check {
        name: "manifests: every crate inherits the workspace's settings",
        find: |project| manifests::check(&project.tree),
    },
    Check {
        name: "stories: every module begins with its story",
        find: |project| stories::check(&project.sources),
    },
    Check {
        name: "anatomy: every controller folder is complete",
        find: |project| anatomy::check(&project.tree),
    },
    Check {
        name: "coverage: the simulator asks for every rule of a controller",
        find: |project| coverage::check(&project.tree),
    },
    Check {
        name: "unfinished: nothing left for later, no test that waits or is skipped",
        find: |project| unfinished::check(&project.sources),
    },
    Check {
        name: "modules: every source file is part of a crate",
        find: |project| modules::check(&project.sources),
    },
    Check {
        name: "links: a link to a local file leads somewhere",
        find: |project| links::check(&project.tree),
    },
    Check {
        name: "decisions: pages are numbered and listed",
        find: |project| decisions::check(&project.tree),
    },
    Check {
        name: "parity: the page of behaviours is what the tests say",
        find: |project| parity::check(&project.tree),
    },
    Check {
        name: "vocabulary: the project speaks only of itself",
        find: |project| vocabulary::check(&project.tree),
    },
];

/// Writes the page of behaviours anew.
pub(crate) fn write_parity(root: &Path) -> Outcome {
    let page = parity::page(&Tree::read(root)?);
    let path = root.join(parity::PAGE);
    std::fs::write(&path, page).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Runs every check on the repository at `root` and prints what it found.
pub(crate) fn report(root: &Path) -> Outcome {
    let project = Project::read(root)?;
    let mut count = 0;
    for check in CHECKS {
        let mut findings = (check.find)(&project);
        findings.sort();
        let mark = if findings.is_empty() { "ok  " } else { "FAIL" };
        say(&format!("{mark}  {}", check.name));
        for finding in &findings {
            complain(&format!("      {finding}"));
        }
        count += findings.len();
    }
    let large = sizes::large(&project.sources);
    if !large.is_empty() {
        say("\nlarge files, still allowed; is each of them one idea?");
        for (path, lines) in large {
            say(&format!("      {path}: {lines} lines"));
        }
    }
    match count {
        0 => Ok(()),
        count => Err(format!("{count} findings")),
    }
}
