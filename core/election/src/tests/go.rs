//! A candidate that behaves as client-go's does: it polls, and it trusts its own timers.
//!
//! Upstream: `client-go/tools/leaderelection/leaderelection.go`, `acquire`, `renew`,
//! `tryAcquireOrRenew`.

use std::time::Duration;

use flyball_api::Timestamp;
use flyball_api::views::{Lease, LeaseSpec};

use super::server::Reply;
use crate::record::{Record, held_by};
use crate::{Command, Settings};

pub(super) struct Go {
    settings: Settings,
    observed: Option<(Record, Duration)>,
    /// When it stops believing that it leads, unless a renewal succeeds before.
    gives_up_at: Option<Duration>,
    try_at: Duration,
    reads_next: bool,
    absent: bool,
}

impl Go {
    pub(super) fn new(settings: Settings) -> Self {
        let (observed, gives_up_at, try_at) = (None, None, Duration::ZERO);
        Self {
            settings,
            observed,
            gives_up_at,
            try_at,
            reads_next: true,
            absent: false,
        }
    }

    pub(super) fn leads(&self, now: Duration) -> bool {
        self.gives_up_at.is_some_and(|at| now < at)
    }

    pub(super) fn next(&self, now: Duration, wall: Timestamp) -> Command {
        if now < self.try_at {
            return Command::WaitUntil(self.try_at);
        }
        if self.reads_next {
            return Command::Read;
        }
        let before = self.observed.as_ref().map(|(record, _)| record);
        let spec = held_by(
            &self.settings.identity,
            before,
            self.settings.lease_duration,
            wall,
        );
        match before {
            Some(before) if !self.absent => Command::Update(spec, before.resource_version.clone()),
            _ => Command::Create(spec),
        }
    }

    /// `None`: no answer came in time.
    pub(super) fn heard(&mut self, reply: Option<Reply>, now: Duration, jitter: f64) {
        let retry = self.settings.retry_period;
        match reply {
            Some(Reply::Wrote(lease)) => {
                self.observe(lease, now);
                // The next try is a period away and then has the whole deadline.
                self.gives_up_at = Some(now + retry + self.settings.renew_deadline);
                self.try_at = now + retry;
                self.reads_next = false;
            }
            Some(Reply::Is(lease)) => {
                self.observe(lease, now);
                // A leader that finds somebody else's record goes on believing until its deadline.
                if self.is_held_by_other(now) {
                    self.pause(now, jitter);
                } else {
                    self.reads_next = false;
                }
            }
            Some(Reply::Absent) => {
                self.absent = true;
                self.reads_next = false;
            }
            Some(Reply::Refused) | None => {
                if !self.reads_next && self.leads(now) {
                    self.reads_next = true;
                } else {
                    self.pause(now, jitter);
                }
            }
        }
    }

    fn observe(&mut self, lease: Lease, now: Duration) {
        self.absent = false;
        let record = Record::of(&lease);
        let same = |seen: &LeaseSpec| *seen == record.spec;
        match &mut self.observed {
            Some((seen, _)) if same(&seen.spec) => seen.resource_version = record.resource_version,
            observed => *observed = Some((record, now)),
        }
    }

    fn is_held_by_other(&self, now: Duration) -> bool {
        let Some((record, at)) = &self.observed else {
            return false;
        };
        let valid = now < *at + record.lease().unwrap_or_default();
        !record.holder().is_empty() && record.holder() != self.settings.identity && valid
    }

    fn pause(&mut self, now: Duration, jitter: f64) {
        self.reads_next = true;
        let factor = if self.leads(now) {
            1.0
        } else {
            1.0 + 1.2 * jitter
        };
        self.try_at = now + self.settings.retry_period.mul_f64(factor);
    }
}
