//! The Rust sources, each with what is code, what is comment, and what exists only in tests.
//!
//! A file is a test if its name says so (`tests.rs`, `testing.rs`, a `tests/` folder), if cargo builds it as one, or
//! if every module line that leads to it stands behind `#[cfg(test)]`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::declarations::module_lines;
use super::spans::test_spans;
use super::syntax::{Text, line_of};
use super::tree::{Tree, file_name, folder_of, join};

/// One Rust file.
#[derive(Debug)]
pub(super) struct Source {
    /// Where it is.
    pub(super) path: String,
    /// Its content.
    pub(super) text: Text,
    /// Whether all of it exists only in tests.
    pub(super) is_test: bool,
    /// Whether cargo or some module line leads to it.
    pub(super) is_reached: bool,
    test_spans: Vec<Range<usize>>,
}

impl Source {
    /// Whether the code at `at` exists only in tests.
    pub(super) fn in_test(&self, at: usize) -> bool {
        self.is_test || self.test_spans.iter().any(|span| span.contains(&at))
    }

    /// The line of the offset `at`.
    pub(super) fn line(&self, at: usize) -> usize {
        line_of(&self.text.raw, at)
    }

    /// Whether the file belongs to a layer of pure code.
    ///
    /// Build scripts do not: they run where the program is built, and nothing of them gets into it.
    pub(super) fn is_pure(&self) -> bool {
        let mut parts = self.path.split('/');
        let is_pure = matches!(parts.next(), Some("core" | "controllers"));
        is_pure && !matches!(parts.nth(1), Some("build" | "build.rs"))
    }
}

/// All Rust files, in order of path.
#[derive(Debug)]
pub(super) struct Sources {
    files: Vec<Source>,
}

impl Sources {
    /// Finds and follows the sources of `tree`.
    pub(super) fn of(tree: &Tree) -> Self {
        let rust = tree.files().filter(|(path, _)| path.ends_with(".rs"));
        let mut files: BTreeMap<&str, Source> =
            rust.map(|(path, raw)| (path, source(path, raw))).collect();
        let reached = follow(tree, &files);
        for (path, source) in &mut files {
            source.is_reached = reached.production.contains(*path) || reached.tests.contains(*path);
            source.is_test |= source.is_reached && !reached.production.contains(*path);
        }
        Self {
            files: files.into_values().collect(),
        }
    }

    /// The files.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Source> {
        self.files.iter()
    }
}

fn source(path: &str, raw: &str) -> Source {
    let text = Text::of(raw);
    Source {
        path: path.to_owned(),
        test_spans: test_spans(&text.code),
        text,
        is_test: named_as_test(path),
        is_reached: false,
    }
}

fn named_as_test(path: &str) -> bool {
    matches!(file_name(path), "tests.rs" | "testing.rs")
        || folder_of(path)
            .split('/')
            .any(|folder| matches!(folder, "tests" | "benches"))
}

#[derive(Default)]
struct Reached {
    production: BTreeSet<String>,
    tests: BTreeSet<String>,
}

/// Follows the module lines from the files that cargo builds.
fn follow(tree: &Tree, files: &BTreeMap<&str, Source>) -> Reached {
    let mut reached = Reached::default();
    let mut open: Vec<(String, bool)> = Vec::new();
    for path in files.keys().filter(|path| is_root(tree, path)) {
        open.push(((*path).to_owned(), named_as_test(path)));
    }
    while let Some((path, in_test)) = open.pop() {
        let Some(source) = files.get(path.as_str()) else {
            continue;
        };
        let seen = if in_test {
            &mut reached.tests
        } else {
            &mut reached.production
        };
        if !seen.insert(path.clone()) {
            continue;
        }
        let base = if is_root(tree, &path) || file_name(&path) == "mod.rs" {
            folder_of(&path).to_owned()
        } else {
            path.trim_end_matches(".rs").to_owned()
        };
        for line in module_lines(&source.text) {
            let in_test = in_test || source.in_test(line.at);
            match line.path {
                Some(explicit) => open.push((join(folder_of(&path), &explicit), in_test)),
                None => {
                    let module = join(&base, &line.names.join("/"));
                    open.push((format!("{module}.rs"), in_test));
                    open.push((format!("{module}/mod.rs"), in_test));
                }
            }
        }
    }
    reached
}

/// Whether cargo builds `path` by itself, by its place beside a manifest.
fn is_root(tree: &Tree, path: &str) -> bool {
    let name = file_name(path);
    let folder = folder_of(path);
    let is_crate = |folder: &str| tree.has(&join(folder, "Cargo.toml"));
    if name == "build.rs" && is_crate(folder) {
        return true;
    }
    let above = folder_of(folder);
    match file_name(folder) {
        "src" => matches!(name, "lib.rs" | "main.rs") && is_crate(above),
        "bin" => file_name(above) == "src" && is_crate(folder_of(above)),
        "tests" | "benches" | "examples" => is_crate(above),
        "build" if name == "main.rs" && is_crate(above) => true,
        _ if name == "main.rs" => {
            matches!(file_name(above), "tests" | "benches" | "examples")
                && is_crate(folder_of(above))
                || file_name(above) == "bin" && is_crate(folder_of(folder_of(above)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> Sources {
        Sources::of(&Tree::of(&[
            ("core/a/Cargo.toml", ""),
            (
                "core/a/src/lib.rs",
                "mod one; #[cfg(test)] mod fixture; mod two { mod three; }",
            ),
            ("core/a/src/one.rs", "mod deep; #[cfg(test)] mod tests;"),
            ("core/a/src/one/deep.rs", ""),
            ("core/a/src/one/tests.rs", "mod more;"),
            ("core/a/src/one/tests/more.rs", ""),
            ("core/a/src/fixture.rs", "mod inner;"),
            ("core/a/src/fixture/inner.rs", ""),
            ("core/a/src/two/three.rs", ""),
            ("core/a/src/forgotten.rs", ""),
            ("core/a/src/bin/tool.rs", ""),
            ("core/a/tests/laws/main.rs", "mod model;"),
            ("core/a/tests/laws/model.rs", ""),
        ]))
    }

    fn paths(wanted: fn(&Source) -> bool) -> Vec<String> {
        let sources = sources();
        let wanted = sources.iter().filter(|source| wanted(source));
        wanted
            .map(|source| source.path.trim_start_matches("core/a/").to_owned())
            .collect()
    }

    #[test]
    fn a_file_that_no_module_line_names_is_not_reached() {
        assert_eq!(paths(|source| !source.is_reached), ["src/forgotten.rs"]);
    }

    #[test]
    fn a_file_is_a_test_by_name_by_place_and_by_its_declaration() {
        assert_eq!(
            paths(|source| source.is_test),
            [
                "src/fixture.rs",
                "src/fixture/inner.rs",
                "src/one/tests.rs",
                "src/one/tests/more.rs",
                "tests/laws/main.rs",
                "tests/laws/model.rs",
            ]
        );
    }

    #[test]
    fn a_build_script_is_a_root_and_not_pure() {
        let sources = Sources::of(&Tree::of(&[
            ("core/a/Cargo.toml", ""),
            ("core/a/build/main.rs", "mod facts;"),
            ("core/a/build/facts.rs", ""),
            ("core/a/src/lib.rs", "mod build;"),
            ("core/a/src/build.rs", ""),
            ("core/b/Cargo.toml", ""),
            ("core/b/build.rs", ""),
        ]));
        assert!(sources.iter().all(|source| source.is_reached));
        let pure = sources.iter().filter(|source| source.is_pure());
        let pure: Vec<&str> = pure.map(|source| source.path.as_str()).collect();
        assert_eq!(pure, ["core/a/src/build.rs", "core/a/src/lib.rs"]);
    }

    #[test]
    fn a_file_used_by_tests_and_by_production_is_production() {
        let sources = Sources::of(&Tree::of(&[
            ("core/a/Cargo.toml", ""),
            ("core/a/src/lib.rs", "mod one;"),
            ("core/a/src/one.rs", ""),
            (
                "core/a/tests/all.rs",
                "#[path = \"../src/one.rs\"] mod one;",
            ),
        ]));
        let one = sources
            .iter()
            .find(|source| source.path.ends_with("one.rs"))
            .unwrap();
        assert!(!one.is_test);
    }
}
