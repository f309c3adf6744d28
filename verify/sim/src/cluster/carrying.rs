//! Carries out what a process decides, one step at a time; it decides nothing itself.

use std::time::Duration;

use flyball_api::ApiError;
use flyball_api::request::Request;
use flyball_informer::{Command, Input};
use flyball_plan::Answer;
use flyball_process::{CacheId, Effect, Moment, News, Phase, Process, Question};

use super::Cluster;
use super::flights::Purpose;
use crate::bugs::Bugs;
use crate::replica::SHUTDOWN_TIMEOUT;
use crate::server::{Asked, Got};
use crate::step::{Deed, Life, Step};

/// How often a stop is looked at.
pub(super) const STOP_LOOK: Duration = Duration::from_millis(50);

impl Cluster {
    /// Lets a process decide something, and carries out what follows from it.
    pub(super) fn decide<T>(
        &mut self,
        life: Life,
        decide: impl FnOnce(&mut Process<Bugs>, &mut Moment<'_>) -> T,
    ) -> Option<T> {
        let now = self.clocks(life);
        let jitters = &mut self.jitters[life.replica];
        let replica = self.replicas.get_mut(life.replica)?;
        let running = replica.running.as_mut();
        let running = running.filter(|running| running.number == life.number)?;
        let mut chance = || jitters.f64();
        let mut moment = Moment {
            now,
            chance: &mut chance,
        };
        let decided = decide(&mut running.core, &mut moment);
        let has_effects = running.core.has_effects();
        if has_effects {
            self.carry_out(life);
        }
        self.look_at_notes(life);
        Some(decided)
    }

    fn carry_out(&mut self, life: Life) {
        let Some(running) = self.running(life) else {
            return;
        };
        for effect in running.core.take_effects() {
            match effect {
                Effect::Carry(id, command) => self.carry(life, id, Some(command)),
                Effect::Drop(id) => {
                    if let Some(running) = self.running(life) {
                        running.feeds.remove(&id);
                    }
                }
                Effect::Wake(at) => self.wake(life, at),
                Effect::Term => self.cut_writes(life),
                Effect::Elect => self.plan_election(life, self.now),
                Effect::Discover => self.plan_look(life),
                Effect::Tell(news) => self.hear_news(life, &news),
            }
        }
    }

    /// Drops what was asked for a cache, and asks for something else.
    pub(super) fn carry(&mut self, life: Life, id: CacheId, command: Option<Command>) {
        let now = self.now;
        let Some(running) = self.running(life) else {
            return;
        };
        let Some((kind, is_partial)) = running.core.cache_kind(id) else {
            return;
        };
        let (started, deadline) = (running.started, running.core.deadline(id));
        let feed = running.feeds.entry(id).or_default();
        let request = || Request::get(kind.collection_path(""));
        feed.asked += u64::from(command.is_some());
        let asked = match command {
            Some(Command::List(list)) if is_partial => {
                Some((request().metadata_list(), list.query()))
            }
            Some(Command::List(list)) => Some((request(), list.query())),
            Some(Command::Watch(watch)) if is_partial => {
                Some((request().metadata_only(), watch.query()))
            }
            Some(Command::Watch(watch)) => Some((request(), watch.query())),
            Some(Command::Wait(_)) | None => None,
        };
        let number = feed.asked;
        // The deadline is looked at when it comes; if it has moved on by then, once more.
        if let Some(deadline) = deadline {
            let due = (started + deadline).max(now);
            if feed.elapse_at.is_none_or(|planned| due < planned) {
                feed.elapse_at = Some(due);
                self.agenda.add(due, Step::Elapse(life, id));
            }
        }
        if let Some((request, query)) = asked {
            let asked = Asked::from(request).with_query(query);
            let user = self.replicas[life.replica].user.clone();
            let purpose = Purpose::Feed { id, asked: number };
            self.send(life, purpose, asked, user, "informers");
        }
    }

    /// Gives an informer one input; what it learned is published a moment later.
    pub(super) fn feed(&mut self, life: Life, id: CacheId, input: Input<'_>) {
        let Some(fed) = self.decide(life, |core, moment| core.feed(id, input, moment)) else {
            return;
        };
        if let Some(notice) = fed.notice {
            let name = &self.replicas[life.replica].name;
            self.trace.tell(self.now, || format!("{name}: {notice}"));
        }
        self.carry(life, id, fed.command);
        self.plan_publication(life, id);
    }

    fn plan_publication(&mut self, life: Life, id: CacheId) {
        let delay = self.delay(life.replica, 2);
        let now = self.now;
        let Some(feed) = self.running(life).and_then(|one| one.feeds.get_mut(&id)) else {
            return;
        };
        if !std::mem::replace(&mut feed.will_publish, true) {
            self.agenda.add(now + delay, Step::Publish(life, id));
        }
    }

    /// Publishes what a cache has read, and routes it.
    pub(super) fn publish(&mut self, life: Life, id: CacheId) {
        if let Some(feed) = self.running(life).and_then(|one| one.feeds.get_mut(&id)) {
            feed.will_publish = false;
        }
        self.decide(life, |core, moment| core.publish(id, moment));
        let Some(running) = self.running(life) else {
            return;
        };
        let kind = running.core.cache_kind(id).map(|(kind, _)| kind);
        let view = kind.and_then(|kind| running.core.snapshot().view_of(kind));
        if let Some(view) = view.filter(|view| view.is_complete()) {
            // In whatever version: what was shown once is known.
            let old = running.shown.cached_as(view.kind()).map(|old| old.kind());
            running.shown = match old.filter(|old| *old != view.kind()) {
                Some(old) => running.shown.replacing(old, view.clone()),
                None => running.shown.with(view.clone()),
            };
        }
    }

    /// The permission to write may have ended: what is under way is given up, and its answer lost.
    /// What the server has already cannot be recalled.
    fn cut_writes(&mut self, life: Life) {
        let monotonic = self.clocks(life).monotonic;
        let Some(running) = self.running(life) else {
            return;
        };
        let (core, mut cut) = (&running.core, Vec::new());
        for (at, each) in running.loops.iter().enumerate() {
            let of_it = each.syncs.iter();
            let ended = of_it.filter(|(_, one)| !core.may_send(one.round, monotonic));
            cut.extend(ended.map(|(id, _)| (at, *id)));
        }
        let is_cut = |purpose: &Purpose| match purpose {
            Purpose::Action {
                controller, sync, ..
            } => cut.contains(&(*controller, *sync)),
            _ => false,
        };
        for flight in self.flights.values_mut() {
            if flight.life == life && flight.asked.is_write() && is_cut(&flight.purpose) {
                flight.is_given_up = true;
            }
        }
        let mut given_up = Vec::new();
        for (number, flight) in &self.flights {
            if flight.life == life && flight.is_given_up && !flight.is_told {
                given_up.push(*number);
            }
        }
        for number in given_up {
            self.tell_given_up(number);
        }
    }

    fn hear_news(&mut self, life: Life, news: &News) {
        let name = self.replicas[life.replica].name.clone();
        self.trace.tell(self.now, || match news {
            News::BecameLeader => format!("{name} became leader"),
            News::LostLease => format!("{name} lost the lease"),
            other => format!("{name}: {other:?}"),
        });
        match news {
            News::BecameLeader => self.tally.terms += 1,
            News::HistoryChanged(_) => self.tally.histories += 1,
            News::SteppedDown(_) => self.tally.stepped_down += 1,
            _ => {}
        }
    }

    /// What the seams around the controllers found.
    fn look_at_notes(&mut self, life: Life) {
        let Some(running) = self.running(life) else {
            return;
        };
        let Ok(mut notes) = running.notes.lock() else {
            return;
        };
        let finding = notes.findings.pop();
        drop(notes);
        if let Some((rule, what)) = finding {
            self.violate(rule, what);
        }
    }

    /// Asks a replica to stop in order; it comes back later.
    pub(super) fn stop_cleanly(&mut self, replica: usize) {
        let Some(life) = self.life(replica) else {
            return;
        };
        let now = self.now;
        match self.running(life) {
            // Asked once more, it goes on with the stop that is under way.
            Some(running) if running.is_stopping => return,
            Some(running) => {
                running.is_stopping = true;
                running.stops_since = now;
            }
            None => return,
        }
        for flight in self
            .flights
            .values_mut()
            .filter(|flight| flight.life == life)
        {
            // What was given up before, for another reason, is not waited for.
            flight.is_stopping = !flight.is_given_up;
        }
        let monotonic = self.clocks(life).monotonic;
        self.decide(life, |core, _| core.stop(monotonic));
        self.agenda.add(self.now, Step::Stop(life));
    }

    /// Moves a stop on.
    pub(super) fn stop(&mut self, life: Life) {
        let (now, clocks) = (self.now, self.clocks(life));
        let Some(running) = self.running(life) else {
            return;
        };
        let (loops, began) = (running.loops.len(), running.stops_since);
        let Some(phase) = self.decide(life, |core, moment| core.stop_phase(moment)) else {
            return;
        };
        let runs = self
            .running(life)
            .map_or(0, |one| one.core.syncs_running(clocks));
        match phase.map(|(phase, _)| phase) {
            Some(Phase::Events) => {
                let is_late = now >= began + SHUTDOWN_TIMEOUT;
                if runs > 0 && !is_late {
                    let what = format!("{runs} syncs run while events are sent");
                    return self.violate("a stop waits for what runs", what);
                }
                for at in 0..loops {
                    if let Some(running) = self.running(life) {
                        running.loops[at].teller.hurry();
                    }
                    self.plan_telling(life, at, now);
                }
                let Some(running) = self.running(life) else {
                    return;
                };
                if running.loops.iter().all(|each| each.teller.is_idle()) {
                    running.core.events_sent();
                }
            }
            Some(Phase::Stopped) | None => {
                let name = &self.replicas[life.replica].name;
                self.trace
                    .tell(now, || format!("{name} has stopped, {runs} syncs cut off"));
                self.replicas[life.replica].running = None;
                self.lines.retain(|_, line| line.life != life);
                return;
            }
            Some(Phase::Draining | Phase::Releasing) => {}
        }
        self.agenda.add(now + STOP_LOOK, Step::Stop(life));
    }

    /// The answer to a write that was given up.
    fn tell_given_up(&mut self, number: u64) {
        let Some(flight) = self.flights.get_mut(&number) else {
            return;
        };
        flight.is_told = true;
        let Some(deed) = flight.deed() else {
            return;
        };
        let error = ApiError::transport("given up: this process may no longer write");
        self.action_answered(deed, Got::Failed(error));
    }

    /// Routes everything once more when that is due.
    pub(super) fn resync(&mut self, life: Life) {
        let monotonic = self.clocks(life).monotonic;
        self.decide(life, |core, moment| core.resync_if_due(moment));
        let Some(running) = self.running(life) else {
            return;
        };
        let due = running.started + running.core.resync_due(monotonic);
        self.agenda.add(due, Step::Resync(life));
    }

    /// What became of an action that others may wait for; what the sync hears of it.
    pub(super) fn read_answered(
        &mut self,
        life: Life,
        at: usize,
        answer: Answer,
        question: Question,
    ) -> Option<Answer> {
        let monotonic = self.clocks(life).monotonic;
        let heard = self.decide(life, |core, _| {
            core.read_answered(at, question, answer, monotonic)
        });
        let running = self.running(life)?;
        let mut waiting = std::mem::take(&mut running.waiting);
        let is_woken = |asked: &Question, deed: &Deed| *asked == question && deed.controller == at;
        let woken: Vec<_> = waiting
            .extract_if(.., |(asked, deed)| is_woken(asked, deed))
            .collect();
        running.waiting = waiting;
        for (_, deed) in woken {
            self.agenda.add(self.now, Step::Send(deed));
        }
        heard
    }
}
