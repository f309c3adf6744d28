//! Regular expressions of a schema, compiled once.
//!
//! They are written in the syntax of Go's expressions, of which that of the regex crate is a near
//! relative: where the two differ, the expression is rewritten.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use flyball_schema::Types;
use regex::Regex;
use serde_json::Value;

/// The most that Go repeats something.
const REPEAT_MAX: u32 = 1000;

/// The expressions of one schema. Each is compiled when the first value is compared with it.
#[derive(Debug, Default)]
pub(crate) struct Patterns(BTreeMap<Box<str>, OnceLock<Option<Regex>>>);

impl Patterns {
    /// The expressions of these types, also of schemas that are combined.
    pub(crate) fn of(types: &Types) -> Self {
        let mut all = BTreeMap::new();
        for (id, _) in types.iter() {
            let Some(rules) = types.rules(id) else {
                continue;
            };
            if let Some(pattern) = &rules.pattern {
                all.insert(pattern.clone(), OnceLock::new());
            }
            for (_, nested) in &rules.junctors {
                collect(nested, &mut all);
            }
        }
        Self(all)
    }

    /// Whether an expression of the schema occurs in a text. One that cannot be read occurs nowhere;
    /// definitions with such expressions are refused.
    pub(crate) fn matches(&self, pattern: &str, text: &str) -> bool {
        let Some(place) = self.0.get(pattern) else {
            return false;
        };
        let regex = place.get_or_init(|| compile(pattern).ok());
        regex.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

fn collect(schema: &Value, all: &mut BTreeMap<Box<str>, OnceLock<Option<Regex>>>) {
    match schema {
        Value::Array(list) => list.iter().for_each(|one| collect(one, all)),
        Value::Object(object) => {
            for (name, value) in object {
                match value {
                    Value::String(pattern) if name == "pattern" => {
                        all.insert(pattern.as_str().into(), OnceLock::new());
                    }
                    value => collect(value, all),
                }
            }
        }
        _ => {}
    }
}

/// Compiles an expression; the error is what Go says of it.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    let rewritten = rewrite(pattern).map_err(|why| format!("error parsing regexp: {why}"))?;
    Regex::new(&rewritten)
        .map_err(|error| format!("error parsing regexp: {}", in_go(pattern, &error)))
}

/// The same expression in the syntax of the regex crate.
fn rewrite(pattern: &str) -> Result<String, String> {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    let mut class = false;
    while let Some(one) = rest.chars().next() {
        let mut length = one.len_utf8();
        match one {
            '\\' => {
                let Some(escaped) = rest[1..].chars().next() else {
                    return Err("trailing backslash at end of expression: ``".to_owned());
                };
                length += escaped.len_utf8();
                if escaped == 'Q' {
                    let quoted = &rest[2..];
                    let (literal, after) = quoted.split_once("\\E").unwrap_or((quoted, ""));
                    out.push_str(&regex::escape(literal));
                    rest = after;
                    continue;
                }
                out.push_str(&escape(escaped, class));
            }
            '[' if !class => {
                class = true;
                out.push('[');
                // A bracket that comes first is meant as itself.
                let negated = rest[1..].starts_with('^');
                let first = if negated { 2 } else { 1 };
                if negated {
                    out.push('^');
                }
                length = first;
                if rest[first..].starts_with(']') {
                    out.push_str("\\]");
                    length += 1;
                }
            }
            '[' if rest.starts_with("[:") && rest.contains(":]") => {
                let end = rest.find(":]").map_or(rest.len(), |end| end + 2);
                out.push_str(&rest[..end]);
                length = end;
            }
            // These mean something within the brackets of the regex crate, and nothing in Go's.
            '[' | '&' | '~' if class => {
                out.push('\\');
                out.push(one);
            }
            '-' if class && rest.starts_with("--") => out.push_str("\\-"),
            ']' if class => {
                class = false;
                out.push(']');
            }
            '{' if !class => match repeats(rest) {
                Some(count) if count > REPEAT_MAX => {
                    let end = rest.find('}').map_or(rest.len(), |end| end + 1);
                    return Err(format!("invalid repeat count: `{}`", &rest[..end]));
                }
                Some(_) => out.push('{'),
                None => out.push_str("\\{"),
            },
            _ => out.push(one),
        }
        rest = &rest[length..];
    }
    Ok(out)
}

/// Go's classes are those of ASCII.
fn escape(escaped: char, class: bool) -> String {
    let (letters, is_negated) = match escaped {
        'd' | 'D' => ("0-9", escaped == 'D'),
        'w' | 'W' => ("0-9A-Za-z_", escaped == 'W'),
        's' | 'S' => (r"\t\n\f\r ", escaped == 'S'),
        'b' | 'B' => return format!(r"(?-u:\{escaped})"),
        other => return format!("\\{other}"),
    };
    match (is_negated, class) {
        (true, _) => format!("[^{letters}]"),
        (false, true) => letters.to_owned(),
        (false, false) => format!("[{letters}]"),
    }
}

/// How often what is before the brace may repeat; nothing if the brace is only a brace.
fn repeats(rest: &str) -> Option<u32> {
    let (inner, _) = rest.strip_prefix('{')?.split_once('}')?;
    let (least, most) = inner.split_once(',').unwrap_or((inner, ""));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|one| one.is_ascii_digit());
    if !is_number(least) || !(most.is_empty() || is_number(most)) {
        return None;
    }
    let number = |text: &str| text.parse().unwrap_or(u32::MAX);
    Some(match most {
        "" => number(least),
        most => number(least).max(number(most)),
    })
}

/// Why an expression cannot be read, in Go's words where they are known.
fn in_go(pattern: &str, error: &regex::Error) -> String {
    let told = error.to_string();
    let last = told.lines().last().unwrap_or_default();
    let why = last.strip_prefix("error: ").unwrap_or(last);
    let from = |mark: char| pattern.rfind(mark).map_or(pattern, |at| &pattern[at..]);
    match why {
        why if why.starts_with("unclosed character class") => {
            format!("missing closing ]: `{}`", from('['))
        }
        why if why.starts_with("unclosed group") => format!("missing closing ): `{pattern}`"),
        why if why.starts_with("unopened group") => format!("unexpected ): `{pattern}`"),
        why if why.starts_with("repetition operator missing expression") => {
            let operator = pattern.find(['*', '+', '?']);
            let operator = operator.and_then(|at| pattern[at..].chars().next());
            let operator = operator.map_or(String::new(), String::from);
            format!("missing argument to repetition operator: `{operator}`")
        }
        why if why.starts_with("look-around") => {
            let at = pattern.find("(?").unwrap_or_default();
            let seen: String = pattern[at..].chars().take(3).collect();
            format!("invalid or unsupported Perl syntax: `{seen}`")
        }
        why => why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_mean_what_they_mean_to_go() {
        for (pattern, text, expected) in [
            (r"^\d+$", "123", true),
            (r"^\d+$", "١٢", false),
            (r"^[\w-]+$", "a-b_1", true),
            (r"^\w+$", "é", false),
            (r"^[^\s]+$", "a b", false),
            (r"^\S+$", "ab", true),
            ("^{[a-z]+}$", "{ab}", true),
            ("^a{2}$", "aa", true),
            ("^a{2,}$", "a", false),
            ("^[[a]+$", "[a", true),
            ("^[]a]+$", "]a", true),
            ("^[^]a]$", "b", true),
            ("^[[:alpha:]]+$", "ab", true),
            ("^[a&&b]+$", "a&b", true),
            (r"^\Qa.b\E$", "a.b", true),
            (r"^\Qa.b\E$", "axb", false),
            (r"\bweb\b", "a web b", true),
            ("^$", "", true),
        ] {
            let regex = compile(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
            assert_eq!(regex.is_match(text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_as_go_tells_it() {
        for (pattern, why) in [
            ("[a", "missing closing ]: `[a`"),
            ("(a", "missing closing ): `(a`"),
            ("a)", "unexpected ): `a)`"),
            ("*a", "missing argument to repetition operator: `*`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("a\\", "trailing backslash at end of expression: ``"),
        ] {
            let told = compile(pattern).unwrap_err();
            assert_eq!(told, format!("error parsing regexp: {why}"), "{pattern}");
        }
    }
}
