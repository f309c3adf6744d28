//! The way in for clients in the same process: the same requests and answers, without sockets.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use flyball_rbac::User;
use http::{Request, Response};
use tower::Service;

use crate::body::Body;
use crate::server::ApiServer;

/// Serves one user of the same process, who needs no credentials to be believed.
#[derive(Clone)]
pub struct LocalService {
    server: Arc<ApiServer>,
    user: Arc<User>,
}

impl LocalService {
    /// Serves this user.
    pub fn new(server: Arc<ApiServer>, user: User) -> Self {
        Self {
            server,
            user: Arc::new(user),
        }
    }
}

impl Service<Request<Bytes>> for LocalService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let Self { server, user } = self.clone();
        Box::pin(async move { Ok(server.answer(request, &user).await) })
    }
}
