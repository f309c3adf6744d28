//! What can be read and yet has no form in which upstream would keep it.

use serde_json::Value;

use super::Wanted;

/// The annotation in which a DaemonSet says how many templates it has had; upstream keeps a number.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Why an object cannot be turned into what is kept, in Go's words.
///
/// Upstream: `pkg/apis/apps/v1/conversion.go`.
pub(crate) fn unconvertible(wanted: &Wanted<'_>, object: &Value) -> Option<String> {
    if wanted.kind != "DaemonSet" {
        return None;
    }
    let text = object["metadata"]["annotations"][TEMPLATE_GENERATION].as_str()?;
    text.parse::<i64>().err().map(|_| no_number(text))
}

/// What Go says of a text that is no number of 64 bits.
fn no_number(text: &str) -> String {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_large = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let why = match is_large {
        true => "value out of range",
        false => "invalid syntax",
    };
    format!("strconv.ParseInt: parsing {text:?}: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_refused_in_gos_words() {
        for (text, why) in [
            ("x", "invalid syntax"),
            ("", "invalid syntax"),
            ("1_0", "invalid syntax"),
            ("99999999999999999999", "value out of range"),
            ("-99999999999999999999", "value out of range"),
        ] {
            let told = format!("strconv.ParseInt: parsing {text:?}: {why}");
            assert_eq!(no_number(text), told);
        }
    }
}
