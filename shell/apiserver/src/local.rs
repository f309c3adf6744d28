//! The way in for clients in the same process: the same requests and answers, without sockets.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use flyball_rbac::User;
use futures::{FutureExt as _, TryFutureExt as _};
use http::{Request, Response};
use tokio::runtime::Handle;
use tower::Service;

use crate::body::Body;
use crate::server::ApiServer;

/// The runtime that the server lived in has ended.
#[derive(Debug, thiserror::Error)]
#[error("the server has stopped")]
pub struct ServerGone;

/// Serves one user of the same process, who needs no credentials to be believed.
///
/// Requests are answered and watches told by the runtime that the server lives in, which may be that
/// of another thread: so whoever waits for the registry never sleeps while it is their turn.
#[derive(Clone)]
pub struct LocalService {
    server: Arc<ApiServer>,
    user: Arc<User>,
    home: Option<Handle>,
}

impl LocalService {
    /// Serves this user; the server lives in `home`, or in the runtime that asks.
    pub fn new(server: Arc<ApiServer>, user: User, home: Option<Handle>) -> Self {
        Self {
            server,
            user: Arc::new(user),
            home,
        }
    }
}

impl Service<Request<Bytes>> for LocalService {
    type Response = Response<Body>;
    type Error = ServerGone;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, ServerGone>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ServerGone>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let Self { server, user, home } = self.clone();
        let answer = async move { server.answer(request, &user).await };
        match home {
            None => Box::pin(answer.map(Ok)),
            Some(home) => {
                let answered = home.spawn(answer.map(|answer| answer.map(Body::carried)));
                Box::pin(answered.map_err(|_| ServerGone))
            }
        }
    }
}
