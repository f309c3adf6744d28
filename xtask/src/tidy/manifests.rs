//! Every crate inherits the workspace's version, edition, licence, lints and dependency versions.
//!
//! A crate that forgets the lints is a crate where unsafe code and missing documentation go unnoticed.

use super::Finding;
use super::tree::Tree;

/// Lines that every package section has.
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license", "publish"];

/// Finds manifests that go their own way.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree
        .files()
        .filter(|(path, _)| path.ends_with("/Cargo.toml"));
    manifests
        .flat_map(|(path, text)| check_manifest(path, text))
        .collect()
}

fn check_manifest(path: &str, text: &str) -> Vec<Finding> {
    let lines = sections(text);
    let has = |section: &str, wanted: &str| {
        lines
            .iter()
            .any(|line| line.section == section && line.text.replace(' ', "") == wanted)
    };
    let mut findings = Vec::new();
    for key in INHERITED {
        if !has("package", &format!("{key}.workspace=true")) {
            let what = format!("[package] has its own {key}, or none");
            findings.push(Finding::new(
                path,
                1,
                what,
                format!("write `{key}.workspace = true`"),
            ));
        }
    }
    if !has("lints", "workspace=true") {
        let remedy = "write `[lints]` with `workspace = true`";
        findings.push(Finding::new(
            path,
            1,
            "the workspace's lints are not inherited",
            remedy,
        ));
    }
    for line in lines
        .iter()
        .filter(|line| line.section.ends_with("dependencies"))
    {
        let is_inherited = line.text.replace(' ', "").contains("workspace=true");
        // A dependency that spans lines begins with an open brace or bracket; only its first line names it.
        if line.text.contains('=') && !is_inherited {
            let remedy = "choose it in the workspace's manifest and write `.workspace = true`";
            findings.push(Finding::new(
                path,
                line.number,
                "a dependency with a version of its own",
                remedy,
            ));
        }
    }
    findings
}

struct Line<'a> {
    number: usize,
    section: &'a str,
    text: &'a str,
}

/// The lines that say something, each with the section that it belongs to.
fn sections(text: &str) -> Vec<Line<'_>> {
    let mut section = "";
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') && line.ends_with(']') {
            section = line.trim_matches(['[', ']']);
        } else if !line.is_empty() && !line.starts_with('#') {
            lines.push(Line {
                number: index + 1,
                section,
                text: line,
            });
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nname = \"a\"\nversion.workspace = true\nedition.workspace = true\n\
        rust-version.workspace = true\nlicense.workspace = true\npublish.workspace = true\n\n\
        [lints]\nworkspace = true\n\n[dependencies]\n# why\nserde.workspace = true\n\
        hyper = { workspace = true, features = [\"client\"] }\n";

    fn found(text: &str) -> Vec<Finding> {
        check(&Tree::of(&[("core/a/Cargo.toml", text)]))
    }

    #[test]
    fn a_manifest_that_inherits_everything_is_fine() {
        assert_eq!(found(GOOD), []);
    }

    #[test]
    fn each_forgotten_line_is_found() {
        for line in [
            "version.",
            "edition.",
            "rust-version.",
            "license.",
            "publish.",
        ] {
            let text = GOOD.replacen(&format!("\n{line}workspace = true"), "", 1);
            assert_eq!(found(&text).len(), 1, "{line}");
        }
        assert_eq!(
            found(&GOOD.replace("[lints]\nworkspace = true\n", "")).len(),
            1
        );
    }

    #[test]
    fn a_dependency_with_its_own_version_is_found() {
        let findings = found(&format!("{GOOD}rand = \"0.9\"\n"));
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].line, GOOD.lines().count() + 1);
    }

    #[test]
    fn the_workspace_manifest_is_not_a_package() {
        assert_eq!(check(&Tree::of(&[("Cargo.toml", "[workspace]\n")])), []);
    }
}
