//! The account that a pod needs: a moment is given for it to appear.
//!
//! A namespace gets its account from a controller, a moment after it was made. Whoever makes a namespace
//! and at once a pod in it should not have to know that. Upstream:
//! `plugin/pkg/admission/serviceaccount`, which looks up the account ten times.

use std::sync::atomic::Ordering;
use std::time::Duration;

use flyball_registry::Request;
use tokio::time::{Instant, timeout_at};

use crate::server::ApiServer;
use crate::work::Locked;

/// How long an account may take to appear.
const PATIENCE: Duration = Duration::from_millis(1500);

impl ApiServer {
    /// Refuses pods from now on whose service account does not exist: somebody gives every namespace
    /// its account.
    pub fn require_accounts(&self) {
        self.accounts_required.store(true, Ordering::Relaxed);
    }

    /// The registry, as soon as it makes sense to ask it.
    pub(crate) async fn registry_for(&self, request: &Request<'_>) -> Locked {
        let deadline = Instant::now() + PATIENCE;
        let mut news = self.news();
        loop {
            let mut registry = self.registry().await;
            if self.accounts_required.load(Ordering::Relaxed) {
                registry.require_accounts();
            }
            news.mark_unchanged();
            if !registry.awaits_account(request) {
                return registry;
            }
            drop(registry);
            // Nobody commits anything any more, or not in time.
            if !matches!(timeout_at(deadline, news.changed()).await, Ok(Ok(()))) {
                return self.registry().await;
            }
        }
    }
}
