//! Paths to fields of a schema: those that selectors may name, and those of rules.
//!
//! Upstream: `ValidFieldPath` in `apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::field_error::{FieldError, Mistake};

/// How many fields of a version selectors may name.
const SELECTABLE_MAX: usize = 8;

/// Adds the mistakes in the fields that selectors may name.
pub(super) fn check_selectable(
    fields: &[Value],
    schema: &Value,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    let mut seen: BTreeSet<Vec<String>> = BTreeSet::new();
    for (at, field) in fields.iter().enumerate() {
        let place = format!("{path}[{at}].jsonPath");
        let way = field["jsonPath"].as_str().unwrap_or_default();
        if way.is_empty() {
            errors.push(FieldError::required(place, ""));
            continue;
        }
        let mut wrong = |detail: String| {
            errors.push(FieldError::invalid(place.clone(), way, detail));
        };
        let (steps, found) = match follow(way, schema, false) {
            Ok(found) => found,
            Err(why) => {
                wrong(format!("is an invalid path: {why}"));
                continue;
            }
        };
        if steps.first().is_some_and(|first| first == "metadata") {
            wrong("must not point to fields in metadata".to_owned());
        }
        if !matches!(
            found["type"].as_str(),
            Some("string" | "boolean" | "integer")
        ) {
            wrong(
                "must point to a field of type string, boolean or integer. Enum string fields and strings with \
                 formats are allowed."
                    .to_owned(),
            );
        }
        match seen.contains(&steps) {
            true => errors.push(FieldError {
                field: place,
                mistake: Mistake::Duplicate(way.into()),
                detail: String::new(),
            }),
            false => drop(seen.insert(steps)),
        }
    }
    if seen.len() > SELECTABLE_MAX {
        errors.push(FieldError {
            field: path.to_owned(),
            mistake: Mistake::Told {
                reason: "FieldValueTooMany",
                message: format!(
                    "Too many: {}: must have at most {SELECTABLE_MAX} items",
                    seen.len()
                ),
            },
            detail: String::new(),
        });
    }
}

/// Whether a rule's path leads to a field.
pub(super) fn is_valid(way: &str, schema: &Value) -> bool {
    follow(way, schema, true).is_ok()
}

/// Follows a path from a schema to one within it.
fn follow<'a>(
    way: &str,
    schema: &'a Value,
    brackets: bool,
) -> Result<(Vec<String>, &'a Value), String> {
    let tokens = tokens(way);
    let mut tokens = tokens.iter();
    let mut steps = Vec::new();
    let mut here = schema;
    let end = || "unexpected end of JSON path".to_owned();
    while let Some(token) = tokens.next() {
        let name = match *token {
            "[" if !brackets => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let quoted = tokens.next().ok_or_else(end)?;
                let inner = quoted
                    .strip_prefix('\'')
                    .and_then(|rest| rest.strip_suffix('\''));
                let inner = inner
                    .ok_or_else(|| format!("expected single quoted string but got {quoted}"))?;
                match tokens.next().ok_or_else(end)? {
                    &"]" => inner.replace("\\'", "'").replace("\\\\", "\\"),
                    other => return Err(format!("expected ] but got {other}")),
                }
            }
            "." => (*tokens.next().ok_or_else(end)?).to_owned(),
            other => return Err(format!("expected [ or . but got: {other}")),
        };
        let unknown = || "does not refer to a valid field".to_owned();
        let properties = here["properties"].as_object();
        here = match properties.filter(|all| !all.is_empty()) {
            Some(all) => all.get(&name).ok_or_else(unknown)?,
            None => match &here["additionalProperties"] {
                of @ Value::Object(_) => of,
                _ => return Err(unknown()),
            },
        };
        steps.push(name);
    }
    Ok((steps, here))
}

/// Dots, brackets, and the texts between them; a quoted text is one, whatever is in it.
fn tokens(way: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = way;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '.' | '[' | ']' => 1,
            '\'' => {
                let mut before = '\'';
                let end = rest.char_indices().skip(1).find(|(_, one)| {
                    let ends = *one == '\'' && before != '\\';
                    before = *one;
                    ends
                });
                end.map_or(rest.len(), |(at, _)| at + 1)
            }
            _ => rest.find(['.', '[', ']']).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_leads_through_fields_and_keys() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "object", "additionalProperties": {"type": "string"}},
            "b": {"type": "array", "items": {"type": "string"}},
        }});
        for (way, brackets, outcome) in [
            (".a", false, Ok("object")),
            (".a.x", false, Ok("string")),
            (".a['x.y']", true, Ok("string")),
            (".a['x']", false, Err("array notation is not allowed")),
            (
                ".b[0]",
                true,
                Err("expected single quoted string but got 0"),
            ),
            (".c", true, Err("does not refer to a valid field")),
            ("a", true, Err("expected [ or . but got: a")),
            (".", true, Err("unexpected end of JSON path")),
        ] {
            let found = follow(way, &schema, brackets);
            let found = found.map(|(_, of)| of["type"].as_str().unwrap());
            assert_eq!(found, outcome.map_err(str::to_owned), "{way}");
        }
    }
}
