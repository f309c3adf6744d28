//! Other people's clients against `flyball up`: kubectl of two releases, helm, client-go's informers.
//!
//! What a client does is data: a script is a list of shell lines with what they must end with and say. Every script
//! runs in a namespace of its own on a fresh plane, and with the newest kubectl also on the reference, which is
//! upstream's kube-apiserver, controller manager and scheduler with our simulated nodes; what both say is compared.

mod judge;
mod plain;
mod play;
mod script;
mod subject;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use futures::{StreamExt as _, TryStreamExt as _};

use crate::upstream::{Tools, Upstream};
use play::Transcript;
pub use script::ClientScript;
use subject::Subject;

/// What to run.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// The flyball binary.
    pub flyball: PathBuf,
    /// The scripts, and the folder of files that they use as `$ASSETS`.
    pub scripts: Vec<ClientScript>,
    /// What the scripts find at `$ASSETS`.
    pub assets: PathBuf,
    /// Run the reference too, and compare.
    pub reference: bool,
    /// How many scripts run at a time.
    pub jobs: usize,
    /// Leave transcripts and logs on disk.
    pub keep_folders: bool,
}

/// What came of one script.
#[derive(Debug)]
pub struct ClientOutcome {
    /// Where it ran and with which kubectl, such as `flyball kubectl v1.32.13`.
    pub on: String,
    /// The script.
    pub script: String,
    /// How many steps were done.
    pub steps: usize,
    /// What was not as it must be.
    pub faults: Vec<String>,
    /// Steps that the reference is known to answer otherwise, with the reason that the script gives.
    pub apart: usize,
    /// How long it took.
    pub took: Duration,
}

/// Runs every script on every subject; `show` is told of each as it is judged. True if nothing was wrong.
///
/// # Errors
/// When a server does not start.
pub async fn run_clients(options: ClientOptions, show: impl Fn(&ClientOutcome)) -> Result<bool> {
    if options.scripts.is_empty() {
        bail!("there is no script to run");
    }
    let tools = tokio::task::spawn_blocking(Tools::ensure).await??;
    let references = if options.reference {
        let subject = Subject::reference(&options, &tools).await?;
        let transcripts = play_all(&options, &tools, &subject, &tools.kubectl).await?;
        subject.end();
        transcripts
    } else {
        Vec::new()
    };
    let mut all_held = true;
    for (kubectl, compared) in [(&tools.kubectl_old, false), (&tools.kubectl, true)] {
        let subject = Subject::plane(&options).await?;
        let transcripts = play_all(&options, &tools, &subject, kubectl).await?;
        let version = if compared {
            Upstream::version()?
        } else {
            Tools::old_version()?
        };
        for (script, ours) in options.scripts.iter().zip(&transcripts) {
            let theirs = references
                .iter()
                .find(|theirs| compared && theirs.script == script.name);
            let verdict = judge::judge(script, ours, theirs);
            all_held &= verdict.faults.is_empty();
            show(&ClientOutcome {
                on: format!("flyball, kubectl {version}"),
                script: script.name.clone(),
                steps: ours.steps.len(),
                faults: verdict.faults,
                apart: verdict.apart,
                took: ours.took,
            });
        }
        subject.end();
    }
    Ok(all_held)
}

/// Plays all scripts, some at a time; the transcripts are in the order of the scripts.
async fn play_all(
    options: &ClientOptions,
    tools: &Tools,
    subject: &Subject,
    kubectl: &Path,
) -> Result<Vec<Transcript>> {
    let scene = play::Scene::prepare(subject, tools, kubectl, &options.assets)?;
    let playing = options.scripts.iter().map(async |script| {
        let began = Instant::now();
        let steps = play::play(&scene, script).await?;
        anyhow::Ok(Transcript {
            script: script.name.clone(),
            steps,
            took: began.elapsed(),
        })
    });
    futures::stream::iter(playing)
        .buffered(options.jobs.max(1))
        .try_collect()
        .await
}
