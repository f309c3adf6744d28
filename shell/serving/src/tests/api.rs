//! An API server that knows tokens, permissions and one ConfigMap, inside the test's process.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use kube::client::Body;
use serde_json::{Value, json};
use tower::BoxError;

/// Its state, which a test may change at any time.
#[derive(Default)]
pub(crate) struct Api {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    asked: Vec<(String, Value)>,
    config_map: Option<Value>,
    tokens: HashMap<String, Value>,
    allowed: HashSet<(String, String, String)>,
    troubles: VecDeque<Trouble>,
    hangs: bool,
}

/// What goes wrong with one request.
#[derive(Clone, Copy)]
pub(crate) enum Trouble {
    Status(u16),
    ConnectionReset,
    ConnectionRefused,
    Garbage,
}

impl Api {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    pub(crate) fn client(self: &Arc<Self>) -> kube::Client {
        let api = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let api = api.clone();
            async move { api.answer(request).await }
        });
        kube::Client::new(service, "default")
    }

    /// `token` belongs to this user.
    pub(crate) fn knows(&self, token: &str, user: &str, groups: &[&str]) {
        let user = json!({"username": user, "uid": "7", "groups": groups, "extra": {"k": ["v"]}});
        self.judges(token, json!({"authenticated": true, "user": user}));
    }

    /// `token` gets exactly this status.
    pub(crate) fn judges(&self, token: &str, status: Value) {
        self.state
            .lock()
            .unwrap()
            .tokens
            .insert(token.to_owned(), status);
    }

    pub(crate) fn allows(&self, user: &str, verb: &str, path: &str) {
        let rule = (user.to_owned(), verb.to_owned(), path.to_owned());
        self.state.lock().unwrap().allowed.insert(rule);
    }

    pub(crate) fn publishes(&self, data: Value) {
        self.state.lock().unwrap().config_map = Some(data);
    }

    /// The next requests go wrong like this.
    pub(crate) fn troubles(&self, troubles: &[Trouble]) {
        self.state.lock().unwrap().troubles.extend(troubles);
    }

    /// No request is answered any more.
    pub(crate) fn hangs(&self) {
        self.state.lock().unwrap().hangs = true;
    }

    /// The bodies of the requests whose path ends like this.
    pub(crate) fn asked(&self, path: &str) -> Vec<Value> {
        let state = self.state.lock().unwrap();
        let matching = state
            .asked
            .iter()
            .filter(|(asked, _)| asked.ends_with(path));
        matching.map(|(_, body)| body.clone()).collect()
    }

    async fn answer(&self, request: Request<Body>) -> Result<Response<Full<Bytes>>, BoxError> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let hangs = {
            let mut state = self.state.lock().unwrap();
            state.asked.push((head.uri.path().to_owned(), body.clone()));
            state.hangs
        };
        if hangs {
            std::future::pending::<()>().await;
        }
        let mut state = self.state.lock().unwrap();
        let reset = std::io::ErrorKind::ConnectionReset;
        match state.troubles.pop_front() {
            Some(Trouble::Status(code)) => return Ok(failure(code)),
            Some(Trouble::ConnectionReset) => return Err(std::io::Error::from(reset).into()),
            Some(Trouble::ConnectionRefused) => {
                return Err(std::io::Error::from(std::io::ErrorKind::ConnectionRefused).into());
            }
            Some(Trouble::Garbage) => return Ok(Response::new("{\"status\": 7".into())),
            None => {}
        }
        Ok(match (&head.method, head.uri.path()) {
            (&Method::POST, "/apis/authentication.k8s.io/v1/tokenreviews") => {
                let token = body["spec"]["token"].as_str().unwrap_or_default();
                let unknown = json!({"authenticated": false});
                success(&json!({"status": state.tokens.get(token).unwrap_or(&unknown)}))
            }
            (&Method::POST, "/apis/authorization.k8s.io/v1/subjectaccessreviews") => {
                let spec = &body["spec"];
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let asked = &spec["nonResourceAttributes"];
                let rule = (
                    text(&spec["user"]),
                    text(&asked["verb"]),
                    text(&asked["path"]),
                );
                let allowed = state.allowed.contains(&rule);
                success(&json!({"status": {"allowed": allowed}}))
            }
            (&Method::GET, path) if path.ends_with("/extension-apiserver-authentication") => {
                match &state.config_map {
                    Some(data) => success(&json!({"data": data})),
                    None => failure(404),
                }
            }
            _ => failure(405),
        })
    }
}

fn success(body: &Value) -> Response<Full<Bytes>> {
    Response::new(body.to_string().into())
}

fn failure(code: u16) -> Response<Full<Bytes>> {
    let reason = if code == 500 { "InternalError" } else { "" };
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": format!("trouble {code}"), "reason": reason, "code": code});
    Response::builder()
        .status(code)
        .body(status.to_string().into())
        .unwrap()
}
