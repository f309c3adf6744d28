//! Feeds informers: carries out what each asks of the server and routes what it learns.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flyball_api::{ApiError, Kind};
use flyball_client::{Client, Request, WatchStream};
use flyball_informer::{Change, Command, Input};
use tokio::task::yield_now;
use tokio::time::{sleep_until, timeout_at};

use crate::caches::Caches;
use crate::clock::Clock;
use crate::loops::Loops;

/// How many lines are read from a watch before what they brought is routed.
const LINES_AT_ONCE: usize = 256;

/// Everything that feeding one kind needs.
pub(crate) struct Feed {
    pub(crate) caches: Arc<Caches>,
    pub(crate) loops: Arc<Loops>,
    pub(crate) client: Client,
    pub(crate) clock: Clock,
}

impl Feed {
    /// Keeps the cache of one kind up to date, for ever.
    pub(crate) async fn run(self: Arc<Self>, at: usize, kind: Kind) {
        let mut command = self.step(at, kind, Input::Start);
        loop {
            command = self.carry_out(at, kind, command).await;
        }
    }

    /// Carries out one command and gives back the next.
    async fn carry_out(&self, at: usize, kind: Kind, command: Option<Command>) -> Option<Command> {
        match command {
            Some(Command::List(list)) => {
                let request = Request::get(path(kind, &list.query()));
                match self.client.send(&request).await {
                    Ok(page) => self.step(at, kind, Input::Page(&page)),
                    Err(error) => self.step(at, kind, Input::Failed(&error)),
                }
            }
            Some(Command::Watch(watch)) => {
                match self.client.watch(&path(kind, &watch.query())).await {
                    Ok(stream) => match self.step(at, kind, Input::WatchStarted) {
                        None => self.read(at, kind, stream).await,
                        command => command,
                    },
                    Err(error) => self.step(at, kind, Input::Failed(&error)),
                }
            }
            // Without a command only the deadline can bring the next one.
            Some(Command::Wait(_)) | None => {
                match self.caches.deadline(at) {
                    Some(deadline) => sleep_until(self.clock.instant(deadline)).await,
                    None => std::future::pending().await,
                }
                self.step(at, kind, Input::Elapsed)
            }
        }
    }

    /// Reads a watch until something else is to be done.
    async fn read(&self, at: usize, kind: Kind, mut stream: WatchStream) -> Option<Command> {
        loop {
            let deadline = self.caches.deadline(at).unwrap_or(Duration::MAX);
            let line = timeout_at(self.clock.instant(deadline), stream.next()).await;
            let command = match line {
                Err(_) => self.step(at, kind, Input::Elapsed),
                Ok(Err(error)) => self.step(at, kind, Input::Failed(&error)),
                Ok(Ok(None)) => self.step(at, kind, Input::WatchEnded),
                Ok(Ok(Some(first))) => self.take(at, kind, &first, &mut stream).await,
            };
            if command.is_some() {
                return command;
            }
        }
    }

    /// Takes a line and those that have arrived with it, then routes them together: it spares the
    /// caches a copy and the controllers a turn per line.
    async fn take(
        &self,
        at: usize,
        kind: Kind,
        first: &[u8],
        stream: &mut WatchStream,
    ) -> Option<Command> {
        let mut command = self.only_step(at, kind, Input::Event(first));
        for _ in 1..LINES_AT_ONCE {
            if command.is_some() {
                break;
            }
            command = match arrived(stream).await {
                Ok(Some(line)) => self.only_step(at, kind, Input::Event(&line)),
                Ok(None) => break,
                Err(error) => self.only_step(at, kind, Input::Failed(&error)),
            };
        }
        self.route(at);
        command
    }

    fn step(&self, at: usize, kind: Kind, input: Input<'_>) -> Option<Command> {
        let command = self.only_step(at, kind, input);
        self.route(at);
        command
    }

    fn only_step(&self, at: usize, kind: Kind, input: Input<'_>) -> Option<Command> {
        let stepped = self.caches.step(at, input, self.clock.monotonic());
        if let Some(notice) = stepped.notice {
            tracing::warn!(resource = %kind, err = %notice, "informer");
        }
        stepped.command
    }

    /// Hands what is new to every controller that watches the kind.
    fn route(&self, at: usize) {
        let mut changes: Vec<Change> = Vec::new();
        loop {
            let snapshot = self.caches.publish(at, &mut changes);
            if changes.is_empty() {
                return;
            }
            self.loops.changed(&changes, &snapshot);
            changes.clear();
        }
    }

    /// Delivers every cached object once more, to be routed as if it had just been seen.
    pub(crate) fn resync(&self) {
        for at in 0..self.caches.kinds().count() {
            self.caches.resync(at);
            self.route(at);
        }
    }
}

/// A line that has arrived, without waiting for one that has not.
async fn arrived(stream: &mut WatchStream) -> Result<Option<Bytes>, ApiError> {
    match stream.ready_line() {
        Ok(None) => {
            // Whoever reads the socket hands over one portion at a time: let it bring the next.
            yield_now().await;
            stream.ready_line()
        }
        line => line,
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
