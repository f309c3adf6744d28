//! The task that lets Events expire: when it looks, and that it leaves the registry in between.

use std::sync::{Arc, Weak};
use std::time::Duration;

use flyball_registry::RevisionTimes;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::server::{ApiServer, now};

/// The shortest time between two looks.
const PERIOD_MIN: Duration = Duration::from_millis(100);

/// How many times there is a look within the time to live: an Event stays so much longer at most.
const LOOKS: u32 = 60;

/// Events expire as long as this lives.
#[derive(Debug)]
pub struct ExpiringEvents(JoinHandle<()>);

impl Drop for ExpiringEvents {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ApiServer {
    /// Deletes Events that nothing has written for this time, from now on. With no time they stay for
    /// ever, as upstream's do.
    pub fn expire_events(self: &Arc<Self>, ttl: Duration) -> Option<ExpiringEvents> {
        if ttl.is_zero() {
            return None;
        }
        let task = tokio::spawn(expire(Arc::downgrade(self), ttl));
        Some(ExpiringEvents(task))
    }
}

async fn expire(server: Weak<ApiServer>, ttl: Duration) {
    let mut looks = interval((ttl / LOOKS).max(PERIOD_MIN));
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut times = RevisionTimes::default();
    loop {
        looks.tick().await;
        let Some(server) = server.upgrade() else {
            return;
        };
        let newest = server.revision();
        if let Some(written) = times.note(now(), newest, ttl) {
            server.expire_written(written).await;
        }
    }
}
