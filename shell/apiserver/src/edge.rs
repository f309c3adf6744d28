//! One request from the network, from its head to its answer: limits, then the body, then whoever knows.
//!
//! No body is read before it is clear that its sender may send it, and that there is memory for it.
//!
//! Upstream: `apiserver/pkg/server/config.go` (`DefaultBuildHandlerChain`) and the filters there.

use std::sync::Arc;

use bytes::Bytes;
use flyball_rbac::{MASTERS, UNAUTHENTICATED, User};
use flyball_registry::{Answer, Failure, Path, Reply, is_watch};
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG,
    HeaderName, IF_NONE_MATCH, LOCATION, USER_AGENT, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use tokio::time::{Instant, timeout};

use crate::asked::Asked;
use crate::authentication::authenticate;
use crate::body::Body;
use crate::deadline::time_for;
use crate::impersonation::wanted;
use crate::memory::{Exhausted, Held};
use crate::metrics::{About, Query};
use crate::page::Page;
use crate::peer::Peer;
use crate::probes::is_probe;
use crate::rendering::{laid_out, packed, unpacks};
use crate::server::{ApiServer, rendered, whole};
use flyball_https::Target;

/// The largest body that is read, as upstream's.
const BODY_BYTES_MAX: usize = 3 << 20;

/// How much memory is reserved for the answer to a read whose size is not known yet.
const READ_BYTES: usize = 64 << 10;

/// How much of a body that is too large is passed over, so that its sender gets to read why.
const PASSED_OVER_BYTES_MAX: usize = 16 << 20;

/// The header that names a request in logs.
const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// A longer name is not repeated.
const AUDIT_ID_BYTES_MAX: usize = 64;

/// Answers a request of a client.
pub(crate) async fn serve(
    server: &Arc<ApiServer>,
    peer: &Peer,
    request: Request<Incoming>,
) -> Response<Body> {
    let started = Instant::now();
    let (head, body) = request.into_parts();
    let mut response = match Target::decode(&head.uri) {
        None => Page::error(400, "400 Bad Request").respond(),
        Some(target) => {
            let is_probe = is_probe(&head.method, &target);
            let usual = identified((server, peer), &head, &target, body);
            let response = match is_probe {
                true => server.probed(&target, usual).await,
                false => usual.await,
            };
            if let Some(about) = about(server, &head.method, &head.headers, &target).await {
                let code = response.status().as_u16();
                server.metrics().note(&about, code, started.elapsed());
            }
            response
        }
    };
    if head.method == Method::HEAD {
        response = without_body(response);
    }
    let headers = response.headers_mut();
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-cache, private"));
    let named = head.headers.get(AUDIT_ID).cloned();
    let named = named.filter(|name| !name.is_empty() && name.len() <= AUDIT_ID_BYTES_MAX);
    let name = named.or_else(|| HeaderValue::from_str(&uuid::Uuid::new_v4().to_string()).ok());
    if let Some(name) = name {
        headers.insert(AUDIT_ID, name);
    }
    response
}

/// The head of an answer, which tells how long its body would be.
fn without_body(response: Response<Body>) -> Response<Body> {
    let (mut head, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact() {
        head.headers.insert(CONTENT_LENGTH, length.into());
    }
    Response::from_parts(head, Body::whole(Bytes::new()))
}

/// What a request is counted as; `None` if what it names is not served.
async fn about(
    server: &Arc<ApiServer>,
    method: &Method,
    headers: &HeaderMap,
    target: &Target,
) -> Option<About> {
    let path = match Path::parse(&target.path) {
        Path::Resource(path) => path,
        Path::Other => {
            let known = ["/healthz", "/livez", "/readyz", "/metrics", "/version"];
            let page = known.iter().find(|known| **known == target.path)?;
            return Some(About::page(method, page));
        }
    };
    if !server.serves(&path).await {
        return None;
    }
    let content_type = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let query = Query {
        dry_run: if target.value("dryRun") == "All" {
            "All"
        } else {
            ""
        },
        is_applied: content_type.is_some_and(|kind| kind.starts_with(b"application/apply-patch")),
    };
    let asked = Asked {
        method,
        headers,
        target,
        user: &User::default(),
        wanted: None,
    };
    let is_watch = is_watch(&asked.request(&[]));
    Some(About::resource(method, &path, is_watch, &query))
}

/// The answer to somebody who can be believed.
async fn identified(
    (server, peer): (&Arc<ApiServer>, &Peer),
    head: &Parts,
    target: &Target,
    body: Incoming,
) -> Response<Body> {
    let mut asked = Asked {
        method: &head.method,
        headers: &head.headers,
        target,
        user: &User::default(),
        wanted: None,
    };
    let user = match authenticate(server, &peer.shown, &head.headers).await {
        Ok(user) => user,
        Err(why) => {
            tracing::warn!(method = %head.method, path = target.path, %why, "Unable to authenticate the request");
            return refused(&asked, Failure::new(401, "Unauthorized", "Unauthorized"));
        }
    };
    let wanted = match wanted(&head.headers) {
        Ok(wanted) => wanted,
        Err(failure) => return refused(&asked, failure),
    };
    if !is_anonymous(&user) {
        peer.activity.note_user();
    }
    asked.user = &user;
    asked.wanted = wanted.as_ref();
    limited((server, peer), &asked, body).await
}

/// The answer within the time that a request has; a watch has its own.
async fn limited(
    (server, peer): (&Arc<ApiServer>, &Peer),
    asked: &Asked<'_>,
    body: Incoming,
) -> Response<Body> {
    if is_watch(&asked.request(&[])) {
        let held = peer.holding(0);
        return answer((server, peer), asked, (Bytes::new(), held)).await;
    }
    let time = match time_for(asked.target.value("timeout")) {
        Ok(time) => time,
        Err(why) => return refused(asked, Failure::bad_request(why)),
    };
    match timeout(time, placed((server, peer), asked, body)).await {
        Ok(response) => response,
        Err(_) => {
            let message = "Timeout: request did not complete within the allotted timeout";
            let mut failure = Failure::new(504, "Timeout", message);
            failure.0.details = Some(flyball_api::StatusDetails::default());
            refused(asked, failure)
        }
    }
}

/// The answer, once there is memory for it, the body is there, and there is a place among the requests in
/// flight.
async fn placed(
    (server, peer): (&Arc<ApiServer>, &Peer),
    asked: &Asked<'_>,
    body: Incoming,
) -> Response<Body> {
    let is_write = !matches!(*asked.method, Method::GET | Method::HEAD);
    let (body, _received, held) = match is_write {
        // The body of a read means nothing.
        false => match peer.memory.reserve(&peer.activity, READ_BYTES).await {
            Ok(held) => (Bytes::new(), None, held),
            Err(Exhausted) => return Page::too_many_requests().respond(),
        },
        true => match received((server, peer), asked, body).await {
            Ok((body, received)) => (body, Some(received), peer.holding(0)),
            Err(response) => return response,
        },
    };
    let is_privileged = asked.user.groups.iter().any(|group| group == MASTERS);
    let Some(_place) = server.in_flight().enter(is_write, is_privileged) else {
        return Page::too_many_requests().respond();
    };
    answer((server, peer), asked, (body, held)).await
}

fn is_anonymous(user: &User) -> bool {
    user.groups.iter().any(|group| group == UNAUTHENTICATED)
}

/// The body of a request whose sender may send it, and the memory that it takes.
async fn received(
    (server, peer): (&Arc<ApiServer>, &Peer),
    asked: &Asked<'_>,
    mut body: Incoming,
) -> Result<(Bytes, Held), Response<Body>> {
    let mut held = peer.holding(0);
    if body.is_end_stream() {
        return Ok((Bytes::new(), held));
    }
    check_access(server, asked).await?;
    let exhausted = |_: Exhausted| Page::too_many_requests().respond();
    let told_size = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let is_too_large = told_size > BODY_BYTES_MAX;
    if !is_too_large {
        held.grow(told_size).await.map_err(exhausted)?;
    }
    let mut kept = Vec::new();
    let mut seen = 0;
    let waiting = peer.activity.wait();
    while let Some(frame) = body.frame().await {
        peer.activity.note_progress();
        let frame = frame.map_err(|error| {
            let why = format!("the body of the request broke off: {error}");
            refused(asked, Failure::bad_request(why))
        })?;
        let Ok(bytes) = frame.into_data() else {
            continue;
        };
        seen += bytes.len();
        if is_too_large || seen > BODY_BYTES_MAX {
            kept = Vec::new();
        } else {
            held.grow(seen).await.map_err(exhausted)?;
            kept.extend_from_slice(&bytes);
        }
        if seen > PASSED_OVER_BYTES_MAX {
            break;
        }
    }
    drop(waiting);
    if is_too_large || seen > BODY_BYTES_MAX {
        return Err(refused(asked, too_large()));
    }
    Ok((kept.into(), held))
}

async fn check_access(server: &Arc<ApiServer>, asked: &Asked<'_>) -> Result<(), Response<Body>> {
    let access = server.check_access(asked).await;
    access.map_err(|failure| refused(asked, failure))
}

fn too_large() -> Failure {
    let message = format!("Request entity too large: limit is {BODY_BYTES_MAX}");
    Failure::new(413, "RequestEntityTooLarge", message)
}

/// The answer, with the memory that it takes. A read is refused if there is none; what a write did is reported in
/// any case.
async fn answer(
    (server, peer): (&Arc<ApiServer>, &Peer),
    asked: &Asked<'_>,
    (body, mut held): (Bytes, Held),
) -> Response<Body> {
    let is_read = *asked.method == Method::GET;
    match server.reply(asked, &body).await {
        Reply::Answer(answer) => {
            if is_read && held.grow(answer.body.len()).await.is_err() {
                return Page::too_many_requests().respond();
            }
            let response = shown(asked, answer).await;
            response.map(|body| body.holding(held))
        }
        Reply::List(list) => {
            if held.grow(list.weight()).await.is_err() {
                return Page::too_many_requests().respond();
            }
            let answer = rendered(*list).await;
            let response = shown(asked, answer).await;
            response.map(|body| body.holding(held))
        }
        Reply::Watch(watch) => {
            let about = about(server, asked.method, asked.headers, asked.target).await;
            let counted = about.map(|about| server.metrics().begin_watch(&about));
            server.watch(watch, (Some(peer.closing.clone()), counted))
        }
        Reply::Page => server.page(asked.target).await.respond(),
    }
}

fn refused(asked: &Asked<'_>, failure: Failure) -> Response<Body> {
    let answer = Answer::refusal(failure, asked.header(ACCEPT));
    whole(&answer, laid_out(&answer, is_for_people(asked)))
}

/// What takes longer than this many bytes to lay out is laid out where nobody has to wait for it.
const QUICK_BYTES: usize = 64 << 10;

async fn shown(asked: &Asked<'_>, answer: Answer) -> Response<Body> {
    if answer.etag.is_empty() {
        return laid_out_for(asked, answer).await;
    }
    let etag = format!("\"{}\"", answer.etag);
    let is_known = asked.header(IF_NONE_MATCH) == etag;
    let hash = asked.target.value("hash").to_owned();
    let is_discovery = answer.content_type.contains(';');
    let mut response = if !hash.is_empty() && hash != answer.etag {
        let mut moved = Page::text(301, "").respond();
        let at = format!("{}?hash={}", asked.target.path, answer.etag);
        if let Ok(at) = HeaderValue::from_str(&at) {
            moved.headers_mut().insert(LOCATION, at);
        }
        moved
    } else if is_known {
        let mut known = Page::text(304, "").respond();
        known.headers_mut().remove(CONTENT_TYPE);
        known
    } else {
        laid_out_for(asked, answer).await
    };
    let headers = response.headers_mut();
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        headers.insert(ETAG, etag);
    }
    headers.append(VARY, HeaderValue::from_static("Accept"));
    if is_discovery {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public"));
    } else if etag.trim_matches('"') == hash {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
    }
    response
}

async fn laid_out_for(asked: &Asked<'_>, answer: Answer) -> Response<Body> {
    let people = is_for_people(asked);
    let packs = unpacks(asked.header(ACCEPT_ENCODING));
    let takes_long = answer.body.len() > QUICK_BYTES && (people || packs || answer.is_converted());
    if !takes_long {
        return finished(&answer, people, packs);
    }
    let laid_out = tokio::task::spawn_blocking(move || finished(&answer, people, packs)).await;
    laid_out.unwrap_or_else(|error| {
        tracing::error!(%error, "an answer could not be laid out");
        Page::error(500, "Internal Server Error").respond()
    })
}

fn finished(answer: &Answer, people: bool, packs: bool) -> Response<Body> {
    let mut laid_out = laid_out(answer, people);
    let small = if packs { packed(&laid_out.body) } else { None };
    let is_packed = small.is_some();
    laid_out.body = small.unwrap_or(laid_out.body);
    let mut response = whole(answer, laid_out);
    if is_packed {
        let headers = response.headers_mut();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    response
}

fn is_for_people(asked: &Asked<'_>) -> bool {
    asked.target.is_for_people(asked.header(USER_AGENT))
}
