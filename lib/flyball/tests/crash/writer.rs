//! A writer: creates, replaces and deletes objects of its own, one after the other.

use std::sync::Arc;

use flyball::{ApiError, Client, Method, Request};
use serde_json::Value;

use super::ledger::{Ledger, PATH, object};
use crate::Outcome;

/// How many objects a writer has.
const OBJECTS: u64 = 5;

/// Every so many writes of an object, it is deleted.
const LIFE: u64 = 7;

/// Writes until the server is gone; a refusal is an error.
pub(crate) async fn write_on(number: usize, client: Client, ledger: Arc<Ledger>) -> Outcome<()> {
    for turn in 0_u64.. {
        let name = format!("w{number}-{}", turn % OBJECTS);
        let (there, revision) = ledger.last(&name);
        // Versions go on counting after a delete: the revision is larger than any of them.
        let next = there.map_or(revision + 1, |version| version + 1);
        let path = format!("{PATH}/{name}");
        let (request, version) = match there {
            None => {
                let body = object(&name, next, None).to_string();
                (Request::with(Method::Post, PATH, body), Some(next))
            }
            Some(_) if next.is_multiple_of(LIFE) => (Request::with(Method::Delete, path, ""), None),
            Some(_) => {
                let body = object(&name, next, Some(revision)).to_string();
                (Request::with(Method::Put, path, body), Some(next))
            }
        };
        ledger.sending(&name, version);
        let answer = match client.send(&request).await {
            Ok(body) => serde_json::from_slice::<Value>(&body)?,
            Err(error) if is_lost(&error) => return Ok(()),
            Err(error) => return Err(format!("{name} to {version:?}: {error}").into()),
        };
        let shown = match version {
            Some(_) => {
                let shown = answer["metadata"]["resourceVersion"].as_str();
                Some(shown.ok_or("an answer without a revision")?.parse()?)
            }
            None => None,
        };
        ledger.answered_with(&name, version, shown)?;
    }
    Ok(())
}

/// Whether there was no answer at all.
fn is_lost(error: &ApiError) -> bool {
    error.code() == 0
}
