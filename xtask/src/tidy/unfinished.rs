//! Nothing is left for later without an issue, and no test is skipped or waits for time to pass.

use super::Finding;
use super::imports::used_paths;
use super::sources::{Source, Sources};
use super::syntax::tokens;

/// Finds code, comments and tests that are not finished.
pub(super) fn check(sources: &Sources) -> Vec<Finding> {
    sources
        .iter()
        .flat_map(|source| {
            let mut findings = placeholders(source);
            findings.extend(promises(source));
            findings.extend(sleeping_tests(source));
            findings
        })
        .collect()
}

/// Macros that panic where code should be, and attributes that skip a test.
fn placeholders(source: &Source) -> Vec<Finding> {
    let tokens = tokens(&source.text.code);
    let mut findings = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let before = index
            .checked_sub(1)
            .map_or("", |before| tokens[before].text);
        let after = tokens.get(index + 1).map_or("", |after| after.text);
        let remedy = match token.text {
            "todo" | "unimplemented" if after == "!" => "write it, or leave the feature out",
            "ignore" if before == "[" && matches!(after, "]" | "=") => "mend the test or delete it",
            _ => continue,
        };
        let what = format!("`{}`", token.text);
        findings.push(Finding::new(
            &source.path,
            source.line(token.at),
            what,
            remedy,
        ));
    }
    findings
}

/// Comments that put something off.
fn promises(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in source.text.comments.lines().enumerate() {
        let words =
            line.split(|character: char| !(character.is_alphanumeric() || character == '_'));
        for word in words {
            let remedy = match word {
                "FIXME" | "XXX" => "mend it now, or open an issue",
                "TODO" if !names_issue(line) => "do it now, or name its issue as in TODO(#12)",
                _ => continue,
            };
            findings.push(Finding::new(
                &source.path,
                index + 1,
                format!("`{word}` in a comment"),
                remedy,
            ));
        }
    }
    findings
}

/// Whether every put-off in the line names an issue.
fn names_issue(line: &str) -> bool {
    line.split("TODO").skip(1).all(|rest| {
        let number = rest
            .strip_prefix("(#")
            .and_then(|rest| rest.split_once(')'));
        number.is_some_and(|(digits, _)| {
            !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
        })
    })
}

fn sleeping_tests(source: &Source) -> Vec<Finding> {
    let sleeps = |path: &str| path.ends_with("thread::sleep") || path.ends_with("time::sleep");
    let used = used_paths(&source.text.code)
        .into_iter()
        .filter(|used| sleeps(&used.path));
    let in_tests = used.filter(|used| source.in_test(used.at));
    in_tests
        .map(|used| {
            let remedy = "wait for the thing itself, or pass the time as an argument";
            Finding::new(
                &source.path,
                source.line(used.at),
                format!("a test calls `{}`", used.path),
                remedy,
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    fn found(path: &str, text: &str) -> Vec<usize> {
        let findings = check(&Sources::of(&Tree::of(&[(path, text)]))).into_iter();
        findings.map(|finding| finding.line).collect()
    }

    #[test]
    fn code_that_panics_for_want_of_code_is_found() {
        assert_eq!(
            found(
                "shell/a/src/lib.rs",
                "fn f() {\n    todo!()\n}\nfn g() { unimplemented!(\"later\") }"
            ),
            [2, 4]
        );
    }

    #[test]
    fn skipped_tests_are_found() {
        assert_eq!(
            found("shell/a/src/tests.rs", "#[test]\n#[ignore]\nfn f() {}"),
            [2]
        );
        assert_eq!(
            found(
                "shell/a/src/tests.rs",
                "#[test]\n#[ignore = \"slow\"]\nfn f() {}"
            ),
            [2]
        );
    }

    #[test]
    fn comments_that_put_off_are_found_unless_they_name_an_issue() {
        assert_eq!(
            found(
                "shell/a/src/lib.rs",
                "// FIXME: a\n/* XXX */\n// TODO: b\n// TODO(#12): c\n"
            ),
            [1, 2, 3]
        );
        assert_eq!(
            found(
                "shell/a/src/lib.rs",
                "// TODO(#): c\n// TODO(#12) and TODO\n"
            ),
            [1, 2, 2]
        );
    }

    #[test]
    fn tests_that_sleep_are_found() {
        let text = "fn pace() { tokio::time::sleep(a); }\n#[cfg(test)]\nmod tests {\n  fn a() { std::thread::sleep(b); }\n}";
        assert_eq!(found("shell/a/src/lib.rs", text), [4]);
        assert_eq!(
            found("shell/a/src/tests.rs", "use tokio::time::{self, sleep};"),
            [1]
        );
    }

    #[test]
    fn strings_and_ordinary_words_are_fine() {
        assert_eq!(
            found(
                "shell/a/src/lib.rs",
                "// To do this, ignore that.\nlet todo = \"FIXME TODO\"; f(ignore);"
            ),
            Vec::<usize>::new()
        );
    }
}
