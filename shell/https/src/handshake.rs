//! From a socket to a TLS stream, with a word for those who come without TLS.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// What upstream's servers say to a client that speaks plain HTTP.
const NOT_TLS: &str =
    "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

/// The TLS handshake. `Ok(None)` when the client left or spoke plain HTTP: there is nothing to go on with.
pub async fn secure(
    mut socket: TcpStream,
    acceptor: &TlsAcceptor,
) -> std::io::Result<Option<TlsStream<TcpStream>>> {
    let mut first = [0];
    if socket.peek(&mut first).await? == 0 {
        return Ok(None);
    }
    // A TLS record never begins with a letter, an HTTP request always does.
    if first[0].is_ascii_uppercase() {
        socket.write_all(NOT_TLS.as_bytes()).await?;
        socket.shutdown().await?;
        return Ok(None);
    }
    acceptor.accept(socket).await.map(Some)
}
