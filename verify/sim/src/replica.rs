//! A replica: one process of a part, with caches, queues, clocks and a term of its own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flyball_api::Timestamp;
use flyball_election::BadSettings;
use flyball_election::{Candidate, Settings as ElectionSettings};
use flyball_informer::Snapshot;
use flyball_plan::{Actions, Descriptor, Driver, Now, Progress, SyncId};
use flyball_process::ViewConflict;
use flyball_process::{CacheId, Process, Question, Settings, Teller};
use flyball_rbac::User;

use crate::bugs::{Bug, Bugs, second_view};
use crate::driver::{Notes, Seam};
use crate::parts::Part;
use crate::server::wall;
use crate::step::{Deed, Step};

/// The timing of elections: longer than upstream's by the same measure, since a run is long.
pub(crate) const LEASE_DURATION: Duration = Duration::from_secs(60);
pub(crate) const RENEW_DEADLINE: Duration = Duration::from_secs(40);
pub(crate) const RETRY_PERIOD: Duration = Duration::from_secs(15);

/// Where the Leases of elections are.
pub(crate) const LEASE_NAMESPACE: &str = "kube-system";

/// How long a stop waits for what runs.
pub(crate) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// How a process behaves: as the manager's flags have it by default.
const SETTINGS: Settings = Settings {
    resync_period: Duration::from_secs(12 * 60 * 60),
    shutdown_timeout: SHUTDOWN_TIMEOUT,
    release_on_exit: true,
};

/// Why a replica does not start.
#[derive(Debug)]
pub(crate) enum StartFailed {
    Election(BadSettings),
    Views(Box<ViewConflict>),
}

impl fmt::Display for StartFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Election(bad) => bad.fmt(f),
            Self::Views(conflict) => conflict.fmt(f),
        }
    }
}

impl From<BadSettings> for StartFailed {
    fn from(bad: BadSettings) -> Self {
        Self::Election(bad)
    }
}

impl From<Box<ViewConflict>> for StartFailed {
    fn from(conflict: Box<ViewConflict>) -> Self {
        Self::Views(conflict)
    }
}

/// One replica, alive or not.
pub(crate) struct Replica {
    pub(crate) name: String,
    pub(crate) part: Arc<Part>,
    /// How often it was started.
    pub(crate) lives: u32,
    pub(crate) running: Option<Running>,
    /// Until when it stands still.
    pub(crate) paused_until: Duration,
    /// The steps that fell due since it stands still.
    pub(crate) postponed: Vec<Step>,
    /// How far its time of day is off, in milliseconds.
    pub(crate) skew_ms: i64,
    /// Who watches and holds the Lease.
    pub(crate) user: Arc<User>,
}

/// A replica while it lives: the production process, and what carries its decisions out.
pub(crate) struct Running {
    pub(crate) number: u32,
    pub(crate) started: Duration,
    pub(crate) core: Process<Bugs>,
    pub(crate) notes: Arc<Mutex<Notes>>,
    pub(crate) feeds: BTreeMap<CacheId, Feed>,
    pub(crate) loops: Vec<Loop>,
    /// Under which name it takes part in its election, if it does.
    pub(crate) identity: Option<String>,
    /// The request of the election that is under way, and when it is given up.
    pub(crate) election: Option<(u64, Duration)>,
    pub(crate) elect_at: Option<Duration>,
    pub(crate) discover_at: Option<Duration>,
    /// Actions that wait for the answer to a read of another sync.
    pub(crate) waiting: Vec<(Question, Deed)>,
    /// The last complete view of each resource that was published, for invariants.
    pub(crate) shown: Snapshot,
    pub(crate) is_stopping: bool,
    /// When it was asked to stop.
    pub(crate) stops_since: Duration,
}

/// The requests of one cache.
#[derive(Default)]
pub(crate) struct Feed {
    /// Counts what was asked for: what belongs to an earlier request is dropped.
    pub(crate) asked: u64,
    /// When the deadline will be looked at.
    pub(crate) elapse_at: Option<Duration>,
    /// Whether it will be published.
    pub(crate) will_publish: bool,
}

/// A controller as it runs.
pub(crate) struct Loop {
    pub(crate) descriptor: Descriptor,
    pub(crate) user: Arc<User>,
    pub(crate) syncs: BTreeMap<SyncId, Syncing>,
    /// When it will look for work.
    pub(crate) work_at: Option<Duration>,
    pub(crate) teller: Teller,
    /// When its next event will be sent.
    pub(crate) tell_at: Option<Duration>,
}

/// A stage that is being carried out.
pub(crate) struct Syncing {
    pub(crate) key: String,
    pub(crate) actions: Actions,
    pub(crate) progress: Progress,
    /// The round in which it was handed out.
    pub(crate) round: u64,
    /// Something could not be sent any more.
    pub(crate) over: bool,
    /// What it was decided by.
    pub(crate) seen: Snapshot,
}

impl Replica {
    /// Starts a process with empty caches.
    pub(crate) fn start(&mut self, now: Duration, bug: Option<Bug>) -> Result<(), StartFailed> {
        self.lives += 1;
        let number = self.lives;
        let part = self.part.clone();
        let notes: Arc<Mutex<Notes>> = Arc::default();
        let second = second_view(bug, &part);
        let drivers = part.controllers.iter().map(|make| make());
        let drivers = second.into_iter().chain(drivers);
        let seams = drivers.map(|driver| Seam::new(driver, bug, notes.clone()));
        let drivers: Vec<Box<dyn Driver>> = seams.map(|seam| Box::new(seam) as _).collect();
        let loops = drivers.iter().map(|driver| {
            let descriptor = driver.descriptor();
            Loop {
                descriptor,
                user: Arc::new(part.identity.writer(descriptor.client)),
                syncs: BTreeMap::new(),
                work_at: None,
                teller: Teller::new(descriptor.component),
                tell_at: None,
            }
        });
        let loops = loops.collect();
        let identity = part.elects.then(|| format!("{}_{number}", self.name));
        let candidate = match &identity {
            None => None,
            Some(identity) => {
                let settings = ElectionSettings {
                    identity: identity.as_str().into(),
                    lease_duration: LEASE_DURATION,
                    renew_deadline: RENEW_DEADLINE,
                    retry_period: RETRY_PERIOD,
                };
                Some(Candidate::new(LEASE_NAMESPACE, &part.name, settings)?)
            }
        };
        self.running = Some(Running {
            number,
            started: now,
            core: Process::with_flaws(drivers, candidate, SETTINGS, Bugs(bug))?,
            notes,
            feeds: BTreeMap::new(),
            loops,
            identity,
            election: None,
            elect_at: None,
            discover_at: None,
            waiting: Vec::new(),
            shown: Snapshot::default(),
            is_stopping: false,
            stops_since: Duration::ZERO,
        });
        Ok(())
    }

    /// Both clocks of the process.
    pub(crate) fn clocks(&self, now: Duration) -> Now {
        let started = self.running.as_ref().map_or(now, |running| running.started);
        Now {
            monotonic: now.saturating_sub(started),
            wall: self.wall(now),
        }
    }

    fn wall(&self, now: Duration) -> Timestamp {
        let right = wall(now);
        let by = Duration::from_millis(self.skew_ms.unsigned_abs());
        match self.skew_ms >= 0 {
            true => right.saturating_add(by),
            false => right.saturating_sub(by),
        }
    }
}
