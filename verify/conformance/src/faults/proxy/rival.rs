//! Another writer, who changes an object just before a write of the manager reaches it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result};
use http::{Method, Request, header};
use kube::client::Body;
use serde_json::json;

/// Changes the objects of one resource, so that writes to them meet a conflict.
#[derive(Debug, Clone)]
pub(crate) struct Rival {
    resource: &'static str,
    changes: Arc<AtomicUsize>,
    changes_max: usize,
}

impl Rival {
    /// A writer who is ahead of the next `changes_max` writes to objects of `resource`.
    pub(crate) fn of(resource: &'static str, changes_max: usize) -> Self {
        Self {
            resource,
            changes: Arc::default(),
            changes_max,
        }
    }

    /// How many writes it was ahead of.
    pub(crate) fn changes(&self) -> usize {
        self.changes.load(Ordering::Relaxed).min(self.changes_max)
    }

    /// Changes the object that a request of the manager is about to write.
    pub(super) async fn act(
        &self,
        client: &kube::Client,
        method: &Method,
        resource: &str,
        path: &str,
    ) -> Result<()> {
        if resource != self.resource || !matches!(*method, Method::PUT | Method::PATCH) {
            return Ok(());
        }
        let change = self.changes.fetch_add(1, Ordering::Relaxed);
        if change >= self.changes_max {
            return Ok(());
        }
        // A label, because controllers copy annotations to what they own.
        let patch = json!({ "metadata": { "labels": { "rival": change.to_string() } } });
        let request = Request::patch(object_path(path, resource))
            .header(header::CONTENT_TYPE, "application/merge-patch+json")
            .body(Body::from(patch.to_string().into_bytes()))?;
        let answer = client.send(request).await?;
        let status = answer.status();
        status
            .is_success()
            .then_some(())
            .with_context(|| format!("the rival's change answers {status}"))
    }
}

/// The path of the object itself, without a subresource.
fn object_path<'a>(path: &'a str, resource: &str) -> &'a str {
    let marker = format!("/{resource}/");
    let Some(at) = path.find(&marker) else {
        return path;
    };
    let name = at + marker.len();
    match path[name..].find('/') {
        Some(end) => &path[..name + end],
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_is_changed_whatever_part_of_it_is_written() {
        let web = "/apis/apps/v1/namespaces/a/deployments/web";
        assert_eq!(object_path(web, "deployments"), web);
        let status = format!("{web}/status");
        assert_eq!(object_path(&status, "deployments"), web);
    }
}
