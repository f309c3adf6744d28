//! Reading paths.

use serde_json::Value;

use super::{Comparison, Filter, PathUnreadable, Slice, Step};

/// More steps than any sensible path has, so that following one stays cheap.
const STEPS_MAX: usize = 100;

/// The steps of a path.
pub(super) fn steps(text: &str) -> Result<Vec<Step>, PathUnreadable> {
    let mut reader = Reader { rest: text };
    let mut steps = Vec::new();
    while !reader.rest.is_empty() {
        reader.step(&mut steps)?;
        if steps.len() > STEPS_MAX {
            return fault(format!("more than {STEPS_MAX} steps"));
        }
    }
    Ok(steps)
}

fn fault<T>(why: impl Into<String>) -> Result<T, PathUnreadable> {
    Err(PathUnreadable(why.into()))
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn step(&mut self, steps: &mut Vec<Step>) -> Result<(), PathUnreadable> {
        if let Some(rest) = self.rest.strip_prefix("[?(") {
            self.rest = rest;
            steps.push(Step::Filter(self.filter()?));
            return Ok(());
        }
        if let Some(rest) = self.rest.strip_prefix("..") {
            if steps.last() == Some(&Step::Deep) {
                return fault("invalid multiple recursive descent");
            }
            self.rest = rest;
            steps.push(Step::Deep);
            if rest.starts_with(is_word) {
                steps.push(self.field());
            }
            return Ok(());
        }
        let Some(first) = self.rest.chars().next() else {
            return Ok(());
        };
        match first {
            // The current object: where the path is anyway.
            ' ' | '@' | '$' => self.skip(1),
            '[' => self.brackets(steps)?,
            '"' | '\'' => steps.push(Step::Literal(self.quoted(first)?.into())),
            '.' => {
                self.skip(1);
                steps.push(self.field());
            }
            '+' | '-' | '0'..='9' => steps.push(self.number()?),
            first if is_word(first) => {
                let (word, rest) = split(self.rest, is_end);
                self.rest = rest;
                steps.push(match word {
                    "true" => Step::Literal(true.into()),
                    "false" => Step::Literal(false.into()),
                    _ => Step::Word,
                });
            }
            '\r' | '\n' => return fault("unclosed action"),
            other => return fault(format!("unrecognized character in action: {other:?}")),
        }
        Ok(())
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// A field's name, up to whatever ends one. A backslash takes the meaning from the next character.
    fn field(&mut self) -> Step {
        let mut name = String::new();
        let mut escaped = false;
        let mut end = self.rest.len();
        for (at, character) in self.rest.char_indices() {
            match character {
                _ if escaped => {
                    escaped = false;
                    name.push(character);
                }
                '\\' => escaped = true,
                other if is_end(other) => {
                    end = at;
                    break;
                }
                other => name.push(other),
            }
        }
        self.skip(end);
        if name == "*" {
            Step::Every
        } else {
            Step::Field(name.into())
        }
    }

    fn number(&mut self) -> Result<Step, PathUnreadable> {
        let signed = self.rest.starts_with(['+', '-']);
        let digits = self.rest.get(usize::from(signed)..).unwrap_or_default();
        let (digits, rest) = split(digits, |one| one != '.' && !one.is_ascii_digit());
        let (text, _) = self.rest.split_at(usize::from(signed) + digits.len());
        self.rest = rest;
        if let Ok(whole) = text.parse::<i64>() {
            return Ok(Step::Literal(whole.into()));
        }
        match text.parse::<f64>() {
            Ok(float) => Ok(Step::Literal(Value::from(float))),
            Err(_) => fault(format!("cannot parse number {text}")),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, PathUnreadable> {
        let mut text = String::new();
        let mut escaped = false;
        for (at, character) in self.rest.char_indices().skip(1) {
            match character {
                _ if escaped => {
                    escaped = false;
                    text.push(match character {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        '\\' | '"' | '\'' => character,
                        other => return fault(format!("unquote string: unknown escape {other:?}")),
                    });
                }
                '\\' => escaped = true,
                '\n' => break,
                other if other == quote => {
                    self.skip(at + 1);
                    return Ok(text);
                }
                other => text.push(other),
            }
        }
        fault("unterminated quoted string")
    }

    /// What is within brackets: a slice, a name in quotes, or several of these.
    fn brackets(&mut self, steps: &mut Vec<Step>) -> Result<(), PathUnreadable> {
        let Some((inner, rest)) = self.rest.split_once(']') else {
            return fault("unterminated array");
        };
        self.rest = rest;
        let inner = inner.strip_prefix('[').unwrap_or(inner);
        if inner.contains('\n') {
            return fault("unterminated array");
        }
        let parts: Vec<&str> = inner.split(',').collect();
        if parts.len() > 1 {
            let mut union = Vec::new();
            for part in parts.into_iter().take(STEPS_MAX) {
                let mut path = Vec::new();
                entry(part.trim_matches(' '), &mut path)?;
                union.push(path);
            }
            steps.push(Step::Union(union));
            return Ok(());
        }
        entry(inner, steps)
    }

    fn filter(&mut self) -> Result<Filter, PathUnreadable> {
        let text = self.condition()?;
        let Some(at) = text.find(is_comparing).filter(|at| *at > 0) else {
            return Ok(Filter {
                left: nested(text)?,
                compared: None,
            });
        };
        let (left, rest) = text.split_at(at);
        let (sign, right) = split(rest, |one| !is_comparing(one));
        if right.is_empty() {
            // A comparison with nothing is no comparison.
            return fault(format!("invalid filter {text}"));
        }
        let comparison = match sign {
            "==" => Comparison::Equal,
            "!=" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            _ => Comparison::Unknown,
        };
        Ok(Filter {
            left: nested(left)?,
            compared: Some((comparison, nested(right)?)),
        })
    }

    /// The text of a filter, up to the parenthesis and the bracket that end it outside of quotes.
    fn condition(&mut self) -> Result<&'t str, PathUnreadable> {
        let text = self.rest;
        let mut quote = None;
        let mut before = None;
        for (at, character) in text.char_indices() {
            match (quote, character) {
                (_, '\n') => break,
                (None, '"' | '\'') => quote = Some(character),
                (Some(open), _) if open == character && before != Some('\\') => quote = None,
                (None, ')') => {
                    let (condition, rest) = text.split_at(at);
                    let Some(rest) = rest.strip_prefix(")]") else {
                        return fault("unclosed array expect ]");
                    };
                    self.rest = rest;
                    return Ok(condition);
                }
                _ => {}
            }
            before = Some(character);
        }
        fault("unterminated filter")
    }
}

/// A side of a comparison. Filters cannot contain filters, so this goes no deeper.
fn nested(text: &str) -> Result<Vec<Step>, PathUnreadable> {
    if text.contains("[?(") {
        return fault("a filter within a filter");
    }
    steps(text)
}

/// One entry within brackets.
fn entry(text: &str, steps: &mut Vec<Step>) -> Result<(), PathUnreadable> {
    let quoted = text
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''));
    match quoted {
        // Dots separate fields in here as well, unless they are escaped: so does upstream.
        Some(name) if !name.contains('\'') => {
            let mut reader = Reader { rest: name };
            steps.push(reader.field());
            while let Some(rest) = reader.rest.strip_prefix('.') {
                reader.rest = rest;
                steps.push(reader.field());
            }
            match reader.rest {
                "" => Ok(()),
                rest => fault(format!("invalid array index {rest}")),
            }
        }
        _ => {
            steps.push(Step::Slice(slice(if text == "*" { ":" } else { text })?));
            Ok(())
        }
    }
}

fn slice(text: &str) -> Result<Slice, PathUnreadable> {
    let mut parts = text.split(':');
    let mut number = || match parts.next() {
        None => Ok(None),
        Some("") => Ok(Some(None)),
        Some(digits) => match digits.parse::<i64>() {
            Ok(number) if !digits.starts_with('+') => Ok(Some(Some(number))),
            _ => fault(format!("invalid array index {text}")),
        },
    };
    let (from, to, step) = (number()?, number()?, number()?);
    if parts.next().is_some() {
        return fault(format!("invalid array index {text}"));
    }
    let from = from.flatten();
    Ok(Slice {
        from,
        to: match to {
            Some(to) => to,
            None => Some(from.unwrap_or_default().saturating_add(1)),
        },
        single: to.is_none(),
        step: step.flatten(),
    })
}

/// The text before the first such character, and the text from it on.
fn split(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(ends).unwrap_or(text.len()))
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

fn is_end(character: char) -> bool {
    " \t\r\n.,[]$@{}".contains(character)
}

fn is_comparing(character: char) -> bool {
    "!<>=".contains(character)
}
