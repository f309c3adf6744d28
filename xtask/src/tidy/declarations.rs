//! What a source declares: its modules, which name further files, and its types.

use super::syntax::{Text, tokens};

/// A `mod name;`: a module whose content is in another file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ModuleLine {
    /// Where the `mod` stands.
    pub(super) at: usize,
    /// The inline modules around it, then its name.
    pub(super) names: Vec<String>,
    /// The file that a `#[path]` names, relative to the declaring file's folder.
    pub(super) path: Option<String>,
}

/// The modules that `text` expects in other files.
pub(super) fn module_lines(text: &Text) -> Vec<ModuleLine> {
    let tokens = tokens(&text.code);
    let mut lines = Vec::new();
    // One entry per open brace: the inline module that it opened, if it did.
    let mut open: Vec<Option<String>> = Vec::new();
    let mut path = None;
    for (index, token) in tokens.iter().enumerate() {
        let text_at = |ahead: usize| tokens.get(index + ahead).map(|token| token.text);
        match token.text {
            "#" if text_at(1) == Some("[") && text_at(2) == Some("path") => {
                path = tokens
                    .get(index + 2)
                    .and_then(|token| quoted(&text.raw[token.at..]));
            }
            "mod" if text_at(2) == Some(";") => {
                let Some(name) = text_at(1) else { continue };
                let around = open.iter().flatten().cloned();
                lines.push(ModuleLine {
                    at: token.at,
                    names: around.chain([name.to_owned()]).collect(),
                    path: path.take(),
                });
            }
            "{" => {
                let name = index.checked_sub(2).and_then(|before| {
                    (tokens[before].text == "mod").then(|| tokens[before + 1].text.to_owned())
                });
                open.push(name);
                path = None;
            }
            "}" => {
                open.pop();
                path = None;
            }
            ";" => path = None,
            _ => {}
        }
    }
    lines
}

/// The text between the first two quotes.
fn quoted(text: &str) -> Option<String> {
    text.split('"').nth(1).map(str::to_owned)
}

/// The types that `code` declares: where, and how they are called.
pub(super) fn type_names(code: &str) -> Vec<(usize, String)> {
    let tokens = tokens(code);
    let pairs = tokens.windows(2);
    let declared = pairs.filter(|pair| {
        matches!(pair[0].text, "struct" | "enum" | "union" | "trait" | "type")
            && pair[1]
                .text
                .starts_with(|first: char| first.is_ascii_uppercase())
    });
    declared
        .map(|pair| (pair[1].at, pair[1].text.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(raw: &str) -> Vec<(String, Option<String>)> {
        let lines = module_lines(&Text::of(raw)).into_iter();
        lines
            .map(|line| (line.names.join("::"), line.path))
            .collect()
    }

    #[test]
    fn a_module_line_names_its_file() {
        assert_eq!(
            declared("//! mod x;\nmod a;\npub(crate) mod b;"),
            [("a".to_owned(), None), ("b".to_owned(), None)]
        );
    }

    #[test]
    fn inline_modules_are_part_of_the_name() {
        let raw = "mod a { fn f() { x } mod b; } mod c;";
        assert_eq!(
            declared(raw),
            [("a::b".to_owned(), None), ("c".to_owned(), None)]
        );
    }

    #[test]
    fn a_path_attribute_belongs_to_the_next_module_only() {
        let raw = "#[path = \"other.rs\"] mod a; mod b;";
        assert_eq!(
            declared(raw),
            [
                ("a".to_owned(), Some("other.rs".to_owned())),
                ("b".to_owned(), None)
            ]
        );
    }

    #[test]
    fn types_are_found_by_their_declaration() {
        let names = type_names("pub struct One; enum Two {} fn f(x: Three) {} type Four = One;");
        let names: Vec<_> = names.into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["One", "Two", "Four"]);
    }
}
