//! The format of the tables; `roles.txt` explains it.

use flyball_api::Text;

use crate::PolicyRule;

/// A role or a binding of a table.
#[derive(Debug, Default)]
pub(crate) struct Entry<'a> {
    /// What it is called.
    pub(crate) name: &'a str,
    /// What else stands in the line of the name.
    pub(crate) marks: Vec<&'a str>,
    /// The lines below, each with its continuations.
    pub(crate) lines: Vec<String>,
}

impl Entry<'_> {
    /// The lines as rules.
    pub(crate) fn rules(&self) -> Vec<PolicyRule> {
        self.lines.iter().map(|line| rule(line)).collect()
    }
}

/// Reads a table. A table is part of the program, so there is nobody to tell about mistakes: they
/// show in what comes out.
pub(crate) fn entries(table: &str) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let indentation = line.len() - line.trim_start().len();
        match entries.last_mut() {
            Some(entry) if indentation > 0 => match entry.lines.last_mut() {
                Some(last) if indentation > 2 => *last = format!("{last} {}", line.trim()),
                _ => entry.lines.push(line.trim().to_owned()),
            },
            _ => entries.push(Entry {
                name: words.next().unwrap_or_default(),
                marks: words.collect(),
                lines: Vec::new(),
            }),
        }
    }
    entries
}

/// Reads a rule: `read,update core,apps: pods pods/log named a b`.
pub(crate) fn rule(line: &str) -> PolicyRule {
    if line == "record-events" {
        return rule("create,patch,update core,events.k8s.io: events");
    }
    let (scope, objects) = line.split_once(": ").unwrap_or((line, ""));
    let (verbs, groups) = scope.split_once(' ').unwrap_or((scope, ""));
    let (resources, names) = objects.split_once(" named ").unwrap_or((objects, ""));
    let words = |text: &str| text.split_whitespace().map(Text::from).collect();
    let mut rule = PolicyRule {
        verbs: verbs.split(',').flat_map(expand).map(Text::from).collect(),
        resource_names: words(names),
        ..PolicyRule::default()
    };
    rule.verbs.sort_unstable();
    if groups == "url" {
        rule.non_resource_urls = words(resources);
    } else {
        let name = |group| if group == "core" { "" } else { group };
        rule.api_groups = groups.split(',').map(name).map(Text::from).collect();
        rule.resources = words(resources);
    }
    rule
}

fn expand(verb: &str) -> Vec<&str> {
    match verb {
        "read" => vec!["get", "list", "watch"],
        "write" => vec!["create", "delete", "deletecollection", "patch", "update"],
        verb => vec![verb],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(line: &str) -> String {
        serde_json::to_string(&rule(line)).unwrap()
    }

    #[test]
    fn a_rule_has_sorted_verbs_then_groups_resources_and_names() {
        assert_eq!(
            json("read,create core,apps: pods pods/log named b a"),
            r#"{"verbs":["create","get","list","watch"],"apiGroups":["","apps"],"resources":["pods","pods/log"],"resourceNames":["b","a"]}"#
        );
        assert_eq!(
            json("write url: /a /b/*"),
            r#"{"verbs":["create","delete","deletecollection","patch","update"],"nonResourceURLs":["/a","/b/*"]}"#
        );
        assert_eq!(
            json("record-events"),
            r#"{"verbs":["create","patch","update"],"apiGroups":["","events.k8s.io"],"resources":["events"]}"#
        );
    }

    #[test]
    fn lines_belong_to_the_name_above_and_continue_with_more_indentation() {
        let table = "# Why.\na x=1 y=2\n  one\n    more\n    and more\n  two\nb\n";
        let entries = entries(table);
        assert_eq!(entries.len(), 2);
        assert_eq!(
            (entries[0].name, &*entries[0].marks),
            ("a", &["x=1", "y=2"][..])
        );
        assert_eq!(entries[0].lines, ["one more and more", "two"]);
        assert_eq!(entries[1].name, "b");
        assert!(entries[1].lines.is_empty());
    }
}
