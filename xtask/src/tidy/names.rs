//! Names that explain nothing are not used for files, folders and types.

use super::Finding;
use super::declarations::type_names;
use super::sources::Sources;
use super::tree::{Tree, file_name};

/// Words that say nothing about what is inside.
const EMPTY_WORDS: &[&str] = &[
    "util", "utils", "common", "helper", "helpers", "misc", "impl", "handler2",
];

/// Upstream's word for a kind of program. Here it names nothing but that program, so it stays where programs are.
const PROGRAM_WORD: &str = "manager";
const PROGRAM_FOLDERS: &[&str] = &["apps/flyball/", "verify/"];

const REMEDY: &str = "name what it holds or decides";

/// Finds such names.
pub(super) fn check(tree: &Tree, sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in tree.paths() {
        let stem = file_name(path).split('.').next().unwrap_or_default();
        if let Some(word) = empty_word(path, &snake_words(stem)) {
            findings.push(Finding::new(
                path,
                1,
                format!("`{word}` in a path says nothing"),
                REMEDY,
            ));
        }
    }
    for source in sources.iter() {
        for (at, name) in type_names(&source.text.code) {
            if let Some(word) = empty_word(&source.path, &camel_words(&name)) {
                let what = format!("`{word}` in `{name}` says nothing");
                findings.push(Finding::new(&source.path, source.line(at), what, REMEDY));
            }
        }
    }
    findings
}

fn empty_word(path: &str, words: &[String]) -> Option<String> {
    if let [first, _, ..] = words
        && first == "new"
    {
        return Some("new".to_owned());
    }
    let is_program = PROGRAM_FOLDERS
        .iter()
        .any(|folder| path.starts_with(folder));
    let empty = |word: &&String| {
        EMPTY_WORDS.contains(&word.as_str()) || (*word == PROGRAM_WORD && !is_program)
    };
    words.iter().find(empty).cloned()
}

fn snake_words(name: &str) -> Vec<String> {
    name.split(['_', '-'])
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn camel_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for character in name.chars() {
        match words.last_mut() {
            Some(word) if !character.is_uppercase() => word.push(character),
            _ => words.push(character.to_lowercase().collect()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let tree = Tree::of(&[(path, text)]);
        let findings = check(&tree, &Sources::of(&tree)).into_iter();
        findings.map(|finding| finding.what).collect()
    }

    #[test]
    fn empty_words_in_paths_are_found() {
        for path in [
            "core/api/src/utils.rs",
            "core/api/src/pod_helpers.rs",
            "core/common/Cargo.toml",
            "core/api/src/misc/mod.rs",
            "shell/client/src/client_impl.rs",
            "shell/client/src/new_client.rs",
            "shell/client/src/handler2.rs",
            "shell/client/src/manager.rs",
        ] {
            assert_eq!(found(path, "").len(), 1, "{path}");
        }
    }

    #[test]
    fn empty_words_in_types_are_found() {
        for text in [
            "struct PodUtils;",
            "enum CommonKind {}",
            "pub trait Manager {}",
            "type StoreImpl = A;",
            "struct NewPod;",
        ] {
            assert_eq!(found("core/api/src/pods.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_program_that_is_a_manager_may_be_called_so() {
        assert_eq!(
            found("verify/conformance/src/process.rs", "pub struct Manager;"),
            Vec::<String>::new()
        );
        assert_eq!(
            found("apps/flyball/src/commands/controller_manager.rs", ""),
            Vec::<String>::new()
        );
    }

    #[test]
    fn words_that_only_contain_an_empty_word_are_fine() {
        assert_eq!(
            found(
                "core/api/src/utility_bill.rs",
                "struct Implication; struct News;"
            ),
            Vec::<String>::new()
        );
    }
}
