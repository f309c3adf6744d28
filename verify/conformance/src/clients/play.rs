//! Plays a script: each step is a shell in the script's folder, with the clients first on its path.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::script::{ClientScript, Step};
use super::subject::Subject;
use crate::child::Guard;
use crate::poll::until;
use crate::upstream::Tools;

/// More of an output than this is not looked at.
const OUTPUT_BYTES_MAX: u64 = 512 * 1024;

/// What came of a script's steps.
#[derive(Debug)]
pub(super) struct Transcript {
    pub(super) script: String,
    pub(super) steps: Vec<Played>,
    pub(super) took: Duration,
}

/// What came of a step.
#[derive(Debug)]
pub(super) struct Played {
    /// What it ended with; nothing if it had to be ended.
    pub(super) code: Option<i32>,
    /// What it said, on either stream.
    pub(super) output: String,
}

/// Where scripts are played: one server, one set of clients.
#[derive(Debug)]
pub(super) struct Scene {
    folder: PathBuf,
    path: String,
    kubeconfig: PathBuf,
    assets: PathBuf,
}

impl Scene {
    /// A folder with the clients under the names that people give them.
    pub(super) fn prepare(
        subject: &Subject,
        tools: &Tools,
        kubectl: &Path,
        assets: &Path,
    ) -> Result<Self> {
        let folder = subject.folder().to_path_buf();
        let programs = folder.join("bin");
        fs::create_dir_all(&programs)?;
        for (name, program) in [
            ("kubectl", kubectl),
            ("helm3", &tools.helm3),
            ("helm4", &tools.helm4),
            ("informers", &tools.informers),
        ] {
            symlink(program, programs.join(name))
                .with_context(|| format!("cannot link {}", program.display()))?;
        }
        let rest = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        Ok(Self {
            path: format!("{}:{rest}", programs.display()),
            kubeconfig: subject.kubeconfig().to_path_buf(),
            assets: assets.to_path_buf(),
            folder,
        })
    }
}

/// Plays all steps, also after one that went wrong: most say something about themselves only.
pub(super) async fn play(scene: &Scene, script: &ClientScript) -> Result<Vec<Played>> {
    let folder = scene.folder.join(&script.name);
    fs::create_dir_all(&folder)?;
    for (name, text) in &script.files {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)?;
    }
    fs::copy(&scene.kubeconfig, folder.join("kubeconfig"))?;
    let beginning = Step {
        run: "kubectl create namespace \"$NS\"\nkubectl config set-context --current --namespace \"$NS\""
            .to_owned(),
        exit: 0,
        says: Default::default(),
        lacks: Default::default(),
        apart: None,
        seconds: 30,
    };
    let begun = step(scene, script, &beginning, &folder, "beginning").await?;
    if begun.code != Some(0) {
        bail!(
            "{} has no namespace to run in: {}",
            script.name,
            begun.output
        );
    }
    let mut played = Vec::new();
    for (number, one) in script.steps.iter().enumerate() {
        played.push(step(scene, script, one, &folder, &format!("{:03}", number + 1)).await?);
    }
    Ok(played)
}

async fn step(
    scene: &Scene,
    script: &ClientScript,
    step: &Step,
    folder: &Path,
    name: &str,
) -> Result<Played> {
    let log = folder.join(format!("{name}.out"));
    let output = File::options().create(true).append(true).open(&log)?;
    let mut shell = Command::new("sh")
        .args(["-euc", &step.run])
        .current_dir(folder)
        .env("PATH", &scene.path)
        .env("KUBECONFIG", folder.join("kubeconfig"))
        // kubectl keeps what it discovered below its home: shared, a script that runs beside this one
        // would refresh it at any moment.
        .env("HOME", folder)
        .env("NS", &script.name)
        .env("VARIANT", &script.variant)
        .env("ASSETS", &scene.assets)
        .env("TZ", "UTC")
        .env("TERM", "dumb")
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0)
        .spawn()
        .context("cannot start a shell")?;
    let group = shell.id().to_string();
    let mut guard = Guard::spawn("kill -9 -- -\"$0\"", &group)?;
    let limit = Duration::from_secs(step.seconds);
    let ended = until("the step", limit, async || Ok(shell.try_wait()?)).await;
    // Whatever the shell has left behind, or all of it if it did not end, goes now.
    let _ = Command::new("kill")
        .args(["-9", "--", &format!("-{group}")])
        .stderr(Stdio::null())
        .status();
    let _ = shell.wait();
    guard.release();
    Ok(Played {
        code: ended.ok().and_then(|status| status.code()),
        output: beginning_of(&log)?,
    })
}

fn beginning_of(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(OUTPUT_BYTES_MAX)
        .read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
