//! The project speaks only of itself: not of the tools and the habits of those who happened to write it.

use super::Finding;
use super::tree::Tree;

/// The words, in halves, so that this page does not speak them.
const WORDS: &[(&str, &str)] = &[
    ("sub", "agent"),
    ("this ", "session"),
    ("developer ", "session"),
];

/// Finds them.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let words: Vec<String> = WORDS
        .iter()
        .map(|(first, second)| format!("{first}{second}"))
        .collect();
    let mut findings = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| *path != "Cargo.lock") {
        for (index, line) in text.lines().enumerate() {
            let line = line.to_lowercase();
            for word in words.iter().filter(|word| line.contains(word.as_str())) {
                let remedy = "say what the program does, not how it came about";
                findings.push(Finding::new(path, index + 1, format!("`{word}`"), remedy));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_found_in_any_file() {
        for (first, second) in WORDS {
            let text = format!("fine\nIn {first}{second} ...\n");
            let findings = check(&Tree::of(&[("docs/notes.md", &text)]));
            assert_eq!(findings.len(), 1, "{first}{second}");
            assert_eq!(findings[0].line, 2);
        }
    }

    #[test]
    fn a_session_of_another_kind_is_fine() {
        assert_eq!(
            check(&Tree::of(&[("shell/a/src/lib.rs", "//! A TLS session.")])),
            []
        );
    }
}
