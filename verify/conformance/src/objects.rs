//! Dynamic objects over kube's client: paths by kind, JSON values in and out.
//!
//! The harness compares what servers hold, so it must not lose a field to a type: everything is a
//! [`serde_json::Value`].

use anyhow::{Context as _, Result, bail};
use http::{Method, Request};
use kube::Client;
use serde_json::{Value, json};

/// What dependents of a deleted object become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
pub enum Propagation {
    /// They go after their owner, by the garbage collector.
    Background,
    /// They go before their owner.
    Foreground,
    /// They stay, without the owner reference.
    Orphan,
}

impl Propagation {
    fn policy(self) -> &'static str {
        match self {
            Self::Background => "Background",
            Self::Foreground => "Foreground",
            Self::Orphan => "Orphan",
        }
    }
}

/// The patch formats of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchKind {
    /// `application/merge-patch+json`
    Merge,
    /// `application/strategic-merge-patch+json`
    Strategic,
    /// `application/json-patch+json`
    Json,
}

impl PatchKind {
    fn content_type(self) -> &'static str {
        match self {
            Self::Merge => "application/merge-patch+json",
            Self::Strategic => "application/strategic-merge-patch+json",
            Self::Json => "application/json-patch+json",
        }
    }
}

/// The kinds the harness speaks of: kind, path prefix, plural.
const KINDS: &[(&str, &str, &str)] = &[
    (
        "ClusterRoleBinding",
        "/apis/rbac.authorization.k8s.io/v1",
        "clusterrolebindings",
    ),
    ("ConfigMap", "/api/v1", "configmaps"),
    ("Deployment", "/apis/apps/v1", "deployments"),
    ("Event", "/api/v1", "events"),
    ("Lease", "/apis/coordination.k8s.io/v1", "leases"),
    ("Namespace", "/api/v1", "namespaces"),
    ("Node", "/api/v1", "nodes"),
    ("Pod", "/api/v1", "pods"),
    ("ReplicaSet", "/apis/apps/v1", "replicasets"),
    ("ReplicationController", "/api/v1", "replicationcontrollers"),
    ("ResourceQuota", "/api/v1", "resourcequotas"),
    ("ServiceAccount", "/api/v1", "serviceaccounts"),
    (
        "ValidatingWebhookConfiguration",
        "/apis/admissionregistration.k8s.io/v1",
        "validatingwebhookconfigurations",
    ),
    ("Widget", "/apis/conformance.flyball.dev/v1", "widgets"),
];

/// The API path of a kind, of its objects in a namespace, or of one object.
///
/// # Errors
/// When the harness does not know the kind.
pub fn path(kind: &str, namespace: Option<&str>, name: Option<&str>) -> Result<String> {
    let (_, prefix, plural) = KINDS
        .iter()
        .find(|(known, ..)| *known == kind)
        .with_context(|| format!("the harness has no path for kind {kind}"))?;
    let mut path = (*prefix).to_owned();
    if let Some(namespace) = namespace {
        path.push_str("/namespaces/");
        path.push_str(namespace);
    }
    path.push('/');
    path.push_str(plural);
    if let Some(name) = name {
        path.push('/');
        path.push_str(name);
    }
    Ok(path)
}

/// The `apiVersion` of a kind the harness knows.
///
/// # Errors
/// When the harness does not know the kind.
pub fn api_version(kind: &str) -> Result<&'static str> {
    let (_, prefix, _) = KINDS
        .iter()
        .find(|(known, ..)| *known == kind)
        .with_context(|| format!("the harness has no apiVersion for kind {kind}"))?;
    Ok(prefix
        .trim_start_matches("/apis/")
        .trim_start_matches("/api/"))
}

/// Reads and writes of any object, as one user.
#[derive(Clone)]
pub struct Objects {
    client: Client,
}

impl Objects {
    /// Speaks through an existing client.
    #[must_use]
    pub fn of(client: Client) -> Self {
        Self { client }
    }

    /// The client beneath, for requests that are not covered here.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Sends one request and returns the answer's JSON.
    ///
    /// # Errors
    /// When the server refuses; [`status_code`] reads the code.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Result<Value> {
        let bytes = body
            .map(serde_json::to_vec)
            .transpose()?
            .unwrap_or_default();
        let request = Request::builder()
            .method(method.clone())
            .uri(path)
            .header(http::header::CONTENT_TYPE, content_type)
            .header(http::header::ACCEPT, "application/json")
            .body(bytes)?;
        self.client
            .request(request)
            .await
            .with_context(|| format!("{method} {path}"))
    }

    /// Reads a path as text, for `/readyz` or `/metrics`.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn text(&self, path: &str) -> Result<String> {
        let request = Request::get(path).body(Vec::new())?;
        self.client
            .request_text(request)
            .await
            .with_context(|| format!("GET {path}"))
    }

    /// Reads one object; `None` when there is none.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn get(&self, kind: &str, namespace: &str, name: &str) -> Result<Option<Value>> {
        let path = path(kind, scope(namespace), Some(name))?;
        match self
            .send(Method::GET, &path, "application/json", None)
            .await
        {
            Ok(object) => Ok(Some(object)),
            Err(error) if status_code(&error) == Some(404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Lists objects of a kind. `selector` is a label selector and may be empty; so may `namespace`, for all.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn list(&self, kind: &str, namespace: &str, selector: &str) -> Result<Vec<Value>> {
        let mut path = path(kind, scope(namespace), None)?;
        if !selector.is_empty() {
            path.push_str("?labelSelector=");
            path.push_str(&percent_encode(selector));
        }
        let mut list = self
            .send(Method::GET, &path, "application/json", None)
            .await?;
        match list["items"].take() {
            Value::Array(items) => Ok(items),
            other => bail!("{path} answered with items {other}"),
        }
    }

    /// How many objects of a kind there are, without reading them: the server counts what one item leaves over.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn count(&self, kind: &str, namespace: &str) -> Result<usize> {
        let path = format!("{}?limit=1", path(kind, scope(namespace), None)?);
        let list = self
            .send(Method::GET, &path, "application/json", None)
            .await?;
        let shown = list["items"].as_array().map_or(0, Vec::len);
        let more = list["metadata"]["remainingItemCount"].as_u64().unwrap_or(0);
        Ok(shown + usize::try_from(more)?)
    }

    /// Creates an object, which names its kind itself.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn create(&self, namespace: &str, object: &Value) -> Result<Value> {
        let kind = object["kind"].as_str().context("the object has no kind")?;
        let path = path(kind, scope(namespace), None)?;
        self.send(Method::POST, &path, "application/json", Some(object))
            .await
    }

    /// Replaces an object. Without a resourceVersion the write is unconditional.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn replace(&self, namespace: &str, object: &Value) -> Result<Value> {
        let kind = object["kind"].as_str().context("the object has no kind")?;
        let name = object["metadata"]["name"]
            .as_str()
            .context("the object has no name")?;
        let path = path(kind, scope(namespace), Some(name))?;
        self.send(Method::PUT, &path, "application/json", Some(object))
            .await
    }

    /// Patches an object, or its `subresource` when that is not empty.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn patch(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
        subresource: &str,
        format: PatchKind,
        patch: &Value,
    ) -> Result<Value> {
        let mut path = path(kind, scope(namespace), Some(name))?;
        if !subresource.is_empty() {
            path.push('/');
            path.push_str(subresource);
        }
        self.send(Method::PATCH, &path, format.content_type(), Some(patch))
            .await
    }

    /// Deletes one object; gone already counts as done.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn delete(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
        propagation: Propagation,
    ) -> Result<()> {
        let path = path(kind, scope(namespace), Some(name))?;
        let options = json!({ "propagationPolicy": propagation.policy() });
        match self
            .send(Method::DELETE, &path, "application/json", Some(&options))
            .await
        {
            Err(error) if status_code(&error) != Some(404) => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes an object for good: no grace, no finalizers, dependents left alone.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn force_delete(&self, kind: &str, namespace: &str, name: &str) -> Result<()> {
        let path = path(kind, scope(namespace), Some(name))?;
        let unfinalize = json!({ "metadata": { "finalizers": null } });
        let merge = PatchKind::Merge.content_type();
        let options = json!({ "gracePeriodSeconds": 0, "propagationPolicy": "Background" });
        for (method, content_type, body) in [
            (Method::PATCH, merge, &unfinalize),
            (Method::DELETE, "application/json", &options),
        ] {
            match self.send(method, &path, content_type, Some(body)).await {
                Err(error) if status_code(&error) != Some(404) => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Deletes every object of a kind in a namespace at once, without grace.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn delete_all(&self, kind: &str, namespace: &str) -> Result<()> {
        let path = path(kind, scope(namespace), None)?;
        let options = json!({ "gracePeriodSeconds": 0, "propagationPolicy": "Background" });
        self.send(Method::DELETE, &path, "application/json", Some(&options))
            .await?;
        Ok(())
    }

    /// Creates a namespace that has no service-account controller to wait for.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn create_namespace(&self, name: &str) -> Result<Value> {
        let namespace =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
        self.create("", &namespace).await
    }
}

/// The HTTP code of an API refusal anywhere in the chain of causes.
#[must_use]
pub fn status_code(error: &anyhow::Error) -> Option<u16> {
    error
        .chain()
        .find_map(|cause| match cause.downcast_ref::<kube::Error>() {
            Some(kube::Error::Api(status)) => Some(status.code),
            _ => None,
        })
}

fn scope(namespace: &str) -> Option<&str> {
    (!namespace.is_empty()).then_some(namespace)
}

fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_the_group_and_the_scope() {
        assert_eq!(
            path("Deployment", Some("a"), Some("web")).unwrap(),
            "/apis/apps/v1/namespaces/a/deployments/web"
        );
        assert_eq!(path("Pod", None, None).unwrap(), "/api/v1/pods");
        assert!(path("Gadget", None, None).is_err());
    }

    #[test]
    fn api_versions_come_from_the_same_table() {
        assert_eq!(api_version("Pod").unwrap(), "v1");
        assert_eq!(api_version("Deployment").unwrap(), "apps/v1");
    }

    #[test]
    fn selectors_are_safe_in_a_query() {
        assert_eq!(percent_encode("a=b,c in (d)"), "a%3Db%2Cc%20in%20%28d%29");
    }
}
