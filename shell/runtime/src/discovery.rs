//! Asks the server which resources it has, whenever the process wants to know.

use std::sync::Arc;
use std::time::Duration;

use flyball_process::DiscoveryState;
use tokio::time::sleep_until;

use crate::shared::Shared;

/// Asks when it is due, until the task is aborted.
pub(crate) async fn follow_discovery(shared: Arc<Shared>) {
    loop {
        let (due, now) = shared.look(|process, now| (process.discovery_due(), now.monotonic));
        let due = due.unwrap_or(Duration::MAX);
        if now < due {
            tokio::select! {
                () = sleep_until(shared.clock.instant(due)) => {}
                () = shared.wakeups.discovery.notified() => {}
            }
            continue;
        }
        shared.act(|process, _| process.discovery_asked());
        let found = shared.informers.discover().await;
        let found = found.map_err(|error| error.to_string());
        let (before, after) = shared.act(|process, moment| {
            let before = process.discovery().cloned();
            process.discovered(found, moment);
            (before, process.discovery().cloned())
        });
        log(&before.unwrap_or_default(), &after.unwrap_or_default());
    }
}

fn log(before: &DiscoveryState, after: &DiscoveryState) {
    if let Some(trouble) = &after.trouble {
        tracing::warn!(err = trouble, "discovery failed, keeping what was known");
    } else if !after.failures.is_empty() && after.failures != before.failures {
        tracing::warn!(groups = ?after.failures, "discovery of some groups failed");
    }
}
