//! Takes out of an output what differs from run to run: times, ages, addresses, ids and random names.

use std::sync::LazyLock;

use regex::Regex;

/// What is replaced by what, in this order. The letters are those that upstream makes random names of.
const RULES: &[(&str, &str)] = &[
    // What client-go notes down for itself: watches that it ended, mostly.
    (r"(?m)^[IWE]\d{4} \d\d:\d\d:\d\d.*\n", ""),
    (
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "UID",
    ),
    (
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
        "TIME",
    ),
    (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
    (r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}", "TIME"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} UTC", "TIME"),
    (r"https://127\.0\.0\.1:\d+", "SERVER"),
    (r"\b127\.0\.0\.1:\d+", "SERVER"),
    (r#"([rR]esource ?[vV]ersion"?[:=] *"?)\d+"#, "${1}VERSION"),
    (r"\b10\.\d{1,3}\.\d{1,3}\.\d{1,3}\b", "IP"),
    (r"\bnode-\d+\b", "NODE"),
    (
        r"-[bcdfghjklmnpqrstvwxz2456789]{6,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b",
        "-HASH-RANDOM",
    ),
    (r"-[bcdfghjklmnpqrstvwxz2456789]{6,10}\b", "-HASH"),
    (r"(hash=)[bcdfghjklmnpqrstvwxz2456789]{6,10}\b", "${1}HASH"),
    (r"-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "-RANDOM"),
    (r"\b(\d+[smhd]|\d+\.\d+m?s){1,3}\b|<invalid>", "AGE"),
    (r"(\S)[ \t]{2,}", "$1 "),
    (r"[ \t]+(\n|$)", "$1"),
];

static COMPILED: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let rules = RULES.iter();
    rules
        .filter_map(|(pattern, by)| Some((Regex::new(pattern).ok()?, *by)))
        .collect()
});

/// The output without what differs from run to run. Runs of blanks within a line become one, so that columns of
/// different widths compare; the indentation of a line stays.
pub(super) fn plain(output: &str) -> String {
    let mut text = output.to_owned();
    for (pattern, by) in COMPILED.iter() {
        text = pattern.replace_all(&text, *by).into_owned();
    }
    text
}

/// The output with runs of blanks as one, for what it must contain.
pub(super) fn squeezed(output: &str) -> String {
    let mut words = String::with_capacity(output.len());
    for line in output.lines() {
        words.push_str(&line.split_whitespace().collect::<Vec<_>>().join(" "));
        words.push('\n');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_a_pattern() {
        assert_eq!(COMPILED.len(), RULES.len());
    }

    #[test]
    fn what_differs_from_run_to_run_is_taken_out() {
        for (output, expected) in [
            (
                "web-7d9c5bf4d6-x2v8z   1/1     Running   0          3m2s   10.1.2.3   node-2",
                "web-HASH-RANDOM 1/1 Running 0 AGE IP NODE",
            ),
            (
                "uid: 0e8fb1a2-0000-4000-8000-123456789abc\n  resourceVersion: \"123\"",
                "uid: UID\n  resourceVersion: \"VERSION\"",
            ),
            (
                "Start Time:       Mon, 16 Nov 2026 10:18:29 +0000",
                "Start Time: TIME",
            ),
            ("at 2026-11-16T10:18:29Z and later   ", "at TIME and later"),
            ("deployment.apps/web created", "deployment.apps/web created"),
            ("I1116 12:05:55.125 1 x.go:1] noise\nword", "word"),
        ] {
            assert_eq!(plain(output), expected);
        }
    }
}
