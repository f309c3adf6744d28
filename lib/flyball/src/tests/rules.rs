//! The codes of rules: one meaning each, all of them on one page.

use std::collections::HashSet;
use std::fmt::Write;

use flyball_kubelets::{NodeController, PodController};
use flyball_plan::{COMMON, Controller, Rule};
use flyball_scheduler::Scheduler;

use crate::CONTROLLERS;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rules.md");

const HEAD: &str = "\
# Rules

<!-- Made from the controllers' rules by `UPDATE_EXPECT=1 cargo test -p flyball rules`. -->

Every sync ends with a report: what was seen, which rule decided, what is waited for.
A rule has a code, which stays the same from release to release, and words, which may change.
What is waited for is data: an object and its state, a time, a quota, an own write that no cache shows,
an answer of the API server, or an edit by a user. `flyball_plan::Reports` follows it from object to object.
";

fn rules() -> Vec<(&'static str, &'static [Rule])> {
    let manager = CONTROLLERS.iter().map(|entry| {
        let rules = entry.with_defaults("").rules();
        (entry.descriptor.name, rules)
    });
    let plane = [
        (Scheduler::DESCRIPTOR.name, Scheduler::RULES),
        (NodeController::DESCRIPTOR.name, NodeController::RULES),
        (PodController::DESCRIPTOR.name, PodController::RULES),
    ];
    let all = [("every controller", COMMON)].into_iter();
    all.chain(manager).chain(plane).collect()
}

#[test]
fn a_code_means_one_rule_of_a_controller() {
    for (controller, rules) in rules() {
        assert!(!rules.is_empty(), "{controller} names no rules");
        let mut codes: HashSet<_> = COMMON.iter().map(|rule| rule.code).collect();
        if controller == "every controller" {
            codes.clear();
        }
        for rule in rules {
            assert!(codes.insert(rule.code), "{controller}: {}", rule.code);
            let letters = rule.code.chars().all(|one| one.is_ascii_alphanumeric());
            assert!(letters, "{controller}: {}", rule.code);
        }
    }
}

#[test]
fn the_page_of_rules_is_current() {
    let mut page = HEAD.to_owned();
    for (controller, rules) in rules() {
        let _ = write!(page, "\n## {controller}\n\n| code | rule |\n|---|---|\n");
        for rule in rules {
            let _ = writeln!(page, "| `{}` | {} |", rule.code, rule.text);
        }
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let kept = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert_eq!(kept, page, "UPDATE_EXPECT=1 writes the page anew");
}
