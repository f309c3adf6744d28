//! A watch of the harness's own: every event of a collection in order, however often the server ends the watch.

use anyhow::Result;
use futures::AsyncBufReadExt as _;
use http::Request;
use kube::Client;
use serde::Deserialize;
use tokio::task::JoinHandle;

use crate::cluster::Cluster;

/// What a watch tells.
pub(super) enum Told {
    /// An object is as this says.
    Is(Metadata),
    /// An object is gone; this is how it was last.
    Gone(Metadata),
    /// The watch is lost, and nothing more will be told.
    Lost(String),
}

/// What is told of an object.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Metadata {
    pub(super) name: String,
    pub(super) uid: String,
    resource_version: String,
    pub(super) deletion_timestamp: Option<String>,
    pub(super) owner_references: Vec<Owner>,
}

/// An owner, as its dependent names it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Owner {
    pub(super) uid: String,
}

/// A running watch. Dropping it ends it.
pub(super) struct Following {
    task: JoinHandle<()>,
}

impl Following {
    /// Follows a collection from what it holds now.
    pub(super) async fn start(
        cluster: &Cluster,
        collection: &str,
        mut tell: impl FnMut(Told) + Send + 'static,
    ) -> Result<Self> {
        let client = cluster.admin().client().await?;
        let path = format!("{collection}?watch=true&resourceVersion=");
        let task = tokio::spawn(async move {
            // The server ends watches of readers that are slow for a moment: the next begins where the last ended.
            let mut version = "0".to_owned();
            loop {
                if let Err(error) = follow(&client, &path, &mut version, &mut tell).await {
                    return tell(Told::Lost(format!("{error:#}")));
                }
            }
        });
        Ok(Self { task })
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    object: Object,
}

#[derive(Deserialize)]
struct Object {
    #[serde(default)]
    metadata: Metadata,
}

async fn follow(
    client: &Client,
    path: &str,
    version: &mut String,
    tell: &mut impl FnMut(Told),
) -> Result<()> {
    let request = Request::get(format!("{path}{version}")).body(Vec::new())?;
    let mut stream = client.request_stream(request).await?;
    let mut line = Vec::new();
    while stream.read_until(b'\n', &mut line).await? > 0 {
        let Event { kind, object } = serde_json::from_slice(&line)?;
        version.clone_from(&object.metadata.resource_version);
        match kind.as_str() {
            "ADDED" | "MODIFIED" => tell(Told::Is(object.metadata)),
            "DELETED" => tell(Told::Gone(object.metadata)),
            _ => anyhow::bail!("{}", String::from_utf8_lossy(&line)),
        }
        line.clear();
    }
    Ok(())
}
