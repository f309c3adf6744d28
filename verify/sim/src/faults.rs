//! Faults, as data: what can go wrong, where, and for how long.

use std::time::Duration;

use fastrand::Rng;

use crate::parts::NODES;
use crate::plan::{Planned, When};

/// What can happen to requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// It never reaches the server.
    LostBefore,
    /// It takes effect, and the answer is lost.
    LostAfter,
    /// Something on the way sends it twice; the answer is that to the second.
    Twice,
    /// 409.
    Conflict,
    /// 429, with a time to wait.
    Busy,
    /// 500.
    Broken,
    /// 504, though it took effect.
    Late,
    /// A webhook that is asked about it cannot be reached.
    Webhook,
    /// A quota refuses it.
    Quota,
}

/// What hands do that should better keep off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meddling {
    /// Deletes a pod.
    DeletePod,
    /// Right before a controller writes to a pod or a ReplicaSet: takes it away at once and puts
    /// another in its place, under the same name.
    Replace,
    /// Takes a label off a pod, so that its owner no longer means it.
    RelabelPod,
    /// Deletes a ReplicaSet and leaves its pods.
    DeleteSet,
    /// Scales a ReplicaSet that a Deployment manages.
    ScaleSet,
    /// Writes nonsense into a status, and a condition that no controller knows.
    EditStatus,
    /// Deletes a default account.
    DeleteAccount,
    /// Changes the published certificate.
    EditCertificate,
    /// Changes the rules of an aggregated role.
    EditRole,
    /// Deletes a node; whoever simulates it makes it anew.
    DeleteNode,
    /// Deletes a Job.
    DeleteJob,
    /// Deletes a role that another collects.
    DeleteRole,
    /// Deletes the published certificate.
    DeleteCertificate,
    /// Deletes the namespace that comes and goes.
    DeleteSpace,
    /// Puts a label on an object of any sort.
    Label,
    /// Takes a pod away at once, without asking it to stop.
    TakePod,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A replica dies between any two steps, and comes back with empty caches.
    Crash {
        /// Which.
        replica: usize,
        /// For how long it is gone.
        down: Duration,
    },
    /// The replica whose write just took effect dies before it hears of it, and comes back to
    /// lists that are behind; only plans that go through every write have it.
    CrashWriter {
        /// For how long it is gone.
        down: Duration,
        /// By how many revisions its lists are behind.
        behind: u64,
    },
    /// A replica stands still, and goes on as if nothing had been.
    Pause {
        /// Which.
        replica: usize,
        /// For how long.
        lasts: Duration,
    },
    /// The time of day of a replica jumps.
    ClockJump {
        /// Which.
        replica: usize,
        /// By how much.
        by_ms: i64,
    },
    /// Requests of one controller fare badly.
    Requests {
        /// How.
        mishap: Mishap,
        /// Whose, by its place among all controllers.
        controller: usize,
        /// How many of them.
        count: u32,
    },
    /// The storage is slow.
    SlowStorage {
        /// How long each request takes.
        delay: Duration,
        /// For how long.
        lasts: Duration,
    },
    /// The connection of a watch breaks.
    DropWatch {
        /// Whose.
        replica: usize,
        /// Of which of its kinds.
        cache: usize,
    },
    /// A watch tells nothing for a while; what it missed comes then.
    HoldWatch {
        /// Whose.
        replica: usize,
        /// Of which of its kinds.
        cache: usize,
        /// For how long.
        lasts: Duration,
    },
    /// The watch whose event comes next tells nothing for a while; only plans that go through
    /// every event have it.
    HideEvent {
        /// For how long.
        lasts: Duration,
    },
    /// The server forgets the past: watches that have not come so far end with 410.
    Compact,
    /// No watch gets a bookmark.
    NoBookmarks {
        /// For how long.
        lasts: Duration,
    },
    /// Lists come from another server, which is behind.
    StaleLists {
        /// Whose.
        replica: usize,
        /// By how many revisions.
        behind: u64,
        /// How many lists.
        count: u32,
    },
    /// Somebody meddles.
    Hand {
        /// How.
        meddling: Meddling,
        /// With which of the objects that would do.
        pick: u64,
    },
    /// A node is lost, and returns.
    LoseNode {
        /// Which.
        node: usize,
        /// For how long.
        lasts: Duration,
    },
    /// The server of a group of resources cannot be reached.
    GroupAway {
        /// For how long.
        lasts: Duration,
    },
    /// Discovery leaves out a group of resources, which are there all the same.
    GroupOmitted {
        /// For how long.
        lasts: Duration,
    },
    /// Connections that a replica opens take long.
    StallConnects {
        /// Whose.
        replica: usize,
        /// For how long.
        lasts: Duration,
    },
    /// A replica is asked to stop, does so in order, and comes back.
    Stop {
        /// Which.
        replica: usize,
        /// After which time it starts again.
        down: Duration,
    },
    /// The server dies and comes back as it was.
    Outage {
        /// For how long it is gone.
        lasts: Duration,
    },
    /// The server dies and comes back with what it had a while ago.
    Restore {
        /// How old that state is.
        behind: Duration,
        /// For how long it is gone.
        outage: Duration,
    },
}

impl Fault {
    /// What it is counted as.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Crash { .. } | Self::CrashWriter { .. } => "crash",
            Self::Pause { .. } => "pause",
            Self::ClockJump { .. } => "clock jump",
            Self::Requests { mishap, .. } => match mishap {
                Mishap::LostBefore => "request lost",
                Mishap::LostAfter => "answer lost",
                Mishap::Twice => "sent twice",
                Mishap::Conflict => "409",
                Mishap::Busy => "429",
                Mishap::Broken => "500",
                Mishap::Late => "504",
                Mishap::Webhook => "webhook",
                Mishap::Quota => "quota",
            },
            Self::SlowStorage { .. } => "slow storage",
            Self::DropWatch { .. } => "watch dropped",
            Self::HoldWatch { .. } | Self::HideEvent { .. } => "watch delayed",
            Self::Compact => "compaction",
            Self::NoBookmarks { .. } => "no bookmarks",
            Self::StaleLists { .. } => "stale list",
            Self::Hand { meddling, .. } => match meddling {
                Meddling::Replace => "replaced by hand",
                Meddling::DeletePod
                | Meddling::TakePod
                | Meddling::DeleteSet
                | Meddling::DeleteAccount
                | Meddling::DeleteNode
                | Meddling::DeleteJob
                | Meddling::DeleteRole
                | Meddling::DeleteCertificate
                | Meddling::DeleteSpace => "deleted by hand",
                Meddling::RelabelPod
                | Meddling::ScaleSet
                | Meddling::EditStatus
                | Meddling::EditCertificate
                | Meddling::EditRole
                | Meddling::Label => "edited by hand",
            },
            Self::LoseNode { .. } => "node lost",
            Self::GroupAway { .. } => "group away",
            Self::GroupOmitted { .. } => "group omitted",
            Self::StallConnects { .. } => "connect stalled",
            Self::Stop { .. } => "stopped",
            Self::Outage { .. } => "outage",
            Self::Restore { .. } => "restored",
        }
    }
}

/// Every kind of fault there is, in the order of reports.
pub const KINDS: &[&str] = &[
    "crash",
    "pause",
    "clock jump",
    "request lost",
    "answer lost",
    "sent twice",
    "409",
    "429",
    "500",
    "504",
    "webhook",
    "quota",
    "slow storage",
    "watch dropped",
    "watch delayed",
    "compaction",
    "no bookmarks",
    "stale list",
    "deleted by hand",
    "edited by hand",
    "replaced by hand",
    "node lost",
    "group away",
    "group omitted",
    "connect stalled",
    "stopped",
    "outage",
    "restored",
];

/// Whom faults can strike.
#[derive(Clone, Debug)]
pub(crate) struct Cast {
    /// How many caches each replica has.
    pub(crate) caches: Vec<usize>,
    /// How many controllers there are in all parts.
    pub(crate) controllers: usize,
}

/// Draws faults for a time; the first come once there is something to disturb.
pub(crate) fn draw(draws: &mut Rng, cast: &Cast, rage: Duration) -> Vec<Planned<Fault>> {
    let count = draws.usize(55..90);
    let last = u64::try_from(rage.as_millis()).unwrap_or(u64::MAX);
    let mut times: Vec<u64> = (0..count).map(|_| draws.u64(2_000..last)).collect();
    times.sort_unstable();
    let faults = times.into_iter().enumerate().map(|(number, at)| Planned {
        when: When::At(Duration::from_millis(at)),
        what: fault(draws, cast),
        number,
    });
    faults.collect()
}

fn fault(draws: &mut Rng, cast: &Cast) -> Fault {
    let replica = draws.usize(0..cast.caches.len());
    let cache = draws.usize(0..cast.caches.get(replica).copied().unwrap_or(1).max(1));
    match draws.u32(0..100) {
        0..9 => Fault::Crash {
            replica,
            down: seconds(draws, 0, 40),
        },
        9..14 => Fault::Pause {
            replica,
            lasts: seconds(draws, 1, 90),
        },
        14..18 => Fault::ClockJump {
            replica,
            by_ms: draws.i64(-90_000..90_000),
        },
        18..48 => Fault::Requests {
            mishap: mishap(draws),
            controller: draws.usize(0..cast.controllers.max(1)),
            count: draws.u32(1..5),
        },
        48..51 => Fault::SlowStorage {
            delay: seconds(draws, 1, 20),
            lasts: seconds(draws, 5, 30),
        },
        51..56 => Fault::DropWatch { replica, cache },
        56..63 => Fault::HoldWatch {
            replica,
            cache,
            lasts: seconds(draws, 2, 240),
        },
        63..66 => Fault::Compact,
        66..68 => Fault::NoBookmarks {
            lasts: seconds(draws, 60, 300),
        },
        68..74 => Fault::StaleLists {
            replica,
            behind: draws.u64(1..60),
            count: draws.u32(1..8),
        },
        74..90 => Fault::Hand {
            meddling: meddling(draws),
            pick: draws.u64(..),
        },
        90..92 => Fault::GroupAway {
            lasts: seconds(draws, 5, 120),
        },
        92..98 => more(draws, replica),
        _ => Fault::LoseNode {
            node: draws.usize(0..NODES),
            lasts: seconds(draws, 5, 120),
        },
    }
}

/// Faults of connections, discovery and the server as a whole.
fn more(draws: &mut Rng, replica: usize) -> Fault {
    match draws.u32(0..6) {
        // Not longer than a defined resource is waited for.
        0 => Fault::GroupOmitted {
            lasts: seconds(draws, 5, 25),
        },
        1 => Fault::StallConnects {
            replica,
            lasts: seconds(draws, 5, 90),
        },
        2..4 => Fault::Stop {
            replica,
            down: seconds(draws, 12, 60),
        },
        4 => Fault::Outage {
            lasts: seconds(draws, 1, 60),
        },
        _ => Fault::Restore {
            behind: seconds(draws, 1, 120),
            outage: seconds(draws, 1, 40),
        },
    }
}

fn mishap(draws: &mut Rng) -> Mishap {
    const ALL: [Mishap; 9] = [
        Mishap::LostBefore,
        Mishap::LostAfter,
        Mishap::Twice,
        Mishap::Conflict,
        Mishap::Busy,
        Mishap::Broken,
        Mishap::Late,
        Mishap::Webhook,
        Mishap::Quota,
    ];
    ALL[draws.usize(0..ALL.len())]
}

fn meddling(draws: &mut Rng) -> Meddling {
    const ALL: [Meddling; 20] = [
        Meddling::DeletePod,
        Meddling::TakePod,
        Meddling::DeletePod,
        Meddling::Replace,
        Meddling::Replace,
        Meddling::RelabelPod,
        Meddling::DeleteSet,
        Meddling::ScaleSet,
        Meddling::EditStatus,
        Meddling::DeleteAccount,
        Meddling::EditCertificate,
        Meddling::EditRole,
        Meddling::DeleteNode,
        Meddling::DeleteJob,
        Meddling::DeleteRole,
        Meddling::DeleteCertificate,
        Meddling::DeleteSpace,
        Meddling::Label,
        Meddling::Label,
        Meddling::Label,
    ];
    ALL[draws.usize(0..ALL.len())]
}

fn seconds(draws: &mut Rng, from: u64, to: u64) -> Duration {
    Duration::from_millis(draws.u64(from * 1000..to * 1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Seed;

    #[test]
    fn every_kind_of_fault_is_drawn_and_counted() {
        let cast = Cast {
            caches: vec![5, 5, 3],
            controllers: 9,
        };
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..50 {
            let faults = draw(
                &mut Seed(seed).child("faults"),
                &cast,
                Duration::from_secs(600),
            );
            assert!(faults.len() >= 50);
            seen.extend(faults.iter().map(|fault| fault.what.kind()));
        }
        let all: std::collections::BTreeSet<_> = KINDS.iter().copied().collect();
        assert_eq!(seen, all);
    }
}
