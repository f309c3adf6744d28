//! Trouble: kills, freezes, lagging and broken wires, bad input, handovers between managers.
//!
//! Each check starts a cluster of its own, does one kind of harm to a real manager process, and judges by what the
//! API server recorded. A check answers with one line of figures or with the rule that was broken. The same checks
//! run on upstream's manager ([`Subject::Go`]), which shows that they measure the manager and not the harness;
//! rules that only ours promises are skipped there.

mod bad_input;
mod bad_wire;
mod census;
mod clash;
mod crash;
mod deletes;
mod endings;
mod endpoints;
mod failover;
mod frozen_connections;
mod handover;
mod lag;
mod lagging_standby;
mod lease;
mod load;
mod ownership;
mod pages;
mod passthrough;
mod proxy;
mod reconnect_cost;
mod replica_history;
mod restore;
mod retry_after;
mod scene;
mod service_accounts;
mod stalled_connect;
mod starts_quiet;
mod takeover;
mod templates;
mod tunnel;
mod version_change;
mod workload;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use futures::future::LocalBoxFuture;

use scene::Scene;

/// The manager that is put to the test.
#[derive(Debug, Clone)]
pub enum Subject {
    /// Ours, at this path.
    Flyball(PathBuf),
    /// Upstream's, to check the checks.
    Go,
}

/// What to run and how hard.
#[derive(Debug, Clone)]
pub struct FaultOptions {
    /// The manager under test.
    pub subject: Subject,
    /// Only checks whose name contains one of these; empty for all.
    pub only: Vec<String>,
    /// How often `crash` scales to 500 pods and kills the manager meanwhile.
    pub scaleups: usize,
    /// How late watches are in `watch-lag`.
    pub lag: Duration,
    /// How long the leader is frozen in `failover-freeze`.
    pub freeze: Duration,
    /// Decides the moments of kills; the same seed chooses the same moments.
    pub seed: u64,
    /// How often a check repeats what it does; `None` for the check's own small number.
    pub rounds: Option<usize>,
    /// Leave logs and audit logs on disk.
    pub keep_folders: bool,
}

/// How one check ended.
#[derive(Debug)]
pub struct FaultOutcome {
    /// The check's name.
    pub name: &'static str,
    /// Its figures, or the rule that was broken.
    pub result: Result<String>,
    /// How long it took.
    pub took: Duration,
}

type Check = fn(&Scene) -> LocalBoxFuture<'_, Result<String>>;

/// No check may take longer: a hang is a failure like any other.
const CHECK_LIMIT: Duration = Duration::from_secs(900);
/// What each round of `--rounds` may add to it.
const ROUND_LIMIT: Duration = Duration::from_secs(600);

/// Every check: its name, its promise, and whether upstream's manager can be asked the same.
const CHECKS: &[(&str, &str, Check)] = &[
    (
        "takeover",
        "50 Deployments change hands from Go to ours and back: no pod deleted, no ReplicaSet created",
        |scene| Box::pin(takeover::check(scene)),
    ),
    (
        "template-passthrough",
        "pods of 50 templates are what Go makes of them, and fields no schema knows come through",
        |scene| Box::pin(passthrough::check(scene)),
    ),
    (
        "failover-kill",
        "kill -9 the leader: the standby writes within lease + 2 s",
        |scene| Box::pin(failover::kill(scene)),
    ),
    (
        "failover-term",
        "SIGTERM the leader: the standby writes within 1 s of the release",
        |scene| Box::pin(failover::terminate(scene)),
    ),
    (
        "failover-freeze",
        "SIGSTOP the leader, SIGCONT later: it writes nothing without the lease",
        |scene| Box::pin(failover::freeze(scene)),
    ),
    (
        "handover",
        "Go and ours alternate on one Lease ten times and never both lead",
        |scene| Box::pin(handover::check(scene)),
    ),
    (
        "crash",
        "kill -9 at random moments of scale-ups to 500: exactly 500 afterwards, nothing beyond what was in flight",
        |scene| Box::pin(crash::check(scene)),
    ),
    (
        "watch-lag",
        "watches that are late by seconds cause no extra pod",
        |scene| Box::pin(lag::check(scene)),
    ),
    (
        "bad-wire",
        "nonsense in lists and watches: named, survived, recovered from",
        |scene| Box::pin(bad_wire::check(scene)),
    ),
    (
        "bad-input",
        "wrong flags, files and servers: exit code 1 and a message that says what, where and what to do",
        |scene| Box::pin(bad_input::check(scene)),
    ),
    (
        "clashing-selectors",
        "two owners with one selector: no hot loop, no pod stolen",
        |scene| Box::pin(clash::check(scene)),
    ),
    (
        "owners-stale",
        "owners made anew and dependents moved behind watches held up twice as long: nothing of a living owner goes",
        |scene| Box::pin(ownership::stale(scene)),
    ),
    (
        "owners-kills",
        "kill -9 at random moments of cascades: what should go goes, nothing of a living owner does",
        |scene| Box::pin(ownership::kills(scene)),
    ),
    (
        "owners-discovery",
        "discovery that fails, lies or forgets half: named, survived, and nothing of a living owner goes",
        |scene| Box::pin(ownership::discovery(scene)),
    ),
    (
        "owners-nonsense",
        "circles, unknown kinds, as many owners as fit: named, no hot loop, nothing of a living owner goes",
        |scene| Box::pin(ownership::nonsense(scene)),
    ),
    (
        "service-accounts",
        "with upstream's bootstrap roles alone, one service account per controller suffices",
        |scene| Box::pin(service_accounts::check(scene)),
    ),
    (
        "endings",
        "what validation refuses is left alone, a conflict is no failure, a key past its ceiling is counted; all go on later",
        |scene| Box::pin(endings::check(scene)),
    ),
    (
        "endpoints",
        "health for all, metrics and configuration for those allowed",
        |scene| Box::pin(endpoints::check(scene)),
    ),
    (
        "restore",
        "etcd restored from an older copy under a running manager: no wanted pod deleted, nothing of the lost history created",
        |scene| Box::pin(restore::alone(scene)),
    ),
    (
        "restore-standby",
        "the same with a standby that takes over during the outage",
        |scene| Box::pin(restore::with_standby(scene)),
    ),
    (
        "lagging-standby",
        "SIGTERM to a leader that has just created pods, with a standby whose watch of pods is late: no pod too many",
        |scene| Box::pin(lagging_standby::check(scene)),
    ),
    (
        "stalled-connect",
        "the leader's new connections are held back until its term is over: it writes nothing afterwards",
        |scene| Box::pin(stalled_connect::check(scene)),
    ),
    (
        "version-change",
        "a custom kind gets another version during cascades: no orphan deleted, no foreground owner gone too early",
        |scene| Box::pin(version_change::plain(scene)),
    ),
    (
        "version-change-broken-webhook",
        "the same with a version that needs a webhook out of reach",
        |scene| Box::pin(version_change::broken_webhook(scene)),
    ),
    (
        "frozen-connections",
        "connections that are open and dead: the manager acts within 45 s by new ones",
        |scene| Box::pin(frozen_connections::check(scene)),
    ),
    (
        "retry-after",
        "reads refused with Retry-After 600 for 20 s: seen again within 45 s, and a healthy standby takes over",
        |scene| Box::pin(retry_after::check(scene)),
    ),
    (
        "reconnect-cost",
        "the API server restarts with the same data: no kind is listed whose watch could have gone on",
        |scene| Box::pin(reconnect_cost::check(scene)),
    ),
    (
        "starts-quiet",
        "starts in a settled cluster: not one write but the Lease",
        |scene| Box::pin(starts_quiet::check(scene)),
    ),
    (
        "deletes-carry-uid",
        "every delete that ours sent in any of these checks insists on a UID",
        |scene| Box::pin(deletes::check(scene)),
    ),
];

/// Names and promises of all checks.
pub static FAULTS: std::sync::LazyLock<Vec<(&'static str, &'static str)>> =
    std::sync::LazyLock::new(|| {
        CHECKS
            .iter()
            .map(|(name, promise, _)| (*name, *promise))
            .collect()
    });

/// Runs the checks one after the other and tells of each as it ends. Returns whether all held.
///
/// # Errors
/// When no check has the wanted name.
pub async fn run_faults(
    options: FaultOptions,
    mut progress: impl FnMut(&FaultOutcome),
) -> Result<bool> {
    let only = options.only.clone();
    let wanted =
        |name: &str| only.is_empty() || only.iter().any(|part| name.contains(part.as_str()));
    if !CHECKS.iter().any(|(name, ..)| wanted(name)) {
        bail!("no check's name contains any of {only:?}");
    }
    let rounds = u32::try_from(options.rounds.unwrap_or(0)).unwrap_or(u32::MAX);
    let limit = CHECK_LIMIT + ROUND_LIMIT.saturating_mul(rounds);
    let scene = Scene::new(options);
    let mut all_held = true;
    for (name, _, check) in CHECKS.iter().filter(|(name, ..)| wanted(name)) {
        let started = Instant::now();
        let result = match tokio::time::timeout(limit, check(&scene)).await {
            Ok(result) => result,
            Err(_) => Err(anyhow::anyhow!("did not end within {} s", limit.as_secs())),
        };
        let outcome = FaultOutcome {
            name,
            result,
            took: started.elapsed(),
        };
        all_held &= outcome.result.is_ok();
        progress(&outcome);
    }
    Ok(all_held)
}
