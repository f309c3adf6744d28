//! Leaves out of the requests before a difference what is not needed for it.

use anyhow::Result;

use super::Run;
use super::replay::{Asked, Trail};
use super::request::Request;

impl Run<'_> {
    /// The requests before the last without which there would be no difference.
    pub(super) async fn shrink(&mut self, trail: &Trail<'_>) -> Result<Vec<Request>> {
        let mut kept: Vec<&Asked> = trail.before.iter().collect();
        for at in (1..trail.before.len()).rev() {
            let mut fewer = kept.clone();
            fewer.remove(at);
            // With one request less each time.
            let replayed = self.replay(trail, &fewer, &format!("r{at}")).await?;
            if replayed.agreed && !replayed.differences.is_empty() {
                kept = fewer;
            }
        }
        let needed = kept.into_iter().skip(1);
        Ok(needed.map(|asked| asked.request.clone()).collect())
    }
}
