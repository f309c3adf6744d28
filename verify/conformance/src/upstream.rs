//! Upstream's own binaries, built once from their published Go modules.
//!
//! The recipe (`verify/upstream`: a module file, its checksums and a three-line `main` for etcd) is part of
//! this crate, so the cache key changes exactly when the recipe does. The cache lives outside the repository:
//! `$FLYBALL_CACHE`, or `~/.cache/flyball`. A build goes to a private folder and is renamed into place, under a
//! file lock, so that two runs never see half a build and never build twice.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::{Context as _, Result, bail};

use crate::child::Guard;

const GO_MOD: &str = include_str!("../../upstream/go.mod");
const GO_SUM: &str = include_str!("../../upstream/go.sum");
const ETCD_MAIN: &str = include_str!("../../upstream/etcd/main.go");

/// Raised by hand when the way of building changes without a change in the sources.
const RECIPE: u8 = 1;

/// Paths of upstream's programs, all of one Kubernetes release.
#[derive(Debug, Clone)]
pub struct Binaries {
    /// The etcd server.
    pub etcd: PathBuf,
    /// `kube-apiserver`.
    pub kube_apiserver: PathBuf,
    /// `kube-controller-manager`, the Go side of every comparison.
    pub kube_controller_manager: PathBuf,
    /// `kubectl`.
    pub kubectl: PathBuf,
}

impl Binaries {
    fn in_folder(folder: &Path) -> Self {
        Self {
            etcd: folder.join("etcd"),
            kube_apiserver: folder.join("kube-apiserver"),
            kube_controller_manager: folder.join("kube-controller-manager"),
            kubectl: folder.join("kubectl"),
        }
    }

    fn all(&self) -> [&Path; 4] {
        [
            &self.etcd,
            &self.kube_apiserver,
            &self.kube_controller_manager,
            &self.kubectl,
        ]
    }

    fn exist(&self) -> bool {
        self.all().iter().all(|path| path.is_file())
    }
}

/// The cache of upstream's binaries.
#[derive(Debug, Clone, Copy)]
pub struct Upstream;

impl Upstream {
    /// The Kubernetes release that the recipe names, such as `v1.36.4`.
    ///
    /// # Errors
    /// When the module file does not name one.
    pub fn version() -> Result<&'static str> {
        requirement(GO_MOD, "k8s.io/kubernetes")
            .context("verify/upstream/go.mod does not require k8s.io/kubernetes")
    }

    /// The folder that holds, or will hold, the binaries of this recipe.
    ///
    /// # Errors
    /// When neither `FLYBALL_CACHE` nor `HOME` is set.
    pub fn folder() -> Result<PathBuf> {
        let mut recipe = vec![RECIPE];
        for part in [GO_MOD, GO_SUM, ETCD_MAIN] {
            recipe.extend_from_slice(part.as_bytes());
            recipe.push(0);
        }
        let name = format!("{}-{:016x}", Self::version()?, fingerprint(&recipe));
        Ok(cache_root()?.join("upstream").join(name))
    }

    /// Returns the binaries, building them first if the cache lacks them. The first build takes minutes and
    /// shows Go's own list of packages as progress on stderr; afterwards the call costs four `stat`s.
    ///
    /// # Errors
    /// When there is no Go toolchain, naming what to install, or when the build fails.
    pub fn ensure() -> Result<Binaries> {
        let folder = Self::folder()?;
        let binaries = Binaries::in_folder(&folder);
        if binaries.exist() {
            return Ok(binaries);
        }
        let parent = folder.parent().context("the cache folder has no parent")?;
        fs::create_dir_all(parent)
            .with_context(|| format!("cannot create {}", parent.display()))?;
        let lock_path = beside(&folder, "lock");
        let lock = File::create(&lock_path)
            .with_context(|| format!("cannot create {}", lock_path.display()))?;
        lock.lock()
            .with_context(|| format!("cannot lock {}", lock_path.display()))?;
        if !binaries.exist() {
            build(&folder)?;
        }
        Ok(binaries)
    }
}

fn build(folder: &Path) -> Result<()> {
    let version = Upstream::version()?;
    // Under the lock there is no other builder: whatever is in this folder was left by one that was killed.
    let work = beside(folder, "build");
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    let (source, output) = (work.join("source"), work.join("bin"));
    fs::create_dir_all(source.join("etcd"))?;
    fs::create_dir_all(&output)?;
    fs::write(source.join("go.mod"), GO_MOD)?;
    fs::write(source.join("go.sum"), GO_SUM)?;
    fs::write(source.join("etcd/main.go"), ETCD_MAIN)?;

    progress(&format!(
        "building etcd, kube-apiserver, kube-controller-manager and kubectl {version} into {} \
         (once; 5 to 15 minutes on two cores)",
        folder.display()
    ));
    let mut destination = OsString::from(&output);
    destination.push("/");
    let build = Command::new("go")
        .current_dir(&source)
        .env("CGO_ENABLED", "0")
        .args([
            "build",
            "-v",
            "-mod=readonly",
            "-trimpath",
            "-ldflags",
            &linker_flags(version),
            "-o",
        ])
        .arg(destination)
        .args([
            "k8s.io/kubernetes/cmd/kube-apiserver",
            "k8s.io/kubernetes/cmd/kube-controller-manager",
            "k8s.io/kubernetes/cmd/kubectl",
            "./etcd",
        ])
        .spawn();
    let outcome = match build.map(wait_guarded) {
        Ok(Ok(status)) if status.success() => install(&output, folder),
        Ok(Ok(status)) => Err(anyhow::anyhow!(
            "`go build` of upstream {version} failed: {status}"
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(anyhow::anyhow!(
            "there is no `go` on PATH. The harness builds upstream's kube-apiserver, etcd, \
             kube-controller-manager and kubectl {version} once from their published modules: install Go {} \
             or newer (https://go.dev/dl) and run again",
            GO_MOD
                .lines()
                .find_map(|line| line.strip_prefix("go "))
                .unwrap_or("1.26")
        )),
        Ok(Err(error)) => Err(error),
        Err(error) => Err(error).context("cannot start `go build`"),
    };
    let cleaned = fs::remove_dir_all(&work);
    outcome?;
    cleaned.with_context(|| format!("cannot remove {}", work.display()))
}

/// Waits for the build, which ends with the harness should that be killed.
fn wait_guarded(mut build: std::process::Child) -> Result<ExitStatus> {
    let mut guard = Guard::spawn("kill -9 \"$0\"", &build.id().to_string())?;
    let status = build.wait().context("cannot wait for `go build`");
    guard.release();
    status
}

/// A neighbour of the cache folder. (`with_extension` would cut the version at its last dot.)
fn beside(folder: &Path, suffix: &str) -> PathBuf {
    let mut path = OsString::from(folder);
    path.push(".");
    path.push(suffix);
    PathBuf::from(path)
}

fn install(output: &Path, folder: &Path) -> Result<()> {
    if folder.exists() {
        // Only an incomplete folder gets here: something outside the harness removed a binary.
        fs::remove_dir_all(folder)?;
    }
    fs::rename(output, folder)?;
    if !Binaries::in_folder(folder).exist() {
        bail!(
            "`go build` succeeded but {} lacks a binary",
            folder.display()
        );
    }
    Ok(())
}

/// Upstream's release builds stamp their version this way; without it the binaries call themselves v0.0.0.
fn linker_flags(version: &str) -> String {
    let mut parts = version.trim_start_matches('v').split('.');
    let (major, minor) = (parts.next().unwrap_or("1"), parts.next().unwrap_or("0"));
    let mut flags = String::from("-s -w");
    for package in [
        "k8s.io/component-base/version",
        "k8s.io/client-go/pkg/version",
    ] {
        for (variable, value) in [
            ("gitVersion", version),
            ("gitMajor", major),
            ("gitMinor", minor),
        ] {
            flags.push_str(&format!(" -X {package}.{variable}={value}"));
        }
    }
    flags
}

fn cache_root() -> Result<PathBuf> {
    if let Some(root) = std::env::var_os("FLYBALL_CACHE").filter(|root| !root.is_empty()) {
        return Ok(PathBuf::from(root));
    }
    let home = std::env::var_os("HOME").context("neither FLYBALL_CACHE nor HOME is set")?;
    Ok(PathBuf::from(home).join(".cache/flyball"))
}

fn requirement<'a>(go_mod: &'a str, module: &str) -> Option<&'a str> {
    go_mod.lines().find_map(|line| {
        let mut words = line
            .trim()
            .trim_start_matches("require ")
            .split_whitespace();
        (words.next() == Some(module)).then(|| words.next())?
    })
}

/// FNV-1a: stable across compilers, which the standard hasher does not promise.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn progress(message: &str) {
    // A closed stderr must not stop the build.
    let _ = writeln!(io::stderr(), "{message}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recipe_names_a_kubernetes_release() {
        let version = Upstream::version().unwrap();
        assert!(version.starts_with("v1."), "{version}");
    }

    #[test]
    fn requirements_are_found_in_blocks_and_on_single_lines() {
        let text = "require a.b/c v1.2.3\nrequire (\n\td.e/f v4.5.6 // indirect\n)\n";
        assert_eq!(requirement(text, "a.b/c"), Some("v1.2.3"));
        assert_eq!(requirement(text, "d.e/f"), Some("v4.5.6"));
        assert_eq!(requirement(text, "d.e"), None);
    }

    #[test]
    fn the_fingerprint_is_fnv_1a() {
        assert_eq!(fingerprint(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
