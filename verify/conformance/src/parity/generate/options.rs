//! What the query of a request asks for beside the path, rightly or not.

use serde_json::{Value, json};

use super::{Episode, LABEL};
use crate::parity::request::{PROTOBUF, Request};

impl Episode<'_> {
    /// Options of writes.
    pub(super) fn write_options(&mut self, mut request: Request) -> Request {
        let has = |request: &Request, key: &str| request.query.iter().any(|(one, _)| one == key);
        if self.chance.percent(8) {
            let value = self.chance.word(&["All", "All", "All", "Some", ""]);
            request = request.with("dryRun", value);
        }
        if self.chance.percent(25) {
            let words = ["Strict", "Strict", "Warn", "Ignore", "Odd", "strict", ""];
            let value = self.chance.word(&words);
            request = request.with("fieldValidation", value);
        }
        if self.chance.percent(20) && !has(&request, "fieldManager") {
            let value = self
                .chance
                .word(&["alice", "bob", "bob", "ünprintable\u{7}", ""]);
            request = request.with("fieldManager", value);
        }
        if self.chance.percent(3) {
            request = request.with("fieldManager", "m".repeat(130));
        }
        if self.chance.percent(2) && !has(&request, "force") {
            request = request.with("force", "true");
        }
        self.shown_as(request)
    }

    /// How the answer should look.
    pub(super) fn shown_as(&mut self, mut request: Request) -> Request {
        let accept = match self.chance.below(40) {
            0..2 => "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
            2 => "application/json;as=Table;v=v1;g=meta.k8s.io",
            3..5 => "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
            5 => {
                "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
            }
            6 => "application/json;as=Odd;v=v1;g=meta.k8s.io,application/json",
            7 => "*/*",
            8 => "application/yaml",
            9..12 => PROTOBUF,
            12 => "application/vnd.kubernetes.protobuf,application/json",
            13 => "application/json;q=0.5,application/vnd.kubernetes.protobuf;q=0.5,*/*",
            14 => {
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;q=0.1"
            }
            15 => {
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,*/*"
            }
            16 => {
                "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1,application/vnd.kubernetes.protobuf"
            }
            _ => return request,
        };
        request.accept = accept.to_owned();
        if accept.contains("Table") && self.chance.percent(50) {
            let value = self.chance.word(&["None", "Metadata", "Object", "Odd", ""]);
            request = request.with("includeObject", value);
        }
        request
    }

    /// Narrows a request for a collection to the objects of this episode.
    pub(super) fn own_only(&mut self, mut request: Request, at: usize) -> Request {
        let own = format!("{LABEL}={}", self.namespace);
        let everywhere = !request.path.contains("/namespaces/");
        if self.kind(at).cluster || everywhere {
            let more = match self.chance.below(4) {
                0 => format!("{own},app in (web,db)"),
                1 => format!("app,{own}"),
                _ => own,
            };
            request.query.retain(|(key, _)| key != "labelSelector");
            return request.with("labelSelector", more);
        }
        if self.chance.percent(30) {
            let selectors = [
                "app=web",
                "app!=web",
                "app in (web, db)",
                "!app",
                "tier notin (front)",
                "app==web,tier",
                "app=",
                "app>1",
                "a b c",
                "=x",
                "app in ()",
                "app in (web",
                ",",
                "bad key!=x",
                "x=not valid!",
            ];
            let selector = self.chance.word(&selectors);
            return request.with("labelSelector", selector);
        }
        request
    }

    /// Selection by fields.
    pub(super) fn by_fields(&mut self, request: Request, at: usize) -> Request {
        let kind = self.kind(at);
        let name = self.some_name(at);
        let selector = match self.chance.below(10) {
            0..3 => format!("metadata.name={name}"),
            3 => format!("metadata.namespace={}", self.namespace),
            4 => format!(
                "metadata.name!={name},metadata.namespace={}",
                self.namespace
            ),
            5 => "spec.odd=1".to_owned(),
            6 => self
                .chance
                .word(&[
                    "metadata.name",
                    "=",
                    "metadata.name=a,",
                    "metadata.labels=x",
                    "a=b=c",
                    "metadata.name==web",
                ])
                .to_owned(),
            _ => match self.chance.one(&kind.fields) {
                Some(field) => format!(
                    "{field}={}",
                    self.chance
                        .word(&["Running", "", "node-1", "Opaque", "true", "Active"])
                ),
                None => format!("metadata.name={name}"),
            },
        };
        request.with("fieldSelector", selector)
    }

    /// The version that a read wants.
    pub(super) fn at_version(&mut self, mut request: Request) -> Request {
        let live = self.some_live();
        let known = live.map(|live| super::text(&live.value, "resourceVersion"));
        let version = match self.chance.below(10) {
            0..3 => "0".to_owned(),
            3..6 => known.unwrap_or_default(),
            6..8 => self.chance.one(&self.states).cloned().unwrap_or_default(),
            8 => "abc".to_owned(),
            _ => String::new(),
        };
        if self.chance.percent(90) {
            request = request.with("resourceVersion", version);
        }
        if self.chance.percent(50) {
            let words = ["Exact", "NotOlderThan", "NotOlderThan", "Odd", ""];
            let word = self.chance.word(&words);
            request = request.with("resourceVersionMatch", word);
        }
        request
    }

    /// Options of deletes, in the query or in the body.
    pub(super) fn delete_options(
        &mut self,
        mut request: Request,
        at: usize,
        name: &str,
    ) -> Request {
        let mut options = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
        let live = self
            .live
            .iter()
            .find(|live| live.kind == at && live.name == name);
        let live = live.cloned();
        let field = |field: &str| {
            live.as_ref()
                .map(|live| super::text(&live.value, field))
                .unwrap_or_default()
        };
        let mut has_body = self.chance.percent(30);
        match self.chance.below(16) {
            0 => options["gracePeriodSeconds"] = 0.into(),
            1 => options["gracePeriodSeconds"] = 5.into(),
            2 => options["gracePeriodSeconds"] = json!(-1),
            3 => options["propagationPolicy"] = "Foreground".into(),
            4 => options["propagationPolicy"] = "Orphan".into(),
            5 => options["propagationPolicy"] = "Odd".into(),
            6 => options["orphanDependents"] = true.into(),
            7 => {
                options["orphanDependents"] = false.into();
                options["propagationPolicy"] = "Background".into();
            }
            8 => options["preconditions"] = json!({"uid": field("uid")}),
            9 => options["preconditions"] = json!({"uid": "00000000-0000-4000-8000-000000000003"}),
            10 => options["preconditions"] = json!({"resourceVersion": field("resourceVersion")}),
            11 => options["preconditions"] = json!({"resourceVersion": "1"}),
            12 => options["dryRun"] = json!(["All"]),
            13 => options["odd"] = json!(1),
            14 => options["kind"] = "Odd".into(),
            _ => has_body = false,
        }
        if has_body {
            return request.with_json(&options);
        }
        let in_query = [
            "gracePeriodSeconds",
            "propagationPolicy",
            "orphanDependents",
        ];
        for key in in_query {
            match options.get(key) {
                Some(Value::String(text)) => request = request.with(key, text.as_str()),
                Some(other) => request = request.with(key, other.to_string()),
                None => {}
            }
        }
        if options["dryRun"].is_array() {
            let value = self.chance.word(&["All", "All", "Odd"]);
            request = request.with("dryRun", value);
        }
        self.shown_as(request)
    }
}
