//! The HTTP stack: kube-rs's TLS and authentication around a pool of HTTP/1.1 connections.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::client::legacy::connect::HttpConnector;
use kube::Config;
use kube::client::ConfigExt;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};

use crate::gathered::GatheringConnector;
use crate::load::{LoadError, chain};
use crate::pool::{Connect, Pool, PooledBody};

/// How much of an answer a connection reads ahead. A busy watch would otherwise come to hold ten
/// times as much, and keep it.
const BUFFER_BYTES_MAX: usize = 32 << 10;

/// Sends a request and gives back its answer's head with the body still to come.
#[derive(Clone)]
pub(crate) enum Transport {
    /// Straight to the server: what is sent needs nothing added.
    Direct(Arc<Pool>),
    /// Through whatever adds to it, or to another server than one behind a socket.
    Layered(Layered),
}

type Layered = BoxCloneSyncService<Request<Bytes>, Response<ResponseBody>, BoxError>;

impl Transport {
    pub(crate) async fn send(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<ResponseBody>, BoxError> {
        match self {
            Self::Direct(pool) => {
                let answer = pool.clone().send(request.map(Full::new)).await?;
                Ok(answer.map(ResponseBody::Pooled))
            }
            Self::Layered(service) => service.clone().oneshot(request).await,
        }
    }
}

/// Builds the stack: HTTP/1.1, so that one lost packet holds up one request instead of all.
pub(crate) fn transport(config: &Config) -> Result<Transport, LoadError> {
    let setup = |reason: String| LoadError::Setup {
        server: config.cluster_url.to_string(),
        reason,
    };
    let connect = connect(config).map_err(|error| setup(chain(&error)))?;
    let pool = Pool::new(&config.cluster_url, connect).map_err(|error| setup(chain(&error)))?;
    let pool = Arc::new(pool);
    let auth = config.auth_layer().map_err(|error| setup(chain(&error)))?;
    let auth_info = &config.auth_info;
    let acts_as_another = auth_info.impersonate.is_some()
        || auth_info.impersonate_uid.is_some()
        || auth_info.impersonate_groups.is_some()
        || auth_info.impersonate_user_extra.is_some();
    if auth.is_none() && !acts_as_another && config.headers.is_empty() {
        return Ok(Transport::Direct(pool));
    }
    let headers = config
        .extra_headers_layer()
        .map_err(|error| setup(chain(&error)))?;
    let service = ServiceBuilder::new()
        .option_layer(auth)
        .layer(headers)
        .service(service_fn(move |request: Request<Full<Bytes>>| {
            pool.clone().send(request)
        }));
    Ok(over(service.map_request(|request: Request<Bytes>| {
        request.map(Full::new)
    })))
}

/// How connections to the server of `config` are opened.
fn connect(config: &Config) -> Result<Connect, kube::Error> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(config.connect_timeout.or(Some(Duration::from_secs(30))));
    // Dead peers are noticed even where a watch is quiet for minutes.
    tcp.set_keepalive(Some(Duration::from_secs(30)));
    tcp.set_keepalive_interval(Some(Duration::from_secs(15)));
    tcp.set_keepalive_retries(Some(3));
    let connector = config.rustls_https_connector_with_connector(GatheringConnector::new(tcp))?;
    let server = config.cluster_url.clone();
    Ok(Box::new(move || {
        let opening = connector.clone().oneshot(server.clone());
        let connection = async move {
            let (connection, driver) = http1::Builder::new()
                .max_buf_size(BUFFER_BYTES_MAX)
                .handshake(opening.await?)
                .await?;
            // Whoever waits for an answer is told when the connection breaks.
            tokio::spawn(driver.map(drop));
            Ok(connection)
        };
        connection.boxed()
    }))
}

/// Any HTTP service as a transport.
pub(crate) fn over<S, B>(service: S) -> Transport
where
    S: Service<Request<Bytes>, Response = Response<B>, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let boxed = |body: B| ResponseBody::Foreign(body.map_err(io::Error::other).boxed_unsync());
    let service = service
        .map_response(move |answer: Response<B>| answer.map(boxed))
        .map_err(Into::into);
    Transport::Layered(BoxCloneSyncService::new(service))
}

/// The body of an answer, from wherever it comes.
pub(crate) enum ResponseBody {
    /// From a connection of ours.
    Pooled(PooledBody),
    /// From elsewhere.
    Foreign(UnsyncBoxBody<Bytes, io::Error>),
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self.get_mut() {
            Self::Pooled(body) => Pin::new(body).poll_frame(context),
            Self::Foreign(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Pooled(body) => body.is_end_stream(),
            Self::Foreign(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Pooled(body) => body.size_hint(),
            Self::Foreign(body) => body.size_hint(),
        }
    }
}
