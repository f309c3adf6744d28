//! Asks a server which resources it has.
//!
//! What it said is kept with the tags of its documents, which change when a definition or an
//! APIService comes, changes or goes. The server is asked every time, and says no more than that
//! nothing changed if so it is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flyball_api::ApiError;
use flyball_api::discovery::{Discovery, Reading};
use futures::stream::{self, StreamExt};

use crate::{Client, Request};

/// How many versions of groups are asked for at once, where a server does not tell all at once.
const PARTS_AT_ONCE: usize = 8;

const ROOTS: [&str; 2] = ["/api", "/apis"];

/// What a server had when its documents had these tags.
#[derive(Clone)]
pub(crate) struct Known {
    tags: [String; 2],
    found: Arc<Discovery>,
}

impl Client {
    /// What the server has. A group that it cannot tell about is among the failures of the result;
    /// only where it tells nothing at all is the result an error.
    pub async fn discover(&self) -> Result<Arc<Discovery>, ApiError> {
        let known = lock(&self.discovered).clone();
        if let Some(known) = known
            && self.is_still(&known).await?
        {
            return Ok(known.found);
        }
        let all = self.discover_all().await?;
        let found = all.found.clone();
        // Without a tag nobody can say that nothing changed.
        let tagged = all.tags.iter().all(|tag| !tag.is_empty());
        *lock(&self.discovered) = tagged.then_some(all);
        Ok(found)
    }

    /// Whether the documents are still those that are known.
    async fn is_still(&self, known: &Known) -> Result<bool, ApiError> {
        for (root, tag) in ROOTS.into_iter().zip(&known.tags) {
            let request = Request::get(root).discovery().unless(tag);
            if !self.answer(&request).await?.is_known() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn discover_all(&self) -> Result<Known, ApiError> {
        let mut reading = Reading::new();
        let mut parts = Vec::new();
        let mut tags = [const { String::new() }; 2];
        for (root, tag) in ROOTS.into_iter().zip(&mut tags) {
            match self.answer(&Request::get(root).discovery()).await {
                Ok(answer) => {
                    let found = reading.root(&answer.body).map_err(|error| {
                        ApiError::transport(format!("cannot read {root} of the server: {error}"))
                    })?;
                    // What is told in parts has no tag as a whole.
                    if found.is_empty() {
                        *tag = answer.tag;
                    }
                    parts.extend(found);
                }
                // A server of one's own may have but one of the two, or show but one.
                Err(error) if matches!(error.code(), 403 | 404) => {}
                Err(error) => return Err(error),
            }
        }
        let asked = stream::iter(parts).map(|part| async move {
            let answer = self.send(&Request::get(part.path())).await;
            (part, answer)
        });
        let mut asked = asked.buffer_unordered(PARTS_AT_ONCE);
        while let Some((part, answer)) = asked.next().await {
            match answer {
                Ok(body) => reading.part(&part, &body),
                Err(error) => reading.part_failed(&part, error),
            }
        }
        drop(asked);
        Ok(Known {
            tags,
            found: Arc::new(reading.finish()),
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
