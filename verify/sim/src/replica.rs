//! A replica: one process of a part, with caches, queues, clocks and a term of its own.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use flyball_api::discovery::Discovery;
use flyball_api::{Kind, Timestamp};
use flyball_election::{BadSettings, Candidate, Command, Role, Settings};
use flyball_informer::{AnyInformer, Snapshot, metadata_informer};
use flyball_plan::{Actions, Descriptor, Driver, Following, Listing, Now, Progress, Sight, SyncId};
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
    /// What it follows of the server's resources, if a controller wants to know.
    pub(crate) follower: Option<Follower>,
}

/// Follows discovery.
pub(crate) struct Follower {
    pub(crate) following: Following,
    /// When the server will be asked.
    pub(crate) look_at: Option<Duration>,
    /// Whether an answer is under way.
    pub(crate) is_asking: bool,
    /// Whether something hinted at a change while it was.
    pub(crate) asks_again: bool,
}

/// The cache of one kind.
pub(crate) struct Cache {
    pub(crate) kind: Kind,
    pub(crate) informer: Box<dyn AnyInformer>,
    /// Counts what was asked for: whatever belongs to something earlier is dropped.
    pub(crate) asked: u64,
    /// When the deadline will be looked at.
    pub(crate) elapse_at: Option<Duration>,
    /// Whether it is there because the kind was discovered.
    pub(crate) is_discovered: bool,
    /// Whether the kind is no longer there. The place stays, so that others keep theirs.
    pub(crate) is_removed: bool,
}

impl Cache {
    fn new(mut informer: Box<dyn AnyInformer>, is_discovered: bool, families: bool) -> Self {
        if families {
            informer.track_family();
        }
        Self {
            kind: informer.kind(),
            informer,
            asked: 0,
            elapse_at: None,
            is_discovered,
            is_removed: false,
        }
    }
}

/// A controller as it runs.
pub(crate) struct Loop {
    pub(crate) descriptor: Descriptor,
    pub(crate) sight: Sight,
    pub(crate) driver: Box<dyn Driver>,
    pub(crate) user: Arc<User>,
    /// Whether the caches had all it needs. Once filled, a cache keeps serving.
    pub(crate) is_synced: bool,
    /// What the server was last found to have on behalf of a plan, and when it was asked.
    pub(crate) recent: Option<(Duration, Arc<Discovery>)>,
    /// The last lists of whole kinds, and when each was asked for.
    pub(crate) recent_lists: BTreeMap<Kind, (Duration, Arc<Listing>)>,
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
        let drivers: Vec<Box<dyn Driver>> = part.controllers.iter().map(|make| make()).collect();
        let sight = drivers.iter().map(|driver| driver.sight()).max();
        let sight = sight.unwrap_or_default();
        let families = sight == Sight::Everything;
        let mut caches: Vec<Cache> = Vec::new();
        let mut loops = Vec::new();
        for driver in drivers {
            let descriptor = driver.descriptor();
            for watch in descriptor.watches {
                if caches.iter().all(|cache| cache.kind != watch.kind()) {
                    caches.push(Cache::new(watch.informer(), false, families));
                }
            }
            loops.push(Loop {
                descriptor,
                sight: driver.sight(),
                user: Arc::new(part.identity.writer(descriptor.client)),
                driver,
                is_synced: false,
                recent: None,
                recent_lists: BTreeMap::new(),
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
        let follower = (sight != Sight::Named).then(|| Follower {
            following: Following::new(sight),
            look_at: None,
            is_asking: false,
            asks_again: false,
        });
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
            follower,
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

    /// Whether the caches have what a controller needs.
    pub(crate) fn is_synced(&mut self, at: usize, monotonic: Duration) -> bool {
        let Some(each) = self.loops.get_mut(at) else {
            return false;
        };
        if !each.is_synced {
            let live = self.caches.iter().filter(|cache| !cache.is_removed);
            let readiness = live.map(|cache| (cache.kind, cache.informer.readiness(monotonic)));
            let readiness: Vec<_> = readiness.collect();
            let watches = each.descriptor.watches;
            each.is_synced = each.sight.may_begin(watches, &self.snapshot, &readiness);
        }
        each.is_synced
    }

    /// Adds a cache of no more than the metadata of a kind, which is not fed yet; its place.
    /// `None` if the resource is cached already, in whatever version.
    pub(crate) fn add_cache(&mut self, kind: Kind) -> Option<usize> {
        let mut live = self.caches.iter().filter(|cache| !cache.is_removed);
        if live.any(|cache| cache.kind.is_same_resource(&kind)) {
            return None;
        }
        let families = self
            .loops
            .iter()
            .any(|each| each.sight == Sight::Everything);
        let cache = Cache::new(metadata_informer(kind), true, families);
        self.snapshot = self.snapshot.with(cache.informer.view());
        self.caches.push(cache);
        Some(self.caches.len() - 1)
    }

    /// Takes a kind out that was discovered, with all its objects.
    pub(crate) fn remove_cache(&mut self, kind: Kind) {
        for cache in &mut self.caches {
            if cache.kind == kind && cache.is_discovered && !cache.is_removed {
                cache.is_removed = true;
                // Whatever is under way belongs to something earlier.
                cache.asked += 1;
            }
        }
        self.snapshot = self.snapshot.without(kind);
    }
}
