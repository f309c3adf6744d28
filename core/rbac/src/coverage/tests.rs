use super::*;
use crate::testing::rule;
use crate::{Attributes, Resource, Target, User};
use proptest::prelude::*;

#[track_caller]
fn check(held: &[&str], wanted: &[&str], missing: &[&str]) {
    let rules = |rows: &[&str]| rows.iter().map(|row| rule(row)).collect::<Vec<_>>();
    let (held, wanted, missing) = (rules(held), rules(wanted), rules(missing));
    assert_eq!(uncovered(&held, &wanted), missing);
}

// The cases of upstream's policy_comparator_test.go.

#[test]
fn what_is_held_word_by_word_is_covered() {
    check(&["get v1: builds"], &["get v1: builds"], &[]);
    check(&["get v1: */scale"], &["get v1: foo/scale"], &[]);
    check(
        &["get v1: foo"],
        &["get v1: foo/scale"],
        &["get v1: foo/scale"],
    );
    check(&[], &["get v1: builds"], &["get v1: builds"]);
    check(&["get v1: builds"], &[], &[]);
}

#[test]
fn several_rules_together_cover_one() {
    let held = [
        "delete v1: deployments",
        "delete v1: builds",
        "update v1: builds deployments",
    ];
    check(&held, &["delete,update v1: builds deployments"], &[]);
    check(
        &["delete,update v1: builds deployments", "delete v1: pods"],
        &["delete,update v1: builds deployments pods"],
        &["update v1: pods"],
    );
    check(
        &["delete,update g1,g2: builds deployments"],
        &["delete g1: deployments", "update g2: builds deployments"],
        &[],
    );
}

#[test]
fn a_star_covers_words_and_no_list_of_words_covers_a_star() {
    for (star, word) in [
        ("get *: roles", "get g1,g2: roles"),
        ("* v1: roles", "watch,list v1: roles"),
        ("get v1: *", "get v1: a b/c"),
        ("* url: *", "get url: /apis /"),
    ] {
        check(&[star], &[word, star], &[]);
        check(&[word], &[star], &[star]);
    }
}

#[test]
fn a_rule_without_names_covers_all_names_and_is_covered_by_none() {
    check(&["get v1: pods"], &["get v1: pods named foo bar"], &[]);
    check(
        &["get v1: pods named foo bar"],
        &["get v1: pods"],
        &["get v1: pods"],
    );
    check(
        &["get v1: pods named foo"],
        &["get v1: pods named foo bar"],
        &["get v1: pods named bar"],
    );
}

#[test]
fn a_path_with_a_star_covers_what_begins_like_it() {
    for (held, wanted, covered) in [
        ("*", "/", true),
        ("*", "/api", true),
        ("/*", "/", true),
        ("/*", "/foo", true),
        ("/api", "/api", true),
        ("/apis", "/api", false),
        ("/api/v1", "/api", false),
        ("/api/*", "/api/v1", true),
        ("/api/*", "/api", false),
        ("/api/*/*", "/api/v1", false),
        ("/*/v1/*", "/api/v1", false),
        ("/api/*", "/api/v1/*", true),
    ] {
        let (held, wanted) = (format!("get url: {held}"), format!("get url: {wanted}"));
        let missing = if covered { &[][..] } else { &[&*wanted] };
        check(&[&held], &[&wanted], missing);
    }
}

#[test]
fn objects_and_paths_of_one_rule_are_looked_at_apart() {
    let mut both = rule("get v1: builds");
    both.non_resource_urls = vec!["/apis".into()];
    let wanted = [both.clone()];
    assert_eq!(uncovered([&both], &wanted), []);
    assert_eq!(
        uncovered([&rule("get v1: builds")], &wanted),
        [rule("get url: /apis")]
    );
    let apart = [rule("get v1: builds"), rule("get url: /apis")];
    assert_eq!(uncovered(&apart, &wanted), []);
}

#[test]
fn breadth_counts_single_permissions_without_spelling_them_out() {
    for (row, expected) in [
        ("get core: pods", 1),
        ("read core,apps: a b", 12),
        ("read core,apps: a b named x y z", 36),
        ("read url: /a /b", 6),
    ] {
        assert_eq!(breadth([&rule(row)]), expected, "{row}");
        assert_eq!(uncovered([], &[rule(row)]).len(), expected, "{row}");
    }
    let words = vec![Text::default(); 1 << 17];
    let huge = PolicyRule {
        verbs: words.clone(),
        api_groups: words.clone(),
        resources: words.clone(),
        resource_names: words,
        non_resource_urls: Vec::new(),
    };
    assert_eq!(breadth([&huge, &huge]), usize::MAX);
}

#[test]
fn rules_that_differ_in_verbs_are_joined() {
    let rules = [
        "get core: pods",
        "get core: a b",
        "list core: pods",
        "get core: pods named x",
        "get url: /a",
        "list url: /a",
        "list core: pods named x",
        "get apps: pods",
    ];
    let expected = [
        "get,list core: pods",
        "get core: a b",
        "get,list core: pods named x",
        "get url: /a",
        "list url: /a",
        "get apps: pods",
    ];
    assert_eq!(compact(rules.map(rule).to_vec()), expected.map(rule));
}

#[test]
fn a_description_has_sorted_lines() {
    let rules = ["get,list core: b named x", "get url: /a", "get core: a"];
    assert_eq!(
        description(rules.map(rule).to_vec()),
        r#"{APIGroups:[""], Resources:["a"], Verbs:["get"]}
{APIGroups:[""], Resources:["b"], ResourceNames:["x"], Verbs:["get" "list"]}
{NonResourceURLs:["/a"], Verbs:["get"]}"#
    );
}

fn words(words: &'static [&'static str]) -> impl Strategy<Value = Vec<Text>> {
    proptest::collection::vec(proptest::sample::select(words).prop_map(Text::from), 0..3)
}

prop_compose! {
    fn any_rule()(
        verbs in words(&["get", "list", "*"]),
        api_groups in words(&["", "apps", "*"]),
        resources in words(&["pods", "pods/log", "*/log", "jobs/log", "*"]),
        resource_names in words(&["a", "b"]),
        non_resource_urls in words(&["/a", "/a/b", "/a/*", "*"]),
    ) -> PolicyRule {
        PolicyRule { verbs, api_groups, resources, resource_names, non_resource_urls }
    }
}

fn any_target() -> impl Strategy<Value = Target<'static>> {
    let select = |words: &'static [&'static str]| proptest::sample::select(words);
    let resource = (
        select(&["", "apps", "batch"]),
        select(&["pods", "jobs"]),
        select(&["", "log", "scale"]),
        select(&["", "a", "b", "c"]),
    );
    let resource = resource.prop_map(|(group, resource, subresource, name)| {
        Target::Resource(Resource {
            group,
            resource,
            subresource,
            name,
            namespace: "",
        })
    });
    prop_oneof![
        resource,
        select(&["/a", "/a/b", "/c"]).prop_map(Target::Path)
    ]
}

proptest! {
    /// The point of it all: if nothing is uncovered, no request is allowed by the wanted rules and
    /// refused by the held ones; and held plus uncovered always covers.
    #[test]
    fn covered_rules_allow_nothing_new(
        held in proptest::collection::vec(any_rule(), 0..4),
        wanted in proptest::collection::vec(any_rule(), 0..3),
        verb in proptest::sample::select(&["get", "list", "watch"][..]),
        target in any_target(),
    ) {
        let user = User::default();
        let request = Attributes { user: &user, verb, target };
        let allows = |rules: &[PolicyRule]| rules.iter().any(|rule| crate::rule::allows(rule, &request));
        let missing = uncovered(&held, &wanted);
        prop_assert!(!allows(&wanted) || allows(&held) || allows(&missing));
        let with_missing = [held, missing].concat();
        prop_assert_eq!(uncovered(&with_missing, &wanted), vec![]);
        let compacted = compact(with_missing.clone());
        prop_assert_eq!(allows(&compacted), allows(&with_missing));
    }

    /// Upstream breaks every rule up first; looking at whole rules first is only a shortcut.
    #[test]
    fn the_shortcut_for_whole_rules_changes_nothing(
        held in proptest::collection::vec(any_rule(), 0..4),
        wanted in any_rule(),
    ) {
        let singles: Vec<PolicyRule> = single_rules(&wanted).collect();
        prop_assert_eq!(breadth([&wanted]), singles.len());
        prop_assert_eq!(uncovered(&held, &[wanted]), uncovered(&held, &singles));
    }
}
