//! The event loop, and how often it may wake up.
//!
//! Waking a thread costs some 15 µs on a virtual machine: as much as taking in a pod. Under
//! sustained load every answer and every watch line would wake it alone. So the loop wakes up at
//! most so many times a second and serves all that arrived in between in one turn, as network
//! cards do with their interrupts. What comes now and then is not delayed: a burst is free.

use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use crate::clock::lock;

/// Turns a second of a process that talks to an API server elsewhere: under sustained load a
/// request takes ten times as long as a turn.
pub const TURNS_AFAR: u32 = 100;

/// Turns a second of a process that is its own API server, where requests take microseconds.
pub const TURNS_WITHIN: u32 = 400;

/// Turns that may follow each other at once; more than any one object needs to settle.
const BURST: f64 = 200.0;

/// The runtime that the whole process runs on.
///
/// One thread: the work between two requests is microseconds of pure code, and handing it from
/// thread to thread costs more than doing it.
pub fn event_loop(turns_per_second: u32) -> io::Result<Runtime> {
    let turns = Mutex::new(Turns::new(turns_per_second, Instant::now()));
    Builder::new_current_thread()
        .enable_all()
        // Called when there is nothing left to do, so nobody waits for this thread but what has
        // yet to arrive.
        .on_thread_park(move || {
            let pause = lock(&turns).pause(Instant::now());
            if !pause.is_zero() {
                std::thread::sleep(pause);
            }
        })
        .build()
}

/// A bucket of turns.
struct Turns {
    per_second: f64,
    left: f64,
    at: Instant,
}

impl Turns {
    fn new(per_second: u32, now: Instant) -> Self {
        Self {
            per_second: f64::from(per_second.max(1)),
            left: BURST,
            at: now,
        }
    }

    /// Takes a turn; says how long to gather what arrives before it begins.
    fn pause(&mut self, now: Instant) -> Duration {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.at = now;
        // At most one below zero: what is owed is paid by waiting.
        self.left = (self.left + passed * self.per_second).min(BURST) - 1.0;
        if self.left >= 0.0 {
            return Duration::ZERO;
        }
        Duration::from_secs_f64(-self.left / self.per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EACH: Duration = Duration::from_micros(2_500);

    #[test]
    fn a_burst_is_free_and_then_turns_are_spread() {
        let mut now = Instant::now();
        let mut turns = Turns::new(TURNS_WITHIN, now);
        for _ in 0..200 {
            assert_eq!(turns.pause(now), Duration::ZERO);
        }
        for _ in 0..1000 {
            let pause = turns.pause(now);
            assert!(
                pause <= EACH + Duration::from_micros(1),
                "one turn's worth at most, not {pause:?}"
            );
            assert!(pause >= EACH - Duration::from_micros(1), "{pause:?}");
            now += pause;
        }
    }

    #[test]
    fn time_spent_working_counts_as_waited() {
        let mut now = Instant::now();
        let mut turns = Turns::new(TURNS_WITHIN, now);
        for _ in 0..10_000 {
            now += EACH;
            assert_eq!(turns.pause(now), Duration::ZERO);
        }
    }

    #[test]
    fn a_rest_restores_the_burst_and_no_more() {
        let mut now = Instant::now();
        let mut turns = Turns::new(TURNS_WITHIN, now);
        for _ in 0..200 {
            turns.pause(now);
        }
        now += Duration::from_secs(3600);
        for _ in 0..200 {
            assert_eq!(turns.pause(now), Duration::ZERO);
        }
        assert!(!turns.pause(now).is_zero());
    }
}
