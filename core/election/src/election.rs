//! The state machine.

use std::time::Duration;

use flyball_api::Timestamp;
use flyball_api::views::{Lease, LeaseSpec};

use crate::record::{Record, held_by, released};
use crate::{BadSettings, Settings};

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Read the Lease.
    Read,
    /// Create the Lease with this record.
    Create(LeaseSpec),
    /// Replace the record, against this version of the Lease.
    Update(LeaseSpec, flyball_api::Text),
    /// Nothing until then, or until a watch tells of a change.
    WaitUntil(Duration),
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum Heard {
    /// The Lease as it was just read.
    Lease(Lease),
    /// The Lease as a watch tells of it, which may be behind what we know.
    Told(Lease),
    /// There is no Lease.
    Absent,
    /// Our write took effect; the Lease as it is now. The time is when the write was *sent*.
    Written(Lease, Duration),
    /// Somebody else wrote first, or the request failed.
    Failed,
}

/// Whether we lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Somebody else leads, or nobody.
    Standby,
    /// We lead.
    Leader,
}

/// One candidate's part in an election.
#[derive(Debug)]
pub struct Election {
    settings: Settings,
    /// The record as last seen, and when we saw it *change*: clocks of other machines are not
    /// trusted, so the holder's silence is measured from here. `None` if there is no Lease.
    seen: Option<(Record, Duration)>,
    /// When the last successful write of our own record was sent; leading starts with the first.
    renewed_at: Option<Duration>,
    /// When to try next.
    try_at: Duration,
    /// Whether the record must be read before the next write.
    must_read: bool,
}

impl Election {
    /// A candidate that tries at once.
    pub fn new(settings: Settings) -> Result<Self, BadSettings> {
        settings.check()?;
        let (seen, renewed_at) = (None, None);
        Ok(Self {
            settings,
            seen,
            renewed_at,
            try_at: Duration::ZERO,
            must_read: true,
        })
    }

    /// Whether we lead at this moment.
    pub fn role(&self, now: Duration) -> Role {
        match self.leads_until() {
            Some(until) if now < until => Role::Leader,
            _ => Role::Standby,
        }
    }

    /// Until when we may write without hearing from the server again: the renew deadline counted
    /// from when the last successful renewal was *sent*. No other candidate can take over before
    /// the lease duration counted from when that renewal *arrived*, which is later.
    pub fn leads_until(&self) -> Option<Duration> {
        self.renewed_at.map(|at| at + self.settings.renew_deadline)
    }

    /// Identity and timing.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How often the Lease has changed hands, as last seen.
    pub fn transitions(&self) -> Option<i32> {
        let (record, _) = self.seen.as_ref()?;
        Some(record.spec.lease_transitions.unwrap_or_default())
    }

    /// Brings the next renewal forward to this moment.
    pub fn renew_at(&mut self, at: Duration) {
        if self.renewed_at.is_some() {
            self.try_at = self.try_at.min(at);
        }
    }

    /// Has the Lease read at this moment, before it is written again.
    pub fn read_at(&mut self, at: Duration) {
        self.must_read = true;
        self.try_at = self.try_at.min(at);
    }

    /// Who holds the Lease, as last seen.
    pub fn holder(&self) -> Option<&str> {
        self.seen
            .as_ref()
            .map(|(record, _)| record.holder())
            .filter(|holder| !holder.is_empty())
    }

    /// What to do now. `wall` goes into the record and into no decision.
    pub fn next(&self, now: Duration, wall: Timestamp) -> Command {
        if now < self.try_at {
            return Command::WaitUntil(self.try_at);
        }
        if self.must_read {
            return Command::Read;
        }
        let before = self.seen.as_ref().map(|(record, _)| record);
        let spec = held_by(
            &self.settings.identity,
            before,
            self.settings.lease_duration,
            wall,
        );
        match before {
            // Only against the version it was judged by: whoever wrote since then wins.
            Some(before) => Command::Update(spec, before.resource_version.clone()),
            None => Command::Create(spec),
        }
    }

    /// Takes in what was heard. `jitter`, between 0 and 1, spreads the tries of candidates.
    pub fn heard(&mut self, heard: Heard, now: Duration, jitter: f64) {
        match heard {
            // A watch may lag behind our own writes: what it tells then is history.
            Heard::Told(lease) if self.is_history(&lease) => {}
            Heard::Lease(lease) | Heard::Told(lease) => {
                self.observe(Record::of(&lease), now);
                self.judge(now, jitter);
            }
            Heard::Absent => {
                // Whoever comes first makes it anew; until we have, we do not hold it.
                self.seen = None;
                self.renewed_at = None;
                self.must_read = false;
                self.try_at = now;
            }
            Heard::Written(lease, sent_at) => {
                // A watch may have told of something newer before the answer came.
                if !self.is_history(&lease) {
                    self.observe(Record::of(&lease), now);
                }
                if self.holds() {
                    self.renewed_at = Some(sent_at);
                }
                // The next renewal needs no read: it goes against the version just written.
                self.must_read = false;
                self.try_at = now + self.settings.retry_period;
            }
            Heard::Failed => {
                let was_write = !self.must_read;
                self.must_read = true;
                if was_write && self.role(now) == Role::Leader {
                    // A lost optimistic write is followed by a read at once, as upstream does.
                    self.try_at = now;
                } else {
                    self.pause(now, jitter);
                }
            }
        }
        if self.role(now) == Role::Standby {
            self.renewed_at = None;
        }
    }

    /// The record that gives the Lease up, if we hold it. Leading ends with this call; whoever
    /// calls [`Election::next`] again takes part again.
    pub fn release(&mut self, wall: Timestamp) -> Option<Command> {
        self.renewed_at = None;
        let (record, _) = self.seen.as_ref().filter(|_| self.holds())?;
        Some(Command::Update(
            released(record, wall),
            record.resource_version.clone(),
        ))
    }

    /// Decides by the record just seen.
    fn judge(&mut self, now: Duration, jitter: f64) {
        if !self.holds() {
            // Whoever holds it, or may take it, is not bound by our term.
            self.renewed_at = None;
        }
        if self.free_at().is_some_and(|free_at| now < free_at) {
            self.must_read = true;
            self.pause(now, jitter);
        } else {
            // Ours to write: at once, or as leader when the next renewal is due.
            self.must_read = false;
            if self.renewed_at.is_none() {
                self.try_at = now;
            }
        }
    }

    fn observe(&mut self, record: Record, now: Duration) {
        match &mut self.seen {
            Some((seen, _)) if seen.spec == record.spec => {
                seen.resource_version = record.resource_version;
            }
            seen => *seen = Some((record, now)),
        }
    }

    fn is_history(&self, lease: &Lease) -> bool {
        let Some((seen, _)) = &self.seen else {
            return false;
        };
        let versions = (
            lease.metadata.resource_version.parse::<u64>(),
            seen.resource_version.parse::<u64>(),
        );
        matches!(versions, (Ok(told), Ok(seen)) if told < seen)
    }

    /// Whether the Lease is ours, as last seen.
    pub fn holds(&self) -> bool {
        self.holder() == Some(self.settings.identity.as_str())
    }

    /// When another holder's silence will have lasted its lease. The holder said how long that
    /// is, since it may be set up otherwise than we are.
    fn free_at(&self) -> Option<Duration> {
        let (record, changed_at) = self.seen.as_ref()?;
        let held_by_other = self.holder().is_some() && !self.holds();
        held_by_other.then(|| *changed_at + record.lease().unwrap_or(self.settings.lease_duration))
    }

    /// The pause between two tries: a leader's is even, a standby's is spread by a factor of up to
    /// 1 + 1.2 as upstream's, and ends early when the Lease becomes free meanwhile.
    fn pause(&mut self, now: Duration, jitter: f64) {
        let leads = self.role(now) == Role::Leader;
        let factor = if leads {
            1.0
        } else {
            1.0 + 1.2 * jitter.clamp(0.0, 1.0)
        };
        let pause_ends = now + self.settings.retry_period.mul_f64(factor);
        self.try_at = match self.free_at() {
            Some(free_at) if now < free_at => free_at.min(pause_ends),
            _ => pause_ends,
        };
    }
}
