//! A watch of the harness's own: every event of a collection in order, however often the server ends the watch.

use anyhow::Result;
use futures::AsyncBufReadExt as _;
use http::Request;
use kube::Client;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::cluster::Cluster;

/// What a watch tells.
pub(crate) enum Told<T> {
    /// An object is as this says.
    Is(T),
    /// An object is gone; this is how it was last.
    Gone(T),
    /// The watch is lost, and nothing more will be told.
    Lost(String),
}

/// As much of an object as a follower wants to know.
pub(crate) trait Followed: DeserializeOwned + Send {
    /// The version at which it was told.
    fn version(&self) -> &str;
}

/// The whole of it.
impl Followed for Value {
    fn version(&self) -> &str {
        let version = self.pointer("/metadata/resourceVersion");
        version.and_then(Self::as_str).unwrap_or_default()
    }
}

/// Who it is and whose, and nothing else.
#[derive(Deserialize)]
pub(crate) struct Object {
    #[serde(default)]
    pub(crate) metadata: Metadata,
}

impl Followed for Object {
    fn version(&self) -> &str {
        &self.metadata.resource_version
    }
}

/// What is told of an object.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Metadata {
    pub(crate) name: String,
    pub(crate) uid: String,
    resource_version: String,
    pub(crate) deletion_timestamp: Option<String>,
    pub(crate) owner_references: Vec<Owner>,
}

/// An owner, as its dependent names it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Owner {
    pub(crate) uid: String,
}

/// A running watch. Dropping it ends it.
pub(crate) struct Following {
    task: JoinHandle<()>,
}

impl Following {
    /// Follows a collection from what it holds now.
    pub(crate) async fn start<T: Followed>(
        cluster: &Cluster,
        collection: &str,
        mut tell: impl FnMut(Told<T>) + Send + 'static,
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
struct Event<T> {
    #[serde(rename = "type")]
    kind: String,
    object: T,
}

async fn follow<T: Followed>(
    client: &Client,
    path: &str,
    version: &mut String,
    tell: &mut impl FnMut(Told<T>),
) -> Result<()> {
    let request = Request::get(format!("{path}{version}")).body(Vec::new())?;
    let mut stream = client.request_stream(request).await?;
    let mut line = Vec::new();
    while stream.read_until(b'\n', &mut line).await? > 0 {
        let event: Event<T> = serde_json::from_slice(&line)?;
        event.object.version().clone_into(version);
        match event.kind.as_str() {
            "ADDED" | "MODIFIED" => tell(Told::Is(event.object)),
            "DELETED" => tell(Told::Gone(event.object)),
            _ => anyhow::bail!("{}", String::from_utf8_lossy(&line)),
        }
        line.clear();
    }
    Ok(())
}
