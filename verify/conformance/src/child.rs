//! A child process that cannot outlive the harness.
//!
//! Dropping a [`Child`] kills and reaps it. Should the harness itself be killed, a tiny shell that holds the other
//! end of a pipe sees the pipe close and does the same: there is no other way without `unsafe` to tie a child to
//! the life of its parent.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::poll::until;
use crate::usage::Usage;

/// A running program with its output in a log file.
#[derive(Debug)]
pub struct Child {
    name: String,
    process: std::process::Child,
    guard: Guard,
    log: PathBuf,
}

impl Child {
    /// Starts `command` with its output appended to `log`, in a process group of its own so that a Ctrl-C at the
    /// terminal reaches only the harness, which then stops its children in order.
    ///
    /// # Errors
    /// When the program or its guard cannot be started.
    pub fn spawn(name: &str, mut command: Command, log: &Path) -> Result<Self> {
        let output = File::options()
            .create(true)
            .append(true)
            .open(log)
            .with_context(|| format!("cannot open {}", log.display()))?;
        let process = command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {name} ({:?})", command.get_program()))?;
        let guard = Guard::spawn("kill -9 \"$0\"", &process.id().to_string())?;
        Ok(Self {
            name: name.to_owned(),
            process,
            guard,
            log: log.to_path_buf(),
        })
    }

    /// The process id. It stays taken until the exit has been seen through this value.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Sends a signal by name: `KILL`, `TERM`, `STOP`, `CONT`.
    ///
    /// # Errors
    /// When the process has already exited.
    pub fn signal(&mut self, signal: &str) -> Result<()> {
        if let Some(status) = self.exited()? {
            bail!("{} has already exited ({status})", self.name);
        }
        let status = Command::new("kill")
            .arg(format!("-{signal}"))
            .arg(self.pid().to_string())
            .status()
            .context("cannot run `kill`")?;
        if !status.success() {
            bail!("`kill -{signal} {}` failed: {status}", self.pid());
        }
        Ok(())
    }

    /// The exit status, if the process has ended.
    ///
    /// # Errors
    /// When the system refuses to say.
    pub fn exited(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.process.try_wait()?)
    }

    /// Waits for the process to end by itself.
    ///
    /// # Errors
    /// When it is still running after `limit`; the message carries the end of its log.
    pub async fn wait_exit(&mut self, limit: Duration) -> Result<ExitStatus> {
        let what = format!("exit of {} (pid {})", self.name, self.pid());
        let outcome = until(&what, limit, async || self.exited()).await;
        outcome.with_context(|| self.log_tail(20))
    }

    /// CPU and memory so far.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn usage(&self) -> Result<Usage> {
        Usage::of(self.pid())
    }

    /// Where the output goes.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// The last `lines` lines of the output, for error messages.
    #[must_use]
    pub fn log_tail(&self, lines: usize) -> String {
        tail(&self.log, lines)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Both fail only if the process is already gone.
        let _ = self.process.kill();
        let _ = self.process.wait();
        self.guard.release();
    }
}

/// A shell that runs one command when the harness dies without saying goodbye.
#[derive(Debug)]
pub(crate) struct Guard {
    shell: std::process::Child,
}

impl Guard {
    /// `script` sees `argument` as `$0`.
    pub(crate) fn spawn(script: &str, argument: &str) -> Result<Self> {
        let shell = Command::new("sh")
            .args(["-c", &format!("read -r _ || {{ {script}; }}"), argument])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("cannot start the guard shell")?;
        Ok(Self { shell })
    }

    /// Tells the guard that its service is no longer needed.
    pub(crate) fn release(&mut self) {
        if let Some(mut pipe) = self.shell.stdin.take() {
            // A guard that somebody killed needs no farewell.
            let _ = pipe.write_all(b"\n");
        }
        let _ = self.shell.wait();
    }
}

/// The last `lines` lines of a file that may be large, with a heading.
fn tail(path: &Path, lines: usize) -> String {
    const READ_BYTES_MAX: u64 = 64 * 1024;
    let read = || -> std::io::Result<String> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(READ_BYTES_MAX)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    match read() {
        Ok(text) => {
            let all: Vec<&str> = text.lines().collect();
            let last = &all[all.len().saturating_sub(lines)..];
            format!("last lines of {}:\n{}", path.display(), last.join("\n"))
        }
        Err(error) => format!("cannot read {}: {error}", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("flyball-child-{}-{name}.log", std::process::id()))
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[tokio::test]
    async fn output_and_exit_code_are_seen() {
        let log = log("exit");
        let mut child = Child::spawn("sh", shell("echo hello; exit 3"), &log).unwrap();
        let status = child.wait_exit(Duration::from_secs(5)).await.unwrap();
        assert_eq!(status.code(), Some(3));
        assert!(child.log_tail(5).ends_with("hello"));
        std::fs::remove_file(log).unwrap();
    }

    #[tokio::test]
    async fn a_dropped_child_is_gone() {
        let log = log("drop");
        let child = Child::spawn("sh", shell("exec sleep 60"), &log).unwrap();
        let pid = child.pid();
        drop(child);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
        std::fs::remove_file(log).unwrap();
    }

    #[tokio::test]
    async fn a_guard_acts_when_its_pipe_closes_without_a_farewell() {
        let marker = log("guard");
        let mut guard = Guard::spawn(": >\"$0\"", &marker.to_string_lossy()).unwrap();
        drop(guard.shell.stdin.take());
        guard.shell.wait().unwrap();
        assert!(marker.exists());
        std::fs::remove_file(marker).unwrap();
    }
}
