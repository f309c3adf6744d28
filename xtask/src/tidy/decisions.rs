//! Decisions are pages with consecutive numbers, and their index lists each of them.

use super::Finding;
use super::tree::Tree;

const FOLDER: &str = "docs/decisions/";
const INDEX: &str = "README.md";

/// Pages beside the numbered ones: the index, and the list of dependencies with their reasons.
const OTHERS: &[&str] = &[INDEX, "dependencies.md"];

/// Finds pages without a number, with a number taken or skipped, or missing in the index.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut expected = 1;
    let index = tree.text(&format!("{FOLDER}{INDEX}"));
    for (path, _) in tree.files().filter(|(path, _)| path.starts_with(FOLDER)) {
        let name = &path[FOLDER.len()..];
        if let Some(index) = index
            && name != INDEX
            && !index.contains(&format!("({name})"))
        {
            let what = format!("{INDEX} does not list it");
            findings.push(Finding::new(
                path,
                1,
                what,
                format!("add a link to it in {FOLDER}{INDEX}"),
            ));
        }
        if OTHERS.contains(&name) {
            continue;
        }
        match number(name) {
            Some(number) if number == expected => expected += 1,
            Some(number) => {
                let what = format!("number {number:04} where {expected:04} comes next");
                findings.push(Finding::new(
                    path,
                    1,
                    what,
                    "number the pages without gaps and repetitions",
                ));
                expected = number + 1;
            }
            None => {
                let remedy = "call it NNNN-title.md";
                findings.push(Finding::new(path, 1, "a decision without a number", remedy));
            }
        }
    }
    findings
}

fn number(name: &str) -> Option<u32> {
    let (digits, title) = name.split_once('-')?;
    (digits.len() == 4 && title.ends_with(".md"))
        .then(|| digits.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let paths: Vec<String> = files
            .iter()
            .map(|(name, _)| format!("{FOLDER}{name}"))
            .collect();
        let files: Vec<(&str, &str)> = paths
            .iter()
            .zip(files)
            .map(|(path, (_, text))| (path.as_str(), *text))
            .collect();
        check(&Tree::of(&files))
            .into_iter()
            .map(|finding| finding.path[FOLDER.len()..].to_owned())
            .collect()
    }

    #[test]
    fn numbered_and_listed_pages_are_fine() {
        let index = "[a](0001-a.md) [b](0002-b.md) [d](dependencies.md)";
        assert_eq!(
            found(&[
                ("README.md", index),
                ("0001-a.md", ""),
                ("0002-b.md", ""),
                ("dependencies.md", "")
            ]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn gaps_repetitions_and_missing_numbers_are_found() {
        assert_eq!(
            found(&[("0001-a.md", ""), ("0003-b.md", "")]),
            ["0003-b.md"]
        );
        assert_eq!(
            found(&[("0001-a.md", ""), ("0001-b.md", "")]),
            ["0001-b.md"]
        );
        assert_eq!(found(&[("a.md", "")]), ["a.md"]);
    }

    #[test]
    fn a_page_missing_in_the_index_is_found() {
        assert_eq!(
            found(&[("README.md", "nothing"), ("0001-a.md", "")]),
            ["0001-a.md"]
        );
    }
}
