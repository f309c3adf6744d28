//! The HTTP stack: kube-rs's TLS, authentication and base URI over hyper's pooled client.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::Config;
use kube::client::{Body, ConfigExt};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt};

use crate::load::{LoadError, chain};

/// Sends a request and gives back its answer's head with the body still to come.
pub(crate) type Transport = BoxCloneSyncService<Request<Bytes>, Response<ResponseBody>, BoxError>;

/// The body of an answer, from wherever it comes.
pub(crate) type ResponseBody = UnsyncBoxBody<Bytes, io::Error>;

/// Connections kept for reuse: more than are ever under way, because closing one only to open the
/// next costs a TLS handshake, on the server's side too. Each costs some 50 kB until it times out.
const IDLE_CONNECTIONS_MAX: usize = 256;

/// Builds the stack: HTTP/1.1, so that one lost packet holds up one request instead of all.
pub(crate) fn transport(config: &Config) -> Result<Transport, LoadError> {
    let setup = |reason: String| LoadError::Setup {
        server: config.cluster_url.to_string(),
        reason,
    };
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(config.connect_timeout.or(Some(Duration::from_secs(30))));
    // Dead peers are noticed even where a watch is quiet for minutes.
    tcp.set_keepalive(Some(Duration::from_secs(30)));
    tcp.set_keepalive_interval(Some(Duration::from_secs(15)));
    tcp.set_keepalive_retries(Some(3));
    let connector = config
        .rustls_https_connector_with_connector(tcp)
        .map_err(|error| setup(chain(&error)))?;
    let client = HyperClient::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(30))
        .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
        .build(connector);
    let auth = config.auth_layer().map_err(|error| setup(chain(&error)))?;
    let headers = config
        .extra_headers_layer()
        .map_err(|error| setup(chain(&error)))?;
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(auth)
        .layer(headers)
        .map_err(|error: hyper_util::client::legacy::Error| BoxError::from(error))
        .service(client);
    Ok(over(service.map_request(|request: Request<Bytes>| {
        request.map(Body::from)
    })))
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
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let boxed = |body: B| body.map_err(io::Error::other).boxed_unsync();
    let service = service
        .map_response(move |answer: Response<B>| answer.map(boxed))
        .map_err(Into::into);
    BoxCloneSyncService::new(service)
}
