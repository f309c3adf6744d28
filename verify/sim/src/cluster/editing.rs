//! Edits: what people do, straight at the server.

use std::time::Duration;

use flyball_api::request::{Method, Request};
use serde_json::Value;

use super::Cluster;
use crate::server::{Asked, Got, admin};
use crate::step::Step;
use crate::workload::Edit;

impl Cluster {
    pub(super) fn edit(&mut self, at: usize) {
        let planned = &self.plan.edits[at];
        let (number, edit) = (planned.number, planned.what.clone());
        self.trace
            .tell(self.now, || format!(">>> edit {number}: {}", told(&edit)));
        let done = match &edit {
            Edit::Create { path, body } => self.by_hand(Method::Post, path, Some(body)),
            Edit::Merge { path, patch } => self.by_hand(Method::MergePatch, path, Some(patch)),
            Edit::Delete { path } => self.by_hand(Method::Delete, path, None),
        };
        // A namespace that is not there yet, say: people try again. What is gone stays so.
        let is_create = matches!(edit, Edit::Create { .. });
        if is_create && matches!(done, Some(404 | 403)) {
            self.agenda
                .add(self.now + Duration::from_secs(1), Step::Edit(at));
        }
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

fn told(edit: &Edit) -> String {
    match edit {
        Edit::Create { path, body } => {
            let name = body["metadata"]["name"].as_str().unwrap_or_default();
            format!("create {path}/{name}")
        }
        Edit::Merge { path, patch } => format!("patch {path} with {patch}"),
        Edit::Delete { path } => format!("delete {path}"),
    }
}
