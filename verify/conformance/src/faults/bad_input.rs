//! Wrong flags, files and servers: one clear message, exit code 1, no panic.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use tokio::process::Command;

use super::scene::Scene;
use crate::certificates::Authority;
use crate::cluster::Cluster;
use crate::ports::free_port;

/// The server's start is awaited for ten seconds, as upstream does.
const LIMIT: Duration = Duration::from_secs(25);

/// One mistake: its name, the flags, and what the message must say.
struct Mistake {
    name: &'static str,
    flags: Vec<String>,
    says: Vec<String>,
}

fn mistake(name: &'static str, flags: &[String], says: &[&str]) -> Mistake {
    let says = says.iter().map(|&text| text.to_owned()).collect();
    Mistake {
        name,
        flags: flags.to_vec(),
        says,
    }
}

pub(super) async fn check(scene: &Scene) -> Result<String> {
    let Some(binary) = scene.binary() else {
        return Ok("not asked of Go, whose messages are its own".to_owned());
    };
    let cluster = scene.cluster().await?;
    let mistakes = mistakes(&cluster)?;
    let mut slowest = Duration::ZERO;
    for each in &mistakes {
        let started = Instant::now();
        let said = run(binary, &each.flags)
            .await
            .with_context(|| each.name.to_owned())?;
        slowest = slowest.max(started.elapsed());
        for part in &each.says {
            if !said.contains(part.as_str()) {
                bail!(
                    "{}: the message does not contain {part:?}: {said}",
                    each.name
                );
            }
        }
    }
    Ok(format!(
        "{} mistakes: exit code 1, no panic, each message says what, where and what to do; slowest {:.1} s",
        mistakes.len(),
        slowest.as_secs_f64()
    ))
}

fn mistakes(cluster: &Cluster) -> Result<Vec<Mistake>> {
    let folder = cluster.folder();
    let write = |name: &str, content: &str| -> Result<String> {
        let path = folder.join(name);
        fs::write(&path, content)?;
        Ok(path.display().to_string())
    };
    let good = cluster.manager().kubeconfig().display().to_string();
    let kubeconfig = |path: &str| format!("--kubeconfig={path}");
    let with_good = |flag: &str| vec![kubeconfig(&good), flag.to_owned()];

    let binary_noise = write("noise.kubeconfig", "\u{1}\u{2}: [unclosed")?;
    let no_context = write(
        "no-context.kubeconfig",
        r#"{"apiVersion":"v1","kind":"Config","current-context":"gone"}"#,
    )?;
    let stranger = Authority::create(folder, "stranger-ca")?;
    let wrong_ca = with_authority(cluster, "wrong-ca.kubeconfig", stranger.certificate())?;
    let no_ca = with_authority(
        cluster,
        "no-ca.kubeconfig",
        Path::new("/nonexistent/ca.crt"),
    )?;
    let closed = format!("https://127.0.0.1:{}", free_port()?);
    let unreachable = folder.join("unreachable.kubeconfig");
    cluster.manager().write_kubeconfig(&unreachable, &closed)?;
    let unreachable = unreachable.display().to_string();
    let bad_yaml = write(
        "bad.yaml",
        "apiVersion: kubecontrollermanager.config.k8s.io/v1alpha1\nkind: KubeControllerManagerConfiguration\nGeneric:\n  - a\n b: [\n",
    )?;
    let unknown_key = write(
        "unknown-key.yaml",
        "apiVersion: kubecontrollermanager.config.k8s.io/v1alpha1\nkind: KubeControllerManagerConfiguration\nDeploymentControler:\n  ConcurrentDeploymentSyncs: 3\n",
    )?;

    Ok(vec![
        mistake(
            "no kubeconfig file",
            &[kubeconfig("/nonexistent/kubeconfig")],
            &["--kubeconfig", "/nonexistent/kubeconfig", "No such file"],
        ),
        mistake(
            "kubeconfig is a folder",
            &[kubeconfig(&folder.display().to_string())],
            &["--kubeconfig", &folder.display().to_string()],
        ),
        mistake(
            "kubeconfig is noise",
            &[kubeconfig(&binary_noise)],
            &["noise.kubeconfig"],
        ),
        mistake(
            "kubeconfig without its context",
            &[kubeconfig(&no_context)],
            &["no-context.kubeconfig", "gone"],
        ),
        mistake(
            "authority of another cluster",
            &[kubeconfig(&wrong_ca)],
            &["127.0.0.1", "certificate", "check"],
        ),
        mistake(
            "no authority file",
            &[kubeconfig(&no_ca)],
            &["/nonexistent/ca.crt"],
        ),
        mistake(
            "nobody listens",
            &[kubeconfig(&unreachable)],
            &[&closed, "refused", "check"],
        ),
        mistake(
            "unknown flag",
            &with_good("--concurrent-deploymnt-syncs=3"),
            &[
                "--concurrent-deploymnt-syncs",
                "unknown",
                "--concurrent-deployment-syncs",
            ],
        ),
        mistake(
            "no number",
            &with_good("--concurrent-deployment-syncs=many"),
            &["--concurrent-deployment-syncs", "many"],
        ),
        mistake(
            "no duration",
            &with_good("--leader-elect-lease-duration=15"),
            &["--leader-elect-lease-duration", "15"],
        ),
        mistake(
            "contradictory election",
            &[
                kubeconfig(&good),
                "--leader-elect-lease-duration=5s".to_owned(),
                "--leader-elect-renew-deadline=10s".to_owned(),
            ],
            &[
                "--leader-elect-renew-deadline",
                "--leader-elect-lease-duration",
                "shorter",
            ],
        ),
        mistake(
            "unknown controller",
            &with_good("--controllers=deployment-controler"),
            &[
                "--controllers",
                "deployment-controler",
                "deployment-controller",
                "replicaset-controller",
            ],
        ),
        mistake(
            "port out of range",
            &with_good("--secure-port=70000"),
            &["--secure-port", "70000"],
        ),
        mistake(
            "address of nobody",
            &with_good("--bind-address=not-an-ip"),
            &["--bind-address", "not-an-ip"],
        ),
        mistake(
            "no configuration file",
            &with_good("--config=/nonexistent/config.yaml"),
            &["--config", "/nonexistent/config.yaml", "No such file"],
        ),
        mistake(
            "configuration is no YAML",
            &with_good(&format!("--config={bad_yaml}")),
            &["bad.yaml:", "YAML"],
        ),
        mistake(
            "configuration has an unknown key",
            &with_good(&format!("--config={unknown_key}")),
            &["unknown-key.yaml", "DeploymentControler"],
        ),
        mistake(
            "a word too many",
            &[kubeconfig(&good), "deploy".to_owned()],
            &["deploy"],
        ),
    ])
}

fn with_authority(cluster: &Cluster, name: &str, authority: &Path) -> Result<String> {
    let text = fs::read_to_string(cluster.manager().kubeconfig())?;
    let mut content: serde_json::Value = serde_json::from_str(&text)?;
    content["clusters"][0]["cluster"]["certificate-authority"] = json!(authority);
    let path = cluster.folder().join(name);
    fs::write(&path, content.to_string())?;
    Ok(path.display().to_string())
}

/// Runs to the end; what it said, if it ended as it should.
async fn run(binary: &Path, flags: &[String]) -> Result<String> {
    let mut command = Command::new(binary);
    command.arg("controller-manager").args(flags);
    if !flags.iter().any(|flag| flag.starts_with("--secure-port")) {
        command.arg(format!("--secure-port={}", free_port()?));
    }
    if !flags.iter().any(|flag| flag.starts_with("--bind-address")) {
        command.arg("--bind-address=127.0.0.1");
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(LIMIT, command.output())
        .await
        .with_context(|| format!("still runs after {} s", LIMIT.as_secs()))??;
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    if output.status.code() != Some(1) {
        bail!(
            "ended with {} instead of exit code 1: {said}",
            output.status
        );
    }
    if said.contains("panicked") {
        bail!("a panic: {said}");
    }
    Ok(said)
}
