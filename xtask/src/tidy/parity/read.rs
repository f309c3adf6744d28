//! What cases, scenarios and tests say of themselves, read from their text.

/// The laws that `laws!` makes a test of, each.
const LAWS: [&str; 6] = [
    "quiet",
    "own-only",
    "bounded",
    "order-blind",
    "amnesiac",
    "stale-safe",
];

/// The text of a field at the top of a YAML file, on one line; empty if there is none.
pub(super) fn field(text: &str, name: &str) -> String {
    let mut lines = text.lines();
    let first = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let first = first.unwrap_or_default().trim();
    if !matches!(first, "" | ">-" | ">" | "|" | "|-") {
        return first.trim_matches(['"', '\'']).to_owned();
    }
    let rest = lines.take_while(|line| line.starts_with(' '));
    rest.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The words of a list at the top of a YAML file that is written on one line.
pub(super) fn list(text: &str, name: &str) -> Vec<String> {
    let field = field(text, name);
    let words = field.trim_matches(['[', ']']).split(',');
    let words = words.map(str::trim).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The names of the tests of a source file.
pub(super) fn tests(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut marked = false;
    for line in source.lines().map(str::trim) {
        let name = line.strip_prefix("async ").unwrap_or(line);
        match name.strip_prefix("fn ") {
            Some(rest) if marked => {
                let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_');
                names.extend(end.map(|end| rest[..end].to_owned()));
                marked = false;
            }
            Some(_) => marked = false,
            None => marked |= line == "#[test]" || line.starts_with("#[tokio::test"),
        }
    }
    names
}

/// The laws that a source file tries.
pub(super) fn laws(source: &str) -> impl Iterator<Item = &'static str> {
    let tries = source
        .lines()
        .any(|line| line.trim().starts_with("flyball_testkit::laws!("));
    LAWS.into_iter().filter(move |_| tries)
}

/// A name as a sentence.
pub(super) fn sentence(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_may_be_folded_quoted_or_missing() {
        let text = "about: >-\n  one\n  two\nkey: \"x: y\"\n";
        assert_eq!(field(text, "about"), "one two");
        assert_eq!(field(text, "key"), "x: y");
        assert_eq!(field(text, "origin"), "");
        assert_eq!(list("a: [b, c-d]\n", "a"), ["b", "c-d"]);
        assert!(list("a: []\n", "a").is_empty());
    }

    #[test]
    fn tests_are_told_from_other_functions() {
        let source = "fn not() {}\n#[test]\n#[allow(x)]\nfn is_a_test() {}\nfn another() {}\n\
                      #[tokio::test(start_paused = true)]\nasync fn waits(a: u8) {}\n";
        assert_eq!(super::tests(source), ["is_a_test", "waits"]);
        assert_eq!(sentence("is_a_test"), "Is a test.");
    }

    #[test]
    fn laws_are_those_of_the_macro() {
        assert_eq!(laws("flyball_testkit::laws!(A, worlds);").count(), 6);
        assert_eq!(laws("// laws!").count(), 0);
    }
}
