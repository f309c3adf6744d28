//! What becomes of requests when the disk takes no more.
//!
//! The registry is ahead of the disk by what was committed and never became durable. No answer may
//! show that, so it is taken back: the registry goes on at the last durable revision. Reads, reviews
//! and watches are answered as before; a request that would store something is refused.

use flyball_durable::LogError;
use flyball_registry::{Chance, Failure, Registry};
use flyball_storage::{Query, Revision, Store};

use crate::server::{ApiServer, issuer, now, random};
use crate::work::Locked;

impl ApiServer {
    /// The registry, without what the disk did not take.
    pub(crate) async fn registry(&self) -> Locked {
        let mut registry = self.lock_registry().await;
        let durable = {
            let news = self.durable();
            news.failure.is_some().then_some(news.revision)
        };
        if let Some(durable) = durable
            && registry.revision() > durable
        {
            self.take_back(&mut registry, durable);
        }
        registry
    }

    /// Lets the registry go on at an earlier revision. Watches from before it get 410 and list again.
    fn take_back(&self, registry: &mut Registry, to: Revision) {
        let found = registry.store().range(&Query::prefix("").at(to));
        let items = found.map(|page| page.items.into_iter().cloned().collect());
        let items: Vec<_> = match items {
            Ok(items) => items,
            Err(error) => {
                tracing::error!(%error, "the last durable state is not kept any more");
                return;
            }
        };
        let store = match Store::restore(to, items, Registry::limits()) {
            Ok(store) => store,
            Err(error) => {
                tracing::error!(%error, "the last durable state cannot be restored");
                return;
            }
        };
        let lost = registry.revision().0 - to.0;
        tracing::warn!(
            revision = to.0,
            lost,
            "took back what the disk did not take"
        );
        *registry = Registry::new(store);
        let address = self.address();
        registry.issue_with(issuer(self.signer(), address));
        if let Some(address) = address {
            registry.advertise(address, now(), &mut Chance(&mut random));
        }
    }

    /// Whether a revision is durable.
    pub(crate) fn is_durable(&self, revision: Revision) -> bool {
        self.durable().revision >= revision
    }
}

/// The refusal of a request whose changes the disk did not take.
pub(crate) fn not_written(error: &LogError) -> Failure {
    tracing::error!(%error, "not answered: what it is based on is not durable");
    let message = format!("the data could not be written to disk: {error}");
    Failure::new(500, "InternalError", message)
}
