//! Writes: what a controller wants changed, as data.
//!
//! A write leaves nothing to decide: the executor sends exactly this. Every write to an existing
//! object names the incarnation or version it was judged by, so that a plan made from a stale view
//! fails instead of doing harm.

use std::fmt;

use flyball_api::{Kind, LeanMeta, Text};
use serde_json::{Value, json};

use crate::verb::{Answers, Demands, Facts, Guard};
use crate::{Action, Body, Precondition, Propagation, Shows, Target, Verb};

/// One write.
#[derive(Clone, Debug)]
pub struct Write {
    /// What to do.
    pub verb: Verb,
    /// To what. The name is empty where the server generates it, and for collections.
    pub target: Target,
    /// To which part of it.
    pub subresource: Subresource,
    /// What must hold of it.
    pub precondition: Precondition,
    /// The object, patch or configuration, with the precondition in its metadata; empty for
    /// deletions.
    pub body: Body,
    /// How much of the written object is wanted back.
    pub want: Want,
}

/// How much of an object is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Want {
    /// Its metadata: name, UID, version.
    #[default]
    Metadata,
    /// All of it: the verdict of a review, the current scale.
    Whole,
}

/// A subresource, by its name in the path; empty for the object itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subresource(pub &'static str);

impl Subresource {
    /// The object itself.
    pub const NONE: Self = Self("");
    /// The observed state.
    pub const STATUS: Self = Self("status");
    /// Of a namespace, the finalizers of its spec.
    pub const FINALIZE: Self = Self("finalize");
    /// The number of replicas, whatever the kind.
    pub const SCALE: Self = Self("scale");
    /// The node of a pod.
    pub const BINDING: Self = Self("binding");
    /// The deletion of a pod that its disruption budgets may refuse.
    pub const EVICTION: Self = Self("eviction");

    /// What follows the path of the object.
    pub fn path(self) -> String {
        match self.0 {
            "" => String::new(),
            name => format!("/{name}"),
        }
    }
}

impl fmt::Display for Subresource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Write {
    /// Creates an object.
    pub fn create(kind: Kind, namespace: &str, body: Body) -> Self {
        let target = Target::collection(kind, namespace);
        Self::new(Verb::Create, target, Precondition::default(), body)
    }

    /// Changes fields of an object by a strategic merge patch. The precondition is put into it.
    pub fn patch(target: Target, precondition: Precondition, patch: Value) -> Self {
        let body = Body::patch(&precondition, patch);
        Self::new(Verb::StrategicPatch, target, precondition, body)
    }

    /// Changes fields of an object by a JSON merge patch. The precondition is put into it.
    pub fn merge(target: Target, precondition: Precondition, patch: Value) -> Self {
        let body = Body::patch(&precondition, patch);
        Self::new(Verb::MergePatch, target, precondition, body)
    }

    /// Replaces an object. The precondition must be in the metadata of the body.
    pub fn update(target: Target, precondition: Precondition, body: Body) -> Self {
        Self::new(Verb::Update, target, precondition, body)
    }

    /// Deletes one incarnation of an object.
    pub fn delete(kind: Kind, meta: &LeanMeta) -> Self {
        Self::delete_if(Target::of(kind, meta), Precondition::incarnation(meta))
    }

    /// Deletes an object of which this holds.
    pub fn delete_if(target: Target, precondition: Precondition) -> Self {
        let verb = Verb::Delete {
            propagation: None,
            grace_seconds: None,
        };
        Self::new(verb, target, precondition, Body::default())
    }

    /// Deletes all objects of a kind in a namespace, whatever they are by then.
    pub fn delete_collection(kind: Kind, namespace: &str) -> Self {
        let verb = Verb::DeleteCollection { propagation: None };
        let (target, none) = (Target::collection(kind, namespace), Precondition::default());
        Self::new(verb, target, none, Body::default())
    }

    /// The same deletion, with a word about the dependents.
    pub fn propagating(mut self, to: Propagation) -> Self {
        if let Verb::Delete { propagation, .. } | Verb::DeleteCollection { propagation } =
            &mut self.verb
        {
            *propagation = Some(to);
        }
        self
    }

    /// The same deletion, with so many seconds for the object to stop.
    pub fn within(mut self, seconds: u32) -> Self {
        if let Verb::Delete { grace_seconds, .. } = &mut self.verb {
            *grace_seconds = Some(seconds);
        }
        self
    }

    /// Assigns a pod to a node, for good. The server takes what is demanded of the pod from the
    /// metadata of the Binding. With a version, the key waits until the caches show the pod in
    /// another one, which is the one with the node.
    pub fn bind(pod: Target, precondition: Precondition, node: &str) -> Self {
        let binding = json!({
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"namespace": &*pod.name.namespace, "name": &*pod.name.name},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        });
        let body = Body::patch(&precondition, binding);
        Self::new(Verb::Create, pod, precondition, body).to_subresource(Subresource::BINDING)
    }

    /// A write of the object itself.
    pub fn new(verb: Verb, target: Target, precondition: Precondition, body: Body) -> Self {
        Self {
            verb,
            target,
            subresource: Subresource::NONE,
            precondition,
            body,
            want: Want::Metadata,
        }
    }

    /// The same write, of a subresource.
    pub fn to_subresource(self, subresource: Subresource) -> Self {
        Self {
            subresource,
            ..self
        }
    }

    /// The same write, whose answer is wanted whole.
    pub fn wanting_whole(self) -> Self {
        let want = Want::Whole;
        Self { want, ..self }
    }

    /// What the API calls it.
    pub fn name(&self) -> &'static str {
        self.verb.facts().name
    }

    /// Words for it, for transcripts.
    pub fn words(&self) -> &'static str {
        self.verb.facts().words
    }

    /// Whether it makes an object that was not there.
    pub fn is_create(&self) -> bool {
        self.verb == Verb::Create && self.subresource == Subresource::NONE
    }

    /// Whether it goes to all objects of a namespace.
    pub fn is_of_collection(&self) -> bool {
        self.facts().guard == Guard::Namespace
    }

    /// How the caches show that it took effect.
    pub fn shows(&self) -> Shows {
        let has_version = self.precondition.has_version();
        match (self.facts().shows, self.verb) {
            // The server has compared the version: the next one is the one with the node.
            _ if self.subresource == Subresource::BINDING && has_version => Shows::Change,
            _ if self.subresource == Subresource::EVICTION => Shows::Gone,
            (_, Verb::Create) if !self.is_create() => Shows::Nothing,
            // A pod that is removed at once was terminating before, so that this shows nothing.
            (
                _,
                Verb::Delete {
                    grace_seconds: Some(0),
                    ..
                },
            ) if has_version => Shows::Change,
            (shows, _) => shows,
        }
    }

    /// All that differs between verbs; a write to a subresource by POST goes to an existing object.
    pub(crate) fn facts(&self) -> Facts {
        let facts = self.verb.facts();
        match self.verb {
            Verb::Create if self.subresource != Subresource::NONE => Facts {
                guard: Guard::Uid,
                answers: Answers::Either,
                ..facts
            },
            _ => facts,
        }
    }

    /// The options of a deletion; `None` for other verbs.
    pub(crate) fn delete_options(&self) -> Option<Value> {
        if self.facts().demands != Demands::DeleteOptions {
            return None;
        }
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
        let (propagation, grace) = match self.verb {
            Verb::Delete {
                propagation,
                grace_seconds,
            } => (propagation, grace_seconds),
            Verb::DeleteCollection { propagation } => (propagation, None),
            _ => (None, None),
        };
        if let Some(propagation) = propagation {
            options["propagationPolicy"] = propagation.name().into();
        }
        if let Some(seconds) = grace {
            options["gracePeriodSeconds"] = seconds.into();
        }
        let Precondition {
            uid,
            resource_version,
        } = &self.precondition;
        if let Some(uid) = uid {
            options["preconditions"]["uid"] = uid.to_string().into();
        }
        if let Some(version) = resource_version {
            options["preconditions"]["resourceVersion"] = Text::as_str(version).into();
        }
        Some(options)
    }
}

impl From<Write> for Action {
    fn from(write: Write) -> Self {
        Self::Write(write)
    }
}
