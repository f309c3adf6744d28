//! What can be a label's key or value.

const LENGTH_MAX: usize = 63;
const PREFIX_LENGTH_MAX: usize = 253;

/// A text that can be no label key or value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a valid label {part}: {why}")]
pub struct LabelInvalid {
    /// `key` or `value`.
    pub part: &'static str,
    /// The text.
    pub text: String,
    /// The rule it breaks.
    pub why: &'static str,
}

const NAME_RULE: &str = "it must be letters, digits, '-', '_' or '.', with a letter or digit at \
                         both ends, and at most 63 long";
const PREFIX_RULE: &str = "what stands before '/' must be a lower-case DNS subdomain of at most \
                           253 characters";

/// Whether this can be a label's key: a name, perhaps with a DNS subdomain and `/` before it.
pub fn check_label_key(key: &str) -> Result<(), LabelInvalid> {
    let invalid = |why| {
        Err(LabelInvalid {
            part: "key",
            text: key.to_owned(),
            why,
        })
    };
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if prefix.is_some_and(|prefix| !is_dns_subdomain(prefix)) {
        return invalid(PREFIX_RULE);
    }
    if !is_name(name) {
        return invalid(NAME_RULE);
    }
    Ok(())
}

/// Whether this can be a label's value: empty, or like the name in a key.
pub fn check_label_value(value: &str) -> Result<(), LabelInvalid> {
    if value.is_empty() || is_name(value) {
        return Ok(());
    }
    Err(LabelInvalid {
        part: "value",
        text: value.to_owned(),
        why: NAME_RULE,
    })
}

fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let ends_well = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= LENGTH_MAX
        && ends_well(bytes.first())
        && ends_well(bytes.last())
        && bytes.iter().copied().all(inner)
}

fn is_dns_subdomain(text: &str) -> bool {
    let letter_or_digit = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        bytes.first().is_some_and(letter_or_digit)
            && bytes.last().is_some_and(letter_or_digit)
            && bytes
                .iter()
                .all(|byte| letter_or_digit(byte) || *byte == b'-')
    };
    text.len() <= PREFIX_LENGTH_MAX && text.split('.').all(is_label)
}
