//! How a set of programs is built from published Go modules, once, into the cache.
//!
//! A recipe is a Go module as text, so the name of its folder in the cache changes exactly when the recipe does.
//! A build goes to a private folder and is renamed into place, under a file lock, so that two runs never see half
//! a build and never build twice.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::child::Guard;

/// Raised by hand when the way of building changes without a change in the sources.
const RECIPE: u8 = 1;

/// A build that takes longer than this on two cores hangs: the longest takes 5 to 15 minutes.
const BUILD_LIMIT: Duration = Duration::from_secs(40 * 60);

/// Programs that are built together from one Go module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recipe {
    /// What the folder in the cache is called, before the fingerprint.
    pub(super) name: &'static str,
    /// What the user reads while it is built, with how long that takes.
    pub(super) about: &'static str,
    /// The files of the module: path and text. The first is `go.mod`.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// The programs: what the file is called, and which package it is. As everywhere in Go, `x.test` is the tests
    /// of a package.
    pub(super) programs: &'static [(&'static str, &'static str)],
    /// The Kubernetes release that the programs are to call themselves.
    pub(super) release: Option<&'static str>,
}

impl Recipe {
    /// The folder that holds, or will hold, the programs.
    pub(super) fn folder(&self) -> Result<PathBuf> {
        let mut recipe = vec![RECIPE];
        for (_, text) in self.files {
            recipe.extend_from_slice(text.as_bytes());
            recipe.push(0);
        }
        let name = format!("{}-{:016x}", self.name, fingerprint(&recipe));
        Ok(cache_root()?.join("upstream").join(name))
    }

    /// The folder with the programs in it, built first if the cache lacks one of them. Go's own list of packages
    /// is shown as progress on stderr.
    pub(super) fn ensure(&self) -> Result<PathBuf> {
        let folder = self.folder()?;
        if self.is_complete(&folder) {
            return Ok(folder);
        }
        let parent = folder.parent().context("the cache folder has no parent")?;
        fs::create_dir_all(parent)
            .with_context(|| format!("cannot create {}", parent.display()))?;
        let lock_path = beside(&folder, "lock");
        let lock = File::create(&lock_path)
            .with_context(|| format!("cannot create {}", lock_path.display()))?;
        lock.lock()
            .with_context(|| format!("cannot lock {}", lock_path.display()))?;
        if !self.is_complete(&folder) {
            self.build(&folder)?;
        }
        Ok(folder)
    }

    fn is_complete(&self, folder: &Path) -> bool {
        let mut programs = self.programs.iter();
        programs.all(|(program, _)| folder.join(program).is_file())
    }

    fn build(&self, folder: &Path) -> Result<()> {
        // Under the lock there is no other builder: whatever is in this folder was left by one that was killed.
        let work = beside(folder, "build");
        if work.exists() {
            fs::remove_dir_all(&work)?;
        }
        let (source, output) = (work.join("source"), work.join("bin"));
        fs::create_dir_all(&output)?;
        for (path, text) in self.files {
            let path = source.join(path);
            fs::create_dir_all(path.parent().context("a file without a folder")?)?;
            fs::write(path, text)?;
        }
        progress(&format!(
            "building {} into {}",
            self.about,
            folder.display()
        ));
        let deadline = Instant::now() + BUILD_LIMIT;
        let built = self.programs.iter().try_for_each(|(program, package)| {
            self.compile(&source, &output.join(program), package, deadline)
        });
        let outcome = built.and_then(|()| self.install(&output, folder));
        let cleaned = fs::remove_dir_all(&work);
        outcome?;
        cleaned.with_context(|| format!("cannot remove {}", work.display()))
    }

    fn compile(
        &self,
        source: &Path,
        program: &Path,
        package: &str,
        deadline: Instant,
    ) -> Result<()> {
        let is_test = program.extension().is_some_and(|end| end == "test");
        let way = if is_test {
            ["test", "-c"]
        } else {
            ["build", "-v"]
        };
        let build = Command::new("go")
            .current_dir(source)
            .env("CGO_ENABLED", "0")
            .args(way)
            .args(["-mod=readonly", "-trimpath", "-ldflags"])
            .arg(linker_flags(self.release))
            .arg("-o")
            .arg(program)
            .arg(package)
            .spawn();
        match build.map(|build| wait_guarded(build, deadline)) {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => bail!("`go build` of {package} ({}) failed: {status}", self.name),
            Ok(Err(error)) => Err(error),
            Err(error) if error.kind() == io::ErrorKind::NotFound => bail!(
                "there is no `go` on PATH. The harness builds {} once from published modules: install Go {} or \
                 newer (https://go.dev/dl) and run again",
                self.about,
                self.go_version()
            ),
            Err(error) => Err(error).context("cannot start `go build`"),
        }
    }

    fn go_version(&self) -> &'static str {
        let lines = self.files.iter().flat_map(|(_, text)| text.lines());
        lines
            .filter_map(|line| line.strip_prefix("go "))
            .next()
            .unwrap_or("1.26")
    }

    fn install(&self, output: &Path, folder: &Path) -> Result<()> {
        if folder.exists() {
            // Only an incomplete folder gets here: something outside the harness removed a program.
            fs::remove_dir_all(folder)?;
        }
        fs::rename(output, folder)?;
        if !self.is_complete(folder) {
            bail!(
                "`go build` succeeded but {} lacks a program",
                folder.display()
            );
        }
        Ok(())
    }
}

/// The version of a module that a `go.mod` requires.
pub(super) fn requirement<'a>(go_mod: &'a str, module: &str) -> Option<&'a str> {
    go_mod.lines().find_map(|line| {
        let mut words = line
            .trim()
            .trim_start_matches("require ")
            .split_whitespace();
        (words.next() == Some(module)).then(|| words.next())?
    })
}

/// Waits for the build, which ends with the harness should that be killed.
fn wait_guarded(mut build: std::process::Child, deadline: Instant) -> Result<ExitStatus> {
    const PAUSE: Duration = Duration::from_millis(100);
    let mut guard = Guard::spawn("kill -9 \"$0\"", &build.id().to_string())?;
    let status = loop {
        match build.try_wait().context("cannot wait for `go build`") {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(PAUSE),
            Ok(None) => {
                // Both fail only if the build has ended after all.
                let _ = build.kill();
                let _ = build.wait();
                break Err(anyhow::anyhow!(
                    "`go build` was still running after {} minutes",
                    BUILD_LIMIT.as_secs() / 60
                ));
            }
            Err(error) => break Err(error),
        }
    };
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

/// Upstream's release builds stamp their version this way; without it the programs call themselves v0.0.0.
fn linker_flags(release: Option<&str>) -> String {
    let mut flags = String::from("-s -w");
    let Some(version) = release else { return flags };
    let mut parts = version.trim_start_matches('v').split('.');
    let (major, minor) = (parts.next().unwrap_or("1"), parts.next().unwrap_or("0"));
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

    #[test]
    fn only_programs_of_a_release_are_stamped_with_its_version() {
        assert_eq!(linker_flags(None), "-s -w");
        let flags = linker_flags(Some("v1.32.13"));
        assert!(flags.contains("component-base/version.gitVersion=v1.32.13"));
        assert!(flags.contains("client-go/pkg/version.gitMinor=32"));
    }

    #[test]
    fn a_changed_file_means_another_folder() {
        let recipe = |files| Recipe {
            name: "x",
            about: "x",
            files,
            programs: &[],
            release: None,
        };
        let one = recipe(&[("go.mod", "a")]).folder().unwrap();
        let other = recipe(&[("go.mod", "b")]).folder().unwrap();
        assert_ne!(one, other);
    }
}
