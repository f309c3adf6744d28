//! `flyball up`: a whole control plane in this process.

mod flags;
mod folder;
mod kubeconfig;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use flyball::{CONTROLLERS, Part, Plane, PlaneFailed, PlaneOptions};
use flyball_runtime::{LoopThread, TURNS_WITHIN, event_loop};

use super::signals::Signals;
use super::words::{self, Asked};
use flags::Flags;
use kubeconfig::Kubeconfig;

/// How long the parts may take to fill their caches before that is worth a word.
const SYNC_PATIENCE: Duration = Duration::from_secs(10);

/// Parses the words and runs until told to stop.
pub(super) fn run(words: &[String]) -> anyhow::Result<Option<String>> {
    let matches = match words::read(flags::command_line(), words)? {
        Asked::Print(text) => return Ok(Some(text)),
        Asked::Run(matches) => matches,
    };
    let flags = Flags::of(&matches)?;
    let runtime = event_loop(TURNS_WITHIN).context("cannot start the asynchronous runtime")?;
    let server = LoopThread::start("flyball-server", TURNS_WITHIN)
        .context("cannot start a thread for the server")?;
    runtime.block_on(up(&flags, &server))?;
    // Whatever a thread is still busy with is not worth waiting for.
    runtime.shutdown_background();
    Ok(None)
}

async fn up(flags: &Flags, server: &LoopThread) -> anyhow::Result<()> {
    let mut stopped = Signals::new()?;
    let voice = Voice {
        started: Instant::now(),
    };
    let mut plane = tokio::select! {
        started = start(flags, server, &voice) => started?,
        () = stopped.asked() => return Ok(()),
    };
    let kubeconfig = Kubeconfig::write(flags, &plane)?;
    let mut run = async || -> anyhow::Result<()> {
        start_parts(&mut plane, &voice)?;
        match synced(&plane).await {
            true => voice.tell("everything is ready"),
            false => voice.tell("some caches are not filled yet; -v=2 says why"),
        }
        say(&next_steps(kubeconfig.path()));
        std::future::pending().await
    };
    tokio::select! {
        ended = run() => ended?,
        () = stopped.asked() => {}
    }
    say("\nstopping; a second signal stops at once\n");
    tokio::select! {
        () = plane.stop() => {}
        () = stopped.asked() => say("stopped at once\n"),
    }
    kubeconfig.forget();
    Ok(())
}

/// Opens the store and the socket; nothing but the server runs yet.
async fn start(flags: &Flags, server: &LoopThread, voice: &Voice) -> anyhow::Result<Plane> {
    let kept = match &flags.data {
        Some(folder) if folder::was_used(folder) => {
            format!("state in {}, continued", folder.display())
        }
        Some(folder) => format!("state in {}", folder.display()),
        None => "state in memory only".to_owned(),
    };
    warn_of_exposure(flags.listen);
    let wanted = |name: &&str| flags.controllers.enabled(name);
    let names = CONTROLLERS.iter().map(|entry| entry.descriptor.name);
    let options = PlaneOptions {
        data: flags.data.clone(),
        listen: Some(flags.listen),
        nodes: flags.nodes,
        parts: Vec::new(),
        controllers: names.clone().filter(wanted).map(str::to_owned).collect(),
        event_ttl: flags.event_ttl,
        server_on: Some(server.handle()),
    };
    let built: Vec<&str> = names.collect();
    for name in flags.controllers.not_built(&built, |_| false) {
        // What only `*` asks for is not worth a word at each start.
        if flags.controllers.names(name) {
            tracing::warn!("controller {name} is not built into this program yet and does not run");
        }
    }
    let plane = Plane::start_with(options).await.map_err(advised)?;
    let address = plane.address().context("the plane does not listen")?;
    voice.tell(&format!("API server on https://{address}, {kept}"));
    if let Some(cut) = plane.cut() {
        voice.tell(&format!("warning: {cut}"));
    }
    Ok(plane)
}

/// Says what to do about it, where that is a matter of flags.
fn advised(failed: PlaneFailed) -> anyhow::Error {
    let advice = match &failed {
        PlaneFailed::Listen { source, .. } => match source.kind() {
            std::io::ErrorKind::AddrInUse => {
                "another program uses it; stop that one, or choose another address with --listen (port 0 takes a free one)"
            }
            std::io::ErrorKind::PermissionDenied => {
                "ports below 1024 are for the administrator; choose another with --listen"
            }
            _ => "name an address of this machine with --listen",
        },
        PlaneFailed::Nodes(_) => "choose another number with --nodes",
        PlaneFailed::Folder { .. } => "choose another with --data-dir, or use --ephemeral",
        _ => return failed.into(),
    };
    anyhow::anyhow!("{failed}: {advice}")
}

fn warn_of_exposure(listen: SocketAddr) {
    if !listen.ip().is_loopback() {
        tracing::warn!(
            address = %listen,
            "listening beyond this machine: whoever holds the kubeconfig may do anything; \
             without --listen it stays on 127.0.0.1"
        );
    }
}

fn start_parts(plane: &mut Plane, voice: &Voice) -> anyhow::Result<()> {
    for part in Part::ALL {
        plane.switch_on(part)?;
        let what = match part {
            Part::Controllers => match plane.controllers().as_slice() {
                [] => "no controllers".to_owned(),
                names => format!("controllers: {}", names.join(", ")),
            },
            Part::Scheduler => "scheduler".to_owned(),
            Part::Nodes => format!("simulated nodes: {}", plane.nodes()),
        };
        voice.tell(&what);
    }
    Ok(())
}

/// Tells what is starting, with the time since the start.
struct Voice {
    started: Instant,
}

impl Voice {
    fn tell(&self, what: &str) {
        let seconds = self.started.elapsed().as_secs_f64();
        say(&format!("{seconds:>7.3} s  {what}\n"));
    }
}

/// Prints. That nobody reads it is no reason to stop.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// Waits until every part has seen the state, for a while.
async fn synced(plane: &Plane) -> bool {
    let until = Instant::now() + SYNC_PATIENCE;
    let mut tick = tokio::time::interval(Duration::from_millis(5));
    while !plane.is_synced() {
        if Instant::now() > until {
            return false;
        }
        tick.tick().await;
    }
    true
}

fn next_steps(kubeconfig: &Path) -> String {
    let path = kubeconfig.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:".contains(c);
    let path = match path.chars().all(plain) {
        true => path,
        false => format!("'{}'", path.replace('\'', r"'\''")),
    };
    format!(
        "
  export KUBECONFIG={path}
  kubectl get nodes
  kubectl create deployment web --image=nginx --replicas=3
  kubectl get pods --watch

Ctrl-C stops it.
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_odd_characters_is_quoted_for_the_shell() {
        let line = |path: &str| {
            next_steps(Path::new(path))
                .lines()
                .nth(1)
                .map(str::to_owned)
        };
        let want = |text: &str| Some(format!("  export KUBECONFIG={text}"));
        assert_eq!(line("/a/b-c.d"), want("/a/b-c.d"));
        assert_eq!(line("/my data/k"), want("'/my data/k'"));
        assert_eq!(line("/it's"), want(r"'/it'\''s'"));
    }
}
