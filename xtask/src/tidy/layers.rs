//! The direction of dependencies: a crate knows only the layers below its own.
//!
//! `core` knows nothing of ours but itself; `controllers` and `shell` know `core` and never each other, so that what
//! runs in a simulator is the production code minus transport. They meet in `apps`, `lib` and `verify`. What is said
//! of normal and build dependencies holds for test dependencies too, except that any test may use `verify/testkit`.

use super::Finding;
use super::packages::{Package, Packages};

/// A folder prefix and the prefixes of what crates under it may know. The first prefix that fits decides.
struct Layer {
    prefix: &'static str,
    knows: &'static [&'static str],
}

const TESTKIT: &str = "verify/testkit";

const LAYERS: &[Layer] = &[
    Layer {
        prefix: "core/",
        knows: &["core/"],
    },
    // The table of controllers names them all.
    Layer {
        prefix: "controllers/table",
        knows: &["core/", "controllers/"],
    },
    Layer {
        prefix: "controllers/",
        knows: &["core/"],
    },
    Layer {
        prefix: "shell/",
        knows: &["core/", "shell/"],
    },
    Layer {
        prefix: "lib/",
        knows: &["core/", "controllers/", "shell/"],
    },
    Layer {
        prefix: TESTKIT,
        knows: &["core/"],
    },
    Layer {
        prefix: "verify/invariants",
        knows: &["core/", TESTKIT],
    },
    Layer {
        prefix: "verify/sim",
        knows: &["core/", "controllers/", "verify/"],
    },
    Layer {
        prefix: "verify/",
        knows: &[
            "core/",
            "controllers/",
            "shell/",
            "lib/",
            "apps/",
            "verify/",
        ],
    },
    Layer {
        prefix: "apps/",
        knows: &[
            "core/",
            "controllers/",
            "shell/",
            "lib/",
            "apps/",
            "verify/",
        ],
    },
    Layer {
        prefix: "xtask",
        knows: &[],
    },
];

/// Finds edges that point upwards or sideways, and packages outside every layer.
pub(super) fn check(packages: &Packages) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &packages.ours {
        let Some(layer) = LAYERS
            .iter()
            .find(|layer| package.folder.starts_with(layer.prefix))
        else {
            findings.push(Finding::new(
                package.manifest(),
                1,
                format!("`{}` belongs to no layer", package.folder),
                "move it below one of the layers' folders",
            ));
            continue;
        };
        let edges = package.needs.iter().map(|name| (name, false));
        let edges = edges.chain(package.tests_need.iter().map(|name| (name, true)));
        let ours = edges.filter_map(|(name, in_tests)| Some((packages.find(name)?, in_tests)));
        for (known, in_tests) in ours {
            findings.extend(judge(package, layer, known, in_tests));
        }
    }
    findings
}

fn judge(package: &Package, layer: &Layer, known: &Package, in_tests: bool) -> Option<Finding> {
    let allowed = layer
        .knows
        .iter()
        .any(|prefix| known.folder.starts_with(prefix));
    let is_testkit = known.folder == TESTKIT;
    if in_tests && is_testkit {
        return None;
    }
    if is_testkit && !package.folder.starts_with("verify/") {
        return Some(Finding::new(
            package.manifest(),
            1,
            format!(
                "`{}` needs `{}` outside its tests",
                package.name, known.name
            ),
            "make it a dev-dependency",
        ));
    }
    (!allowed).then(|| {
        Finding::new(
            package.manifest(),
            1,
            format!(
                "`{}` knows `{}`, and `{}` may not",
                package.folder, known.folder, layer.prefix
            ),
            match layer.knows {
                [] => "it knows nothing of ours".to_owned(),
                knows => format!(
                    "it knows only {}: move what both need there",
                    knows.join(", ")
                ),
            },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ours: &[(&str, &str, &[&str])]) -> Vec<String> {
        let findings = check(&Packages::of(ours, &[]));
        findings.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn an_edge_downwards_is_fine() {
        let ours: &[(&str, &str, &[&str])] = &[
            ("api", "core/api", &["serde"]),
            ("plan", "core/plan", &["api"]),
            ("workloads", "controllers/workloads", &["plan"]),
            ("client", "shell/client", &["api", "tokio"]),
            ("runtime", "shell/runtime", &["client"]),
            ("cli", "apps/flyball", &["runtime", "workloads"]),
            ("testkit", "verify/testkit", &["plan"]),
            ("sim", "verify/sim", &["workloads", "testkit"]),
        ];
        assert_eq!(found(ours), Vec::<String>::new());
    }

    #[test]
    fn an_edge_upwards_or_sideways_is_found() {
        let forbidden = [
            ("core/plan", "controllers/workloads"),
            ("core/plan", "shell/client"),
            ("controllers/workloads", "shell/client"),
            ("controllers/workloads", "controllers/batch"),
            ("shell/client", "controllers/workloads"),
            ("shell/client", "apps/flyball"),
            ("verify/testkit", "controllers/workloads"),
            ("verify/sim", "shell/runtime"),
            ("xtask", "core/api"),
        ];
        for (from, to) in forbidden {
            let findings = found(&[("from", from, &["to"]), ("to", to, &[])]);
            assert_eq!(findings.len(), 1, "{from} knows {to}");
        }
    }

    #[test]
    fn the_testkit_is_for_tests_only() {
        for folder in [
            "core/api",
            "controllers/workloads",
            "shell/client",
            "apps/flyball",
        ] {
            let mut packages = Packages::of(
                &[("from", folder, &["testkit"]), ("testkit", TESTKIT, &[])],
                &[],
            );
            assert_eq!(check(&packages).len(), 1, "{folder}");
            packages.ours[0].tests_need = std::mem::take(&mut packages.ours[0].needs);
            assert_eq!(check(&packages), [], "{folder}");
        }
    }

    #[test]
    fn tests_follow_the_layers_too() {
        let mut packages = Packages::of(
            &[
                ("plan", "core/plan", &["client"]),
                ("client", "shell/client", &[]),
            ],
            &[],
        );
        packages.ours[0].tests_need = std::mem::take(&mut packages.ours[0].needs);
        assert_eq!(check(&packages).len(), 1);
    }

    #[test]
    fn a_package_outside_the_layers_is_found() {
        assert_eq!(found(&[("stray", "tools/stray", &[])]).len(), 1);
    }
}
