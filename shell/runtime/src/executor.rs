//! Carries out plans. It decides nothing: what to send, in which order and how fast is all in the
//! actions; whether it may still be sent is the term's to say.

use std::sync::Arc;

use flyball_api::{ApiError, Kind, Opaque, Text, Uid};
use flyball_client::{Client, Method, Request};
use flyball_plan::{
    Action, Actions, Answer, Pace, Precondition, Propagation, Subresource, Target, Written,
};
use futures::stream::{FuturesUnordered, StreamExt};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::clock::Clock;
use crate::events::EventSink;
use crate::term::Term;

/// Requests of one controller under way at once.
pub(crate) const REQUESTS_MAX: usize = 32;

/// Carries out the plans of one controller.
#[derive(Clone)]
pub(crate) struct Executor {
    pub(crate) client: Client,
    pub(crate) events: EventSink,
    pub(crate) term: Arc<Term>,
    pub(crate) clock: Clock,
    pub(crate) requests: Arc<Semaphore>,
}

/// The term ended before the write was sent.
struct TermOver;

impl Executor {
    /// Runs the actions at their pace; one answer for each, in the same order. If the term ends
    /// meanwhile, the answers so far are the error.
    pub(crate) async fn run(&self, actions: &Actions) -> Result<Vec<Answer>, Vec<Answer>> {
        let items = &actions.items;
        let mut answers: Vec<Answer> = items.iter().map(|_| Answer::Skipped).collect();
        let mut from = 0;
        let mut batch = match actions.pace {
            Pace::Together => items.len(),
            Pace::InOrder | Pace::SlowStart => 1,
        };
        while from < items.len() {
            let to = from.saturating_add(batch).min(items.len());
            let over = self.batch(&items[from..to], &mut answers[from..to]).await;
            if over {
                return Err(answers);
            }
            let failed = answers[from..to]
                .iter()
                .any(|answer| answer.error().is_some());
            if failed && actions.pace != Pace::Together {
                break;
            }
            if actions.pace == Pace::SlowStart {
                batch *= 2;
            }
            from = to;
        }
        Ok(answers)
    }

    /// Runs actions all at once; whether the term ended is the result.
    async fn batch(&self, items: &[Action], answers: &mut [Answer]) -> bool {
        if let ([item], [answer]) = (items, &mut *answers) {
            // Most batches have one action: no need for a set of futures.
            return match self.one(item).await {
                Ok(got) => {
                    *answer = got;
                    false
                }
                Err(TermOver) => true,
            };
        }
        let mut running: FuturesUnordered<_> = items
            .iter()
            .enumerate()
            .map(|(i, item)| async move { (i, self.one(item).await) })
            .collect();
        let mut over = false;
        while let Some((i, result)) = running.next().await {
            match result {
                Ok(answer) => answers[i] = answer,
                Err(TermOver) => over = true,
            }
        }
        over
    }

    fn may_write(&self) -> bool {
        self.term.may_write(self.clock.monotonic())
    }

    async fn one(&self, action: &Action) -> Result<Answer, TermOver> {
        if let Action::Record(record) = action {
            self.events.record(record.clone());
            return Ok(Answer::Done(Written::default()));
        }
        // Never closed, so this only ever waits.
        let _slot = self.requests.acquire().await;
        let request = match action {
            // Of what a write leaves behind only name, uid and version matter. The answer to a
            // delete or a binding may be no object at all, and a live read is wanted whole.
            Action::Create { .. } | Action::Patch { .. } | Action::Update { .. } => {
                request_of(action).metadata_only()
            }
            _ => request_of(action),
        };
        let answer = match self.client.send(&request).await {
            Ok(body) => read(action, &body),
            // The client asks for its permit before each write; what it did not send, or lost on
            // the way, is nothing to decide by once the term is over.
            Err(error) if action.is_write() && error.code() == 0 && !self.may_write() => {
                return Err(TermOver);
            }
            Err(error) => Answer::Failed(error),
        };
        Ok(answer)
    }
}

/// The request that an action stands for.
fn request_of(action: &Action) -> Request {
    match action {
        Action::Create {
            kind,
            namespace,
            body,
        } => Request::with(
            Method::Post,
            kind.collection_path(namespace),
            bytes(body.json()),
        ),
        Action::Patch {
            target,
            subresource,
            body,
            ..
        } => Request::with(
            Method::StrategicPatch,
            path(target, *subresource),
            bytes(body.json()),
        ),
        Action::Update {
            target,
            subresource,
            body,
            ..
        } => Request::with(Method::Put, path(target, *subresource), bytes(body.json())),
        Action::Delete {
            target,
            precondition,
            propagation,
            grace_seconds,
        } => {
            let mut preconditions = serde_json::Map::new();
            if let Some(uid) = &precondition.uid {
                preconditions.insert("uid".into(), uid.to_string().into());
            }
            if let Some(version) = &precondition.resource_version {
                preconditions.insert("resourceVersion".into(), version.as_str().into());
            }
            let mut options = json!({
                "apiVersion": "v1",
                "kind": "DeleteOptions",
                "preconditions": preconditions,
            });
            if let Some(propagation) = propagation {
                options["propagationPolicy"] = json!(match propagation {
                    Propagation::Background => "Background",
                    Propagation::Foreground => "Foreground",
                    Propagation::Orphan => "Orphan",
                });
            }
            if let Some(seconds) = grace_seconds {
                options["gracePeriodSeconds"] = json!(seconds);
            }
            Request::with(
                Method::Delete,
                path(target, Subresource::None),
                options.to_string(),
            )
        }
        Action::Bind {
            target,
            precondition,
            node,
        } => {
            let mut path = path(target, Subresource::None);
            path.push_str("/binding");
            let body = binding(target, precondition, node);
            Request::with(Method::Post, path, body.to_string())
        }
        Action::Ask { target } => Request::get(path(target, Subresource::None)),
        // Records are told to the recorder and never reach this point.
        Action::Record(_) => Request::get("/"),
    }
}

/// The server takes the identity and version of the pod from the metadata of the Binding.
fn binding(target: &Target, precondition: &Precondition, node: &str) -> serde_json::Value {
    let mut metadata = json!({
        "namespace": target.name.namespace.as_str(),
        "name": target.name.name.as_str(),
    });
    if let Some(uid) = &precondition.uid {
        metadata["uid"] = uid.to_string().into();
    }
    if let Some(version) = &precondition.resource_version {
        metadata["resourceVersion"] = version.as_str().into();
    }
    json!({
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": metadata,
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    })
}

fn bytes(json: &str) -> bytes::Bytes {
    bytes::Bytes::copy_from_slice(json.as_bytes())
}

fn path(target: &Target, subresource: Subresource) -> String {
    let Target { kind, name } = target;
    let mut path = kind.object_path(&name.namespace, &name.name);
    if subresource == Subresource::Status {
        path.push_str("/status");
    }
    path
}

/// What a successful answer says.
fn read(action: &Action, body: &[u8]) -> Answer {
    if let Action::Ask { target } = action {
        let text = std::str::from_utf8(body).map_err(|error| error.to_string());
        return match text.and_then(|text| Opaque::new(text).map_err(|error| error.to_string())) {
            Ok(object) => Answer::Read(object),
            Err(reason) => unreadable(target.kind, &reason),
        };
    }
    if let Action::Delete {
        target,
        precondition,
        ..
    }
    | Action::Bind {
        target,
        precondition,
        ..
    } = action
    {
        // The answer may be the object or a mere Status; what it is about is known either way.
        return Answer::Done(Written {
            name: target.name.name.clone(),
            uid: precondition.uid.clone().unwrap_or_default(),
            resource_version: Text::default(),
        });
    }
    match serde_json::from_slice::<Head>(body) {
        Ok(Head { metadata }) => Answer::Done(Written {
            name: metadata.name,
            uid: metadata.uid,
            resource_version: metadata.resource_version,
        }),
        // The write took effect; only its version is unknown, so nothing is waited for.
        Err(error) => {
            tracing::warn!(verb = action.verb(), err = %error, "cannot read the server's answer");
            Answer::Done(Written::default())
        }
    }
}

fn unreadable(kind: Kind, reason: &str) -> Answer {
    Answer::Failed(ApiError::transport(format!(
        "cannot read {kind} from the server: {reason}"
    )))
}

/// The part of an answer that matters.
#[derive(Deserialize)]
struct Head {
    metadata: HeadMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HeadMeta {
    name: Text,
    #[serde(default)]
    uid: Uid,
    #[serde(default)]
    resource_version: Text,
}
