//! Whether a request falls under a rule of a role.

use flyball_api::Text;

use crate::{Attributes, PolicyRule, Resource, Target};

/// What matches everything in the lists of a rule.
pub(crate) const ALL: &str = "*";

/// Whether a request falls under a rule: each of its parts is in the list for it.
pub(crate) fn allows(rule: &PolicyRule, request: &Attributes<'_>) -> bool {
    has_or_all(&rule.verbs, request.verb)
        && match &request.target {
            Target::Resource(resource) => allows_resource(rule, resource),
            Target::Path(path) => {
                let mut patterns = rule.non_resource_urls.iter();
                patterns.any(|pattern| path_matches(pattern, path))
            }
        }
}

fn allows_resource(rule: &PolicyRule, wanted: &Resource<'_>) -> bool {
    let mut resources = rule.resources.iter();
    has_or_all(&rule.api_groups, wanted.group)
        && resources.any(|pattern| resource_matches(pattern, wanted))
        && (rule.resource_names.is_empty() || has(&rule.resource_names, wanted.name))
}

/// Whether the list has the word.
pub(crate) fn has(list: &[Text], word: &str) -> bool {
    list.iter().any(|item| item == word)
}

/// Whether the list has the word or matches everything.
pub(crate) fn has_or_all(list: &[Text], word: &str) -> bool {
    list.iter().any(|item| item == ALL || item == word)
}

/// Whether the path is the pattern, or begins with it up to its final `*`.
pub(crate) fn path_matches(pattern: &str, path: &str) -> bool {
    pattern == path || (pattern.ends_with('*') && path.starts_with(pattern.trim_end_matches('*')))
}

fn resource_matches(pattern: &str, wanted: &Resource<'_>) -> bool {
    if pattern == ALL {
        return true;
    }
    if wanted.subresource.is_empty() {
        return pattern == wanted.resource;
    }
    let below = |resource: &str| {
        pattern
            .strip_prefix(resource)
            .and_then(|rest| rest.strip_prefix('/'))
            == Some(wanted.subresource)
    };
    below(wanted.resource) || below(ALL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::User;
    use crate::testing::rule;

    fn allows(row: &str, verb: &str, target: Target<'_>) -> bool {
        let user = User::default();
        let user = &user;
        super::allows(&rule(row), &Attributes { user, verb, target })
    }

    /// `group/resource/subresource/name`, of which the end may be missing.
    fn resource(path: &str) -> Target<'_> {
        let mut parts = path.split('/');
        let mut next = || parts.next().unwrap_or_default();
        Target::Resource(Resource {
            group: next(),
            resource: next(),
            subresource: next(),
            name: next(),
            namespace: "",
        })
    }

    #[test]
    fn every_part_of_a_request_must_be_in_its_list() {
        for (row, verb, path, expected) in [
            ("get core: pods", "get", "/pods", true),
            ("get core: pods", "list", "/pods", false),
            ("get core: pods", "get", "apps/pods", false),
            ("get core: pods", "get", "/services", false),
            ("* core: pods", "anything", "/pods", true),
            ("get *: pods", "get", "apps/pods", true),
            ("get core: *", "get", "/services", true),
            ("get,list apps,batch: jobs", "list", "batch/jobs", true),
            ("GET core: pods", "get", "/pods", false),
        ] {
            assert_eq!(
                allows(row, verb, resource(path)),
                expected,
                "{row}: {verb} {path}"
            );
        }
    }

    #[test]
    fn a_resource_does_not_include_its_subresources_but_a_star_does() {
        for (row, path, expected) in [
            ("get core: pods", "/pods/log", false),
            ("get core: pods/log", "/pods/log", true),
            ("get core: pods/log", "/pods", false),
            ("get core: *", "/pods/log", true),
            ("get core: */log", "/pods/log", true),
            ("get core: */log", "/pods/status", false),
            ("get core: */log", "/pods", false),
            ("get core: pods/*", "/pods/log", false),
            ("get core: podslog", "/pods/log", false),
        ] {
            assert_eq!(
                allows(row, "get", resource(path)),
                expected,
                "{row}: {path}"
            );
        }
    }

    #[test]
    fn names_limit_a_rule_to_requests_that_name_one() {
        for (row, path, expected) in [
            ("get core: pods named a b", "/pods//a", true),
            ("get core: pods named a b", "/pods//c", false),
            ("list core: pods named a b", "/pods", false),
            ("get core: pods", "/pods//c", true),
        ] {
            assert_eq!(
                allows(row, "get", resource(path)),
                expected,
                "{row}: {path}"
            );
        }
    }

    #[test]
    fn a_path_may_end_in_a_star_and_only_there() {
        for (row, path, expected) in [
            ("get url: *", "/anything", true),
            ("get url: /apis", "/apis", true),
            ("get url: /apis", "/apis/v1", false),
            ("get url: /apis/*", "/apis/v1", true),
            ("get url: /apis/*", "/apis/", true),
            ("get url: /apis/*", "/apis", false),
            ("get url: /*/v1", "/apis/v1", false),
            ("get url: /apis**", "/apis/v1", true),
        ] {
            assert_eq!(
                allows(row, "get", Target::Path(path)),
                expected,
                "{row}: {path}"
            );
        }
    }

    #[test]
    fn paths_and_resources_are_worlds_apart() {
        assert!(!allows("* *: *", "get", Target::Path("/version")));
        assert!(!allows("* url: *", "get", resource("/pods")));
    }

    #[test]
    fn an_empty_rule_allows_nothing() {
        let rule: PolicyRule = serde_json::from_str(r#"{"verbs":null}"#).unwrap();
        let user = User::default();
        let (user, verb) = (&user, "get");
        for target in [resource("/pods"), Target::Path("")] {
            assert!(!super::allows(&rule, &Attributes { user, verb, target }));
        }
    }
}
