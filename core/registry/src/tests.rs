use flyball_api::Timestamp;
use flyball_rbac::{MASTERS, User};
use flyball_storage::Store;
use serde_json::{Value, json};

use crate::{Answer, Chance, Method, Polled, Registry, Reply, Request, Watch};

mod admitting;
mod authorizing;
mod bounds;
mod corners;
mod custom;
mod deleting;
mod depth;
mod exchanges;
mod lifecycle;
mod metadata;
mod negotiating;
mod other_versions;
mod owners;
mod patching;
mod reading;
mod rules;
mod sending;
mod transcripts;
mod upstream;
mod watching;

pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The definition of custom things that have these versions.
pub(crate) fn things(versions: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": versions,
        },
    })
}

/// A registry to talk to, as somebody who may do anything.
pub(crate) struct Server {
    pub(crate) registry: Registry,
    pub(crate) user: User,
    random: u64,
    pub(crate) now: Timestamp,
}

impl Server {
    pub(crate) fn new() -> Self {
        let mut server = Self {
            registry: Registry::empty(),
            user: User::of_groups("admin", &[MASTERS]),
            random: 7,
            now: "2026-01-02T03:04:05Z".parse().unwrap(),
        };
        let mut random = server.random;
        let mut draw = || next(&mut random);
        server
            .registry
            .bootstrap(server.now, &mut Chance(&mut draw));
        server.random = random;
        server
    }

    /// The same server after it was started again from what it had stored.
    pub(crate) fn restart(&mut self) {
        let store = self.registry.store();
        let (revision, items) = (store.revision(), store.iter().cloned().collect::<Vec<_>>());
        let store = Store::restore(revision, items, Registry::limits()).unwrap();
        self.registry = Registry::new(store);
    }

    pub(crate) fn reply(
        &mut self,
        method: Method,
        target: &str,
        content_type: &str,
        body: &[u8],
    ) -> Reply {
        self.reply_to(method, target, content_type, "", body)
    }

    fn reply_to(
        &mut self,
        method: Method,
        target: &str,
        content_type: &str,
        accept: &str,
        body: &[u8],
    ) -> Reply {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pairs: Vec<(String, String)> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let request = Request {
            method,
            path,
            query: &pairs,
            body,
            content_type,
            accept,
            user: &self.user,
            agent: "tests/1",
            now: self.now,
        };
        let random = &mut self.random;
        let mut draw = || next(random);
        self.registry.handle(request, &mut Chance(&mut draw))
    }

    pub(crate) fn send(
        &mut self,
        method: Method,
        target: &str,
        content_type: &str,
        body: &Value,
    ) -> (u16, Value) {
        let body = match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        };
        let Answer { code, body, .. } = match self.reply(method, target, content_type, &body) {
            Reply::Answer(answer) => answer,
            Reply::List(list) => list.render(),
            // The server's own pages are not here.
            Reply::Page => return (404, Value::Null),
            other => panic!("{target}: {other:?}"),
        };
        let text = || Value::String(String::from_utf8_lossy(&body).into());
        let body = serde_json::from_slice(&body).unwrap_or_else(|_| text());
        (code, body)
    }

    pub(crate) fn get(&mut self, target: &str) -> (u16, Value) {
        self.send(Method::Get, target, "", &Value::Null)
    }

    pub(crate) fn post(&mut self, target: &str, body: &Value) -> (u16, Value) {
        self.send(Method::Post, target, "application/json", body)
    }

    pub(crate) fn put(&mut self, target: &str, body: &Value) -> (u16, Value) {
        self.send(Method::Put, target, "application/json", body)
    }

    pub(crate) fn patch(&mut self, target: &str, kind: &str, body: &Value) -> (u16, Value) {
        let content_type = match kind {
            "apply" => "application/apply-patch+yaml".to_owned(),
            kind => format!("application/{kind}+json"),
        };
        self.send(Method::Patch, target, &content_type, body)
    }

    pub(crate) fn delete(&mut self, target: &str, body: &Value) -> (u16, Value) {
        self.send(Method::Delete, target, "application/json", body)
    }

    pub(crate) fn watch(&mut self, target: &str) -> Box<Watch> {
        match self.reply(Method::Get, target, "", &[]) {
            Reply::Watch(watch) => watch,
            other => panic!("{target}: {other:?}"),
        }
    }

    /// The lines that a watch has to tell.
    pub(crate) fn lines(&self, watch: &mut Watch) -> Vec<Value> {
        let mut out = Vec::new();
        let through = self.registry.revision();
        while self
            .registry
            .poll(watch, through, self.now, &mut out, 1 << 20)
            == Polled::More
        {}
        let lines = out
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    /// The kinds of the lines that a watch has to tell, with the names of their objects.
    fn told(&self, watch: &mut Watch) -> Vec<String> {
        let told = |line: &Value| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            format!(
                "{} {}",
                text(&line["type"]),
                text(&line["object"]["metadata"]["name"])
            )
        };
        self.lines(watch).iter().map(told).collect()
    }
}

fn next(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state
}

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1"}})
}

/// Warnings and the message of an answer that refuses.
pub(crate) fn refused(server: &mut Server, target: &str, body: &Value) -> (Vec<String>, String) {
    let body = body.to_string();
    match server.reply(Method::Post, target, "application/json", body.as_bytes()) {
        Reply::Answer(answer) => {
            let body: Value = serde_json::from_slice(&answer.body).unwrap();
            let message = body["message"].as_str().unwrap_or_default();
            (answer.warnings, message.to_owned())
        }
        other => panic!("{target}: {other:?}"),
    }
}
