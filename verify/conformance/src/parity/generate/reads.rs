//! Reads of one object, of collections in pages, of their changes, and of paths that lead nowhere.

use super::{Episode, Step};
use crate::parity::request::Request;

impl Episode<'_> {
    pub(super) fn get(&mut self) -> Step {
        let (at, name) = self.some_target();
        let mut request = Request::new("GET", self.object_path(at, &name));
        if self.chance.percent(15) {
            let collection = self.kind(at).path(&self.namespace);
            request = self.at_version(request).cached(collection);
        }
        let request = self.shown_as(request);
        self.step(request, at, &name, false)
    }

    pub(super) fn list(&mut self) -> Step {
        let at = self.some_kind();
        if self.chance.percent(20)
            && let Some(mut page) = self.pages.pop()
        {
            if self.chance.percent(10) {
                page = page.with("resourceVersion", "5");
            }
            return self.step(page, at, "", false);
        }
        let namespace = match self.chance.percent(85) {
            true => self.namespace.clone(),
            false => String::new(),
        };
        let mut request = Request::new("GET", self.kind(at).path(&namespace));
        request = self.own_only(request, at);
        if self.chance.percent(25) {
            request = self.by_fields(request, at);
        }
        if self.chance.percent(35) {
            let limit = self
                .chance
                .word(&["1", "1", "2", "2", "500", "0", "-1", "odd"]);
            request = request.with("limit", limit);
        }
        if self.chance.percent(3) {
            request = request.with("continue", "bm90IGEgdG9rZW4");
        }
        if self.chance.percent(25) {
            let collection = request.path.clone();
            request = self.at_version(request).cached(collection);
        }
        let request = self.shown_as(request);
        self.step(request, at, "", false)
    }

    /// Watches of what happened in this episode, from versions that were seen, to be asked when nothing more happens.
    pub(crate) fn watches(&mut self, since: &str) -> Vec<Request> {
        let mut kinds = self.chosen.clone();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.into_iter().map(|at| self.watch(at, since)).collect()
    }

    fn watch(&mut self, at: usize, since: &str) -> Request {
        let path = self.kind(at).path(&self.namespace);
        let mut request = Request::new("GET", path)
            .with("watch", self.chance.word(&["1", "true", "true"]))
            .with("timeoutSeconds", "1");
        request = match self.chance.below(12) {
            0 => request,
            1 => {
                let collection = request.path.clone();
                request.with("resourceVersion", "0").cached(collection)
            }
            2..4 => request
                .with("sendInitialEvents", "true")
                .with("resourceVersionMatch", "NotOlderThan")
                .with("allowWatchBookmarks", "true"),
            4 => request.with("sendInitialEvents", "true"),
            5 => request
                .with("resourceVersion", since)
                .with("resourceVersionMatch", "Exact"),
            6 => {
                let version = self.chance.one(&self.states).cloned().unwrap_or_default();
                request.with("resourceVersion", version)
            }
            _ => request.with("resourceVersion", since),
        };
        // What is cluster-wide goes on while the watch looks.
        if self.kind(at).cluster || self.chance.percent(40) {
            request = self.own_only(request, at);
        }
        if self.chance.percent(20) {
            request = self.by_fields(request, at);
        }
        self.shown_as(request)
    }

    /// Requests that are odd as a whole: no such path, no such verb, another kind's body.
    pub(super) fn odd(&mut self) -> Step {
        let at = self.some_kind();
        let kind = self.kind(at);
        let (collection, namespace) = (kind.path(&self.namespace), self.namespace.clone());
        let name = self.some_name(at);
        let request = match self.chance.below(14) {
            0 => Request::new("GET", format!("{collection}/{name}/odd")),
            1 => Request::new("GET", format!("/apis/{}/odd", kind.api_version())),
            2 => Request::new("GET", "/apis/odd.example.com/v1/things"),
            3 => Request::new("GET", format!("/api/v1/namespaces/{namespace}/odds")),
            4 => Request::new("PUT", collection).with_json(&self.body(at, &name)),
            5 => Request::new("POST", format!("{collection}/{name}"))
                .with_json(&self.body(at, &name)),
            6 => {
                let other = self.some_kind();
                Request::new("POST", collection).with_json(&self.body(other, &name))
            }
            7 => Request::new("PATCH", collection).with_json(&self.body(at, &name)),
            8 => Request::new("POST", kind.path("")).with_json(&self.body(at, &name)),
            9 => Request::new("GET", format!("/api/v1/namespaces/{namespace}")),
            10 => Request::new("GET", format!("{collection}/{name}"))
                .with("watch", "true")
                .with("timeoutSeconds", "1")
                .with("resourceVersion", "0")
                .cached(collection),
            11 => Request::new("GET", format!("{collection}/{name}/status")),
            12 => Request::new("DELETE", format!("{collection}/{name}/status")),
            _ => Request::new("GET", "/odd"),
        };
        self.step(request, at, &name, true)
    }
}
