//! Mistakes in the names a pod has and in those it can look up.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use crate::kinds::NameRule;
use crate::kinds::checks;
use crate::kinds::spot::{Errors, Spot};

const SERVERS_MAX: usize = 3;
const SEARCHES_MAX: usize = 32;
const SEARCHES_LETTERS_MAX: usize = 2048;
const HOST_NAME_MAX: usize = 64;
const SUBDOMAIN_MAX: usize = 253;
const SEARCH_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' \
                           or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex \
                           used for validation is \
                           '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";

/// Where names are looked up.
pub(super) fn check_config(spec: &Spot, errors: &mut Errors) {
    let config = spec.get("dnsConfig");
    let servers = config.get("nameservers");
    if spec.get("dnsPolicy").text() == "None" {
        if !config.is_set() {
            errors.push(config.required("must provide `dnsConfig` when `dnsPolicy` is None"));
            return;
        }
        if servers.is_empty() {
            let why = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            errors.push(servers.required(why));
            return;
        }
    }
    if servers.items().count() > SERVERS_MAX {
        errors.push(servers.invalid("must not have more than 3 nameservers"));
    }
    servers
        .items()
        .for_each(|server| checks::address(&server, &[], errors));
    let searches = config.get("searches");
    if searches.items().count() > SEARCHES_MAX {
        errors.push(searches.invalid("must not have more than 32 search paths"));
    }
    let letters: usize = searches.items().map(|search| search.text().len() + 1).sum();
    if letters > SEARCHES_LETTERS_MAX + 1 {
        let why = "must not have more than 2048 characters (including spaces) in the search list";
        errors.push(searches.invalid(why));
    }
    searches
        .items()
        .for_each(|search| check_search(&search, errors));
    let options = config.get("options");
    for option in options.items() {
        if option.get("name").is_empty() {
            errors.push(option.required("must not be empty"));
        }
    }
}

fn check_search(search: &Spot, errors: &mut Errors) {
    if search.text() == "." {
        return;
    }
    let text = search.text().strip_suffix('.').unwrap_or(search.text());
    let mut say = |why: &str| {
        let field = search.path();
        errors.push(crate::field_error::FieldError::invalid(field, text, why));
    };
    if text.len() > SUBDOMAIN_MAX {
        say("must be no more than 253 characters");
    }
    if !is_search(text) {
        say(SEARCH_RULE);
    }
}

/// Whether a text is labels between dots, which may have underscores in front and inside.
fn is_search(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.split('.').all(|label| {
        let bytes = label.strip_prefix('_').unwrap_or(label).as_bytes();
        bytes.first().is_some_and(|byte| is_word(*byte))
            && bytes.last().is_some_and(|byte| is_word(*byte))
            && bytes
                .iter()
                .all(|byte| is_word(*byte) || b"-_".contains(byte))
    })
}

/// Names for addresses that are written into the pod.
pub(super) fn check_aliases(aliases: &Spot, errors: &mut Errors) {
    for alias in aliases.items() {
        checks::address(&alias.get("ip"), &[], errors);
        let names = alias.get("hostnames");
        names
            .items()
            .for_each(|name| checks::name(&name, NameRule::Subdomain, errors));
    }
}

/// A name that replaces the one that follows from the pod's.
pub(super) fn check_host_name(spec: &Spot, errors: &mut Errors) {
    let name = spec.get("hostnameOverride");
    if !name.is_set() {
        return;
    }
    if spec.get("setHostnameAsFQDN").flag() {
        errors.push(name.forbidden("may not be specified when setHostnameAsFQDN is true"));
    }
    if spec.get("hostNetwork").flag() {
        errors.push(name.forbidden("may not be specified when hostNetwork is true"));
    }
    if name.text().len() > HOST_NAME_MAX {
        errors.push(name.too_long(HOST_NAME_MAX));
    }
    checks::name(&name, NameRule::Subdomain, errors);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_a_search_may_have_underscores() {
        for (text, fits) in [
            ("example.com", true),
            ("_srv.example.com", true),
            ("a_b.example", true),
            ("a.b_c", true),
            ("a_", false),
            ("A", false),
            ("", false),
        ] {
            assert_eq!(is_search(text), fits, "{text}");
        }
    }
}
