//! Patches of all types.

use serde_json::{Value, json};

use super::mutate::{broken, merged, mutated};
use super::{Episode, LABEL, Live, Step};
use crate::parity::request::Request;

const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

impl Episode<'_> {
    pub(super) fn patch(&mut self) -> Step {
        let Some(live) = self.some_live() else {
            return self.create();
        };
        let kind = self.kind(live.kind);
        let change = self.chance.one(&kind.changes).cloned().unwrap_or_default();
        let (mut at, mut name) = (live.kind, live.name.clone());
        if self.chance.percent(8) {
            (at, name) = self.some_target();
        }
        let path = self.object_path(at, &name);
        let shape = self.chance.below(100);
        let request = match shape {
            0..40 => self.apply(path, at, &name, &change),
            40..60 => self.json_patch(path, &live),
            60..80 => self.merging(path, MERGE, &live, change),
            80..97 => self.merging(path, STRATEGIC, &live, change),
            _ => Request::new("PATCH", path).with_json(&change),
        };
        let request = self.write_options(request);
        self.step(request, at, &name, true)
    }

    /// A patch of a part.
    pub(super) fn part_patch(&mut self, path: String, live: &Live, change: &Value) -> Request {
        match self.chance.below(3) {
            0 => {
                let kind = self.kind(live.kind);
                let mut object = change.clone();
                object["apiVersion"] = kind.api_version().into();
                object["kind"] = kind.kind.as_str().into();
                object["metadata"] = json!({"name": live.name});
                let request = Request::new("PATCH", path).with("fieldManager", "statuses");
                request.with_body(APPLY, object.to_string())
            }
            1 => self.merging(path, MERGE, live, change.clone()),
            _ => self.merging(path, STRATEGIC, live, change.clone()),
        }
    }

    fn merging(
        &mut self,
        path: String,
        content_type: &str,
        live: &Live,
        mut change: Value,
    ) -> Request {
        match self.chance.below(16) {
            0 => change["metadata"]["resourceVersion"] = live.stale.as_str().into(),
            1 => {
                change["metadata"]["resourceVersion"] =
                    live.value["metadata"]["resourceVersion"].clone()
            }
            2 => change["metadata"]["uid"] = "00000000-0000-4000-8000-000000000004".into(),
            3 => change["metadata"]["name"] = "other".into(),
            4 => change["metadata"]["finalizers"] = json!(["example.com/hold"]),
            5 => change["metadata"]["finalizers"] = Value::Null,
            6 => change["metadata"]["labels"] = json!({"tier": "front", "app": null}),
            7 => change["metadata"]["annotations"] = json!({"note": "patched"}),
            8 => change["metadata"]["labels"] = json!({"$patch": "replace", LABEL: self.namespace}),
            9 => change["spec"]["$patch"] = "delete".into(),
            10 => change["odd"] = 1.into(),
            11 => {
                change["metadata"]["$deleteFromPrimitiveList/finalizers"] =
                    json!(["example.com/hold"])
            }
            12 if !self.is_part_of_custom(live, &path) => change["kind"] = "Odd".into(),
            _ => {}
        }
        if self.chance.percent(20) {
            change = mutated(change, &mut self.chance);
        }
        let mut body = change.to_string();
        if self.chance.percent(4) {
            body = broken(&body, &mut self.chance);
        }
        Request::new("PATCH", path).with_body(content_type, body)
    }

    /// Whether a path is that of a part of a custom object. Upstream keeps what the schema does not have of a part that
    /// says another kind, does not show it, and drops it with the next write.
    fn is_part_of_custom(&self, live: &Live, path: &str) -> bool {
        let kind = self.kind(live.kind);
        kind.resource.starts_with("parity.example.com/") && !path.ends_with(&live.name)
    }

    fn json_patch(&mut self, path: String, live: &Live) -> Request {
        let count = 1 + self.chance.below(3);
        let operations: Vec<Value> = (0..count).map(|_| self.operation(live)).collect();
        let mut patch = Value::Array(operations);
        if self.chance.percent(5) {
            patch = patch[0].clone();
        }
        let mut body = patch.to_string();
        if self.chance.percent(4) {
            body = broken(&body, &mut self.chance);
        }
        Request::new("PATCH", path).with_body(JSON, body)
    }

    fn operation(&mut self, live: &Live) -> Value {
        let version = live.value["metadata"]["resourceVersion"].clone();
        match self.chance.below(16) {
            0 => json!({"op": "add", "path": "/metadata/labels/tier", "value": "front"}),
            1 => json!({"op": "remove", "path": "/metadata/labels/app"}),
            2 => json!({"op": "replace", "path": "/metadata/labels/app", "value": "db"}),
            3 => json!({"op": "test", "path": "/metadata/labels/app", "value": "web"}),
            4 => json!({"op": "test", "path": "/metadata/resourceVersion", "value": version}),
            5 => json!({"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}}),
            6 => {
                json!({"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/hold"})
            }
            7 => {
                json!({"op": "add", "path": "/metadata/finalizers", "value": ["example.com/hold"]})
            }
            8 => json!({"op": "remove", "path": "/metadata/finalizers"}),
            9 => json!({"op": "copy", "from": "/metadata/name", "path": "/metadata/labels/name"}),
            10 => {
                json!({"op": "move", "from": "/metadata/labels/app", "path": "/metadata/labels/moved"})
            }
            11 => json!({"op": "replace", "path": "/spec/replicas", "value": 4}),
            12 => json!({"op": "replace", "path": "/metadata/name", "value": "other"}),
            13 => json!({"op": "odd", "path": "/metadata", "value": 1}),
            14 => json!({"op": "add", "path": "/data/color", "value": 1}),
            _ => json!({"op": "add", "path": "/metadata/labels/bad key", "value": "x"}),
        }
    }

    fn apply(&mut self, path: String, at: usize, name: &str, change: &Value) -> Request {
        let mut object = match self.chance.below(4) {
            0 => {
                let kind = self.kind(at);
                let head = json!({"apiVersion": kind.api_version(), "kind": kind.kind, "metadata": {"name": name}});
                merged(head, change)
            }
            1 => {
                let body = self.body(at, name);
                merged(body, change)
            }
            _ => self.body(at, name),
        };
        match self.chance.below(20) {
            0 => object["metadata"]["managedFields"] = json!([]),
            1 => object["metadata"]["managedFields"] = json!([{"manager": "x"}]),
            2 => object["metadata"]["name"] = "other".into(),
            3 => object["metadata"]["resourceVersion"] = "1".into(),
            4 => object["metadata"]["uid"] = "00000000-0000-4000-8000-000000000005".into(),
            5 => object["metadata"]["finalizers"] = json!(["example.com/hold"]),
            6 => object["metadata"]["labels"]["tier"] = "back".into(),
            7 => drop(object.as_object_mut().map(|object| object.remove("kind"))),
            _ => {}
        }
        if self.chance.percent(15) {
            object = mutated(object, &mut self.chance);
        }
        let mut body = object.to_string();
        if self.chance.percent(4) {
            body = broken(&body, &mut self.chance);
        }
        let mut request = Request::new("PATCH", path).with_body(APPLY, body);
        if self.chance.percent(95) {
            let manager = self.chance.word(&["alice", "alice", "bob", "carol"]);
            request = request.with("fieldManager", manager);
        }
        if self.chance.percent(35) {
            let force = self
                .chance
                .word(&["true", "true", "true", "false", "odd", ""]);
            request = request.with("force", force);
        }
        request
    }
}
