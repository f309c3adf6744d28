//! The simulator's list of files with rules names every one that there is, and no other.
//!
//! A rule is a file in a folder of `controllers/<family>/src/` that is not part of the anatomy of
//! all controllers. The list is what `flyball sim` must have come to.

use super::Finding;
use super::tree::{Tree, file_name};

/// Where the list is.
const LIST: &str = "verify/sim/src/coverage/rules.rs";

/// Files of a folder that hold no rule of their own.
const ANATOMY: &[&str] = &[
    "mod.rs",
    "route.rs",
    "observe.rs",
    "plan.rs",
    "report.rs",
    "status.rs",
    "tests.rs",
];

/// Folders that hold no rules: what is read, not what is decided.
const VIEWS: &str = "views";

/// Finds rules that are not listed, and listed ones that are not there.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let list = tree.text(LIST).unwrap_or_default();
    let listed: Vec<(usize, &str)> = list
        .lines()
        .enumerate()
        .flat_map(|(at, line)| line.split('"').map(move |part| (at + 1, part)))
        .filter(|(_, part)| part.starts_with("controllers/") && part.ends_with(".rs"))
        .collect();
    let is_listed = |path: &str| listed.iter().any(|(_, one)| *one == path);
    let missing = tree
        .paths()
        .filter(|path| is_rule(path) && !is_listed(path));
    let missing = missing.map(|path| {
        let remedy = format!("add it to {LIST}, with what shows that it was reached");
        Finding::new(path, 1, "the simulator does not ask for this rule", remedy)
    });
    let gone = listed.iter().filter(|(_, path)| !tree.has(path));
    let gone = gone.map(|(line, path)| {
        let what = format!("{path} is not there");
        Finding::new(LIST, *line, what, "take it off the list")
    });
    missing.chain(gone).collect()
}

fn is_rule(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let ["controllers", _, "src", folder, file] = parts.as_slice() else {
        return false;
    };
    file.ends_with(".rs") && *folder != VIEWS && !ANATOMY.contains(&file_name(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "controllers/batch/src/job/victims.rs";

    fn found(list: &str, files: &[&str]) -> Vec<String> {
        let mut all: Vec<(&str, &str)> = files.iter().map(|path| (*path, "")).collect();
        all.push((LIST, list));
        let findings = check(&Tree::of(&all));
        findings.into_iter().map(|finding| finding.path).collect()
    }

    #[test]
    fn a_rule_is_listed_and_what_is_listed_is_there() {
        let listed = format!("(JOBS, {RULE:?}, \"stage delete\"),");
        assert!(found(&listed, &[RULE]).is_empty());
        assert_eq!(found("", &[RULE]), [RULE]);
        assert_eq!(found(&listed, &[]), [LIST]);
    }

    #[test]
    fn what_all_controllers_have_is_no_rule() {
        let files = [
            "controllers/batch/src/lib.rs",
            "controllers/batch/src/job/plan.rs",
            "controllers/batch/src/job/tests/laws.rs",
            "controllers/batch/src/views/job.rs",
            "controllers/batch/src/job/cases/done.yaml",
        ];
        assert!(found("", &files).is_empty());
    }
}
