//! Every module begins with `//!`: what it is for, before what it does.

use super::Finding;
use super::sources::Sources;

/// Finds modules that begin otherwise. A test file's name and test names are its story.
pub(super) fn check(sources: &Sources) -> Vec<Finding> {
    let files = sources.iter().filter(|source| !source.is_test);
    let silent = files.filter(|source| !source.text.raw.starts_with("//! "));
    silent
        .map(|source| {
            let remedy = "begin the file with a `//! ` line that says what the module is for";
            Finding::new(&source.path, 1, "the module has no story", remedy)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    fn found(path: &str, text: &str) -> usize {
        check(&Sources::of(&Tree::of(&[(path, text)]))).len()
    }

    #[test]
    fn a_module_without_a_story_is_found() {
        assert_eq!(found("core/api/src/lib.rs", "mod pods;\n"), 1);
        assert_eq!(found("core/api/src/lib.rs", "// Words.\nmod pods;\n"), 1);
    }

    #[test]
    fn a_module_with_a_story_is_fine() {
        assert_eq!(
            found("core/api/src/lib.rs", "//! The words.\nmod pods;\n"),
            0
        );
    }

    #[test]
    fn tests_need_none() {
        assert_eq!(found("core/api/src/tests.rs", "use super::*;\n"), 0);
    }
}
