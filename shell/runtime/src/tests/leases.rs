//! A server that keeps one Lease: reads, conditional writes, and watches that tell of them.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::api::{Answer, Api, Asked, status};

pub(super) const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/flyball";

/// The Lease as it is.
#[derive(Default)]
pub(super) struct Lease {
    pub(super) object: Option<Value>,
    version: u64,
    /// How many replacements were asked for.
    pub(super) puts: usize,
    watchers: Vec<mpsc::UnboundedSender<std::io::Result<bytes::Bytes>>>,
}

pub(super) type Kept = Arc<Mutex<Lease>>;

impl Lease {
    pub(super) fn holder(&self) -> String {
        let holder = self
            .object
            .as_ref()
            .map(|lease| &lease["spec"]["holderIdentity"]);
        holder
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    }

    /// Stores a state as the server would and tells whoever watches.
    pub(super) fn store(&mut self, mut lease: Value) -> Value {
        self.version += 1;
        lease["metadata"]["resourceVersion"] = self.version.to_string().into();
        lease["metadata"]["uid"] = "lease-uid".into();
        self.object = Some(lease.clone());
        let line = format!("{}\n", json!({"type": "MODIFIED", "object": lease}));
        self.watchers
            .retain(|watcher| watcher.send(Ok(line.clone().into())).is_ok());
        lease
    }

    pub(super) fn serve(&mut self, asked: &Asked) -> Answer {
        self.puts += usize::from(asked.method == "PUT");
        if asked.path.contains("watch=true") {
            let (sender, receiver) = mpsc::unbounded_channel();
            if let Some(lease) = &self.object {
                let line = format!("{}\n", json!({"type": "ADDED", "object": lease}));
                sender.send(Ok(line.into())).unwrap();
            }
            self.watchers.push(sender);
            return Answer::Lines(receiver);
        }
        match (asked.method.as_str(), &self.object) {
            ("GET", Some(lease)) => Answer::Is(200, lease.to_string()),
            ("GET" | "PUT", None) => status(404, "NotFound"),
            ("POST", Some(_)) => status(409, "AlreadyExists"),
            ("PUT", Some(lease))
                if lease["metadata"]["resourceVersion"]
                    != asked.json()["metadata"]["resourceVersion"] =>
            {
                status(409, "Conflict")
            }
            _ => Answer::Is(200, self.store(asked.json()).to_string()),
        }
    }
}

/// A server that keeps `lease`; what is not about Leases is answered by `other`.
pub(super) fn serving(
    lease: &Kept,
    other: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
) -> Api {
    let lease = lease.clone();
    Api::new(move |_, asked| {
        if asked.path.contains("/leases") {
            lease.lock().unwrap().serve(asked)
        } else {
            other(asked)
        }
    })
}
