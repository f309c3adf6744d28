//! A file is one idea, and an idea fits in a few hundred lines. Test files do not count.

use super::Finding;
use super::sources::Sources;

/// Above this many lines a file fails.
const LINES_MAX: usize = 600;

/// Above this many lines a file is listed as worth a question.
const LINES_LARGE: usize = 400;

/// Finds files that are too long.
pub(super) fn check(sources: &Sources) -> Vec<Finding> {
    let too_long = longer_than(sources, LINES_MAX);
    too_long
        .into_iter()
        .map(|(path, lines)| {
            Finding::new(
                path,
                lines,
                format!("{lines} lines, more than {LINES_MAX}"),
                "split it by idea; tests go to a child file",
            )
        })
        .collect()
}

/// Files that are allowed but long: path and number of lines, longest first.
pub(super) fn large(sources: &Sources) -> Vec<(String, usize)> {
    let mut large = longer_than(sources, LINES_LARGE);
    large.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
    large
}

fn longer_than(sources: &Sources, limit: usize) -> Vec<(String, usize)> {
    let files = sources.iter().filter(|source| !source.is_test);
    let sizes = files.map(|source| (source.path.clone(), source.text.raw.lines().count()));
    sizes.filter(|(_, lines)| *lines > limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    fn sources(lines: usize) -> Sources {
        let text = "//\n".repeat(lines);
        Sources::of(&Tree::of(&[
            ("core/api/src/lib.rs", &text),
            ("core/api/src/tests.rs", &text),
        ]))
    }

    #[test]
    fn a_file_may_fill_the_limit_but_not_exceed_it() {
        assert_eq!(check(&sources(LINES_MAX)), []);
        assert_eq!(check(&sources(LINES_MAX + 1)).len(), 1);
    }

    #[test]
    fn large_files_are_listed_before_they_fail() {
        assert_eq!(large(&sources(LINES_LARGE)), []);
        assert_eq!(large(&sources(LINES_LARGE + 1)).len(), 1);
    }
}
