//! The order of a stop: intake ends, what runs comes to its end, events are sent, the Lease is
//! given up. So no other process begins before the last write was made.

use std::time::Duration;

use crate::effect::{Effect, News};
use crate::flaws::{Flaw, Flaws};
use crate::process::{Moment, Process};

/// How long events may take.
const EVENTS_MAX: Duration = Duration::from_secs(2);

/// How long it may take to give the Lease up.
const RELEASE_MAX: Duration = Duration::from_secs(5);

/// A stop under way.
pub(crate) struct Stopping {
    phase: Phase,
    until: Duration,
    /// Whether syncs were cut off, so that the Lease must expire by itself.
    is_cut_off: bool,
    events_sent: bool,
}

/// How far a stop has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Syncs come to their end.
    Draining,
    /// Events are sent.
    Events,
    /// The Lease is given up.
    Releasing,
    /// Nothing is left to do.
    Stopped,
}

impl<F: Flaws> Process<F> {
    /// Begins a stop, unless one is under way.
    pub fn stop(&mut self, now: Duration) {
        if self.stopping.is_some() {
            return;
        }
        let until = match self.settings.shutdown_timeout {
            // Zero means to wait for ever, as upstream's flag does.
            Duration::ZERO => Duration::MAX,
            timeout => now + timeout,
        };
        for slot in &mut self.controllers {
            slot.driver.shut_down();
        }
        self.stopping = Some(Stopping {
            phase: Phase::Draining,
            until,
            is_cut_off: false,
            events_sent: false,
        });
        self.wake_all();
    }

    /// How far the stop has come, and when to look again at the latest.
    pub fn stop_phase(&mut self, moment: &mut Moment<'_>) -> Option<(Phase, Duration)> {
        loop {
            let now = moment.now.monotonic;
            let running = self.syncs_running(moment.now);
            let holds = self.is_leaving();
            let forgets = self.flaws.has(Flaw::StopForgetsSyncs);
            let stopping = self.stopping.as_mut()?;
            let is_late = now >= stopping.until;
            let before = stopping.phase;
            match before {
                Phase::Draining if running == 0 || forgets => {
                    (stopping.phase, stopping.until) = (Phase::Events, now + EVENTS_MAX);
                }
                Phase::Draining if is_late => {
                    // When the last request will land is unknown: the next leader must wait until
                    // the Lease expires, which is not renewed any more.
                    (stopping.phase, stopping.until) = (Phase::Events, now + EVENTS_MAX);
                    self.effects.push(Effect::Tell(News::StopTimedOut));
                    self.cut_off();
                }
                Phase::Events if stopping.events_sent || is_late => {
                    (stopping.phase, stopping.until) = (Phase::Releasing, now + RELEASE_MAX);
                    let releases = self.settings.release_on_exit && !stopping.is_cut_off;
                    match releases {
                        true => self.leave(moment),
                        false => self.cut_off(),
                    }
                }
                Phase::Releasing if !holds || is_late || self.standing.is_none() => {
                    stopping.phase = Phase::Stopped;
                }
                _ => {}
            }
            let stopping = self.stopping.as_ref()?;
            if stopping.phase == before {
                return Some((stopping.phase, stopping.until));
            }
        }
    }

    /// All events of a process that stops are sent.
    pub fn events_sent(&mut self) {
        if let Some(stopping) = self.stopping.as_mut() {
            stopping.events_sent = true;
        }
    }

    /// Ends the term at once, without giving the Lease up.
    fn cut_off(&mut self) {
        self.standing = None;
        if let Some(stopping) = self.stopping.as_mut() {
            stopping.is_cut_off = true;
        }
        self.effects.push(Effect::Term);
    }

    /// Whether a stop has ended the term.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.stopping.as_ref().is_some_and(|one| one.is_cut_off)
    }
}
