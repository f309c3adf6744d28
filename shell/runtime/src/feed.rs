//! Feeds informers: carries out what each asks of the server and routes what it learns.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flyball_api::{ApiError, Kind};
use flyball_client::{Client, Request, WatchStream};
use flyball_informer::{Change, Command, Input};
use flyball_plan::Following;
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::{sleep_until, timeout_at};

use crate::caches::{Caches, Slot};
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
    /// Told when something has changed that may bring or take resources.
    pub(crate) resources_moved: Arc<Notify>,
}

impl Feed {
    /// Keeps the cache of one kind up to date, for ever.
    pub(crate) async fn run(self: Arc<Self>, slot: Arc<Slot>) {
        let slot = &*slot;
        let mut command = self.step(slot, Input::Start);
        loop {
            command = self.carry_out(slot, command).await;
        }
    }

    /// Carries out one command and gives back the next.
    async fn carry_out(&self, slot: &Slot, command: Option<Command>) -> Option<Command> {
        match command {
            Some(Command::List(list)) => {
                let request = Request::get(path(slot.kind, &list.query()));
                let request = match slot.partial {
                    true => request.metadata_list(),
                    false => request,
                };
                match self.client.send(&request).await {
                    Ok(page) => self.step(slot, Input::Page(&page)),
                    Err(error) => self.step(slot, Input::Failed(&error)),
                }
            }
            Some(Command::Watch(watch)) => {
                let path = path(slot.kind, &watch.query());
                let opened = match slot.partial {
                    true => self.client.watch_metadata(&path).await,
                    false => self.client.watch(&path).await,
                };
                match opened {
                    Ok(stream) => match self.step(slot, Input::WatchStarted) {
                        None => self.read(slot, stream).await,
                        command => command,
                    },
                    Err(error) => self.step(slot, Input::Failed(&error)),
                }
            }
            // Without a command only the deadline can bring the next one.
            Some(Command::Wait(_)) | None => {
                match slot.deadline() {
                    Some(deadline) => sleep_until(self.clock.instant(deadline)).await,
                    None => std::future::pending().await,
                }
                self.step(slot, Input::Elapsed)
            }
        }
    }

    /// Reads a watch until something else is to be done.
    async fn read(&self, slot: &Slot, mut stream: WatchStream) -> Option<Command> {
        loop {
            let deadline = slot.deadline().unwrap_or(Duration::MAX);
            let line = timeout_at(self.clock.instant(deadline), stream.next()).await;
            let command = match line {
                Err(_) => self.step(slot, Input::Elapsed),
                Ok(Err(error)) => self.step(slot, Input::Failed(&error)),
                Ok(Ok(None)) => self.step(slot, Input::WatchEnded),
                Ok(Ok(Some(first))) => self.take(slot, &first, &mut stream).await,
            };
            if command.is_some() {
                return command;
            }
        }
    }

    /// Takes a line and those that have arrived with it, then routes them together: it spares the
    /// caches a copy and the controllers a turn per line.
    async fn take(&self, slot: &Slot, first: &[u8], stream: &mut WatchStream) -> Option<Command> {
        let mut command = self.only_step(slot, Input::Event(first));
        for _ in 1..LINES_AT_ONCE {
            if command.is_some() {
                break;
            }
            command = match arrived(stream).await {
                Ok(Some(line)) => self.only_step(slot, Input::Event(&line)),
                Ok(None) => break,
                Err(error) => self.only_step(slot, Input::Failed(&error)),
            };
        }
        self.route(slot);
        command
    }

    fn step(&self, slot: &Slot, input: Input<'_>) -> Option<Command> {
        let command = self.only_step(slot, input);
        self.route(slot);
        command
    }

    fn only_step(&self, slot: &Slot, input: Input<'_>) -> Option<Command> {
        let stepped = slot.step(input, self.clock.monotonic());
        if let Some(notice) = stepped.notice {
            tracing::warn!(resource = %slot.kind, err = %notice, "informer");
        }
        stepped.command
    }

    /// Hands what is new to every controller that watches the kind.
    fn route(&self, slot: &Slot) {
        self.loops.listed();
        let mut changes: Vec<Change> = Vec::new();
        loop {
            let snapshot = self.caches.publish(slot, &mut changes);
            if changes.is_empty() {
                return;
            }
            if Following::is_announced_by(slot.kind) && changes.iter().any(|change| !change.resync)
            {
                self.resources_moved.notify_one();
            }
            self.loops.changed(&changes, &snapshot);
            changes.clear();
        }
    }

    /// Delivers every cached object once more, to be routed as if it had just been seen.
    pub(crate) fn resync(&self) {
        for slot in self.caches.slots() {
            slot.resync();
            self.route(&slot);
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
