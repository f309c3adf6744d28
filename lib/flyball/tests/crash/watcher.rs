//! A watcher that comes back after every crash and goes on where it was.

use std::collections::BTreeSet;
use std::time::Duration;

use flyball::{Client, Request};
use serde_json::Value;
use tokio::time::timeout;

use super::ledger::{Ledger, PATH};
use crate::Outcome;

const PATIENCE: Duration = Duration::from_secs(60);

/// What a watcher has seen.
#[derive(Default)]
pub(crate) struct Watcher {
    /// The revision of the last event, from which it goes on.
    last: u64,
    seen: BTreeSet<u64>,
    /// Revisions up to this one may have gone by unseen, because it was told 410.
    excused: u64,
    expired: usize,
}

impl Watcher {
    pub(crate) fn events(&self) -> usize {
        self.seen.len()
    }

    pub(crate) fn expired(&self) -> usize {
        self.expired
    }

    /// Watches until the server is gone.
    pub(crate) async fn follow(&mut self, client: &Client) -> Outcome<()> {
        self.watch(client, u64::MAX).await
    }

    /// Watches until it has seen this revision.
    pub(crate) async fn catch_up(&mut self, client: &Client, until: u64) -> Outcome<()> {
        timeout(PATIENCE, self.watch(client, until)).await?
    }

    async fn watch(&mut self, client: &Client, until: u64) -> Outcome<()> {
        while self.last < until {
            let from = self.last;
            let path = format!("{PATH}?watch=1&resourceVersion={from}");
            let mut lines = match client.watch(&path).await {
                Ok(lines) => lines,
                Err(error) if error.code() == 410 => {
                    self.begin_anew(client).await?;
                    continue;
                }
                Err(_) => return Ok(()),
            };
            while self.last < until {
                let Ok(Some(line)) = lines.next().await else {
                    // A line that was cut off ends the stream with an error: nothing was seen.
                    return Ok(());
                };
                let Ok(event) = serde_json::from_slice::<Value>(&line) else {
                    return Ok(());
                };
                if event["type"] == "ERROR" {
                    if event["object"]["code"] != 410 {
                        return Err(format!("the watch ended with {event}").into());
                    }
                    self.begin_anew(client).await?;
                    break;
                }
                self.take(&event)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, event: &Value) -> Outcome<()> {
        let revision = event["object"]["metadata"]["resourceVersion"].as_str();
        let revision: u64 = revision.ok_or("an event without a revision")?.parse()?;
        // Without a revision to go on from, a watch begins with what there is, in any order.
        if self.last != 0 && revision <= self.last {
            let last = self.last;
            return Err(format!("event {revision} comes after {last}").into());
        }
        self.seen.insert(revision);
        self.last = self.last.max(revision);
        Ok(())
    }

    /// It is too late to go on: takes the present state as seen.
    async fn begin_anew(&mut self, client: &Client) -> Outcome<()> {
        let list = client.send(&Request::get(PATH)).await;
        let list = list.map_err(|error| format!("cannot list: {error}"))?;
        let list: Value = serde_json::from_slice(&list)?;
        let revision = list["metadata"]["resourceVersion"].as_str();
        self.last = revision.ok_or("a list without a revision")?.parse()?;
        self.excused = self.last;
        self.expired += 1;
        Ok(())
    }

    /// Every answered write was seen, but for those that it was told it is too late for.
    pub(crate) fn compare(&self, ledger: &Ledger) -> Outcome<()> {
        let answered = ledger.revisions();
        let mut unseen = answered.difference(&self.seen);
        match unseen.find(|revision| **revision > self.excused) {
            Some(revision) => Err(format!("the watch missed revision {revision}").into()),
            None => Ok(()),
        }
    }
}
