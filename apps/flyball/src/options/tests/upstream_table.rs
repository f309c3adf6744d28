//! The table against lists taken from kube-controller-manager v1.36.4 itself.

use super::super::{flags, value::Kind};
use super::{accept, print};

/// Name, type, default and heading of every flag, from its `--help` and start-up log.
const FLAGS: &str = include_str!("upstream_flags.txt");
/// Its `/configz` without any flag.
const CONFIGZ: &str = include_str!("upstream_configz.json");

#[test]
fn every_upstream_flag_is_here_with_its_type_default_and_heading() {
    let options = accept(&[]);
    let mut ours: Vec<String> = flags::all()
        .map(|(group, flag)| {
            let default = options.settings.get(flag.name).value.to_text();
            // Upstream shows no gates as an empty text.
            let default = if flag.kind == Kind::FeatureGates {
                String::new()
            } else {
                default
            };
            format!(
                "{} | {} | {default} | {}\n",
                flag.name,
                flag.kind.type_name(),
                group.title
            )
        })
        .collect();
    ours.sort_by_key(|line| line.split(' ').next().map(str::to_owned));
    assert_eq!(ours.concat(), FLAGS);
}

#[test]
fn every_default_of_the_table_parses() {
    for (_, flag) in flags::all() {
        if !flag.default.is_empty() {
            flag.kind
                .parse(flag.default)
                .unwrap_or_else(|e| panic!("--{}: {e}", flag.name));
        }
    }
}

#[test]
fn names_and_paths_are_unique_and_flags_are_sorted_in_their_groups() {
    let mut names: Vec<&str> = flags::all().map(|(_, flag)| flag.name).collect();
    let mut paths: Vec<&str> = flags::all().map(|(_, flag)| flag.path).collect();
    for list in [&mut names, &mut paths] {
        let count = list.len();
        list.sort_unstable();
        list.dedup();
        assert_eq!(list.len(), count);
    }
    for group in flags::groups() {
        assert!(
            group.flags.is_sorted_by_key(|flag| flag.name),
            "{}",
            group.title
        );
    }
}

#[test]
fn configz_shows_everything_that_upstream_shows() {
    let ours = accept(&[]).to_configz();
    let upstream: serde_json::Value = serde_json::from_str(CONFIGZ).unwrap();
    assert_contains(&ours, &upstream, "");
}

#[test]
fn configz_adds_only_sections_of_flags_that_upstream_leaves_out() {
    let ours = accept(&[]).to_configz();
    let upstream: serde_json::Value = serde_json::from_str(CONFIGZ).unwrap();
    let keys = |value: &serde_json::Value| -> Vec<String> {
        value[super::super::CONFIGZ_GROUP]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    let upstream = keys(&upstream);
    let added: Vec<String> = keys(&ours)
        .into_iter()
        .filter(|key| !upstream.contains(key))
        .collect();
    assert_eq!(
        added,
        [
            "Authentication",
            "Authorization",
            "FeatureGates",
            "Logging",
            "Metrics",
            "SecureServing"
        ]
    );
}

fn assert_contains(ours: &serde_json::Value, upstream: &serde_json::Value, path: &str) {
    match upstream {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                assert_contains(&ours[key], value, &format!("{path}.{key}"));
            }
        }
        value => assert_eq!(ours, value, "{path}"),
    }
}

#[test]
fn help_has_upstreams_headings_in_upstreams_order_and_every_flag() {
    let help = print(&["--help"]);
    let headings: Vec<&str> = help
        .lines()
        .filter(|line| line.ends_with(" flags:"))
        .map(|line| line.trim_end_matches(':'))
        .collect();
    let expected: Vec<&str> = flags::groups()
        .map(|group| group.title)
        .chain(["Flyball flags", "Global flags"])
        .collect();
    assert_eq!(headings, expected);
    for (_, flag) in flags::all() {
        let hidden = matches!(flag.name, "allow-untagged-cloud" | "node-sync-period");
        assert_ne!(
            help.contains(&format!("--{}", flag.name)),
            hidden,
            "--{}",
            flag.name
        );
    }
    assert!(help.contains("Usage:\n  kube-controller-manager [flags]\n"));
    assert_eq!(print(&["-h"]), help);
}

#[test]
fn version_starts_as_upstreams_does() {
    assert!(print(&["--version"]).starts_with("Kubernetes v1.36.4 (flyball "));
    assert!(print(&["--version=raw"]).contains(std::env::consts::ARCH));
    accept(&["--version=false"]);
}
