//! The whole server over loopback, and what its tests are made with.

pub(crate) mod api;
pub(crate) mod authority;
pub(crate) mod client;

mod answers;
mod http2;
mod limits;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use rustls::ClientConfig;
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::{
    Asked, Check, Endpoints, Health, Probe, Reply, Route, ServingOptions, TlsSource, serve,
};
use api::Api;
use authority::{Ca, Folder, Identity};
use client::Answer;

/// Long enough for anything on loopback, short enough to fail a test that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

struct Checks;

impl Health for Checks {
    fn checks(&self, probe: Probe) -> Vec<Check> {
        match probe {
            Probe::Readyz => vec![
                Check::ok("leaderElection"),
                Check::failed("pods", "not synced"),
            ],
            _ => vec![Check::ok("leaderElection")],
        }
    }
}

/// A running server with its own CAs and its own API server.
struct Served {
    address: SocketAddr,
    servers: Ca,
    clients: Ca,
    api: Arc<Api>,
    /// A request to `/debug/wait` has begun.
    waiting: Arc<Notify>,
    /// Lets one request to `/debug/wait` end.
    proceed: Arc<Notify>,
    folder: Folder,
    stop: Option<oneshot::Sender<()>>,
    join: JoinHandle<()>,
}

impl Served {
    async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    async fn start_with(change: impl FnOnce(&mut ServingOptions)) -> Self {
        let (servers, clients, api) = (Ca::new("servers"), Ca::new("clients"), Api::new());
        let folder = Folder::new();
        let identity = servers.server(&["localhost"]);
        let mut options = ServingOptions {
            listener: Some(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap()),
            tls: TlsSource::Files {
                cert: folder.write("tls.crt", &identity.cert_pem),
                key: folder.write("tls.key", &identity.key_pem),
            },
            ..ServingOptions::default()
        };
        options.authentication.client = Some(api.client());
        options.authentication.client_ca_file = Some(folder.write("ca.crt", &clients.pem));
        options.authorization.client = Some(api.client());
        change(&mut options);
        let (waiting, proceed) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (stop, stopped) = oneshot::channel();
        let endpoints = endpoints(waiting.clone(), proceed.clone());
        let shutdown = async {
            let _ = stopped.await;
        };
        let serving = serve(options, endpoints, shutdown).await.unwrap().unwrap();
        let (address, join, stop) = (serving.local_addr, serving.join, Some(stop));
        Self {
            address,
            servers,
            clients,
            api,
            waiting,
            proceed,
            folder,
            stop,
            join,
        }
    }

    fn tls(&self, identity: Option<&Identity>) -> ClientConfig {
        self.servers.tls_client(identity)
    }

    /// A request from nobody.
    async fn ask(&self, request_line: &str) -> Answer {
        client::ask(self.address, self.tls(None), request_line, &[]).await
    }

    /// A request from a member of `system:masters`.
    async fn ask_as_root(&self, request_line: &str) -> Answer {
        let root = self.clients.client("root", &["system:masters"]);
        client::ask(self.address, self.tls(Some(&root)), request_line, &[]).await
    }

    fn begin_stop(&mut self) {
        drop(self.stop.take());
    }

    async fn stopped(self) {
        tokio::time::timeout(PATIENCE, self.join)
            .await
            .unwrap()
            .unwrap();
    }
}

fn endpoints(waiting: Arc<Notify>, proceed: Arc<Notify>) -> Endpoints {
    Endpoints::new(Arc::new(Checks))
        .metrics(|| ("text/plain; version=0.0.4", "up 1\n".to_owned()))
        .configz(|| serde_json::json!({"group": {"kind": "Configuration"}}))
        .flagz(|| "v=2\n".to_owned())
        .statusz(|| "up since then\n".to_owned())
        .route(Route::at("/debug/echo", async |asked: Asked| {
            let text = format!("{} {:?} {}", asked.method, asked.query, asked.body.len());
            Reply::text(text)
        }))
        .route(Route::below("/debug/", async |asked: Asked| {
            Reply::error(StatusCode::IM_A_TEAPOT, &asked.path)
        }))
        .route(Route::at("/debug/large", async |_| {
            Reply::text(vec![b'x'; 64 * 1024 * 1024])
        }))
        .route(Route::at("/debug/wait", move |_| {
            let (waiting, proceed) = (waiting.clone(), proceed.clone());
            async move {
                waiting.notify_one();
                proceed.notified().await;
                Reply::text("waited")
            }
        }))
}

/// A limit that a test can wait for, and that work on a busy machine stays within.
const SOON: Duration = Duration::from_secs(1);
