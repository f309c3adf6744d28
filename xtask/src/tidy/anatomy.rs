//! All controllers have one anatomy, so that whoever knows one finds the way in every other.
//!
//! A controller is a folder under `controllers/<family>/src/` whose `mod.rs` gives a `DESCRIPTOR`.

use super::Finding;
use super::syntax::{Text, tokens};
use super::tree::{Tree, folder_of};

/// The files that every controller has.
const FILES: &[(&str, &str)] = &[
    ("route.rs", "which keys a change concerns"),
    ("observe.rs", "what a key's decision looks at"),
    ("plan.rs", "all branching, from top to bottom"),
    ("report.rs", "its rules, and what a sync reports"),
    ("tests.rs", "its laws and the runner of its cases"),
];

/// Finds controllers with parts missing.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let modules = tree
        .files()
        .filter(|(path, text)| is_controller(path, text));
    modules
        .flat_map(|(path, _)| check_folder(tree, path))
        .collect()
}

/// Whether a file is the `mod.rs` of a controller.
pub(super) fn is_controller(path: &str, text: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let ["controllers", _, "src", _, "mod.rs"] = parts.as_slice() else {
        return false;
    };
    tokens(&Text::of(text).code)
        .iter()
        .any(|token| token.text == "DESCRIPTOR")
}

fn check_folder(tree: &Tree, module: &str) -> Vec<Finding> {
    let folder = folder_of(module);
    let missing = FILES
        .iter()
        .filter(|(name, _)| !tree.has(&format!("{folder}/{name}")));
    let mut findings: Vec<Finding> = missing
        .map(|(name, content)| {
            Finding::new(
                module,
                1,
                format!("{folder} has no {name}"),
                format!("add it: {content}"),
            )
        })
        .collect();
    let cases = format!("{folder}/cases/");
    let is_case = |path: &str| {
        path.strip_prefix(&cases)
            .is_some_and(|name| name.ends_with(".yaml"))
    };
    if !tree.paths().any(is_case) {
        let remedy = "add cases: objects in, actions out";
        findings.push(Finding::new(
            module,
            1,
            format!("{folder} has no cases/*.yaml"),
            remedy,
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "controllers/batch/src/job/mod.rs";
    const PARTS: &[&str] = &[
        "route.rs",
        "observe.rs",
        "plan.rs",
        "report.rs",
        "tests.rs",
        "cases/done.yaml",
    ];

    fn tree(parts: &[&str], module: &str) -> Tree {
        let paths: Vec<String> = parts
            .iter()
            .map(|part| format!("controllers/batch/src/job/{part}"))
            .collect();
        let mut files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
        files.push((MODULE, module));
        Tree::of(&files)
    }

    #[test]
    fn a_complete_folder_is_fine() {
        assert_eq!(check(&tree(PARTS, "const DESCRIPTOR: D = d();")), []);
    }

    #[test]
    fn each_missing_part_is_found() {
        for part in PARTS {
            let rest: Vec<&str> = PARTS
                .iter()
                .copied()
                .filter(|other| other != part)
                .collect();
            assert_eq!(
                check(&tree(&rest, "const DESCRIPTOR: D = d();")).len(),
                1,
                "{part}"
            );
        }
    }

    #[test]
    fn a_folder_without_a_descriptor_is_no_controller() {
        assert_eq!(check(&tree(&[], "//! Not a DESCRIPTOR.\nmod rules;")), []);
    }
}
