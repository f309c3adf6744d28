//! Steady work for a leader: Deployments that are scaled up and down without pause.

use std::time::Duration;

use anyhow::Result;
use tokio::task::JoinHandle;

use super::workload::{deployment, plain_template, scale};
use crate::objects::Objects;

/// The namespace the load is in.
pub(super) const NAMESPACE: &str = "load";

const DEPLOYMENTS: usize = 10;
const PAUSE: Duration = Duration::from_millis(50);

/// A running load. Dropping it ends it.
pub(super) struct Load {
    task: JoinHandle<()>,
}

impl Load {
    /// Makes the Deployments and begins to scale them.
    pub(super) async fn start(objects: Objects) -> Result<Self> {
        objects.create_namespace(NAMESPACE).await?;
        for number in 0..DEPLOYMENTS {
            let object = deployment(&format!("load-{number}"), 2, &plain_template());
            objects.create(NAMESPACE, &object).await?;
        }
        let task = tokio::spawn(async move {
            for round in 0_usize.. {
                let name = format!("load-{}", round % DEPLOYMENTS);
                let replicas = 1 + (round / DEPLOYMENTS) % 4;
                // A server that refuses once gets the next change soon.
                let _ = scale(&objects, NAMESPACE, &name, replicas).await;
                tokio::time::sleep(PAUSE).await;
            }
        });
        Ok(Self { task })
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.task.abort();
    }
}
