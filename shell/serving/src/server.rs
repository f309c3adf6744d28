//! Opening the port, accepting, keeping trust and certificates current, and leaving in order.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::authentication::Authenticator;
use crate::authorization::Authorizer;
use crate::connection::{self, Shared};
use crate::digest::random_fraction;
use crate::dispatch::Dispatcher;
use crate::endpoints::Endpoints;
use crate::error::ServeError;
use crate::options::{Limits, ServingOptions};
use crate::tls::LiveTls;
use crate::trust::TrustSource;

/// How many connections the kernel keeps waiting for us.
const BACKLOG: u32 = 1024;
/// The pause after a failed accept: it is usually a lack of file descriptors, which does not pass at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Upstream's number of streams when none is given.
const HTTP2_STREAMS_DEFAULT: u32 = 100;

/// A server that runs.
#[derive(Debug)]
pub struct Serving {
    /// Where it listens.
    pub local_addr: SocketAddr,
    /// Ends after shutdown, when the last connection is closed.
    pub join: JoinHandle<()>,
}

/// Opens the secure port and serves until `shutdown` resolves. It returns as soon as connections are accepted, or
/// `None` when the port is 0 and no listener was given: then there is no secure port.
///
/// At shutdown no connection is accepted any more, idle ones are closed, and requests in progress get
/// `Limits::shutdown_grace`; what is left then is cut off.
///
/// # Errors
/// When an option makes no sense, a certificate or CA file is not usable, the address is taken, or the cluster's
/// authentication configuration is needed and cannot be read.
pub async fn serve<S>(
    mut options: ServingOptions,
    endpoints: Endpoints,
    shutdown: S,
) -> Result<Option<Serving>, ServeError>
where
    S: Future<Output = ()> + Send + 'static,
{
    if options.port == 0 && options.listener.is_none() {
        tracing::info!("secure serving is switched off");
        return Ok(None);
    }
    let listener = match options.listener.take() {
        Some(listener) => listener,
        None => listen(
            options.bind_address,
            options.port,
            options.port_sharing_permitted,
        )?,
    };
    let asked = SocketAddr::new(options.bind_address, options.port);
    let local_addr = listener
        .local_addr()
        .map_err(|source| ServeError::ListenFailed {
            address: asked,
            source,
        })?;
    // The certificate is for the address that is really listened on.
    options.bind_address = local_addr.ip();

    let trust = Arc::new(TrustSource::start(&options.authentication).await?);
    let tls = Arc::new(LiveTls::start(&options, &trust).await?);
    let limits = options.limits;
    let dispatcher = Arc::new(Dispatcher {
        authenticator: Authenticator::new(&options.authentication, trust.clone()),
        authorizer: Authorizer::new(options.authorization)?,
        endpoints,
        body_bytes_max: limits.body_bytes_max,
        request_timeout: limits.request_timeout,
    });
    let http2_max_streams = match options.http2_max_streams {
        0 => HTTP2_STREAMS_DEFAULT,
        streams => streams,
    };
    let shared = Arc::new(Shared {
        dispatcher,
        tls: tls.clone(),
        limits,
        http2_max_streams,
    });
    tracing::info!(address = %local_addr, "Serving securely");
    let join = tokio::spawn(async move {
        tokio::select! {
            () = keep_current(&trust, &tls, &limits) => {}
            () = accept_until(listener, shared, shutdown) => {}
        }
        tracing::info!(address = %local_addr, "Stopped listening");
    });
    Ok(Some(Serving { local_addr, join }))
}

/// An unspecified address means both families, as in Go: one IPv6 socket takes IPv4 too, where there is IPv6.
fn listen(address: IpAddr, port: u16, sharing: bool) -> Result<TcpListener, ServeError> {
    if address.is_unspecified() {
        let both = SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port);
        match bind(both, sharing) {
            Err(error) if has_no_ipv6(&error) => {}
            bound => {
                return bound.map_err(|source| ServeError::ListenFailed {
                    address: both,
                    source,
                });
            }
        }
    }
    let address = SocketAddr::new(address, port);
    bind(address, sharing).map_err(|source| ServeError::ListenFailed { address, source })
}

fn has_no_ipv6(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::AddrNotAvailable)
        // EAFNOSUPPORT has no kind of its own.
        || error.raw_os_error() == Some(97)
}

fn bind(address: SocketAddr, sharing: bool) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_reuseaddr(true)?;
    #[cfg(unix)]
    socket.set_reuseport(sharing)?;
    #[cfg(not(unix))]
    let _ = sharing;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts until `shutdown`, then sees the connections out.
async fn accept_until(
    listener: TcpListener,
    shared: Arc<Shared>,
    shutdown: impl Future<Output = ()>,
) {
    let (closing, closed) = watch::channel(false);
    let permits = Arc::new(Semaphore::new(shared.limits.connections_max));
    let mut connections = JoinSet::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        tokio::select! {
            () = shutdown.as_mut() => break,
            Some(ended) = connections.join_next() => {
                if let Err(error) = ended {
                    tracing::error!(%error, "a connection ended abnormally");
                }
            }
            (socket, permit) = accept(&listener, &permits) => {
                let (shared, closed) = (shared.clone(), closed.clone());
                connections.spawn(async move {
                    connection::run(socket, shared, closed).await;
                    drop(permit);
                });
            }
        }
    }
    drop(listener);
    closing.send_replace(true);
    let all_gone = async { while connections.join_next().await.is_some() {} };
    if timeout(shared.limits.shutdown_grace, all_gone)
        .await
        .is_err()
    {
        tracing::warn!(
            connections = connections.len(),
            "cutting off connections that did not end"
        );
        connections.shutdown().await;
    }
}

/// The next connection, when there is room for one.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> (TcpStream, Option<tokio::sync::OwnedSemaphorePermit>) {
    // The semaphore is never closed, so there is always a permit in the end.
    let permit = permits.clone().acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((socket, _)) => return (socket, permit),
            Err(error) => {
                tracing::warn!(%error, "accepting a connection failed");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Looks at files and at the cluster from time to time, for ever.
async fn keep_current(trust: &TrustSource, tls: &LiveTls, limits: &Limits) {
    let lookup_pause = || limits.lookup_period.mul_f64(1.0 + 0.1 * random_fraction());
    let mut next_lookup = Instant::now() + lookup_pause();
    loop {
        let next_files = Instant::now() + limits.files_period;
        sleep_until(next_files.min(next_lookup)).await;
        if let Err(error) = trust.refresh_files().await {
            tracing::warn!(%error, "keeping the last good CA");
        }
        if Instant::now() >= next_lookup {
            if let Err(error) = trust.refresh_lookup().await {
                tracing::warn!(%error, "keeping the last known authentication configuration");
            }
            next_lookup = Instant::now() + lookup_pause();
        }
        if let Err(error) = tls.refresh(trust).await {
            tracing::warn!(%error, "keeping the last good serving certificate");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_port_is_shared_only_when_everybody_permits_it() {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let first = bind(any, true).unwrap();
        let at = first.local_addr().unwrap();
        assert!(bind(at, true).is_ok());
        let refused = listen(at.ip(), at.port(), false).unwrap_err();
        assert!(
            refused
                .to_string()
                .starts_with(&format!("failed to listen on {at}"))
        );
    }
}
