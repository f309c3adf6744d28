//! Who asked the API server for what: from its audit log, exactly and per user, or from its counters, cheaply and
//! for all users together.

mod totals;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;

pub use totals::Totals;

/// One finished request, or one watch that began.
#[derive(Debug, Clone)]
pub struct Request {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// The plural, with the subresource after a slash: `pods`, `deployments/status`. Empty for non-resource paths.
    pub resource: String,
    /// Empty for cluster-scoped and non-resource requests.
    pub namespace: String,
    /// Empty for creates with a generated name, lists and watches.
    pub name: String,
    /// The user as authenticated.
    pub user: String,
    /// The client's `User-Agent`.
    pub user_agent: String,
    /// The HTTP code of the answer.
    pub code: u16,
    /// When the server received it, RFC 3339 with microseconds.
    pub received: String,
    /// The path and query as the client sent them.
    pub uri: String,
    /// The request's body: of deletes, where it holds the preconditions, and of creates of pods and ReplicaSets.
    pub body: Option<Value>,
}

impl Request {
    /// Whether the verb changes objects.
    #[must_use]
    pub fn is_write(&self) -> bool {
        !matches!(self.verb.as_str(), "get" | "list" | "watch")
    }

    /// Whether it concerns Event objects, whose number depends on aggregation more than on decisions.
    #[must_use]
    pub fn is_event(&self) -> bool {
        self.resource == "events"
    }

    /// The UID of the first owner that a created object names, if its body was recorded.
    #[must_use]
    pub fn owner_uid(&self) -> Option<&str> {
        let owner = self
            .body
            .as_ref()?
            .pointer("/metadata/ownerReferences/0/uid")?;
        owner.as_str()
    }

    /// Whether it is a successful create of this resource.
    #[must_use]
    pub fn created(&self, resource: &str) -> bool {
        self.verb == "create" && self.resource == resource && self.code == 201
    }

    /// The UID that a delete insists on, if any.
    #[must_use]
    pub fn uid_precondition(&self) -> Option<&str> {
        self.body.as_ref()?.pointer("/preconditions/uid")?.as_str()
    }
}

/// A place in the audit log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mark(u64);

/// kube-apiserver's audit log, written before each answer is sent.
#[derive(Debug, Clone)]
pub struct AuditLog {
    path: PathBuf,
}

impl AuditLog {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// The present end of the log.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn mark(&self) -> Result<Mark> {
        match std::fs::metadata(&self.path) {
            Ok(metadata) => Ok(Mark(metadata.len())),
            // The server creates the file with its first line.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Mark::default()),
            Err(error) => Err(error).with_context(|| self.path.display().to_string()),
        }
    }

    /// Every request recorded since `mark`. A line still being written is left for the next call.
    ///
    /// # Errors
    /// When the log cannot be read or understood.
    pub fn since(&self, mark: Mark) -> Result<Requests> {
        let mut requests = Requests::default();
        if self.mark()? == Mark::default() {
            return Ok(requests);
        }
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(mark.0))?;
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            reader.read_until(b'\n', &mut line)?;
            if line.last() != Some(&b'\n') {
                return Ok(requests);
            }
            requests.all.extend(parse(&line)?);
        }
    }
}

/// A set of requests to filter and count.
#[derive(Debug, Clone, Default)]
pub struct Requests {
    /// In the order in which they were answered.
    pub all: Vec<Request>,
}

impl Requests {
    /// Only those that satisfy `wanted`.
    #[must_use]
    pub fn filter(&self, wanted: impl Fn(&Request) -> bool) -> Self {
        Self {
            all: self
                .all
                .iter()
                .filter(|request| wanted(request))
                .cloned()
                .collect(),
        }
    }

    /// Only those of a user.
    #[must_use]
    pub fn by_user(&self, user: &str) -> Self {
        self.filter(|request| request.user == user)
    }

    /// Only those whose user agent begins with `prefix`.
    #[must_use]
    pub fn by_agent(&self, prefix: &str) -> Self {
        self.filter(|request| request.user_agent.starts_with(prefix))
    }

    /// Only those in a namespace.
    #[must_use]
    pub fn in_namespace(&self, namespace: &str) -> Self {
        self.filter(|request| request.namespace == namespace)
    }

    /// Only writes, without those of Event objects.
    #[must_use]
    pub fn writes(&self) -> Self {
        self.filter(|request| request.is_write() && !request.is_event())
    }

    /// How many there are of each verb and resource.
    #[must_use]
    pub fn by_verb(&self) -> BTreeMap<(String, String), usize> {
        let mut counts = BTreeMap::new();
        for request in &self.all {
            *counts
                .entry((request.verb.clone(), request.resource.clone()))
                .or_insert(0) += 1;
        }
        counts
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    stage: String,
    verb: String,
    user: User,
    #[serde(default)]
    user_agent: String,
    #[serde(default)]
    object_ref: Option<ObjectRef>,
    #[serde(default)]
    response_status: Option<ResponseStatus>,
    #[serde(default)]
    request_object: Option<Value>,
    request_received_timestamp: String,
    #[serde(rename = "requestURI", default)]
    request_uri: String,
}

#[derive(Deserialize)]
struct User {
    username: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ObjectRef {
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize)]
struct ResponseStatus {
    #[serde(default)]
    code: u16,
}

fn parse(line: &[u8]) -> Result<Option<Request>> {
    let line: Line = serde_json::from_slice(line)
        .with_context(|| format!("audit line {}", String::from_utf8_lossy(line)))?;
    // A watch is complete only when it ends, which may be after the run: it counts when it begins.
    let counted = if line.verb == "watch" {
        "ResponseStarted"
    } else {
        "ResponseComplete"
    };
    if line.stage != counted {
        return Ok(None);
    }
    let object = line.object_ref.unwrap_or_default();
    let resource = if object.subresource.is_empty() {
        object.resource
    } else {
        format!("{}/{}", object.resource, object.subresource)
    };
    Ok(Some(Request {
        verb: line.verb,
        resource,
        namespace: object.namespace,
        name: object.name,
        user: line.user.username,
        user_agent: line.user_agent,
        code: line.response_status.map_or(0, |status| status.code),
        received: line.request_received_timestamp,
        uri: line.request_uri,
        body: line.request_object,
    }))
}

#[cfg(test)]
mod tests;
