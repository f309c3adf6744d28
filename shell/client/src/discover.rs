//! Asks a server which resources it has.

use flyball_api::ApiError;
use flyball_api::discovery::{Discovery, Reading};
use futures::stream::{self, StreamExt};

use crate::{Client, Request};

/// How many versions of groups are asked for at once, where a server does not tell all at once.
const PARTS_AT_ONCE: usize = 8;

impl Client {
    /// What the server has. A group that it cannot tell about is among the failures of the result;
    /// only where it tells nothing at all is the result an error.
    pub async fn discover(&self) -> Result<Discovery, ApiError> {
        let mut reading = Reading::new();
        let mut parts = Vec::new();
        for root in ["/api", "/apis"] {
            match self.send(&Request::get(root).discovery()).await {
                Ok(body) => parts.extend(reading.root(&body).map_err(|error| {
                    ApiError::transport(format!("cannot read {root} of the server: {error}"))
                })?),
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
        Ok(reading.finish())
    }
}
