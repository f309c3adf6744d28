//! How names must look, in upstream's words.
//!
//! Upstream: `apimachinery/pkg/util/validation/validation.go`, `pkg/apis/core/validation`.

use crate::kinds::{NameRule, ip};

const SUBDOMAIN_MAX: usize = 253;
const LABEL_MAX: usize = 63;

/// What is wrong with a name, if anything; `is_prefix` for what a suffix will be added to.
pub(crate) fn mistakes(rule: NameRule, name: &str, is_prefix: bool) -> Vec<String> {
    // A prefix may end in a dash that its suffix makes harmless.
    let whole;
    let name = match name.strip_suffix('-') {
        Some(stem) if is_prefix => {
            whole = format!("{stem}a");
            whole.as_str()
        }
        _ => name,
    };
    let mut mistakes = Vec::new();
    let mut check = |fits: bool, mistake: &dyn Fn() -> String| {
        if !fits {
            mistakes.push(mistake());
        }
    };
    let at_most = |max: usize| format!("must be no more than {max} characters");
    match rule {
        NameRule::Subdomain => {
            check(name.len() <= SUBDOMAIN_MAX, &|| at_most(SUBDOMAIN_MAX));
            let fits = !name.is_empty() && name.split('.').all(is_label);
            check(fits, &|| {
                "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
                 and must start and end with an alphanumeric character (e.g. 'example.com', regex used for \
                 validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                    .to_owned()
            });
        }
        NameRule::Label => {
            check(name.len() <= LABEL_MAX, &|| at_most(LABEL_MAX));
            check(is_label(name), &|| {
                if name.split('.').all(is_label) {
                    return "must not contain dots".to_owned();
                }
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
                 start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for \
                 validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
                    .to_owned()
            });
        }
        NameRule::Address => mistakes.extend(ip::canonical_mistake(name)),
        NameRule::Label1035 => {
            check(name.len() <= LABEL_MAX, &|| at_most(LABEL_MAX));
            let fits = is_label(name) && name.starts_with(|first: char| first.is_ascii_lowercase());
            check(fits, &|| {
                "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
                 alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', \
                 regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
                    .to_owned()
            });
        }
        NameRule::PathSegment => {
            check(!matches!(name, "." | ".."), &|| {
                format!("may not be '{name}'")
            });
            for odd in ['/', '%'] {
                check(!name.contains(odd), &|| format!("may not contain '{odd}'"));
            }
        }
    }
    mistakes
}

fn is_label(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|&byte| word(byte))
        && bytes.last().is_some_and(|&byte| word(byte))
        && bytes.iter().all(|&byte| word(byte) || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_has_its_alphabet_and_length() {
        let long = "a".repeat(64);
        for (rule, name, fits) in [
            (NameRule::Subdomain, "web.example", true),
            (NameRule::Subdomain, "Web", false),
            (NameRule::Subdomain, "", false),
            (NameRule::Subdomain, "a..b", false),
            (NameRule::Subdomain, long.as_str(), true),
            (NameRule::Label, "kube-system", true),
            (NameRule::Label, "a.b", false),
            (NameRule::Label, long.as_str(), false),
            (NameRule::Label1035, "1st", false),
            (NameRule::Label1035, "first", true),
            (NameRule::PathSegment, "system:node", true),
            (NameRule::PathSegment, "a/b", false),
            (NameRule::PathSegment, "..", false),
        ] {
            assert_eq!(
                mistakes(rule, name, false).is_empty(),
                fits,
                "{rule:?} {name:?}"
            );
        }
    }

    #[test]
    fn a_prefix_may_end_in_a_dash() {
        assert!(mistakes(NameRule::Subdomain, "web-", true).is_empty());
        assert!(!mistakes(NameRule::Subdomain, "web-", false).is_empty());
    }
}
