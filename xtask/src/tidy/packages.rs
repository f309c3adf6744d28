//! The packages as cargo resolves them: which of ours depends on what.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::command::cargo;

/// One of our own packages.
#[derive(Debug, Clone, Default)]
pub(super) struct Package {
    /// Its name.
    pub(super) name: String,
    /// Its folder below the top, such as `core/api`.
    pub(super) folder: String,
    /// Names of what it needs to be built: normal and build dependencies.
    pub(super) needs: BTreeSet<String>,
    /// Names of what only its tests need.
    pub(super) tests_need: BTreeSet<String>,
    /// Names of the programs that it builds.
    pub(super) programs: BTreeSet<String>,
}

impl Package {
    /// The manifest's path.
    pub(super) fn manifest(&self) -> String {
        format!("{}/Cargo.toml", self.folder)
    }
}

/// The workspace's packages, and what every resolved package needs to be built.
#[derive(Debug, Default)]
pub(super) struct Packages {
    /// Our own.
    pub(super) ours: Vec<Package>,
    /// Per package id: its name and the ids of its normal and build dependencies.
    resolved: BTreeMap<String, (String, Vec<String>)>,
}

impl Packages {
    /// Asks cargo about the workspace at `root`.
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        // Only what this machine builds: then everything needed is already downloaded, and no network is asked.
        let host = host()?;
        let arguments = [
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--filter-platform",
            &host,
        ];
        let text = output(root, &cargo(), &arguments)?;
        let json =
            serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
        Self::parse(&json).ok_or_else(|| "cargo metadata has an unexpected shape".to_owned())
    }

    fn parse(json: &Value) -> Option<Self> {
        let root = json["workspace_root"].as_str()?;
        let members: BTreeSet<&str> = json["workspace_members"]
            .as_array()?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let mut names = BTreeMap::new();
        let mut ours = Vec::new();
        for package in json["packages"].as_array()? {
            let (id, name) = (package["id"].as_str()?, package["name"].as_str()?);
            names.insert(id, name);
            if members.contains(id) {
                ours.push(own_package(package, name, root)?);
            }
        }
        ours.sort_by(|left, right| left.folder.cmp(&right.folder));
        let mut resolved = BTreeMap::new();
        for node in json["resolve"]["nodes"].as_array()? {
            let id = node["id"].as_str()?;
            let needed = node["deps"].as_array()?.iter().filter(|edge| {
                let kinds = edge["dep_kinds"].as_array();
                kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"] != "dev"))
            });
            let needed = needed
                .filter_map(|edge| edge["pkg"].as_str())
                .map(str::to_owned)
                .collect();
            resolved.insert(id.to_owned(), ((*names.get(id)?).to_owned(), needed));
        }
        Some(Self { ours, resolved })
    }

    /// Packages of ours with what they need by name, for tests of checks. Every name is its own id.
    #[cfg(test)]
    pub(super) fn of(ours: &[(&str, &str, &[&str])], others: &[(&str, &[&str])]) -> Self {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let packages = ours.iter().map(|(name, folder, needs)| Package {
            name: (*name).to_owned(),
            folder: (*folder).to_owned(),
            needs: set(needs),
            ..Package::default()
        });
        let edges = ours
            .iter()
            .map(|(name, _, needs)| (*name, *needs))
            .chain(others.iter().copied());
        let resolved = edges.map(|(name, needs)| {
            let needs = needs.iter().map(|name| (*name).to_owned()).collect();
            (name.to_owned(), (name.to_owned(), needs))
        });
        Self {
            ours: packages.collect(),
            resolved: resolved.collect(),
        }
    }

    /// One of ours, by name.
    pub(super) fn find(&self, name: &str) -> Option<&Package> {
        self.ours.iter().find(|package| package.name == name)
    }

    /// Everything that building `name` builds, each with the chain of packages that leads to it.
    pub(super) fn closure(&self, name: &str) -> BTreeMap<String, Vec<String>> {
        let start = self
            .resolved
            .iter()
            .find(|(_, (candidate, _))| candidate == name);
        let mut open: Vec<(&String, Vec<String>)> =
            start.map(|(id, _)| (id, Vec::new())).into_iter().collect();
        let mut seen = BTreeSet::new();
        let mut closure = BTreeMap::new();
        while let Some((id, mut chain)) = open.pop() {
            let Some((name, needs)) = self.resolved.get(id) else {
                continue;
            };
            if !seen.insert(id) {
                continue;
            }
            chain.push(name.clone());
            open.extend(needs.iter().map(|id| (id, chain.clone())));
            closure.insert(name.clone(), chain);
        }
        closure
    }
}

fn own_package(package: &Value, name: &str, root: &str) -> Option<Package> {
    let manifest = package["manifest_path"].as_str()?;
    let folder = manifest
        .strip_prefix(root)?
        .trim_start_matches('/')
        .strip_suffix("/Cargo.toml")?;
    let mut own = Package {
        name: name.to_owned(),
        folder: folder.to_owned(),
        ..Package::default()
    };
    for dependency in package["dependencies"].as_array()? {
        let needed = dependency["name"].as_str()?.to_owned();
        if dependency["kind"] == "dev" {
            own.tests_need.insert(needed);
        } else {
            own.needs.insert(needed);
        }
    }
    for target in package["targets"].as_array()? {
        if target["kind"].as_array()?.iter().any(|kind| kind == "bin") {
            own.programs.insert(target["name"].as_str()?.to_owned());
        }
    }
    Some(own)
}

/// The triple that the compiler builds for by default.
fn host() -> Result<String, String> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let text = output(Path::new("."), &rustc, &["-vV"])?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| format!("`{rustc} -vV` names no host"))
}

fn output(folder: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("cannot start `{program}`: {error}"))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "`{program} {}` failed: {reason}",
            arguments.join(" ")
        ));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{program}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn metadata() -> Value {
        json!({
            "workspace_root": "/here",
            "workspace_members": ["a 1"],
            "packages": [
                {"id": "a 1", "name": "a", "manifest_path": "/here/core/a/Cargo.toml", "targets": [
                    {"name": "a", "kind": ["lib"]},
                    {"name": "tool", "kind": ["bin"]}
                ], "dependencies": [
                    {"name": "b", "kind": null},
                    {"name": "c", "kind": "build"},
                    {"name": "d", "kind": "dev"}
                ]},
                {"id": "b 1", "name": "b", "manifest_path": "/there/b/Cargo.toml", "dependencies": []},
                {"id": "c 1", "name": "c", "manifest_path": "/there/c/Cargo.toml", "dependencies": []},
                {"id": "d 1", "name": "d", "manifest_path": "/there/d/Cargo.toml", "dependencies": []}
            ],
            "resolve": {"nodes": [
                {"id": "a 1", "deps": [
                    {"pkg": "b 1", "dep_kinds": [{"kind": "dev"}, {"kind": null}]},
                    {"pkg": "d 1", "dep_kinds": [{"kind": "dev"}]}
                ]},
                {"id": "b 1", "deps": [{"pkg": "c 1", "dep_kinds": [{"kind": null}]}]},
                {"id": "c 1", "deps": [{"pkg": "a 1", "dep_kinds": [{"kind": null}]}]},
                {"id": "d 1", "deps": []}
            ]}
        })
    }

    #[test]
    fn our_packages_know_what_they_need_and_what_their_tests_need() {
        let packages = Packages::parse(&metadata()).unwrap();
        let [package] = packages.ours.as_slice() else {
            panic!("one package is ours");
        };
        assert_eq!(package.folder, "core/a");
        assert_eq!(package.needs.iter().collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(package.tests_need.iter().collect::<Vec<_>>(), ["d"]);
        assert_eq!(package.programs.iter().collect::<Vec<_>>(), ["tool"]);
    }

    #[test]
    fn a_closure_follows_everything_but_test_dependencies() {
        let closure = Packages::parse(&metadata()).unwrap().closure("a");
        assert_eq!(closure.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(closure["c"], ["a", "b", "c"]);
    }

    #[test]
    fn an_answer_of_another_shape_is_refused() {
        assert!(Packages::parse(&json!({"packages": []})).is_none());
    }
}
