//! The world as a server: what becomes of each action.
//!
//! Preconditions of patches and updates are taken from the body, where a server would look for
//! them, not from the action's own account of them.

use std::sync::Arc;

use flyball_api::views::{Deployment, Namespace, Phase, Pod};
use flyball_api::{ApiError, Kind, Object, ObjectName, Opaque};
use flyball_plan::{
    Action, Answer, Body, Precondition, Propagation, Question, Subresource, Target, Verb, Write,
    Written,
};
use serde_json::{Value, json};

use super::{Fault, Id, World, errors, json_merge, merge};

/// Metadata that no write changes: the server's own.
const SERVER_OWNED: &[&str] = &[
    "name",
    "namespace",
    "uid",
    "generateName",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "resourceVersion",
];

/// How long a pod may take to stop if it does not say.
const GRACE_SECONDS_DEFAULT: i64 = 30;

impl World {
    /// Carries out one action and answers as the server would.
    pub fn apply(&mut self, action: &Action) -> Answer {
        let is_request = !matches!(action, Action::Record(_));
        let fault = if is_request { self.faults.next() } else { None };
        if let Some(Fault::Refused(error)) = fault {
            return Answer::Failed(error);
        }
        let answer = match self.serve(action) {
            Ok(answer) => answer,
            Err(error) => Answer::Failed(error),
        };
        match (fault, &answer) {
            (Some(Fault::AnswerLost), Answer::Done(_) | Answer::Read(_) | Answer::Listed(_)) => {
                Answer::Failed(ApiError::timeout("the answer was lost"))
            }
            _ => answer,
        }
    }

    fn serve(&mut self, action: &Action) -> Result<Answer, ApiError> {
        match action {
            Action::Write(write) => self.serve_write(write),
            Action::Read(read) => self.serve_read(&read.question),
            Action::Record(record) => {
                self.records.push(record.clone());
                Ok(Answer::Done(Written::default()))
            }
        }
    }

    fn serve_write(&mut self, write: &Write) -> Result<Answer, ApiError> {
        let Write {
            target,
            subresource,
            precondition,
            body,
            ..
        } = write;
        let namespace = &target.name.namespace;
        match write.verb {
            Verb::Create if *subresource == Subresource::BINDING => {
                let node = read(body)?["target"]["name"].clone();
                self.bind(target, precondition, node.as_str().unwrap_or_default())
            }
            Verb::Create => self.create(target.kind, namespace, &read(body)?),
            Verb::StrategicPatch => self.patch(target, *subresource, &read(body)?, merge),
            // What is applied is merged: the world knows no managers of fields.
            Verb::MergePatch | Verb::Apply { .. } => {
                self.patch(target, *subresource, &read(body)?, json_merge)
            }
            Verb::Update => self.update(target, *subresource, read(body)?),
            Verb::Delete {
                propagation,
                grace_seconds,
            } => self.delete(target, precondition, propagation, grace_seconds),
            Verb::DeleteCollection { propagation } => {
                self.delete_collection(target.kind, namespace, propagation)
            }
        }
    }

    fn serve_read(&mut self, question: &Question) -> Result<Answer, ApiError> {
        let found = |text: String| Opaque::new(&text).map(Answer::Read);
        match question {
            Question::Get { target, .. } => {
                found(self.find(target)?.to_string()).map_err(ApiError::terminal)
            }
            Question::Exists { target, .. } => {
                let metadata = &self.find(target)?["metadata"];
                found(json!({"metadata": metadata}).to_string()).map_err(ApiError::terminal)
            }
            Question::List {
                kind,
                namespace,
                items_max,
                ..
            } => {
                let namespace = (!namespace.is_empty()).then_some(namespace.as_str());
                self.list_metadata(*kind, namespace, *items_max)
            }
            Question::Path { path, .. } => {
                Err(ApiError::terminal(format!("{path} is not served here")))
            }
            Question::Discovery => Ok(Answer::Discovered(Arc::new(self.discovery()))),
        }
    }

    fn find(&self, target: &Target) -> Result<&Value, ApiError> {
        self.target(target)
            .ok_or_else(|| errors::not_found(target.kind, &target.name.name))
    }

    fn create(&mut self, kind: Kind, namespace: &str, body: &Value) -> Result<Answer, ApiError> {
        let text = |field: &str| body["metadata"][field].as_str().unwrap_or_default();
        let (mut name, prefix) = (text("name").to_owned(), text("generateName"));
        if self.is_terminating(namespace) {
            let said = if name.is_empty() { prefix } else { &name };
            return Err(errors::namespace_terminating(kind, said, namespace));
        }
        if name.is_empty() && prefix.is_empty() {
            let why = "name: Required value: name or generateName is required";
            return Err(errors::invalid(kind, "", why));
        }
        while name.is_empty() {
            self.names_made += 1;
            name = format!("{prefix}{:05}", self.names_made);
            if self.json(kind, namespace, &name).is_some() {
                name.clear();
            }
        }
        if self.json(kind, namespace, &name).is_some() {
            return Err(errors::already_exists(kind, &name));
        }
        let id = (kind, ObjectName::new(namespace, &name));
        one_controller(&id, body)?;
        let mut object = body.clone();
        object["apiVersion"] = kind.api_version().into();
        object["kind"] = kind.kind.into();
        // What is observed is not the creator's to say.
        object["status"] = if kind == Pod::KIND {
            json!({"phase": "Pending"})
        } else {
            json!({})
        };
        let uid = self.make_uid(&id);
        let metadata = &mut object["metadata"];
        metadata["name"] = name.into();
        if kind.namespaced {
            metadata["namespace"] = namespace.into();
        }
        metadata["uid"] = uid.into();
        metadata["creationTimestamp"] = json!(self.now);
        metadata["generation"] = 1.into();
        self.write(&id, Some(object));
        Ok(self.written(&id))
    }

    fn patch(
        &mut self,
        target: &Target,
        subresource: Subresource,
        patch: &Value,
        merge: fn(&mut Value, &Value),
    ) -> Result<Answer, ApiError> {
        let (kind, name) = (target.kind, &target.name.name);
        let old = self.find(target)?.clone();
        let mut new = old.clone();
        merge(&mut new, patch);
        if new["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"] {
            return Err(errors::modified(kind, name));
        }
        if new["metadata"]["uid"] != old["metadata"]["uid"] {
            let got = new["metadata"]["uid"].as_str().unwrap_or_default();
            return Err(errors::other_uid_patched(kind, name, got));
        }
        self.accept(target, subresource, &old, new)
    }

    fn update(
        &mut self,
        target: &Target,
        subresource: Subresource,
        new: Value,
    ) -> Result<Answer, ApiError> {
        let (kind, name) = (target.kind, &target.name);
        let old = self.find(target)?.clone();
        let said = |field: &str| new["metadata"][field].as_str().unwrap_or_default();
        let is = |field: &str| old["metadata"][field].as_str().unwrap_or_default();
        if !said("uid").is_empty() && said("uid") != is("uid") {
            let key = format!("/registry/{}/{name}", kind.plural);
            let (got, is) = (said("uid"), is("uid"));
            return Err(errors::other_uid_updated(kind, &key, &name.name, got, is));
        }
        if !said("resourceVersion").is_empty() && said("resourceVersion") != is("resourceVersion") {
            return Err(errors::modified(kind, &name.name));
        }
        self.accept(target, subresource, &old, new)
    }

    /// Takes the new state but for what this way of writing may not change.
    fn accept(
        &mut self,
        target: &Target,
        subresource: Subresource,
        old: &Value,
        mut new: Value,
    ) -> Result<Answer, ApiError> {
        let id = (target.kind, target.name.clone());
        let mut keep = |fields: &[&str]| {
            for field in fields {
                copy(&mut new, old, field);
            }
        };
        keep(&["apiVersion", "kind"]);
        match subresource {
            Subresource::STATUS => keep(&["spec"]),
            _ => keep(&["status"]),
        }
        for field in SERVER_OWNED {
            copy(&mut new["metadata"], &old["metadata"], field);
        }
        // Upstream, `pkg/registry/apps/deployment/strategy.go`: a Deployment's labels are kept on
        // status writes; other kinds take them from the body.
        if target.kind == Deployment::KIND && subresource == Subresource::STATUS {
            copy(&mut new["metadata"], &old["metadata"], "labels");
        }
        one_controller(&id, &new)?;
        if subresource == Subresource::STATUS {
            new["metadata"]["generation"] = old["metadata"]["generation"].clone();
            if new != *old {
                self.write(&id, Some(new));
            }
        } else {
            self.store(&id, old, new);
        }
        Ok(self.written(&id))
    }

    pub(super) fn delete(
        &mut self,
        target: &Target,
        precondition: &Precondition,
        propagation: Option<Propagation>,
        grace_seconds: Option<u32>,
    ) -> Result<Answer, ApiError> {
        let id: Id = (target.kind, target.name.clone());
        let mut object = self.find(target)?.clone();
        let is = |field: &str| {
            object["metadata"][field]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let wanted = [
            (
                "UID",
                precondition.uid.as_ref().map(ToString::to_string),
                is("uid"),
            ),
            (
                "ResourceVersion",
                precondition
                    .resource_version
                    .as_ref()
                    .map(ToString::to_string),
                is("resourceVersion"),
            ),
        ];
        for (field, want, is) in wanted {
            if let Some(want) = want.filter(|want| *want != is) {
                let name = &target.name.name;
                return Err(errors::precondition(target.kind, name, field, &want, &is));
            }
        }
        let done = Written {
            name: is("name").into(),
            uid: is("uid").as_str().into(),
            ..Written::default()
        };
        if !object["metadata"]["deletionTimestamp"].is_null() {
            self.hasten(&id, &object, grace_seconds);
            return Ok(Answer::Done(done));
        }
        let finalizer = match propagation {
            Some(Propagation::Foreground) => Some("foregroundDeletion"),
            Some(Propagation::Orphan) => Some("orphan"),
            Some(Propagation::Background) | None => None,
        };
        if let Some(finalizer) = finalizer {
            merge(
                &mut object,
                &json!({"metadata": {"finalizers": [finalizer]}}),
            );
        }
        let held = object["metadata"]["finalizers"]
            .as_array()
            .is_some_and(|list| !list.is_empty());
        let grace = self.grace_seconds(target.kind, &object, grace_seconds);
        if grace == 0 && !held {
            self.write(&id, None);
            return Ok(Answer::Done(done));
        }
        let seconds = std::time::Duration::from_secs(grace.unsigned_abs());
        let metadata = &mut object["metadata"];
        metadata["deletionTimestamp"] = json!(self.now.saturating_add(seconds));
        metadata["deletionGracePeriodSeconds"] = grace.into();
        metadata["generation"] = (metadata["generation"].as_i64().unwrap_or(0) + 1).into();
        self.write(&id, Some(object));
        Ok(Answer::Done(done))
    }

    /// Upstream, `pkg/registry/core/pod/strategy.go`: only a pod that some node runs is waited for.
    fn grace_seconds(&self, kind: Kind, object: &Value, asked: Option<u32>) -> i64 {
        if kind != Pod::KIND || !self.pods_linger {
            return 0;
        }
        let pod: Pod = super::decode(object);
        let ended = matches!(pod.status.phase, Phase::Succeeded | Phase::Failed);
        if pod.spec.node_name.is_empty() || ended {
            return 0;
        }
        let own = object["spec"]["terminationGracePeriodSeconds"].as_i64();
        asked
            .map(i64::from)
            .or(own)
            .unwrap_or(GRACE_SECONDS_DEFAULT)
    }

    /// Upstream, `rest/delete.go`: the time that a deletion under way may take can only shrink.
    fn hasten(&mut self, id: &Id, old: &Value, asked: Option<u32>) {
        let left = old["metadata"]["deletionGracePeriodSeconds"].as_i64();
        let (Some(asked), Some(left)) = (asked, left.filter(|_| id.0 == Pod::KIND)) else {
            return;
        };
        if i64::from(asked) < left {
            let mut new = old.clone();
            let seconds = std::time::Duration::from_secs(asked.into());
            new["metadata"]["deletionTimestamp"] = json!(self.now.saturating_add(seconds));
            new["metadata"]["deletionGracePeriodSeconds"] = asked.into();
            self.store(id, old, new);
        }
    }

    /// Upstream, `pkg/registry/core/pod/storage/storage.go`, `BindingREST`.
    fn bind(
        &mut self,
        target: &Target,
        precondition: &Precondition,
        node: &str,
    ) -> Result<Answer, ApiError> {
        let (kind, name) = (target.kind, &target.name.name);
        let mut pod = self.find(target)?.clone();
        let is = |field: &str| pod["metadata"][field].as_str().unwrap_or_default();
        let uid = precondition.uid.as_ref().map(ToString::to_string);
        let version = precondition.resource_version.as_ref();
        let version = version.map(ToString::to_string);
        let wanted = [
            ("UID", uid, is("uid")),
            ("ResourceVersion", version, is("resourceVersion")),
        ];
        for (field, want, is) in wanted {
            if let Some(want) = want.filter(|want| *want != is) {
                let key = format!("/registry/{}/{}", kind.plural, target.name);
                return Err(errors::other_in_store(kind, &key, name, field, &want, is));
            }
        }
        let gates = pod["spec"]["schedulingGates"].as_array();
        let why = if !pod["metadata"]["deletionTimestamp"].is_null() {
            format!("pod {name} is being deleted, cannot be assigned to a host")
        } else if let Some(node) = pod["spec"]["nodeName"].as_str() {
            format!("pod {name} is already assigned to node {node:?}")
        } else if gates.is_some_and(|gates| !gates.is_empty()) {
            format!("pod {name} has non-empty .spec.schedulingGates")
        } else {
            let scheduled = json!({"type": "PodScheduled", "status": "True",
                "lastTransitionTime": self.now});
            let change = json!({"spec": {"nodeName": node}, "status": {"conditions": [scheduled]}});
            merge(&mut pod, &change);
            self.write(&(kind, target.name.clone()), Some(pod));
            // The answer is a mere Status.
            return Ok(Answer::Done(Written {
                name: name.clone(),
                uid: precondition.uid.clone().unwrap_or_default(),
                ..Written::default()
            }));
        };
        Err(errors::unbindable(name, &why))
    }

    fn is_terminating(&self, namespace: &str) -> bool {
        let namespace = self.get::<Namespace>("", namespace);
        namespace.is_some_and(|it| it.is_deleting() || it.status.phase == "Terminating")
    }

    /// What a write left behind; the object may be gone by it.
    fn written(&self, id: &Id) -> Answer {
        let metadata = self
            .objects
            .get(id)
            .map_or(&Value::Null, |object| &object["metadata"]);
        let text = |field: &str| metadata[field].as_str().unwrap_or_default();
        Answer::Done(Written {
            name: id.1.name.clone(),
            uid: text("uid").into(),
            resource_version: text("resourceVersion").into(),
            object: None,
        })
    }
}

fn read(body: &Body) -> Result<Value, ApiError> {
    match serde_json::from_str(body.json()) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(_) => Err(ApiError::terminal("the body is no object")),
        Err(error) => Err(ApiError::terminal(error)),
    }
}

fn copy(new: &mut Value, old: &Value, field: &str) {
    match (&old[field], new.as_object_mut()) {
        (Value::Null, Some(new)) => {
            new.remove(field);
        }
        (value, _) => new[field] = value.clone(),
    }
}

fn one_controller(id: &Id, object: &Value) -> Result<(), ApiError> {
    let Some(owners) = object["metadata"]["ownerReferences"].as_array() else {
        return Ok(());
    };
    match owners
        .iter()
        .filter(|owner| owner["controller"] == true)
        .count()
    {
        0 | 1 => Ok(()),
        _ => Err(errors::two_controllers(id.0, &id.1.name, owners)),
    }
}
