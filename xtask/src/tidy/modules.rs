//! A source file that no module line names is not compiled, not tested and soon not true.

use super::Finding;
use super::sources::Sources;

/// Finds Rust files outside every crate.
pub(super) fn check(sources: &Sources) -> Vec<Finding> {
    let dead = sources.iter().filter(|source| !source.is_reached);
    dead.map(|source| {
        let remedy = "name it in a `mod` line, or delete it";
        Finding::new(&source.path, 1, "no crate contains this file", remedy)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    #[test]
    fn a_forgotten_file_is_found() {
        let tree = Tree::of(&[
            ("core/api/Cargo.toml", ""),
            ("core/api/src/lib.rs", "mod pods;"),
            ("core/api/src/pods.rs", "// mod nodes;"),
            ("core/api/src/pods/nodes.rs", ""),
        ]);
        let findings = check(&Sources::of(&tree));
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].path, "core/api/src/pods/nodes.rs");
    }
}
