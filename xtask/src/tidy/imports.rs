//! The paths that a source speaks of, with grouped imports written out.

use super::syntax::{Token, tokens};

/// A path such as `std::time::Instant`, and where it begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UsedPath {
    /// The offset of its first word; for a grouped import, of its own part in the group.
    pub(super) at: usize,
    /// Its words, joined by `::`; a glob ends in `*`.
    pub(super) path: String,
}

/// Every path of two or more words in `code`, and every imported path.
pub(super) fn used_paths(code: &str) -> Vec<UsedPath> {
    let tokens = tokens(code);
    let mut paths = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        if tokens[index].text == "use" {
            index = import(&tokens, index + 1, "", &mut paths);
        } else if tokens[index].is_word() {
            index = plain(&tokens, index, &mut paths);
        } else {
            index += 1;
        }
    }
    paths
}

fn text_at<'a>(tokens: &[Token<'a>], index: usize) -> &'a str {
    tokens.get(index).map_or("", |token| token.text)
}

/// Reads one branch of an import tree and returns the index after it.
fn import(tokens: &[Token<'_>], start: usize, prefix: &str, paths: &mut Vec<UsedPath>) -> usize {
    let mut index = start;
    let mut path = prefix.to_owned();
    let add = |path: &mut String, word: &str| {
        if !path.is_empty() {
            path.push_str("::");
        }
        path.push_str(word);
    };
    let at = tokens.get(start).map_or(0, |token| token.at);
    loop {
        match text_at(tokens, index) {
            "::" => index += 1,
            "{" => {
                index += 1;
                while !matches!(text_at(tokens, index), "}" | "") {
                    let before = index;
                    index = import(tokens, index, &path, paths);
                    if text_at(tokens, index) == "," || index == before {
                        index += 1;
                    }
                }
                return index + 1;
            }
            "as" => index += 2,
            // `use a::{self}` imports `a` itself.
            "self" if !prefix.is_empty() => index += 1,
            word if word == "*" || tokens.get(index).is_some_and(Token::is_word) => {
                add(&mut path, word);
                index += 1;
            }
            _ => break,
        }
    }
    if !path.is_empty() {
        paths.push(UsedPath { at, path });
    }
    index
}

/// Reads a path outside imports and returns the index after it.
fn plain(tokens: &[Token<'_>], start: usize, paths: &mut Vec<UsedPath>) -> usize {
    let mut path = tokens[start].text.to_owned();
    let mut index = start + 1;
    while text_at(tokens, index) == "::" && tokens.get(index + 1).is_some_and(Token::is_word) {
        path.push_str("::");
        path.push_str(tokens[index + 1].text);
        index += 2;
    }
    if index > start + 1 {
        paths.push(UsedPath {
            at: tokens[start].at,
            path,
        });
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(code: &str) -> Vec<String> {
        used_paths(code).into_iter().map(|used| used.path).collect()
    }

    #[test]
    fn grouped_imports_are_written_out() {
        assert_eq!(
            paths("use std::{fs, time::{Duration, Instant as Now}, io::{self, Read}}; x::y();"),
            [
                "std::fs",
                "std::time::Duration",
                "std::time::Instant",
                "std::io",
                "std::io::Read",
                "x::y"
            ]
        );
    }

    #[test]
    fn globs_and_plain_paths_are_seen() {
        assert_eq!(
            paths("use std::fs::*; let a = ::std::env::var(b);"),
            ["std::fs::*", "std::env::var"]
        );
    }

    #[test]
    fn an_unfinished_import_ends_with_the_text() {
        assert_eq!(paths("use a::{b, c"), ["a::b", "a::c"]);
    }
}
