//! Follows a stop from phase to phase.

use std::sync::Arc;

use flyball_process::Phase;
use tokio::time::sleep_until;

use crate::events::Events;
use crate::shared::Shared;

/// Stops a process in the order that it decides: syncs come to their end, Events are sent, the
/// Lease is given up. Returns when nothing is left to do.
pub(crate) async fn stop(shared: &Arc<Shared>, events: &[Arc<Events>]) {
    shared.act(|process, moment| process.stop(moment.now.monotonic));
    let mut last = Phase::Draining;
    let mut held = false;
    loop {
        let followed = shared.act(|process, moment| process.stop_phase(moment));
        let Some((phase, until)) = followed else {
            return;
        };
        if phase != last {
            if last == Phase::Events && events.iter().any(|one| !one.is_idle()) {
                tracing::warn!("some events were not sent");
            }
            match phase {
                Phase::Events => finish_events(shared, events),
                Phase::Releasing => {
                    shared.news.expect_release();
                    held = holds_lease(shared);
                }
                Phase::Draining | Phase::Stopped => {}
            }
            last = phase;
        }
        match phase {
            Phase::Stopped => break,
            Phase::Events if events.iter().all(|one| one.is_idle()) => {
                shared.act(|process, _| process.events_sent());
                continue;
            }
            Phase::Draining | Phase::Events | Phase::Releasing => {}
        }
        tokio::select! {
            () = shared.wakeups.stop.notified() => {}
            () = sleep_until(shared.clock.instant(until)) => {}
        }
    }
    let lease = shared.news.lease_name();
    match (held, holds_lease(shared)) {
        (true, true) => tracing::warn!(lease, "the lease was not released in time"),
        (true, false) => tracing::info!(lease, "lease released"),
        (false, _) => {}
    }
}

fn holds_lease(shared: &Shared) -> bool {
    shared.look(|process, _| process.holds_lease())
}

/// Records the end of the term while there is time to send it, and sends what is left.
fn finish_events(shared: &Shared, events: &[Arc<Events>]) {
    let (leads, now) = shared.look(|process, now| (process.leads(now.monotonic), now));
    if leads {
        shared.news.record_term("stopped leading", now);
    }
    for one in events {
        one.hurry();
    }
}
