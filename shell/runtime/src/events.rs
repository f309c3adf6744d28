//! Sends Events in the background, as the teller of each component decides.

use std::sync::{Arc, Mutex};

use flyball_client::{Client, Request};
use flyball_plan::{Now, Record};
use flyball_process::{Teller, Told};
use tokio::sync::Notify;
use tokio::time::sleep_until;

use crate::clock::lock;
use crate::shared::Shared;

/// The Events of one component.
pub(crate) struct Events {
    pub(crate) component: String,
    teller: Mutex<Teller>,
    wakeup: Notify,
}

impl Events {
    pub(crate) fn new(component: &str) -> Arc<Self> {
        Arc::new(Self {
            component: component.to_owned(),
            teller: Mutex::new(Teller::new(component)),
            wakeup: Notify::new(),
        })
    }

    /// Takes a record, or drops it if too many wait.
    pub(crate) fn record(&self, record: &Record, now: Now) {
        lock(&self.teller).record(record, now);
        self.wakeup.notify_one();
    }

    /// How many records were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        lock(&self.teller).dropped()
    }

    /// Whether nothing waits and nothing is under way.
    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.teller).is_idle()
    }

    /// Sends what is left without second tries.
    pub(crate) fn hurry(&self) {
        lock(&self.teller).hurry();
        self.wakeup.notify_one();
    }
}

/// When Events of a component may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// While this process leads.
    Leading,
    /// At any time: the Events of a candidate on its Lease.
    Always,
}

/// The task that sends the Events of one component.
pub(crate) struct EventTask {
    pub(crate) events: Arc<Events>,
    pub(crate) client: Client,
    pub(crate) sent: Sent,
    pub(crate) shared: Arc<Shared>,
}

impl EventTask {
    /// Sends Events until the task is aborted.
    pub(crate) async fn run(self) {
        let mut permission = self.shared.permissions.follow();
        loop {
            permission.borrow_and_update();
            let clock = self.shared.clock;
            let wait_until = match self.next() {
                Told::Send(request) => {
                    self.send(&request).await;
                    continue;
                }
                Told::Wait(at) => Some(clock.instant(at)),
                Told::Idle => None,
            };
            // What was dropped for want of permission counts as sent.
            self.shared.wakeups.stop.notify_one();
            let due = async {
                match wait_until {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.events.wakeup.notified() => {}
                changed = permission.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
                () = due => {}
            }
        }
    }

    fn next(&self) -> Told {
        let look = self.shared.look(|process, now| {
            let now = now.monotonic;
            (process.leads(now), process.may_write(now))
        });
        let may_write = match (self.sent, look) {
            (Sent::Always, _) => true,
            // In doubt about the server's history Events wait; the same leader goes on.
            (Sent::Leading, (true, false)) => return Told::Idle,
            (Sent::Leading, (_, may_write)) => may_write,
        };
        lock(&self.events.teller).next(may_write, self.shared.clock.monotonic())
    }

    async fn send(&self, request: &Request) {
        let answer = self.client.send(request).await.map(drop);
        if let Err(error) = &answer {
            let component = &self.events.component;
            tracing::debug!(component, err = %error, "an event was not taken");
        }
        let now = self.shared.clock.monotonic();
        lock(&self.events.teller).answered(answer.as_ref().copied(), now, fastrand::f64());
    }
}
