//! One request through the proxy.

use std::convert::Infallible;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use anyhow::{Result, anyhow};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use kube::client::Body;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::{Mood, Posted, Shared};

/// What the proxy answers with.
pub(super) type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

pub(super) fn whole(bytes: Bytes) -> UnsyncBoxBody<Bytes, Infallible> {
    Full::new(bytes).boxed_unsync()
}

/// Forwards requests.
pub(super) struct Relay {
    pub(super) shared: Arc<Shared>,
}

impl Relay {
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Result<Answer, Infallible> {
        Ok(self.forward(request).await.unwrap_or_else(|error| {
            let mut answer = Response::new(whole(Bytes::from(format!("proxy: {error:#}"))));
            *answer.status_mut() = StatusCode::BAD_GATEWAY;
            answer
        }))
    }

    async fn forward(&self, request: Request<Incoming>) -> Result<Answer> {
        let (head, body) = request.into_parts();
        let (resource, is_collection) = resource_of(head.uri.path());
        let is_watch = head
            .uri
            .query()
            .is_some_and(|query| query.contains("watch=true") || query.contains("watch=1"));
        let reads_all = head.method == Method::GET && is_collection;
        let mood = self.shared.mood.borrow().clone();
        if reads_all && let Some(seconds) = mood.overload_of(&resource) {
            return Ok(too_many_requests(seconds));
        }
        if reads_all
            && let Some(answer) = mood
                .mischief_for(&resource)
                .and_then(|mischief| mischief.instead(is_watch))
        {
            return Ok(answer);
        }

        let is_discovery = matches!(head.uri.path(), "/api" | "/apis");
        let confusion = mood.confusion.filter(|_| is_discovery);
        if let Some(answer) = confusion.and_then(|it| it.instead(head.uri.path())) {
            return Ok(answer);
        }

        let body = body.collect().await?.to_bytes();
        if head.method == Method::POST {
            let posted = Posted {
                resource: resource.clone(),
                body: body.clone(),
            };
            self.shared
                .posted
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(posted);
        }
        if let Some(rival) = &mood.rival {
            let (client, path) = (&self.shared.client, head.uri.path());
            rival.act(client, &head.method, &resource, path).await?;
        }
        let target = head
            .uri
            .path_and_query()
            .ok_or_else(|| anyhow!("no path in the request"))?;
        let mut forwarded = Request::builder()
            .method(head.method)
            .uri(target.as_str())
            .body(Body::from(body.to_vec()))?;
        let passed = [header::CONTENT_TYPE, header::ACCEPT, header::USER_AGENT];
        // Who is told something else must not be told that it is what the server has.
        let tag = [header::IF_NONE_MATCH]
            .into_iter()
            .filter(|_| confusion.is_none());
        for name in passed.into_iter().chain(tag) {
            if let Some(value) = head.headers.get(&name) {
                forwarded.headers_mut().insert(name, value.clone());
            }
        }
        let (from, upstream) = self.shared.client.send(forwarded).await?.into_parts();
        let grafts = mood.graft && reads_all;
        let streams = is_watch && from.status.is_success();
        let body = if streams {
            let (sender, receiver) = mpsc::unbounded_channel();
            let (delayed, lines) = mpsc::unbounded_channel();
            let pump = Pump {
                resource: resource.clone(),
                grafts,
                mood: self.shared.mood.clone(),
                to: sender,
            };
            tokio::spawn(pump.run(upstream));
            tokio::spawn(delay(receiver, delayed, resource, self.shared.mood.clone()));
            stream(lines)
        } else {
            let bytes = upstream.collect().await?.to_bytes();
            whole(match confusion {
                Some(confusion) => confusion.distort(&bytes),
                None if grafts => graft(&bytes),
                None => bytes,
            })
        };
        let mut answer = Response::new(body);
        *answer.status_mut() = from.status;
        let tag = [header::ETAG].into_iter().filter(|_| confusion.is_none());
        for name in [header::CONTENT_TYPE, header::RETRY_AFTER]
            .into_iter()
            .chain(tag)
        {
            if let Some(value) = from.headers.get(&name) {
                answer.headers_mut().insert(name, value.clone());
            }
        }
        Ok(answer)
    }
}

/// The answer of a server that has too much to do.
fn too_many_requests(seconds: &'static str) -> Answer {
    let status = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","message":"the harness says later","code":429}"#;
    let code = StatusCode::TOO_MANY_REQUESTS;
    let mut answer = super::mischief::answer(code, "application/json", status);
    let seconds = http::HeaderValue::from_static(seconds);
    answer.headers_mut().insert(header::RETRY_AFTER, seconds);
    answer
}

/// Carries a watch from the server to the queue of the delayed, with mischief in between.
struct Pump {
    resource: String,
    grafts: bool,
    mood: watch::Receiver<Mood>,
    to: mpsc::UnboundedSender<Bytes>,
}

impl Pump {
    async fn run(mut self, mut upstream: Body) {
        let mut line = Vec::new();
        let mut news = true;
        loop {
            if news && self.mood.borrow().overload_of(&self.resource).is_some() {
                return;
            }
            if news {
                let mischief = self.mood.borrow_and_update().mischief_for(&self.resource);
                if let Some(mischief) = mischief
                    && !mischief.inflict(&self.to, &mut self.mood).await
                {
                    return;
                }
            }
            let frame = tokio::select! {
                frame = upstream.frame() => frame,
                () = self.to.closed() => return,
                changed = self.mood.changed() => {
                    news = changed.is_ok();
                    continue;
                }
            };
            news = false;
            let Some(Ok(frame)) = frame else { return };
            let Ok(chunk) = frame.into_data() else {
                continue;
            };
            if !self.grafts {
                if self.to.send(chunk).is_err() {
                    return;
                }
                continue;
            }
            line.extend_from_slice(&chunk);
            while let Some(end) = line.iter().position(|byte| *byte == b'\n') {
                let rest = line.split_off(end + 1);
                let sent = self.to.send(graft(&line));
                line = rest;
                if sent.is_err() {
                    return;
                }
            }
        }
    }
}

/// Holds each chunk back for as long as the mood says at the moment it comes.
async fn delay(
    mut from: mpsc::UnboundedReceiver<Bytes>,
    to: mpsc::UnboundedSender<Bytes>,
    resource: String,
    mood: watch::Receiver<Mood>,
) {
    let (stamped, mut due) = mpsc::unbounded_channel::<(Instant, Bytes)>();
    let stamping = async {
        while let Some(chunk) = from.recv().await {
            let lag: Duration = mood.borrow().lag_of(&resource);
            if stamped.send((Instant::now() + lag, chunk)).is_err() {
                return;
            }
        }
        drop(stamped);
    };
    let sending = async {
        while let Some((at, chunk)) = due.recv().await {
            tokio::time::sleep_until(at).await;
            if to.send(chunk).is_err() {
                return;
            }
        }
    };
    // A reader that left ends both: nobody would take what is still to come.
    tokio::select! {
        () = async { tokio::join!(stamping, sending); } => {}
        () = to.closed() => {}
    }
}

fn stream(mut lines: mpsc::UnboundedReceiver<Bytes>) -> UnsyncBoxBody<Bytes, Infallible> {
    let frames = futures::stream::poll_fn(move |context| {
        lines
            .poll_recv(context)
            .map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
    });
    StreamBody::new(frames).boxed_unsync()
}

/// The field that is put into templates, and what it holds.
pub(crate) const GRAFTED: &str =
    r#""fieldFromTheFuture":{"depth":[1,null,{"x":"1e3"}],"on":true},"#;

/// Puts [`GRAFTED`] into every pod spec, before a field that each of them has.
fn graft(json: &[u8]) -> Bytes {
    let text = String::from_utf8_lossy(json);
    let marker = r#""dnsPolicy":"#;
    Bytes::from(text.replace(marker, &format!("{GRAFTED}{marker}")))
}

/// The plural that a path is about, and whether it is the whole collection.
fn resource_of(path: &str) -> (String, bool) {
    let mut segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let prefix = match segments.first() {
        Some(&"api") => 2,
        Some(&"apis") => 3,
        _ => return (String::new(), false),
    };
    segments.drain(..prefix.min(segments.len()));
    if segments.first() == Some(&"namespaces") && segments.len() > 2 {
        segments.drain(..2);
    }
    let resource = segments.first().copied().unwrap_or_default();
    (resource.to_owned(), segments.len() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_tell_the_resource_and_whether_all_of_it_is_meant() {
        let expected = |resource: &str, all| (resource.to_owned(), all);
        assert_eq!(resource_of("/api/v1/pods"), expected("pods", true));
        let path = "/apis/apps/v1/namespaces/a/replicasets/web";
        assert_eq!(resource_of(path), expected("replicasets", false));
        assert_eq!(
            resource_of("/api/v1/namespaces/a/pods"),
            expected("pods", true)
        );
        assert_eq!(
            resource_of("/api/v1/namespaces/a"),
            expected("namespaces", false)
        );
        assert_eq!(resource_of("/healthz"), expected("", false));
    }

    #[test]
    fn a_graft_leaves_valid_json() {
        let json =
            br#"{"spec":{"template":{"spec":{"containers":[],"dnsPolicy":"ClusterFirst"}}}}"#;
        let grafted: serde_json::Value = serde_json::from_slice(&graft(json)).unwrap();
        let spec = &grafted["spec"]["template"]["spec"];
        assert_eq!(spec["fieldFromTheFuture"]["depth"][2]["x"], "1e3");
        assert_eq!(spec["dnsPolicy"], "ClusterFirst");
    }
}
