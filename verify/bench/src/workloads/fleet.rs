//! The Deployments that managers work on, and what is done to them.

use anyhow::Result;
use flyball_conformance::{Objects, PatchKind};
use futures::{StreamExt as _, TryStreamExt as _};
use serde_json::{Value, json};

/// Requests of the harness in flight at most.
const CONCURRENCY: usize = 16;

/// Namespaces that the Deployments are spread over.
const NAMESPACES: usize = 10;

/// The image that Deployments start with.
pub(crate) const IMAGE_FIRST: &str = "registry.example.com/shop/checkout:1.42.0";

/// The image they are rolled to.
pub(crate) const IMAGE_SECOND: &str = "registry.example.com/shop/checkout:1.43.0";

/// A number of Deployments of one shape.
#[derive(Clone)]
pub(crate) struct Fleet {
    objects: Objects,
    deployments: usize,
}

impl Fleet {
    pub(crate) fn new(objects: Objects, deployments: usize) -> Self {
        Self {
            objects,
            deployments,
        }
    }

    pub(crate) async fn create_namespaces(&self) -> Result<()> {
        for number in 0..NAMESPACES.min(self.deployments) {
            self.objects.create_namespace(&namespace(number)).await?;
        }
        Ok(())
    }

    pub(crate) async fn create(&self, replicas: usize) -> Result<()> {
        self.each(async |number| {
            let deployment = deployment(number, replicas);
            self.objects
                .create(&namespace(number), &deployment)
                .await
                .map(drop)
        })
        .await
    }

    pub(crate) async fn scale_all(&self, replicas: usize) -> Result<()> {
        self.each(async |number| self.scale(number, replicas).await)
            .await
    }

    pub(crate) async fn scale(&self, number: usize, replicas: usize) -> Result<()> {
        self.patch(number, json!({ "spec": { "replicas": replicas } }))
            .await
    }

    pub(crate) async fn change_image(&self, image: &str) -> Result<()> {
        let containers = json!([{ "name": "web", "image": image }]);
        let patch = json!({ "spec": { "template": { "spec": { "containers": containers } } } });
        self.each(async |number| self.patch(number, patch.clone()).await)
            .await
    }

    async fn patch(&self, number: usize, patch: Value) -> Result<()> {
        let (namespace, name) = (namespace(number), name(number));
        let format = PatchKind::Strategic;
        let patched = self
            .objects
            .patch("Deployment", &namespace, &name, "", format, &patch);
        patched.await.map(drop)
    }

    async fn each(&self, work: impl AsyncFn(usize) -> Result<()>) -> Result<()> {
        futures::stream::iter(0..self.deployments)
            .map(|number| work(number))
            .buffer_unordered(CONCURRENCY)
            .try_collect()
            .await
    }
}

/// The name of a Deployment, which is unique across namespaces.
pub(crate) fn name(number: usize) -> String {
    format!("checkout-{number}")
}

fn namespace(number: usize) -> String {
    format!("bench-{}", number % NAMESPACES)
}

fn deployment(number: usize, replicas: usize) -> Value {
    let labels = json!({ "app.kubernetes.io/name": name(number), "app.kubernetes.io/component": "frontend" });
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": name(number), "labels": labels },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels, "annotations": { "prometheus.io/scrape": "true" } },
                "spec": {
                    "containers": [{
                        "name": "web",
                        "image": IMAGE_FIRST,
                        "ports": [{ "name": "http", "containerPort": 8080 }],
                        "env": [
                            { "name": "LOG_LEVEL", "value": "info" },
                            { "name": "POD_NAME", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } },
                        ],
                        "resources": {
                            "requests": { "cpu": "100m", "memory": "128Mi" },
                            "limits": { "memory": "256Mi" },
                        },
                        "readinessProbe": { "httpGet": { "path": "/ready", "port": "http" } },
                        "volumeMounts": [{ "name": "settings", "mountPath": "/etc/checkout" }],
                    }],
                    "volumes": [{ "name": "settings", "configMap": { "name": "checkout-settings" } }],
                },
            },
        },
    })
}
