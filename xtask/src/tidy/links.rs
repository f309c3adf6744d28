//! A link in the documentation to a file of ours leads to that file.

use super::Finding;
use super::tree::{Tree, folder_of};

/// Finds links that lead nowhere.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let pages = tree.files().filter(|(path, _)| path.ends_with(".md"));
    pages
        .flat_map(|(path, text)| check_page(tree, path, text))
        .collect()
}

fn check_page(tree: &Tree, page: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut in_fence = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
            continue;
        }
        if in_fence {
            continue;
        }
        for target in targets(line) {
            let Some(path) = local_path(page, &target) else {
                continue;
            };
            if !path.is_some_and(|path| tree.has(&path)) {
                let what = format!("the link to `{target}` leads nowhere");
                findings.push(Finding::new(page, index + 1, what, "correct it or drop it"));
            }
        }
    }
    findings
}

/// The targets of the links in a line: `[text](target)` and `[name]: target`.
fn targets(line: &str) -> Vec<String> {
    // What stands between backticks is shown, not linked.
    let shown = line.split('`').step_by(2).collect::<Vec<_>>().join("");
    let inline = shown
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ']).next());
    let mut targets: Vec<String> = inline.map(str::to_owned).collect();
    if let Some((_, target)) = shown
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "))
    {
        targets.extend(target.split_whitespace().next().map(str::to_owned));
    }
    targets
}

/// `None` for a link out of the repository or within the page; inside, the path it means, if it stays inside.
fn local_path(page: &str, target: &str) -> Option<Option<String>> {
    let path = target
        .trim_matches(['<', '>'])
        .split('#')
        .next()
        .unwrap_or_default();
    if path.is_empty() || path.contains("://") || path.starts_with("mailto:") {
        return None;
    }
    let start = if path.starts_with('/') {
        ""
    } else {
        folder_of(page)
    };
    let mut parts: Vec<&str> = start.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return Some(None);
                }
            }
            part => parts.push(part),
        }
    }
    Some(Some(parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<usize> {
        let tree = Tree::of(&[
            ("docs/flows/one.md", text),
            ("docs/two.md", ""),
            ("core/api/src/lib.rs", ""),
        ]);
        check(&tree)
            .into_iter()
            .map(|finding| finding.line)
            .collect()
    }

    #[test]
    fn links_to_files_folders_and_elsewhere_are_fine() {
        assert_eq!(
            found(
                "[a](../two.md#b), [c](/core/api), [d](https://example.org/e.md), [f](#g)\n[h]: ../two.md\n"
            ),
            Vec::<usize>::new()
        );
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        assert_eq!(found("fine\n[a](two.md)\n"), [2]);
        assert_eq!(found("[a]: ../three.md\n"), [1]);
        assert_eq!(found("[a](../../../outside.md)"), [1]);
    }

    #[test]
    fn shown_code_is_not_a_link() {
        assert_eq!(
            found("`[a](b.md)`\n```text\n[c](d.md)\n```\n"),
            Vec::<usize>::new()
        );
    }
}
