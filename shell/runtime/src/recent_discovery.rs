//! What the server was last found to have, shared by syncs that ask at about the same time.

use std::sync::Arc;
use std::time::Duration;

use flyball_api::ApiError;
use flyball_api::discovery::Discovery;
use flyball_client::Client;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// The last discovery; cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct RecentDiscovery(Arc<Mutex<Option<Found>>>);

/// What was found, and when the server was asked.
struct Found {
    asked: Instant,
    what: Arc<Discovery>,
}

impl RecentDiscovery {
    /// What the server has, or had if that was asked no longer than `age_max` ago. Whoever asks
    /// while somebody else does gets the same answer, if it is new enough.
    pub(crate) async fn get(
        &self,
        client: &Client,
        age_max: Duration,
    ) -> Result<Arc<Discovery>, ApiError> {
        let mut last = self.0.lock().await;
        if let Some(found) = &*last
            && found.asked.elapsed() <= age_max
        {
            return Ok(found.what.clone());
        }
        let asked = Instant::now();
        let what = Arc::new(client.discover().await?);
        *last = Some(Found {
            asked,
            what: what.clone(),
        });
        Ok(what)
    }
}
