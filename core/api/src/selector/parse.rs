//! Reading the string form of a label selector.
//!
//! ```text
//! selector    = [ requirement { "," requirement } ]
//! requirement = [ "!" ] key | key op value | key ( "in" | "notin" ) "(" value { "," value } ")"
//! op          = "=" | "==" | "!=" | ">" | "<"
//! ```
//!
//! A value may be empty, and `in` and `notin` may be keys or values: they are operators only after
//! a key.

use std::collections::BTreeSet;

use super::{Operator, Requirement, SelectorInvalid, check_label_key};

pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, SelectorInvalid> {
    Reader { rest: text }.selector()
}

#[derive(Clone, Copy, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    /// One of `= == != > < ! ( ) ,`.
    Symbol(&'a str),
    End,
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn selector(&mut self) -> Result<Vec<Requirement>, SelectorInvalid> {
        let mut requirements = Vec::new();
        match self.peek() {
            Token::End => return Ok(requirements),
            Token::Word(_) | Token::Symbol("!") => {}
            other => {
                let expected = ", expected: !, identifier, or 'end of string'";
                return Err(unreadable(other, false, expected));
            }
        }
        loop {
            requirements.push(self.requirement()?);
            match self.next() {
                Token::End => return Ok(requirements),
                Token::Symbol(",") => {}
                other => {
                    return Err(unreadable(
                        other,
                        false,
                        ", expected: ',' or 'end of string'",
                    ));
                }
            }
            if !matches!(self.peek(), Token::Word(_) | Token::Symbol("!")) {
                let found = self.peek();
                return Err(unreadable(found, false, ", expected: identifier after ','"));
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, SelectorInvalid> {
        let negated = self.peek() == Token::Symbol("!");
        if negated {
            self.next();
        }
        let key = match self.next() {
            Token::Word(key) => key,
            other => return Err(unreadable(other, true, ", expected: identifier")),
        };
        check_label_key(key).map_err(|source| SelectorInvalid::BadLabel {
            key: key.to_owned(),
            source,
        })?;
        if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            let operator = if negated {
                Operator::DoesNotExist
            } else {
                Operator::Exists
            };
            return Requirement::new::<&str>(key, operator, &[]);
        }
        if negated {
            // Upstream takes the requirement for finished here and finds that it is not.
            let found = self.next();
            return Err(unreadable(
                found,
                false,
                ", expected: ',' or 'end of string'",
            ));
        }
        let operator = match self.next() {
            Token::Word("in") => return Requirement::new(key, Operator::In, &self.set()?),
            Token::Word("notin") => return Requirement::new(key, Operator::NotIn, &self.set()?),
            Token::Symbol("=") => Operator::Equals,
            Token::Symbol("==") => Operator::DoubleEquals,
            Token::Symbol("!=") => Operator::NotEquals,
            Token::Symbol(">") => Operator::GreaterThan,
            Token::Symbol("<") => Operator::LessThan,
            other => {
                let expected = ", expected: in, notin, =, ==, !=, gt, lt";
                return Err(unreadable(other, true, expected));
            }
        };
        let value = match self.peek() {
            Token::End | Token::Symbol(",") => "",
            Token::Word(value) => {
                self.next();
                value
            }
            other => return Err(unreadable(other, true, ", expected: identifier")),
        };
        Requirement::new(key, operator, &[value])
    }

    /// The values in parentheses; what stands between two commas may be empty.
    fn set(&mut self) -> Result<Vec<&'a str>, SelectorInvalid> {
        match self.next() {
            Token::Symbol("(") => {}
            other => return Err(unreadable(other, true, " expected: '('")),
        }
        if !matches!(self.peek(), Token::Word(_) | Token::Symbol("," | ")")) {
            let found = self.peek();
            return Err(unreadable(
                found,
                true,
                ", expected: ',', ')' or identifier",
            ));
        }
        let mut values = BTreeSet::new();
        loop {
            if let Token::Word(value) = self.peek() {
                self.next();
                values.insert(value);
            } else {
                values.insert("");
            }
            match self.next() {
                Token::Symbol(",") => {}
                Token::Symbol(")") => return Ok(values.into_iter().collect()),
                other => return Err(unreadable(other, true, ", expected: ',' or ')'")),
            }
        }
    }

    fn peek(&self) -> Token<'a> {
        self.scan().0
    }

    fn next(&mut self) -> Token<'a> {
        let (token, rest) = self.scan();
        self.rest = rest;
        token
    }

    fn scan(&self) -> (Token<'a>, &'a str) {
        let is_blank = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
        let is_symbol = |c: char| matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<');
        let text = self.rest.trim_start_matches(is_blank);
        let length = match text.as_bytes() {
            [] => return (Token::End, text),
            [b'=', b'=', ..] | [b'!', b'=', ..] => 2,
            _ if text.starts_with(is_symbol) => 1,
            _ => {
                let end = text
                    .find(|c| is_blank(c) || is_symbol(c))
                    .unwrap_or(text.len());
                return (Token::Word(&text[..end]), &text[end..]);
            }
        };
        (Token::Symbol(&text[..length]), &text[length..])
    }
}

fn unreadable(found: Token<'_>, in_requirement: bool, expected: &'static str) -> SelectorInvalid {
    let found = match found {
        Token::Word(text) | Token::Symbol(text) => text.to_owned(),
        Token::End => String::new(),
    };
    SelectorInvalid::Unreadable {
        found,
        in_requirement,
        expected,
    }
}
