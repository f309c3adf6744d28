//! Several candidates, one Lease, and everything that can go wrong between them.
//!
//! Requests are lost on their way there or back, arrive late (even long after the sender gave up),
//! processes are stopped and continued, killed and started again under another name, give the
//! Lease up, and no two clocks agree. What is assumed:
//!
//! - monotonic clocks run at the same speed, and nobody deletes the Lease;
//! - of our own candidates, nothing else: a write is bound to the version it was judged by, so it
//!   may even take effect long after everybody has given it up;
//! - of client-go's candidates, that an answer they act upon is at most lease − renew deadline −
//!   retry period old, and that they are not stopped and continued: they count their deadline
//!   from when they *heard*, and look at no clock before they write.

use std::collections::BTreeMap;
use std::time::Duration;

use flyball_api::Timestamp;
use flyball_api::views::Lease;

use super::go::Go;
use super::server::{Reply, Server};
use crate::{Command, Election, Heard, Role, Settings};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breed {
    Ours,
    Go,
}

enum Machine {
    Ours(Election),
    Go(Go),
}

struct Candidate {
    breed: Breed,
    machine: Machine,
    lives: u32,
    clock_offset: Duration,
    wall_offset: Duration,
    /// The request under way, and when it was sent by our clock.
    waiting: Option<(u64, Duration)>,
    stopped_until: Duration,
    wakes: u64,
    /// How many messages of a hundred are late or lost between it and the server, for now.
    weather: u64,
}

/// What happens at some moment, to one candidate in one of its lives.
enum Event {
    Wake(u64),
    Arrive(u64, Command, bool),
    Answer(u64, Option<Reply>),
    Told(Lease),
    Fault,
}

/// Numbers without end from one seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn ms(&mut self, end: u64) -> Duration {
        Duration::from_millis(self.below(end))
    }
}

pub(super) struct World {
    pub(super) now: Duration,
    events: BTreeMap<(Duration, u64), (usize, u32, Event)>,
    sequence: u64,
    server: Server,
    candidates: Vec<Candidate>,
    dice: Dice,
    calm_at: Duration,
    leader: Option<(usize, u32)>,
    /// How often somebody began to lead who had not led last.
    pub(super) changes: usize,
}

pub(super) const LEASE: Duration = Duration::from_secs(15);
pub(super) const RENEW: Duration = Duration::from_secs(10);
pub(super) const RETRY: Duration = Duration::from_secs(2);

fn settings(index: usize, lives: u32) -> Settings {
    Settings {
        identity: format!("{index}.{lives}").as_str().into(),
        lease_duration: LEASE,
        renew_deadline: RENEW,
        retry_period: RETRY,
    }
}

fn machine(breed: Breed, index: usize, lives: u32) -> Machine {
    match breed {
        Breed::Ours => Machine::Ours(Election::new(settings(index, lives)).unwrap()),
        Breed::Go => Machine::Go(Go::new(settings(index, lives))),
    }
}

impl World {
    /// Candidates of these breeds, with faults until `calm_at`.
    pub(super) fn new(breeds: &[Breed], seed: u64, calm_at: Duration) -> Self {
        let mut dice = Dice(seed);
        let candidates = breeds
            .iter()
            .enumerate()
            .map(|(i, breed)| Candidate {
                breed: *breed,
                machine: machine(*breed, i, 0),
                lives: 0,
                clock_offset: dice.ms(1_000_000_000),
                wall_offset: dice.ms(1_000_000_000),
                waiting: None,
                stopped_until: Duration::ZERO,
                wakes: 0,
                weather: 0,
            })
            .collect();
        let mut world = Self {
            now: Duration::ZERO,
            events: BTreeMap::new(),
            sequence: 0,
            server: Server::default(),
            candidates,
            dice,
            calm_at,
            leader: None,
            changes: 0,
        };
        for i in 0..breeds.len() {
            world.go_on(i);
            let first = world.dice.ms(10_000);
            world.at(first, i, Event::Fault);
        }
        world
    }

    /// Lets time pass up to `end`; the safety law is checked after everything that happens.
    pub(super) fn run(&mut self, end: Duration) {
        while let Some((&(at, sequence), _)) = self.events.first_key_value() {
            if at > end {
                break;
            }
            let Some((i, lives, event)) = self.events.remove(&(at, sequence)) else {
                break;
            };
            self.now = self.now.max(at);
            self.happen(i, lives, event);
            self.check();
        }
        self.now = end;
        self.check();
    }

    /// Who leads now; never two.
    pub(super) fn check(&mut self) -> Option<(usize, u32)> {
        let leads = |c: &Candidate| match &c.machine {
            Machine::Ours(election) => election.role(self.now + c.clock_offset) == Role::Leader,
            Machine::Go(go) => go.leads(self.now + c.clock_offset),
        };
        let leaders: Vec<(usize, u32)> = (self.candidates.iter().enumerate())
            .filter(|(_, candidate)| leads(candidate))
            .map(|(i, candidate)| (i, candidate.lives))
            .collect();
        assert!(
            leaders.len() <= 1,
            "at {:?} all of these lead: {leaders:?}",
            self.now
        );
        let leader = leaders.first().copied();
        if leader.is_some() && leader != self.leader {
            self.changes += 1;
            self.leader = leader;
        }
        leader
    }

    fn at(&mut self, at: Duration, i: usize, event: Event) {
        self.sequence += 1;
        self.events
            .insert((at, self.sequence), (i, self.candidates[i].lives, event));
    }

    fn happen(&mut self, i: usize, lives: u32, event: Event) {
        match event {
            Event::Arrive(id, command, was_faulty) => {
                // The server serves whoever sent it, dead or alive, but what was late when the
                // faults ended is lost.
                if !(was_faulty && self.now > self.calm_at) {
                    self.arrive(i, lives, id, &command);
                }
                return;
            }
            Event::Fault => return self.fault(i),
            _ => {}
        }
        let candidate = &mut self.candidates[i];
        if candidate.lives != lives {
            return;
        }
        if self.now < candidate.stopped_until {
            let until = candidate.stopped_until;
            return self.at(until, i, event);
        }
        let local = self.now + candidate.clock_offset;
        let jitter = self.dice.below(1000) as f64 / 1000.0;
        match event {
            Event::Wake(wake) if wake != candidate.wakes => return,
            Event::Answer(id, reply) => match candidate.waiting {
                Some((waiting, sent_at)) if waiting == id => {
                    candidate.waiting = None;
                    candidate.machine.heard(reply, sent_at, local, jitter);
                }
                _ => return,
            },
            Event::Told(lease) => {
                if let Machine::Ours(election) = &mut candidate.machine {
                    election.heard(Heard::Told(lease), local, jitter);
                }
            }
            Event::Wake(_) | Event::Arrive(..) | Event::Fault => {}
        }
        self.go_on(i);
    }

    /// Asks a candidate what it wants and sends it on its way.
    fn go_on(&mut self, i: usize) {
        let candidate = &mut self.candidates[i];
        if candidate.waiting.is_some() {
            return;
        }
        let local = self.now + candidate.clock_offset;
        let wall = Timestamp::UNIX_EPOCH.saturating_add(self.now + candidate.wall_offset);
        let command = match &candidate.machine {
            Machine::Ours(election) => election.next(local, wall),
            Machine::Go(go) => go.next(local, wall),
        };
        if let Command::WaitUntil(at) = command {
            candidate.wakes += 1;
            let (wake, at) = (candidate.wakes, at.saturating_sub(candidate.clock_offset));
            return self.at(at.max(self.now), i, Event::Wake(wake));
        }
        let patience = match candidate.breed {
            Breed::Ours => RENEW / 2,
            Breed::Go => LEASE - RENEW - RETRY - Duration::from_millis(1),
        };
        self.sequence += 1;
        let id = self.sequence;
        self.candidates[i].waiting = Some((id, local));
        self.send(i, id, command);
        self.at(self.now + patience, i, Event::Answer(id, None));
    }

    fn send(&mut self, i: usize, id: u64, command: Command) {
        if let Some(delay) = self.travel(i) {
            let faulty = self.now < self.calm_at;
            self.at(self.now + delay, i, Event::Arrive(id, command, faulty));
        }
    }

    fn arrive(&mut self, i: usize, lives: u32, id: u64, command: &Command) {
        let reply = self.server.serve(command);
        if let Reply::Wrote(lease) = &reply {
            for other in 0..self.candidates.len() {
                if let Some(delay) = self.travel(other) {
                    self.at(self.now + delay, other, Event::Told(lease.clone()));
                }
            }
        }
        if self.candidates[i].lives == lives
            && let Some(delay) = self.travel(i)
        {
            self.at(self.now + delay, i, Event::Answer(id, Some(reply)));
        }
    }

    /// How long a message takes; `None` if it never arrives.
    fn travel(&mut self, i: usize) -> Option<Duration> {
        let calm = self.now >= self.calm_at;
        if calm || !self.dice.chance(self.candidates[i].weather) {
            return Some(self.dice.ms(50));
        }
        match self.dice.below(3) {
            0 => None,
            1 => Some(self.dice.ms(30_000)),
            _ => Some(self.dice.ms(3_000)),
        }
    }

    /// Changes a candidate's weather; stops, kills or retires it; and plans the next time.
    fn fault(&mut self, i: usize) {
        // Fair weather is the rule: what goes wrong must find everything else in order.
        self.candidates[i].weather = [0, 0, 0, 20, 60, 100][self.dice.below(6) as usize];
        let again = self.now + self.dice.ms(20_000);
        if again < self.calm_at {
            self.at(again, i, Event::Fault);
        }
        let back_at = (self.now + self.dice.ms(40_000)).min(self.calm_at);
        let can_stop = self.candidates[i].breed == Breed::Ours;
        if self.dice.chance(50) && can_stop {
            let until = &mut self.candidates[i].stopped_until;
            *until = back_at.max(*until);
        } else if self.dice.chance(60) {
            if self.dice.chance(50) {
                self.retire(i);
            }
            let candidate = &mut self.candidates[i];
            candidate.lives += 1;
            candidate.machine = machine(candidate.breed, i, candidate.lives);
            candidate.waiting = None;
            candidate.stopped_until = back_at;
            let wake = candidate.wakes;
            self.at(back_at, i, Event::Wake(wake));
        }
    }

    /// A clean stop gives the Lease up; that request too may be late or lost.
    fn retire(&mut self, i: usize) {
        let wall = Timestamp::UNIX_EPOCH.saturating_add(self.now);
        let candidate = &mut self.candidates[i];
        let Machine::Ours(election) = &mut candidate.machine else {
            return;
        };
        if self.now >= candidate.stopped_until
            && let Some(command) = election.release(wall)
        {
            self.send(i, 0, command);
        }
    }
}

impl Machine {
    fn heard(&mut self, reply: Option<Reply>, sent_at: Duration, now: Duration, jitter: f64) {
        match self {
            Machine::Go(go) => go.heard(reply, now, jitter),
            Machine::Ours(election) => {
                let heard = match reply {
                    Some(Reply::Is(lease)) => Heard::Lease(lease),
                    Some(Reply::Absent) => Heard::Absent,
                    Some(Reply::Wrote(lease)) => Heard::Written(lease, sent_at),
                    Some(Reply::Refused) | None => Heard::Failed,
                };
                election.heard(heard, now, jitter);
            }
        }
    }
}
