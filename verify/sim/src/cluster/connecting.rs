//! Connections: how long they take to open, and what may still be sent over them then.

use std::time::Duration;

use super::Cluster;
use super::flights::Purpose;
use crate::bugs::Bug;
use crate::invariants::Happened;
use crate::step::{Life, Step};
use crate::workload::CUSTOM_GROUP;

/// One in so many lists takes long.
const SLOW_LISTS: u32 = 12;

impl Cluster {
    /// Now and then a list takes long: a kind may have many objects. The first list of a custom
    /// kind often does.
    pub(super) fn list_delay(&mut self, number: u64) -> Duration {
        let Some(flight) = self.flights.get(&number) else {
            return Duration::ZERO;
        };
        let Purpose::Feed { asked, .. } = flight.purpose else {
            return Duration::ZERO;
        };
        let query = &flight.asked.query;
        let has = |wanted: &str| query.iter().any(|(key, _)| key == wanted);
        let is_list = has("sendInitialEvents") || !has("watch");
        let is_first = asked == 1 && flight.asked.path.contains(CUSTOM_GROUP);
        let one_in = if is_first { 2 } else { SLOW_LISTS };
        match is_list && self.rages && self.mishaps.u32(0..one_in) == 0 {
            true => Duration::from_millis(self.mishaps.u64(1_000..8_000)),
            false => Duration::ZERO,
        }
    }

    /// Opens a connection for a write, or takes one that is open.
    pub(super) fn connect(&mut self, number: u64, life: Life) {
        let delay = self.delay(life.replica, 2);
        let opened = self.effects.connected_at(life.replica, self.now + delay);
        if let Some(flight) = self.flights.get_mut(&number) {
            flight.is_unsent = true;
        }
        self.agenda.add(opened, Step::Hand(number));
    }

    /// A write is handed to its connection, if it may still be sent at this moment.
    pub(super) fn hand(&mut self, number: u64) {
        let Some(flight) = self.flights.get(&number) else {
            return;
        };
        let (life, deed, is_given_up) = (flight.life, flight.deed(), flight.is_given_up);
        let Purpose::Action { round, .. } = flight.purpose else {
            return;
        };
        let name = flight.controller.unwrap_or_default();
        // A deliberate bug: it was asked for before the connection was opened.
        let was_asked = self.bug == Some(Bug::PermitBeforeConnecting);
        if is_given_up && !was_asked {
            // It was never sent.
            self.flights.remove(&number);
            return;
        }
        let monotonic = self.clocks(life).monotonic;
        let Some(running) = self.running(life) else {
            self.flights.remove(&number);
            return;
        };
        if !running.core.may_send(round, monotonic) && !was_asked {
            self.flights.remove(&number);
            if let Some(deed) = deed {
                self.refuse(deed);
            }
            return;
        }
        let is_stopping = running.is_stopping;
        let holder = self.identity(life);
        if let Some(flight) = self.flights.get_mut(&number) {
            flight.holder = holder.clone();
            flight.is_stopping = is_stopping;
            flight.is_unsent = false;
        }
        let part = self.replicas[life.replica].part.name.clone();
        self.check(&Happened::Sent {
            controller: name,
            holder,
            part: &part,
        });
        let delay = self.delay(life.replica, 20);
        self.agenda.add(self.now + delay, Step::Handle(number));
    }
}
