//! Every check, run on this repository. A failure lists each place and what to do there.

use std::sync::OnceLock;

use super::*;
use crate::command::root;

/// The repository is read once for all tests.
fn project() -> &'static Project {
    static PROJECT: OnceLock<Project> = OnceLock::new();
    PROJECT.get_or_init(|| Project::read(&root()).unwrap())
}

fn holds(topic: &str) {
    let check = CHECKS
        .iter()
        .find(|check| check.name.starts_with(topic))
        .unwrap();
    let mut findings = (check.find)(project());
    findings.sort();
    let list: String = findings
        .iter()
        .map(|finding| format!("  {finding}\n"))
        .collect();
    assert!(
        findings.is_empty(),
        "{}: {} findings\n{list}",
        check.name,
        findings.len()
    );
}

/// One test per check, and a test that no check was forgotten here.
macro_rules! checks {
    ($($test:ident: $topic:literal,)*) => {
        $(
            #[test]
            fn $test() {
                holds(concat!($topic, ":"));
            }
        )*

        #[test]
        fn every_check_is_a_test() {
            let listed = [$($topic),*];
            let all: Vec<&str> = CHECKS.iter().filter_map(|check| check.name.split(':').next()).collect();
            assert_eq!(listed.as_slice(), all.as_slice());
        }
    };
}

checks! {
    a_crate_knows_only_the_layers_below_its_own: "layers",
    nothing_with_effects_is_compiled_below_shell: "purity",
    pure_sources_name_no_effects: "effects",
    a_file_is_one_idea: "sizes",
    paths_and_types_say_what_they_are: "names",
    every_crate_inherits_the_workspaces_settings: "manifests",
    every_module_begins_with_its_story: "stories",
    every_controller_folder_is_complete: "anatomy",
    the_simulator_asks_for_every_rule: "coverage",
    nothing_is_left_unfinished: "unfinished",
    every_source_file_is_part_of_a_crate: "modules",
    links_to_local_files_lead_somewhere: "links",
    decisions_are_numbered_and_listed: "decisions",
    the_page_of_behaviours_is_what_the_tests_say: "parity",
    the_project_speaks_only_of_itself: "vocabulary",
}

#[test]
fn the_checks_see_this_repository() {
    let project = project();
    assert!(project.packages.find("xtask").is_some());
    assert!(
        project
            .packages
            .ours
            .iter()
            .any(|package| package.folder.starts_with("core/"))
    );
    let this = project
        .sources
        .iter()
        .find(|source| source.path == "xtask/src/tidy/tests.rs")
        .unwrap();
    assert!(this.is_test && this.is_reached);
}

#[test]
fn every_program_on_the_menu_is_one_of_ours() {
    let ours = &project().packages.ours;
    for program in crate::tasks::PROGRAMS {
        let is_built = ours
            .iter()
            .any(|package| package.programs.contains(*program));
        assert!(
            is_built,
            "a task in xtask/src/tasks.rs starts `{program}`, which no package builds"
        );
    }
}
