//! Creates, updates, parts and deletes: requests with whole objects or options as bodies.

use serde_json::{Value, json};

use super::mutate::{broken, merged, mutated};
use super::{Episode, LABEL, Step};
use crate::parity::request::{PROTOBUF, Request};

impl Episode<'_> {
    pub(super) fn create(&mut self) -> Step {
        let at = self.some_kind();
        let kind = self.kind(at);
        let name = self.some_name(at);
        let mut object = self.body(at, &name);
        let mut namespace = self.namespace.clone();
        if self.chance.percent(10) {
            let prefix = match self.chance.percent(90) {
                true => format!("gen-{}-{}-", self.namespace, self.drawn),
                false => "Gen_".to_owned(),
            };
            object["metadata"]["generateName"] = prefix.into();
            if self.chance.percent(85) {
                object["metadata"]
                    .as_object_mut()
                    .map(|meta| meta.remove("name"));
            }
        }
        self.decorate(&mut object);
        if self.chance.percent(3) {
            namespace = "nowhere".to_owned();
        }
        let (content_type, body) = self.worn(object);
        let mut request =
            Request::new("POST", kind.path(&namespace)).with_body(&content_type, body);
        if !kind.tried_as.is_empty() {
            request = request.with("dryRun", "All");
        }
        let request = self.write_options(request);
        let name = name.clone();
        self.step(request, at, &name, true)
    }

    /// A whole object of a kind as somebody would write it.
    pub(super) fn body(&mut self, at: usize, name: &str) -> Value {
        let kind = self.kind(at);
        let sample = self.chance.one(&kind.bodies).cloned().unwrap_or_default();
        let sample = sample.to_string().replace("$NAMESPACE", &self.namespace);
        let mut object: Value = serde_json::from_str(&sample).unwrap_or_default();
        object["apiVersion"] = kind.api_version().into();
        object["kind"] = kind.kind.as_str().into();
        let name = match kind.tried_as.as_str() {
            "" => name.to_owned(),
            name => name.replace("$NAMESPACE", &self.namespace),
        };
        if !kind.nameless {
            object["metadata"] =
                json!({"name": name, "labels": {LABEL: self.namespace, "app": "web"}});
        }
        object
    }

    /// Adds to the metadata what some objects have.
    fn decorate(&mut self, object: &mut Value) {
        let meta = &mut object["metadata"];
        match self.chance.below(24) {
            0 => meta["finalizers"] = json!(["example.com/hold"]),
            1 => meta["finalizers"] = json!(["kubernetes.io/x", "orphan"]),
            2 => meta["annotations"] = json!({"note": "a note", "example.com/n": "1"}),
            3 => meta["labels"]["tier"] = self.chance.word(&["front", "back"]).into(),
            4 => meta["resourceVersion"] = "1".into(),
            5 => meta["uid"] = "00000000-0000-4000-8000-000000000001".into(),
            6 => meta["creationTimestamp"] = "2001-01-01T00:00:00Z".into(),
            7 => meta["deletionTimestamp"] = "2001-01-01T00:00:00Z".into(),
            8 => meta["generation"] = 7.into(),
            9 => meta["ownerReferences"] = json!([owner("web", true)]),
            10 => meta["ownerReferences"] = json!([owner("web", true), owner("db", true)]),
            11 => meta["ownerReferences"] = json!([{"kind": "Pod"}]),
            12 => meta["namespace"] = self.chance.word(&["default", "other"]).into(),
            13 => meta["managedFields"] = json!([]),
            14 => meta["labels"]["bad key!"] = "x".into(),
            15 => meta["labels"]["tier"] = "not valid!".into(),
            16 => meta["annotations"] = json!({"Bad/Key/x": "1"}),
            17 => meta["selfLink"] = "/x".into(),
            18 => meta["finalizers"] = json!(["bad finalizer"]),
            _ => {}
        }
    }

    /// An object as it goes over the wire: whole, mutated, or broken. Gives the content type and the body.
    pub(super) fn worn(&mut self, mut object: Value) -> (String, String) {
        if self.chance.percent(30) {
            object = mutated(object, &mut self.chance);
        }
        let mut body = object.to_string();
        if self.chance.percent(6) {
            body = broken(&body, &mut self.chance);
        }
        let content_type = match self.chance.below(40) {
            0 => "text/plain",
            1 => "application/json; charset=utf-8",
            2 => "",
            3..5 => {
                body = as_yaml(&body).unwrap_or(body);
                "application/yaml"
            }
            5..8 if is_sayable(&body) => PROTOBUF,
            _ => "application/json",
        };
        (content_type.to_owned(), body)
    }

    pub(super) fn update(&mut self) -> Step {
        let Some(live) = self.some_live() else {
            return self.create();
        };
        let kind = self.kind(live.kind);
        let change = self.chance.one(&kind.changes).cloned().unwrap_or_default();
        let mut object = merged(live.value.clone(), &change);
        self.condition(&mut object, &live.stale);
        if self.chance.percent(10) {
            self.decorate(&mut object);
        }
        let (at, mut name) = (live.kind, live.name.clone());
        if self.chance.percent(5) {
            (_, name) = self.some_target();
        }
        let (content_type, body) = self.worn(object);
        let path = self.object_path(at, &name);
        let request = Request::new("PUT", path).with_body(&content_type, body);
        let request = self.write_options(request);
        self.step(request, at, &name, true)
    }

    /// Makes what is sent depend on the version, or not.
    fn condition(&mut self, object: &mut Value, stale: &str) {
        let Some(meta) = object["metadata"].as_object_mut() else {
            return;
        };
        match self.chance.below(20) {
            0..4 => drop(meta.remove("resourceVersion")),
            4..6 => drop(meta.insert("resourceVersion".to_owned(), stale.into())),
            6 => drop(meta.insert("resourceVersion".to_owned(), "abc".into())),
            7 => drop(meta.insert("resourceVersion".to_owned(), "0".into())),
            8 => drop(meta.remove("uid")),
            9 => {
                let other = "00000000-0000-4000-8000-000000000002";
                meta.insert("uid".to_owned(), other.into());
            }
            10 => drop(meta.remove("managedFields")),
            11 => drop(meta.remove("labels")),
            12 => drop(meta.remove("creationTimestamp")),
            _ => {}
        }
    }

    pub(super) fn part(&mut self) -> Step {
        let Some(live) = self.some_live() else {
            return self.create();
        };
        let kind = self.kind(live.kind);
        let Some(part) = self.chance.one(&kind.parts).cloned() else {
            return self.get();
        };
        let path = format!("{}/{}", self.object_path(live.kind, &live.name), part.part);
        let body = self.chance.one(&part.bodies).cloned();
        let own = part.kind.is_empty();
        let shape = self.chance.below(10);
        let Some(body) = body.filter(|_| shape > 1) else {
            let request = Request::new("GET", path);
            return self.step(request, live.kind, &live.name, false);
        };
        let mut object = match own {
            true => merged(live.value.clone(), &body),
            false => body.clone(),
        };
        if !own {
            object["apiVersion"] = part.version.as_str().into();
            object["kind"] = part.kind.as_str().into();
            object["metadata"] = json!({"name": live.name, "namespace": self.namespace});
        }
        if own {
            self.condition(&mut object, &live.stale);
        }
        let request = if part.method == "POST" || shape > 5 {
            let method = if part.method == "POST" { "POST" } else { "PUT" };
            let (content_type, body) = self.worn(object);
            Request::new(method, path).with_body(&content_type, body)
        } else {
            self.part_patch(path, &live, &body)
        };
        let request = self.write_options(request);
        self.step(request, live.kind, &live.name, own)
    }

    pub(super) fn delete(&mut self) -> Step {
        let (at, name) = self.some_target();
        let path = self.object_path(at, &name);
        let request = self.delete_options(Request::new("DELETE", path), at, &name);
        self.step(request, at, &name, true)
    }

    pub(super) fn delete_collection(&mut self) -> Step {
        let at = self.some_kind();
        let request = Request::new("DELETE", self.kind(at).path(&self.namespace));
        let request = self.delete_options(request, at, "");
        let request = self.own_only(request, at);
        self.step(request, at, "", false)
    }
}

/// Whether protobuf can say what a body of JSON says.
fn is_sayable(body: &str) -> bool {
    let value = serde_json::from_str(body).ok();
    value.is_some_and(|value: Value| flyball_protobuf::encode(&value).is_some())
}

/// A body in the YAML that people write, if it is JSON.
fn as_yaml(body: &str) -> Option<String> {
    let value: Value = serde_json::from_str(body).ok()?;
    serde_saphyr::to_string(&value).ok()
}

fn owner(name: &str, controls: bool) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": name,
        "uid": format!("00000000-0000-4000-8000-0000000000{:02}", name.len()),
        "controller": controls,
    })
}
