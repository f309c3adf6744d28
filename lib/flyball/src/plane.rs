//! A plane: the server and its parts.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use flyball_apiserver::{
    ApiServer, Authority, AuthorityError, Cut, DataFolder, ExpiringEvents, Listening, OpenFailed,
    listen, make_folder,
};
use flyball_client::Client;
use flyball_kubelets::{Settings as NodeSettings, SettingsInvalid};
use flyball_rbac::{AUTHENTICATED, MASTERS, User};
use flyball_runtime::{Check, Decision, Decisions, Running};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::broadcast;

use crate::kubeconfig::kubeconfig;
use crate::parts::{Part, Shared};
use flyball_controllers::CONTROLLERS;

/// How long an Event is kept unless it is said; upstream's default of `--event-ttl`.
const EVENT_TTL: Duration = Duration::from_secs(60 * 60);

/// What a plane is made of.
#[derive(Clone, Debug)]
pub struct PlaneOptions {
    /// Where it keeps its state; in memory only if there is no folder.
    pub data: Option<PathBuf>,
    /// Where it listens; only clients of the same process reach it if nowhere.
    pub listen: Option<SocketAddr>,
    /// How many simulated nodes it has.
    pub nodes: usize,
    /// The parts that run from the start.
    pub parts: Vec<Part>,
    /// The controllers that run whenever [`Part::Controllers`] does, by name or alias.
    pub controllers: Vec<String>,
    /// How long an Event is kept after its last write; for ever if it is no time at all.
    pub event_ttl: Duration,
    /// The runtime that the server lives in; that of the caller if there is none. One of another
    /// thread lets the server and the parts work at the same time.
    pub server_on: Option<Handle>,
}

impl Default for PlaneOptions {
    /// In memory, without a socket, with one node and everything running.
    fn default() -> Self {
        Self {
            data: None,
            listen: None,
            nodes: 1,
            parts: Part::ALL.to_vec(),
            controllers: names().map(str::to_owned).collect(),
            event_ttl: EVENT_TTL,
            server_on: None,
        }
    }
}

/// Why a plane did not start.
#[derive(Debug, thiserror::Error)]
pub enum PlaneFailed {
    /// The data folder cannot be made.
    #[error("cannot make the data folder {}: {source}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The runtime of the server is gone.
    #[error("the runtime that the server was to live in has ended")]
    Home,
    /// The server did not open.
    #[error(transparent)]
    Server(#[from] OpenFailed),
    /// There is no certificate authority.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
    /// The nodes that were asked for make no sense.
    #[error(transparent)]
    Nodes(#[from] SettingsInvalid),
    /// A client could not be made.
    #[error("cannot make a client: {0}")]
    Client(String),
    /// There is no controller of this name.
    #[error("there is no controller {name:?}; there are {}", names().collect::<Vec<_>>().join(", "))]
    UnknownController {
        /// The name.
        name: String,
    },
    /// A part did not start.
    #[error("{}: {why}", part.name())]
    Part {
        /// Which.
        part: Part,
        /// Why not.
        why: String,
    },
}

/// A running control plane. Dropping it ends it without the courtesy of [`Plane::stop`].
pub struct Plane {
    shared: Shared,
    authority: Arc<Authority>,
    listening: Option<Listening>,
    _expiring: Option<ExpiringEvents>,
    running: Vec<(Part, Running)>,
}

impl Plane {
    /// Starts a plane as [`PlaneOptions::default`] describes it: everything runs, nothing is kept.
    pub async fn start() -> Result<Self, PlaneFailed> {
        Self::start_with(PlaneOptions::default()).await
    }

    /// Starts a plane; it accepts requests when this returns.
    pub async fn start_with(options: PlaneOptions) -> Result<Self, PlaneFailed> {
        let wanted = options.controllers.iter().map(|name| canonical(name));
        let wanted = wanted.collect::<Result<Vec<_>, _>>()?;
        let nodes = NodeSettings {
            count: options.nodes,
            ..NodeSettings::default()
        };
        nodes.check()?;
        let folder = options.data.as_deref().map(locked).transpose()?;
        let authority = Arc::new(Authority::open(folder.as_ref())?);
        let opened = open(folder, authority.clone(), options.listen, options.event_ttl);
        let (server, listening, expiring) = match &options.server_on {
            None => opened.await?,
            Some(home) => home.spawn(opened).await.map_err(|_| PlaneFailed::Home)??,
        };
        let mut plane = Self {
            shared: Shared {
                server,
                home: options.server_on,
                nodes: Arc::new(nodes),
                wanted,
                decisions: Decisions::default(),
                root_ca: authority.certificate().to_owned(),
            },
            authority,
            listening,
            _expiring: expiring,
            running: Vec::new(),
        };
        for part in options.parts {
            plane.switch_on(part)?;
        }
        Ok(plane)
    }

    /// Starts a part, unless it runs.
    pub fn switch_on(&mut self, part: Part) -> Result<(), PlaneFailed> {
        if self.running.iter().all(|(one, _)| *one != part) {
            let running = part.start(&self.shared)?;
            self.running.push((part, running));
        }
        Ok(())
    }

    /// Stops a part, if it runs.
    pub async fn switch_off(&mut self, part: Part) {
        if let Some(at) = self.running.iter().position(|(one, _)| *one == part) {
            let (_, running) = self.running.remove(at);
            running.stop().await;
        }
    }

    /// Lets a controller run whenever [`Part::Controllers`] does, from now on.
    ///
    /// The others pause for a moment: what runs in a part shares its caches, and the part is started
    /// anew. None of them can tell that from a restart, after which it carries on from what it sees.
    pub async fn switch_controller_on(&mut self, name: &str) -> Result<(), PlaneFailed> {
        let name = canonical(name)?;
        if !self.shared.wanted.contains(&name) {
            self.shared.wanted.push(name);
            self.restart_controllers().await?;
        }
        Ok(())
    }

    /// Lets a controller run no more; its last write has been made when this returns.
    pub async fn switch_controller_off(&mut self, name: &str) -> Result<(), PlaneFailed> {
        let name = canonical(name)?;
        if self.shared.wanted.contains(&name) {
            self.shared.wanted.retain(|wanted| *wanted != name);
            self.restart_controllers().await?;
        }
        Ok(())
    }

    async fn restart_controllers(&mut self) -> Result<(), PlaneFailed> {
        let runs = |(part, _): &(Part, Running)| *part == Part::Controllers;
        if self.running.iter().any(runs) {
            self.switch_off(Part::Controllers).await;
            self.switch_on(Part::Controllers)?;
        }
        Ok(())
    }

    /// The names of the controllers that run now.
    pub fn controllers(&self) -> Vec<&'static str> {
        let runs = |(part, _): &(Part, Running)| *part == Part::Controllers;
        match self.running.iter().any(runs) {
            true => names()
                .filter(|name| self.shared.wanted.contains(name))
                .collect(),
            false => Vec::new(),
        }
    }

    /// Whether the caches of all running parts are filled.
    pub fn is_synced(&self) -> bool {
        let ready = |(_, running): &(Part, Running)| {
            let checks = running.health().ready();
            checks.iter().all(Check::is_well)
        };
        self.running.iter().all(ready)
    }

    /// Follows what the controllers, the scheduler and the nodes decide from now on, and why.
    ///
    /// Whoever reads too slowly misses decisions and is told how many; nobody waits.
    pub fn decisions(&self) -> broadcast::Receiver<Arc<Decision>> {
        self.shared.decisions.follow()
    }

    /// A client of this process that may do anything.
    pub fn client(&self, agent: &str) -> Client {
        let user = User::of_groups("flyball:admin", &[MASTERS, AUTHENTICATED]);
        // Only a name that no header can hold could fail, and then another one does as well.
        (self.shared.local(user.clone(), agent))
            .or_else(|_| self.shared.local(user, "flyball"))
            .unwrap_or_else(|_| unreachable!("the name of this program fits into a header"))
    }

    /// How many nodes are simulated while [`Part::Nodes`] runs.
    pub fn nodes(&self) -> usize {
        self.shared.nodes.count
    }

    /// Where it listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listening.as_ref().map(|listening| listening.address)
    }

    /// The unfinished end of the log that was dropped at the start; what was committed there is lost.
    pub fn cut(&self) -> Option<&Cut> {
        self.shared.server.cut()
    }

    /// A kubeconfig for somebody who may do anything; `None` if it does not listen.
    pub fn kubeconfig(&self) -> Result<Option<String>, PlaneFailed> {
        let Some(mut address) = self.address() else {
            return Ok(None);
        };
        // Where it listens on every address, clients of this machine take the nearest.
        if address.ip().is_unspecified() {
            address.set_ip(match address {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        let admin = self.authority.client("flyball-admin", MASTERS)?;
        Ok(Some(kubeconfig(
            address,
            self.authority.certificate(),
            &admin,
        )))
    }

    /// Stops the parts, then the server.
    pub async fn stop(mut self) {
        while let Some((_, running)) = self.running.pop() {
            running.stop().await;
        }
        if let Some(listening) = self.listening.take() {
            listening.stop().await;
        }
    }
}

/// The names of all controllers there are.
fn names() -> impl Iterator<Item = &'static str> {
    CONTROLLERS.iter().map(|entry| entry.descriptor.name)
}

/// The one name of a controller that may have been called by another.
fn canonical(name: &str) -> Result<&'static str, PlaneFailed> {
    let found = CONTROLLERS.iter().find(|entry| entry.is(name));
    let unknown = || PlaneFailed::UnknownController {
        name: name.to_owned(),
    };
    Ok(found.ok_or_else(unknown)?.descriptor.name)
}

/// Takes a data folder for this process, before anything in it is read or made.
fn locked(folder: &Path) -> Result<DataFolder, PlaneFailed> {
    make_folder(folder).map_err(|source| PlaneFailed::Folder {
        folder: folder.to_owned(),
        source,
    })?;
    Ok(DataFolder::lock(folder).map_err(OpenFailed::from)?)
}

/// A server, and what it does in its own runtime.
type Opened = (Arc<ApiServer>, Option<Listening>, Option<ExpiringEvents>);

/// Opens the store, and a socket if there is to be one.
async fn open(
    folder: Option<DataFolder>,
    authority: Arc<Authority>,
    address: Option<SocketAddr>,
    event_ttl: Duration,
) -> Result<Opened, PlaneFailed> {
    let server = ApiServer::open(folder, &authority).await?;
    let listening = match address {
        Some(address) => Some(listen_at(&server, &authority, address).await?),
        None => None,
    };
    let expiring = server.expire_events(event_ttl);
    Ok((server, listening, expiring))
}

async fn listen_at(
    server: &Arc<ApiServer>,
    authority: &Authority,
    address: SocketAddr,
) -> Result<Listening, PlaneFailed> {
    let mut hosts = vec![
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
        "::1".to_owned(),
    ];
    hosts.extend(["kubernetes", "kubernetes.default", "kubernetes.default.svc"].map(str::to_owned));
    if !address.ip().is_unspecified() && !address.ip().is_loopback() {
        hosts.push(address.ip().to_string());
    }
    let tls = authority.tls(&hosts)?;
    let failed = |source| PlaneFailed::Listen { address, source };
    let socket = TcpListener::bind(address).await.map_err(failed)?;
    let listening = listen(server.clone(), socket, tls).map_err(failed)?;
    let reached = server.reached_at(listening.address).await;
    reached.map_err(OpenFailed::from)?;
    Ok(listening)
}
