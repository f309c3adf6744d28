//! Feeds one cache: carries out what the process asks of the server and reports the answers.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use flyball_api::{ApiError, Kind};
use flyball_client::{Request, WatchStream};
use flyball_informer::{Command, Input, Notice};
use flyball_process::{CacheId, Moment, Process};
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::timeout_at;

use crate::shared::Shared;

/// How many lines are read from a watch before what they brought is published.
const LINES_AT_ONCE: usize = 256;

/// The task that feeds one cache.
pub(crate) struct Feed {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: CacheId,
    pub(crate) kind: Kind,
    /// Whether only the metadata of objects is asked for.
    pub(crate) is_partial: bool,
    /// Wakes the task when a command has come.
    pub(crate) mailbox: Arc<Notify>,
}

/// What one look at a watch brought.
enum Portion {
    /// More lines may have arrived by the next turn.
    Open,
    /// Nothing else has arrived, or there are lines enough.
    Complete,
    /// Another command is to be carried out.
    Ended(Command),
}

impl Feed {
    /// Keeps the cache up to date until the task is aborted. A command from the mailbox drops the
    /// request under way.
    pub(crate) async fn run(self) {
        let mut command = None;
        loop {
            let mut work = pin!(self.carry_out(command));
            command = loop {
                tokio::select! {
                    biased;
                    () = self.mailbox.notified() => {
                        let posted = self.shared.take_mail(self.id);
                        if posted.is_some() {
                            break posted;
                        }
                        // It was taken with the last answer.
                    }
                    next = &mut work => break next,
                }
            };
        }
    }

    /// Carries out one command and gives back the next.
    async fn carry_out(&self, command: Option<Command>) -> Option<Command> {
        match command {
            Some(Command::List(list)) => {
                let request = Request::get(path(self.kind, &list.query()));
                let request = match self.is_partial {
                    true => request.metadata_list(),
                    false => request,
                };
                // The reflector decides about `Retry-After`: it also has other things to do. Boxed,
                // here and below, so that a task which reads a watch is small.
                let page = Box::pin(self.shared.informers.send_once(&request));
                match self.in_time(page).await {
                    Ok(Ok(page)) => self.step(Input::Page(&page)),
                    Ok(Err(error)) => self.step(Input::Failed(&error)),
                    Err(command) => Some(command),
                }
            }
            Some(Command::Watch(watch)) => {
                let path = path(self.kind, &watch.query());
                match self.in_time(Box::pin(self.open(&path))).await {
                    Ok(Ok(stream)) => match self.step(Input::WatchStarted) {
                        None => Some(self.read(stream).await),
                        command => command,
                    },
                    Ok(Err(error)) => self.step(Input::Failed(&error)),
                    Err(command) => Some(command),
                }
            }
            // Without a command only the deadline can bring the next one.
            Some(Command::Wait(_)) | None => {
                let nothing = std::future::pending::<std::convert::Infallible>();
                match self.in_time(nothing).await {
                    Ok(never) => match never {},
                    Err(command) => Some(command),
                }
            }
        }
    }

    async fn open(&self, path: &str) -> Result<WatchStream, ApiError> {
        match self.is_partial {
            true => self.shared.informers.watch_metadata(path).await,
            false => self.shared.informers.watch(path).await,
        }
    }

    /// Waits for `work`. Should the deadline of the informer come first, what it then wants is the
    /// error.
    async fn in_time<T>(&self, work: impl Future<Output = T>) -> Result<T, Command> {
        let mut work = pin!(work);
        loop {
            let deadline = self.shared.look(|process, _| process.deadline(self.id));
            let deadline = self.shared.clock.instant(deadline.unwrap_or(Duration::MAX));
            if let Ok(done) = timeout_at(deadline, &mut work).await {
                return Ok(done);
            }
            if let Some(command) = self.step(Input::Elapsed) {
                return Err(command);
            }
        }
    }

    /// Reads a watch until another command is to be carried out.
    async fn read(&self, mut stream: WatchStream) -> Command {
        loop {
            let line = match self.in_time(stream.next()).await {
                Ok(line) => line,
                Err(command) => return command,
            };
            let command = match line {
                Err(error) => self.step(Input::Failed(&error)),
                Ok(None) => self.step(Input::WatchEnded),
                Ok(Some(first)) => self.take(&first, &mut stream).await,
            };
            if let Some(command) = command {
                return command;
            }
        }
    }

    /// Takes a line and those that have arrived with it, then publishes them together. That spares
    /// the caches a copy and the controllers a turn per line.
    async fn take(&self, first: &[u8], stream: &mut WatchStream) -> Option<Command> {
        let (mut first, mut lines) = (Some(first), 0);
        loop {
            let portion = self.shared.feed(self.id, |process, moment| {
                let portion = self.portion(first.take(), &mut lines, stream, process, moment);
                if !matches!(portion, Portion::Open) {
                    process.publish(self.id, moment);
                }
                portion
            });
            match portion {
                // The connection hands over one portion at a time: let it bring the next.
                Ok(Portion::Open) => yield_now().await,
                Ok(Portion::Complete) => return None,
                Ok(Portion::Ended(command)) | Err(command) => return Some(command),
            }
        }
    }

    /// Takes the lines that are there without waiting.
    fn portion(
        &self,
        first: Option<&[u8]>,
        lines: &mut usize,
        stream: &mut WatchStream,
        process: &mut Process,
        moment: &mut Moment<'_>,
    ) -> Portion {
        let mut command = first.and_then(|line| self.feed(process, Input::Event(line), moment));
        let mut is_empty = first.is_none();
        while command.is_none() {
            *lines += 1;
            if *lines >= LINES_AT_ONCE {
                return Portion::Complete;
            }
            command = match stream.ready_line() {
                Ok(Some(line)) => self.feed(process, Input::Event(&line), moment),
                Ok(None) if is_empty => return Portion::Complete,
                Ok(None) => return Portion::Open,
                Err(error) => self.feed(process, Input::Failed(&error), moment),
            };
            is_empty = false;
        }
        command.map_or(Portion::Complete, Portion::Ended)
    }

    /// Gives the informer one input and publishes what it learns.
    fn step(&self, input: Input<'_>) -> Option<Command> {
        let command = self.shared.feed(self.id, |process, moment| {
            let command = self.feed(process, input, moment);
            process.publish(self.id, moment);
            command
        });
        command.unwrap_or_else(Some)
    }

    fn feed(
        &self,
        process: &mut Process,
        input: Input<'_>,
        moment: &mut Moment<'_>,
    ) -> Option<Command> {
        let fed = process.feed(self.id, input, moment);
        if let Some(notice) = fed.notice {
            self.log(&notice);
        }
        fed.command
    }

    fn log(&self, notice: &Notice) {
        let resource = self.kind;
        match notice.problem.is_routine() {
            true => tracing::debug!(%resource, err = %notice, "informer"),
            false => tracing::warn!(%resource, err = %notice, "informer"),
        }
    }
}

/// The path of a collection with a query.
fn path(kind: Kind, query: &[(&'static str, String)]) -> String {
    let mut path = kind.collection_path("");
    for (i, (key, value)) in query.iter().enumerate() {
        path.push(if i == 0 { '?' } else { '&' });
        path.push_str(key);
        path.push('=');
        for byte in value.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    path.push(byte.into());
                }
                _ => path.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_a_query_are_escaped() {
        let kind = Kind::namespaced("apps", "v1", "ReplicaSet", "replicasets");
        let query = [
            ("limit", "500".to_owned()),
            ("continue", "a+/b=".to_owned()),
        ];
        assert_eq!(
            path(kind, &query),
            "/apis/apps/v1/replicasets?limit=500&continue=a%2B%2Fb%3D"
        );
    }
}
