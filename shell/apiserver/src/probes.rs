//! Probes of the server's health, which are answered also while the registry is busy.

use std::sync::atomic::Ordering;
use std::time::Duration;

use flyball_registry::Registry;
use http::Response;
use tokio::time::timeout;

use crate::asked::Asked;
use crate::authentication::anonymous;
use crate::body::Body;
use crate::health::{self, PROBES};
use crate::server::ApiServer;
use flyball_https::Target;

/// How long a probe waits for the registry to authorize it.
const PATIENCE: Duration = Duration::from_millis(50);

impl ApiServer {
    /// The answer to a probe: the usual one, or what is known without the registry if that takes too long
    /// and every client may see it.
    pub(crate) async fn probed(
        &self,
        target: &Target,
        usual: impl Future<Output = Response<Body>>,
    ) -> Response<Body> {
        let mut usual = std::pin::pin!(usual);
        if let Ok(response) = timeout(PATIENCE, usual.as_mut()).await {
            self.note_public_probes();
            return response;
        }
        match health::page(target, &self.health()) {
            Some(page) if self.public_probes.load(Ordering::Relaxed) => page.respond(),
            _ => usual.await,
        }
    }

    /// Looks whether every client may see the probes, if the registry is not busy.
    fn note_public_probes(&self) {
        if let Some(registry) = self.try_registry() {
            let is_public = are_public(&registry);
            self.public_probes.store(is_public, Ordering::Relaxed);
        }
    }
}

/// Whether a path is that of a probe.
pub(crate) fn is_probe(method: &http::Method, target: &Target) -> bool {
    let root = target.path.split('/').nth(1).unwrap_or_default();
    matches!(*method, http::Method::GET | http::Method::HEAD) && PROBES.contains(&root)
}

/// Whether clients without credentials may see all probes.
pub(crate) fn are_public(registry: &Registry) -> bool {
    let (method, headers, user) = (http::Method::GET, http::HeaderMap::new(), anonymous());
    PROBES.iter().all(|probe| {
        let target = Target {
            path: format!("/{probe}"),
            query: Vec::new(),
        };
        let asked = Asked {
            method: &method,
            headers: &headers,
            target: &target,
            user: &user,
            wanted: None,
        };
        registry.check_access(&asked.request(&[])).is_ok()
    })
}
