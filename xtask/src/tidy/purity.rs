//! Nothing with effects is compiled into `core` and `controllers`, however many steps away.
//!
//! Test dependencies are left out: proptest may draw random numbers, the code it tests may not.

use super::Finding;
use super::packages::Packages;

/// Packages that bring a runtime, a network, randomness or logging.
const EFFECTS: &[&str] = &[
    "axum",
    "fastrand",
    "getrandom",
    "hyper",
    "hyper-util",
    "mio",
    "rand",
    "rand_core",
    "reqwest",
    "rustls",
    "smol",
    "socket2",
    "tokio",
    "tower",
    "tracing",
];

/// Beginnings of names of families of such packages.
const EFFECT_FAMILIES: &[&str] = &["async-", "futures", "kube", "tokio-", "tracing-"];

/// Forbidden only as a direct dependency. Cargo's metadata lists a dependency's optional logger even where no feature
/// turns it on (jiff's is such a one), and without a direct dependency our code cannot log through it.
const DIRECT_EFFECTS: &[&str] = &["log"];

/// Finds the packages with effects among all that the pure crates need.
pub(super) fn check(packages: &Packages) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_pure = |folder: &str| folder.starts_with("core/") || folder.starts_with("controllers/");
    for package in packages
        .ours
        .iter()
        .filter(|package| is_pure(&package.folder))
    {
        let direct = package
            .needs
            .iter()
            .filter(|name| DIRECT_EFFECTS.contains(&name.as_str()));
        let direct = direct.map(|name| vec![package.name.clone(), name.clone()]);
        let closure = packages.closure(&package.name).into_iter();
        let chains = closure
            .filter(|(name, _)| has_effects(name))
            .map(|(_, chain)| chain);
        for chain in chains.chain(direct) {
            findings.push(Finding::new(
                package.manifest(),
                1,
                format!("`{}` is pure and needs {}", package.name, chain.join(" → ")),
                "leave the effect to shell and take its result as an argument",
            ));
        }
    }
    findings
}

fn has_effects(name: &str) -> bool {
    EFFECTS.contains(&name)
        || EFFECT_FAMILIES
            .iter()
            .any(|family| name.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_found_however_far_away() {
        let packages = Packages::of(
            &[
                ("plan", "core/plan", &["api"]),
                ("api", "core/api", &["words"]),
            ],
            &[
                ("words", &["noise"]),
                ("noise", &["getrandom"]),
                ("getrandom", &[]),
            ],
        );
        let findings = check(&packages);
        assert_eq!(findings.len(), 2);
        assert!(
            findings[0]
                .what
                .ends_with("plan → api → words → noise → getrandom")
        );
    }

    #[test]
    fn every_family_of_effects_is_known() {
        for name in [
            "kube-client",
            "futures-util",
            "async-trait",
            "tracing-core",
            "tokio",
        ] {
            let packages = Packages::of(&[("batch", "controllers/batch", &[name])], &[(name, &[])]);
            assert_eq!(check(&packages).len(), 1, "{name}");
        }
    }

    #[test]
    fn logging_is_found_as_a_direct_dependency() {
        let direct = Packages::of(&[("api", "core/api", &["log"])], &[("log", &[])]);
        assert_eq!(check(&direct).len(), 1);
        let distant = Packages::of(
            &[("api", "core/api", &["jiff"])],
            &[("jiff", &["log"]), ("log", &[])],
        );
        assert_eq!(check(&distant), []);
    }

    #[test]
    fn shells_may_have_effects() {
        let packages = Packages::of(&[("client", "shell/client", &["tokio"])], &[("tokio", &[])]);
        assert_eq!(check(&packages), []);
    }
}
