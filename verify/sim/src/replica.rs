//! A replica: one process of a part, with caches, queues, clocks and a term of its own.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use flyball_api::{Kind, Timestamp};
use flyball_election::{BadSettings, Candidate, Command, Role, Settings};
use flyball_informer::{AnyInformer, Snapshot};
use flyball_plan::{Actions, Descriptor, Driver, Now, Progress, SyncId};
use flyball_rbac::User;
use flyball_recorder::{EventWrite, Recorder};

use crate::parts::Part;
use crate::server::wall;

/// The timing of elections: longer than upstream's by the same measure, since a run is long.
pub(crate) const LEASE_DURATION: Duration = Duration::from_secs(60);
pub(crate) const RENEW_DEADLINE: Duration = Duration::from_secs(40);
pub(crate) const RETRY_PERIOD: Duration = Duration::from_secs(15);

/// Where the Leases of elections are.
pub(crate) const LEASE_NAMESPACE: &str = "kube-system";

/// One replica, alive or not.
pub(crate) struct Replica {
    pub(crate) name: String,
    pub(crate) part: Arc<Part>,
    /// How often it was started.
    pub(crate) lives: u32,
    pub(crate) process: Option<Process>,
    /// Until when it stands still.
    pub(crate) paused_until: Duration,
    /// How far its time of day is off, in milliseconds.
    pub(crate) skew_ms: i64,
    /// Who watches and holds the Lease.
    pub(crate) user: Arc<User>,
}

/// A replica while it lives.
pub(crate) struct Process {
    pub(crate) number: u32,
    pub(crate) started: Duration,
    pub(crate) caches: Vec<Cache>,
    pub(crate) snapshot: Snapshot,
    pub(crate) loops: Vec<Loop>,
    pub(crate) candidate: Option<Standing>,
}

/// The cache of one kind.
pub(crate) struct Cache {
    pub(crate) kind: Kind,
    pub(crate) informer: Box<dyn AnyInformer>,
    /// Counts what was asked for: whatever belongs to something earlier is dropped.
    pub(crate) asked: u64,
    /// When the deadline will be looked at.
    pub(crate) elapse_at: Option<Duration>,
}

/// A controller as it runs.
pub(crate) struct Loop {
    pub(crate) descriptor: Descriptor,
    pub(crate) driver: Box<dyn Driver>,
    pub(crate) user: Arc<User>,
    pub(crate) syncs: BTreeMap<SyncId, Syncing>,
    /// When it will look for work.
    pub(crate) work_at: Option<Duration>,
    pub(crate) teller: Teller,
}

/// A stage that is being carried out.
pub(crate) struct Syncing {
    pub(crate) key: String,
    pub(crate) actions: Actions,
    pub(crate) progress: Progress,
    /// The term ended before something could be sent.
    pub(crate) over: bool,
    /// What it was decided by.
    pub(crate) seen: Snapshot,
}

/// Tells the events of one component, one after the other.
pub(crate) struct Teller {
    pub(crate) recorder: Recorder,
    pub(crate) waiting: VecDeque<EventWrite>,
    pub(crate) is_busy: bool,
    /// The event to count up is gone.
    pub(crate) is_gone: bool,
    pub(crate) tries: u32,
}

/// Part of an election.
pub(crate) struct Standing {
    pub(crate) candidate: Candidate,
    pub(crate) identity: String,
    /// What was asked of the server, and when, on our clock; the flight it is in.
    pub(crate) asked: Option<(u64, Command, Duration)>,
    pub(crate) leads: bool,
    pub(crate) elect_at: Option<Duration>,
}

impl Replica {
    /// Starts a process with empty caches.
    pub(crate) fn start(&mut self, now: Duration) -> Result<(), BadSettings> {
        self.lives += 1;
        let number = self.lives;
        let part = self.part.clone();
        let mut caches: Vec<Cache> = Vec::new();
        let mut loops = Vec::new();
        for make in &part.controllers {
            let driver = make();
            let descriptor = driver.descriptor();
            for watch in descriptor.watches {
                if caches.iter().all(|cache| cache.kind != watch.kind()) {
                    caches.push(Cache {
                        kind: watch.kind(),
                        informer: watch.informer(),
                        asked: 0,
                        elapse_at: None,
                    });
                }
            }
            loops.push(Loop {
                descriptor,
                user: Arc::new(part.identity.writer(descriptor.client)),
                driver,
                syncs: BTreeMap::new(),
                work_at: None,
                teller: Teller {
                    recorder: Recorder::new(descriptor.component),
                    waiting: VecDeque::new(),
                    is_busy: false,
                    is_gone: false,
                    tries: 0,
                },
            });
        }
        let candidate = match part.elects {
            false => None,
            true => {
                let identity = format!("{}_{number}", self.name);
                let settings = Settings {
                    identity: identity.as_str().into(),
                    lease_duration: LEASE_DURATION,
                    renew_deadline: RENEW_DEADLINE,
                    retry_period: RETRY_PERIOD,
                };
                Some(Standing {
                    candidate: Candidate::new(LEASE_NAMESPACE, &part.name, settings)?,
                    identity,
                    asked: None,
                    leads: false,
                    elect_at: None,
                })
            }
        };
        let snapshot = Snapshot::new(caches.iter().map(|cache| cache.informer.view()));
        self.process = Some(Process {
            number,
            started: now,
            caches,
            snapshot,
            loops,
            candidate,
        });
        Ok(())
    }

    /// Both clocks of the process.
    pub(crate) fn clocks(&self, now: Duration) -> Now {
        let started = self.process.as_ref().map_or(now, |process| process.started);
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

impl Process {
    /// Whether it may write at this moment of its clock.
    pub(crate) fn may_write(&self, monotonic: Duration) -> bool {
        match &self.candidate {
            None => true,
            Some(standing) => standing.candidate.election().role(monotonic) == Role::Leader,
        }
    }

    /// Whether every kind that a controller watches has been listed.
    pub(crate) fn is_synced(&self, at: usize, monotonic: Duration) -> bool {
        let Some(each) = self.loops.get(at) else {
            return false;
        };
        each.descriptor.watches.iter().all(|watch| {
            let cache = self.caches.iter().find(|cache| cache.kind == watch.kind());
            cache.is_some_and(|cache| cache.informer.readiness(monotonic).synced)
        })
    }
}
