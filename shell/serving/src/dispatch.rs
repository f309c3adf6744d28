//! One request from its head to its answer: decode, who, may they, route.

use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use rustls_pki_types::CertificateDer;

use crate::authentication::Authenticator;
use crate::authorization::{Authorizer, Decision};
use crate::endpoints::{Asked, Endpoints, Reply, Route};
use crate::health::{self, Probe};
use crate::reply::{self, Body, Layout, respond};
use flyball_https::Target;

/// Everything needed to answer, shared by all connections.
pub(crate) struct Dispatcher {
    pub(crate) authenticator: Authenticator,
    pub(crate) authorizer: Authorizer,
    pub(crate) endpoints: Endpoints,
    pub(crate) body_bytes_max: usize,
    pub(crate) request_timeout: std::time::Duration,
}

/// An answer, and whether it went to somebody.
pub(crate) struct Answer {
    pub(crate) response: Response<Body>,
    pub(crate) caller_is_known: bool,
}

impl Dispatcher {
    /// Answers within the time for a request, whatever happens.
    pub(crate) async fn answer(
        self: Arc<Self>,
        peer: Arc<[CertificateDer<'static>]>,
        request: Request<Incoming>,
    ) -> Answer {
        let method = request.method().clone();
        let decided = tokio::time::timeout(self.request_timeout, self.decide(&peer, request)).await;
        let (reply, caller_is_known) = decided.unwrap_or_else(|_| {
            let message = format!("no answer within {:?}", self.request_timeout);
            (Reply::error(StatusCode::GATEWAY_TIMEOUT, &message), false)
        });
        Answer {
            response: respond(&method, reply),
            caller_is_known,
        }
    }

    async fn decide(
        &self,
        peer: &[CertificateDer<'static>],
        request: Request<Incoming>,
    ) -> (Reply, bool) {
        let Some(target) = Target::decode(request.uri()) else {
            return (
                Reply::error(StatusCode::BAD_REQUEST, "400 Bad Request"),
                false,
            );
        };
        let layout = Layout::for_request(&target, request.headers());
        let user = match self
            .authenticator
            .authenticate(peer, request.headers())
            .await
        {
            Ok(user) => user,
            Err(why) => {
                tracing::debug!(%why, "unable to authenticate the request");
                return (reply::unauthorized(layout), false);
            }
        };
        let known = !user.is_anonymous();
        let verb = request.method().as_str().to_ascii_lowercase();
        match self.authorizer.authorize(&user, &verb, &target.path).await {
            Ok(Decision::Allowed) => (self.route(target, request).await, known),
            Ok(Decision::Forbidden { reason }) => {
                tracing::debug!(
                    user = user.name,
                    verb,
                    path = target.path,
                    reason,
                    "forbidden"
                );
                (
                    reply::forbidden(layout, &user.name, &verb, &target.path, &reason),
                    known,
                )
            }
            Err(error) => {
                // Over HTTP/2 the URI has a host too, which upstream does not repeat.
                let asked = request
                    .uri()
                    .path_and_query()
                    .map_or("", |part| part.as_str());
                (reply::undecided(asked, &error.to_string()), known)
            }
        }
    }

    async fn route(&self, target: Target, request: Request<Incoming>) -> Reply {
        if let Some((probe, check)) = Probe::of(&target.path) {
            if !reads(request.method()) {
                return reply::method_not_allowed();
            }
            let answer = health::answer(self.endpoints.health.as_ref(), probe, check, &target);
            return answer.unwrap_or_else(reply::not_found);
        }
        if let Some(render) = self.endpoints.find_page(&target.path) {
            return if reads(request.method()) {
                render()
            } else {
                reply::method_not_allowed()
            };
        }
        match self.endpoints.find_route(&target.path) {
            Some(route) => self.serve(route, target, request).await,
            None => reply::not_found(),
        }
    }

    async fn serve(&self, route: &Route, target: Target, request: Request<Incoming>) -> Reply {
        let (head, body) = request.into_parts();
        let body = match Limited::new(body, self.body_bytes_max).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                return Reply::error(StatusCode::PAYLOAD_TOO_LARGE, "request body too large");
            }
            Err(_) => return Reply::error(StatusCode::BAD_REQUEST, "400 Bad Request"),
        };
        let Target { path, query } = target;
        (route.serve)(Asked {
            method: head.method,
            path,
            query,
            body,
        })
        .await
    }
}

fn reads(method: &Method) -> bool {
    method == Method::GET || method == Method::HEAD
}
