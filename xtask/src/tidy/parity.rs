//! Which behaviour of which controller is shown by which test: a page that is made of the tests themselves.
//!
//! A case says in `about` what it shows, and in `origin` where upstream does; a test says it by its name; a scenario in
//! its `story`, and in `controllers` of whom. So the page cannot tell of a behaviour that nothing shows.

mod read;

use super::Finding;
use super::anatomy::is_controller;
use super::tree::{Tree, file_name, folder_of};
use read::{field, laws, list, sentence, tests};

/// Where the page is.
pub(crate) const PAGE: &str = "docs/parity-controllers.md";

const SCENARIOS: &str = "verify/conformance/scenarios/";

const HEAD: &str = "\
# What controllers do, and what shows it

<!-- Made by `cargo xtask parity` from cases, tests and scenarios; a test fails if it is not current. -->

Cases are objects in and a plan out, with the place in upstream whose behaviour they show.
Tests are named for the rule they try; laws hold for any world.
Scenarios are played with upstream's manager and with ours on a real kube-apiserver, and must leave the same behind.
Kubernetes' own e2e tests are told of in [conformance.md](conformance.md).
";

/// The most that is said of one behaviour.
const WORDS_MAX: usize = 240;

/// Finds a page that is not what the tests say.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in scenarios(tree) {
        if list(text, "controllers").is_empty() {
            let remedy = "name the controllers whose behaviour it shows";
            findings.push(Finding::new(
                path,
                1,
                "a scenario without `controllers`",
                remedy,
            ));
        }
    }
    if tree.text(PAGE) != Some(page(tree).as_str()) {
        let remedy = "run `cargo xtask parity`";
        findings.push(Finding::new(PAGE, 1, "the page is not current", remedy));
    }
    findings
}

/// The page as it should be.
pub(super) fn page(tree: &Tree) -> String {
    let mut page = HEAD.to_owned();
    for folder in tree
        .files()
        .filter(|(path, text)| is_controller(path, text))
    {
        let folder = folder_of(folder.0);
        let inside: Vec<(&str, &str)> = tree
            .files()
            .filter(|(path, _)| {
                path.strip_prefix(folder)
                    .is_some_and(|rest| rest.starts_with('/'))
            })
            .collect();
        let names = names(&inside);
        page.push_str(&format!("\n## {}\n\n", names.join(", ")));
        page.push_str(&format!("In [{folder}](../{folder}).\n"));
        let mut rows: Vec<Row> = inside
            .iter()
            .flat_map(|(path, text)| of_file(path, text))
            .collect();
        rows.extend(of_scenarios(tree, &names));
        page.push_str(&table(&rows));
    }
    page
}

/// A behaviour and what shows it.
struct Row {
    what: String,
    shown_by: String,
    origin: String,
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from("\n| behaviour | shown by | upstream |\n|---|---|---|\n");
    for Row {
        what,
        shown_by,
        origin,
    } in rows
    {
        let what = shortened(&what.replace('|', "\\|"));
        let origin = origin.replace('|', "\\|");
        text.push_str(&format!("| {what} | {shown_by} | {origin} |\n"));
    }
    text
}

fn shortened(words: &str) -> String {
    match words.char_indices().nth(WORDS_MAX) {
        Some((end, _)) => format!("{}…", words[..end].trim_end()),
        None => words.to_owned(),
    }
}

/// The names of the controllers that a folder is about.
fn names(inside: &[(&str, &str)]) -> Vec<String> {
    let described = inside.iter().filter(|(path, text)| {
        path.ends_with(".rs") && text.contains("DESCRIPTOR: Descriptor = Descriptor {")
    });
    let named = described.flat_map(|(_, text)| {
        let parts = text.split("DESCRIPTOR: Descriptor = Descriptor {").skip(1);
        parts.filter_map(|part| part.split_once("name: \"")?.1.split('"').next())
    });
    let mut names: Vec<String> = named.map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

fn of_file(path: &str, text: &str) -> Vec<Row> {
    let link = |name: &str| format!("[{name}](../{path})");
    if path.contains("/cases/") && path.ends_with(".yaml") {
        return vec![Row {
            what: field(text, "about"),
            shown_by: link("case"),
            origin: field(text, "origin"),
        }];
    }
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    let row = |shown_by: &str| {
        let shown_by = link(shown_by);
        move |what: String| Row {
            what,
            shown_by: shown_by.clone(),
            origin: String::new(),
        }
    };
    let named = tests(text).into_iter().map(|name| sentence(&name));
    let laws = laws(text).map(|law| format!("Law: {law}."));
    named
        .map(row("test"))
        .chain(laws.map(row("laws")))
        .collect()
}

fn of_scenarios(tree: &Tree, names: &[String]) -> Vec<Row> {
    let about = |text: &str| {
        list(text, "controllers")
            .iter()
            .any(|it| names.contains(it))
    };
    let ours = scenarios(tree).filter(|(_, text)| about(text));
    ours.map(|(path, text)| Row {
        what: field(text, "story"),
        shown_by: format!(
            "scenario [{}](../{path})",
            file_name(path).trim_end_matches(".yaml")
        ),
        origin: String::new(),
    })
    .collect()
}

fn scenarios(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.files()
        .filter(|(path, _)| path.starts_with(SCENARIOS) && path.ends_with(".yaml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTROLLER: &str =
        "const DESCRIPTOR: Descriptor = Descriptor {\n    name: \"tidy-controller\",";

    fn tree<'a>(scenario: &'a str, page: &'a str) -> Vec<(&'a str, &'a str)> {
        vec![
            ("controllers/home/src/tidy/mod.rs", CONTROLLER),
            (
                "controllers/home/src/tidy/cases/a.yaml",
                "about: >-\n  It sweeps\n  the floor.\norigin: tidy_test.go, TestSweep\nkey: a\n",
            ),
            (
                "controllers/home/src/tidy/tests.rs",
                "#[test]\nfn dust_is_seen() {}\nflyball_testkit::laws!(Tidy, worlds);",
            ),
            ("verify/conformance/scenarios/spring.yaml", scenario),
            (PAGE, page),
        ]
    }

    const SCENARIO: &str = "story: Everything goes.\ncontrollers: [tidy-controller]\nsteps: []\n";

    #[test]
    fn a_page_tells_of_cases_tests_laws_and_scenarios() {
        let page = page(&Tree::of(&tree(SCENARIO, "")));
        for line in [
            "## tidy-controller",
            "| It sweeps the floor. | [case](../controllers/home/src/tidy/cases/a.yaml) | tidy_test.go, TestSweep |",
            "| Dust is seen. | [test](../controllers/home/src/tidy/tests.rs) |  |",
            "| Law: quiet. | [laws](../controllers/home/src/tidy/tests.rs) |  |",
            "| Everything goes. | scenario [spring](../verify/conformance/scenarios/spring.yaml) |  |",
        ] {
            assert!(
                page.lines().any(|it| it == line),
                "{line} is not in\n{page}"
            );
        }
    }

    #[test]
    fn a_page_that_is_not_current_and_a_scenario_about_nobody_are_found() {
        let current = page(&Tree::of(&tree(SCENARIO, "")));
        assert_eq!(check(&Tree::of(&tree(SCENARIO, &current))), []);
        let found = check(&Tree::of(&tree(SCENARIO, "old")));
        assert_eq!(found[0].what, "the page is not current");
        let found = check(&Tree::of(&tree("story: s\n", &current)));
        assert_eq!(found[0].what, "a scenario without `controllers`");
    }
}
