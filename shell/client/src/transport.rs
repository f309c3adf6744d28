//! The HTTP stack: kube-rs's TLS and authentication around a pool of HTTP/1.1 connections.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use http::{Extensions, Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::connect::{Connection as _, HttpConnector};
use kube::Config;
use kube::client::ConfigExt;
use tokio::sync::watch;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};

use crate::connection::{Connection, Reset};
use crate::gathered::GatheringConnector;
use crate::load::{LoadError, chain};
use crate::permit;
use crate::pool::{Connect, Pool};
use crate::pooled_body::PooledBody;

/// Sends a request and gives back its answer's head with the body still to come.
#[derive(Clone)]
pub(crate) enum Transport {
    /// Straight to the server: what is sent needs nothing added.
    Direct(Arc<Pool>),
    /// To the server through layers that add credentials or headers.
    Layered(HttpService, Arc<Pool>),
    /// To another service than a server behind a socket. It has no connections to suspect; the
    /// sender keeps the receivers open.
    Foreign(HttpService, Arc<watch::Sender<u64>>),
}

type HttpService = BoxCloneSyncService<Request<Bytes>, Response<ResponseBody>, BoxError>;

impl Transport {
    pub(crate) async fn send(
        &self,
        mut request: Request<Bytes>,
    ) -> Result<Response<ResponseBody>, BoxError> {
        match self {
            Self::Direct(pool) => {
                let answer = pool.clone().send(request.map(Full::new)).await?;
                Ok(answer.map(ResponseBody::Pooled))
            }
            // The pool asks the permit, after the credentials are there.
            Self::Layered(service, _) => service.clone().oneshot(request).await,
            Self::Foreign(service, _) => {
                let permit = permit::detach(&mut request);
                let mut service = service.clone();
                let service = service.ready().await?;
                permit::ask(permit.as_ref())?;
                service.call(request).await
            }
        }
    }

    /// The number of times that older connections were found suspect.
    pub(crate) fn has_connections(&self) -> bool {
        !matches!(self, Self::Foreign(..))
    }

    pub(crate) fn connections_suspect(&self) -> watch::Receiver<u64> {
        match self {
            Self::Direct(pool) | Self::Layered(_, pool) => pool.connections_suspect(),
            Self::Foreign(_, none) => none.subscribe(),
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
    let connections = pool.clone();
    let service = ServiceBuilder::new()
        .option_layer(auth)
        .layer(headers)
        .service(service_fn(move |request: Request<Full<Bytes>>| {
            connections.clone().send(request)
        }));
    let service = service.map_request(|request: Request<Bytes>| request.map(Full::new));
    Ok(Transport::Layered(boxed(service), pool))
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
    Transport::Foreign(boxed(service), Arc::default())
}

fn boxed<S, B>(service: S) -> HttpService
where
    S: Service<Request<Bytes>, Response = Response<B>, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let foreign = |body: B| ResponseBody::Foreign(body.map_err(io::Error::other).boxed_unsync());
    let service = service
        .map_response(move |answer: Response<B>| answer.map(foreign))
        .map_err(Into::into);
    BoxCloneSyncService::new(service)
}

/// How connections to the server of `config` are opened.
fn connect(config: &Config) -> Result<Connect, kube::Error> {
    let sockets = GatheringConnector::new(tcp(config));
    let connector = config.rustls_https_connector_with_connector(sockets)?;
    let server = config.cluster_url.clone();
    Ok(Box::new(move || {
        let opening = connector.clone().oneshot(server.clone());
        let connection = async move {
            let stream = opening.await?;
            let mut extras = Extensions::new();
            stream.connected().get_extras(&mut extras);
            let reset = extras.remove::<Reset>().unwrap_or_default();
            Ok(Connection::start(stream, reset).await?)
        };
        connection.boxed()
    }))
}

/// Opens sockets that notice a dead peer within 25 seconds, whether they are quiet or sending.
pub(crate) fn tcp(config: &Config) -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(config.connect_timeout.or(Some(Duration::from_secs(30))));
    tcp.set_keepalive(Some(Duration::from_secs(10)));
    tcp.set_keepalive_interval(Some(Duration::from_secs(5)));
    tcp.set_keepalive_retries(Some(3));
    // Keep-alive probes are not sent while sent bytes wait for their acknowledgement.
    #[cfg(target_os = "linux")]
    tcp.set_tcp_user_timeout(Some(Duration::from_secs(25)));
    tcp
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
