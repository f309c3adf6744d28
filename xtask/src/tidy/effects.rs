//! No effect hides in the standard library either: pure sources name no clock, file, socket, thread or process.

use super::Finding;
use super::imports::used_paths;
use super::sources::{Source, Sources};
use super::syntax::tokens;

/// Paths that do something besides computing, with what to do instead.
const EFFECTS: &[(&str, &str)] = &[
    ("std::env", "take the setting as an argument"),
    ("std::fs", "take the content as an argument"),
    ("std::io::stderr", "put it in the report"),
    ("std::io::stdin", "take the content as an argument"),
    ("std::io::stdout", "put it in the report"),
    ("std::net", "emit a command and let shell carry it out"),
    ("std::process", "emit a command and let shell carry it out"),
    ("std::thread", "let shell decide about threads"),
    ("std::time::Instant", "take the time as an argument"),
    ("std::time::SystemTime", "take the time as an argument"),
    ("std::time::UNIX_EPOCH", "take the time as an argument"),
];

/// Imports that would let an effect go by a shorter name.
const HIDING_PLACES: &[&str] = &["std", "std::*", "std::time", "std::time::*", "std::io::*"];

/// Finds effects in `core` and `controllers`, outside tests.
pub(super) fn check(sources: &Sources) -> Vec<Finding> {
    let pure = sources
        .iter()
        .filter(|source| source.is_pure() && !source.is_test);
    pure.flat_map(|source| {
        let mut findings = paths_with_effects(source);
        findings.extend(async_code(source));
        findings
    })
    .collect()
}

fn paths_with_effects(source: &Source) -> Vec<Finding> {
    let used = used_paths(&source.text.code);
    let outside = used.into_iter().filter(|used| !source.in_test(used.at));
    let found = outside.filter_map(|used| Some((used.at, remedy(&used.path)?, used.path)));
    found
        .map(|(at, remedy, path)| {
            Finding::new(
                &source.path,
                source.line(at),
                format!("`{path}` in pure code"),
                remedy,
            )
        })
        .collect()
}

fn remedy(path: &str) -> Option<&'static str> {
    if HIDING_PLACES.contains(&path) {
        return Some("import what is used by its own name, so that effects are seen");
    }
    let effect = EFFECTS.iter().find(|(effect, _)| {
        path.strip_prefix(effect)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    });
    effect.map(|(_, remedy)| *remedy)
}

fn async_code(source: &Source) -> Vec<Finding> {
    let words = tokens(&source.text.code).into_iter();
    let found = words.filter(|word| matches!(word.text, "async" | "await"));
    found
        .filter(|word| !source.in_test(word.at))
        .map(|word| {
            Finding::new(
                &source.path,
                source.line(word.at),
                format!("`{}` in pure code", word.text),
                "emit a command and take its answer as an argument",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let tree = Tree::of(&[("core/api/Cargo.toml", ""), (path, text)]);
        let findings = check(&Sources::of(&tree)).into_iter();
        findings
            .map(|finding| (finding.line, finding.what))
            .collect()
    }

    #[test]
    fn each_effect_is_found_where_it_stands() {
        let text = "use std::time::{Duration, Instant};\nfn f() {\n    std::fs::read(p);\n}\n";
        assert_eq!(
            found("core/api/src/lib.rs", text),
            [
                (1, "`std::time::Instant` in pure code".to_owned()),
                (3, "`std::fs::read` in pure code".to_owned()),
            ]
        );
        for (effect, _) in EFFECTS {
            assert_eq!(
                found("core/api/src/lib.rs", &format!("use {effect};")).len(),
                1,
                "{effect}"
            );
        }
    }

    #[test]
    fn a_shorter_name_for_an_effect_is_found() {
        assert_eq!(found("core/api/src/lib.rs", "use std::time;").len(), 1);
        assert_eq!(found("core/api/src/lib.rs", "use std::{time::*};").len(), 1);
    }

    #[test]
    fn async_code_is_found() {
        assert_eq!(
            found("core/api/src/lib.rs", "async fn f() {\n    g().await\n}").len(),
            2
        );
    }

    #[test]
    fn tests_comments_and_strings_may_speak_of_effects() {
        let text = "//! async\nconst A: &str = \"std::fs::read\";\n#[cfg(test)]\nmod tests { use std::fs; }\n";
        assert_eq!(found("core/api/src/lib.rs", text), []);
        assert_eq!(found("core/api/src/tests.rs", "use std::fs;"), []);
    }

    #[test]
    fn shells_may_have_effects() {
        assert_eq!(found("shell/client/src/lib.rs", "use std::fs;"), []);
    }

    #[test]
    fn durations_and_our_own_instants_are_values() {
        assert_eq!(
            found(
                "core/api/src/lib.rs",
                "use std::time::Duration; fn f() { Scalar::Instant(1) }"
            ),
            []
        );
    }
}
