//! Edits: what people do, straight at the server.

use std::time::Duration;

use flyball_api::request::{Method, Request};
use flyball_plan::Propagation;
use serde_json::{Value, json};

use super::Cluster;
use crate::server::{Asked, Got, admin};
use crate::step::Step;
use crate::workload::{CUSTOM_GROUP, Edit};

/// After which time people try again.
const TRY_AGAIN: Duration = Duration::from_secs(5);

impl Cluster {
    /// A user edits something. What was lost with a restored server is done again first.
    pub(super) fn edit(&mut self, at: usize) {
        match self.now < self.effects.redo_until {
            true => self.agenda.add(self.effects.redo_until, Step::Edit(at)),
            false => self.make_edit(at),
        }
    }

    pub(super) fn make_edit(&mut self, at: usize) {
        // Once faults have stopped, users do not try again.
        if !self.rages {
            return;
        }
        let planned = &self.plan.edits[at];
        let (number, edit) = (planned.number, planned.what.clone());
        self.trace
            .tell(self.now, || format!(">>> edit {number}: {}", told(&edit)));
        let done = match &edit {
            Edit::Create { path, body } => self.by_hand(Method::Post, path, Some(body)),
            Edit::Merge { path, patch } => self.by_hand(Method::MergePatch, path, Some(patch)),
            Edit::Own {
                path,
                body,
                owners,
                blocks,
            } => {
                let mut body = body.clone();
                let owners = owners.iter().map(|owner| self.reference(owner, *blocks));
                body["metadata"]["ownerReferences"] = owners.collect();
                self.by_hand(Method::Post, path, Some(&body))
            }
            Edit::Delete { path, propagation } => {
                let options = propagation.map(delete_options);
                self.by_hand(Method::Delete, path, options.as_ref())
            }
        };
        // What was refused is not lost with a restored server: it is tried again below, or never.
        if done.is_none() {
            self.edited.push((self.now, at));
        }
        // A namespace that is not there yet, say, or one that is terminating: users try again, for
        // a while. What is there already stays as it is.
        let again = self.now + TRY_AGAIN;
        let fails = match (&edit, done) {
            (Edit::Create { .. } | Edit::Own { .. }, Some(404 | 403)) => true,
            (Edit::Create { path, body } | Edit::Own { path, body, .. }, Some(409)) => {
                self.is_terminating(path, body)
            }
            _ => false,
        };
        if fails && again < self.plan.rage {
            self.agenda.add(again, Step::Edit(at));
        }
    }

    /// Whether there is an object of this name that is being deleted.
    fn is_terminating(&mut self, collection: &str, body: &Value) -> bool {
        let name = body["metadata"]["name"].as_str().unwrap_or_default();
        let found = self.object_at(&format!("{collection}/{name}"));
        !found["metadata"]["deletionTimestamp"].is_null()
    }

    /// The object at a path, as it is now; `null` if there is none.
    fn object_at(&mut self, path: &str) -> Value {
        let asked: Asked = Request::get(path).into();
        match self.server.handle(&asked, &admin(), "kubectl", self.now) {
            Got::Body(body) => serde_json::from_slice(&body).unwrap_or_default(),
            Got::Failed(_) | Got::Watch(_) => Value::Null,
        }
    }

    /// How an object refers to an owner of this path, as it is now.
    fn reference(&mut self, path: &str, blocks: bool) -> Value {
        let found = self.object_at(path);
        let (collection, name) = path.rsplit_once('/').unwrap_or_default();
        let (api_version, kind) = match collection.rsplit_once('/') {
            Some((_, "widgets")) => (format!("{CUSTOM_GROUP}/v1"), "Widget"),
            Some((_, "secrets")) => ("v1".to_owned(), "Secret"),
            _ => ("v1".to_owned(), "ConfigMap"),
        };
        let uid = found["metadata"]["uid"].as_str();
        json!({
            "apiVersion": found["apiVersion"].as_str().unwrap_or(&api_version),
            "kind": found["kind"].as_str().unwrap_or(kind),
            "name": name,
            "uid": uid.unwrap_or("00000000-0000-4000-8000-000000000000"),
            "blockOwnerDeletion": blocks,
        })
    }

    /// Asks the server as somebody who may do anything; the code of a refusal is the answer.
    pub(super) fn by_hand(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Option<u16> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let asked: Asked = Request::with(method, path, body).into();
        let got = self.server.handle(&asked, &admin(), "kubectl", self.now);
        self.trace.add(asked.path.as_bytes());
        self.settle(None);
        match got {
            Got::Failed(error) => {
                let why = error.to_string();
                self.trace.tell(self.now, || format!("    refused: {why}"));
                Some(error.code())
            }
            Got::Body(_) | Got::Watch(_) => None,
        }
    }
}

fn delete_options(propagation: Propagation) -> Value {
    let how = match propagation {
        Propagation::Background => "Background",
        Propagation::Foreground => "Foreground",
        Propagation::Orphan => "Orphan",
    };
    json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": how})
}

fn told(edit: &Edit) -> String {
    match edit {
        Edit::Create { path, body } => {
            let name = body["metadata"]["name"].as_str().unwrap_or_default();
            format!("create {path}/{name}")
        }
        Edit::Merge { path, patch } => format!("patch {path} with {patch}"),
        Edit::Own {
            path, body, owners, ..
        } => {
            let name = body["metadata"]["name"].as_str().unwrap_or_default();
            format!("create {path}/{name} of {}", owners.join(" and "))
        }
        Edit::Delete { path, propagation } => match propagation {
            None => format!("delete {path}"),
            Some(how) => format!("delete {path}: {how:?}"),
        },
    }
}
