//! Outages of the server: it dies, and comes back as it was or with an older state.

use std::time::Duration;

use super::Cluster;
use crate::invariants::Happened;
use crate::step::Step;
use crate::truth::Truth;

impl Cluster {
    /// The server is killed: every connection breaks, and none can be opened for a while.
    pub(super) fn bring_down(&mut self, lasts: Duration) {
        self.effects.down_until = self.effects.down_until.max(self.now + lasts);
        self.lose_answers();
        let all: Vec<u64> = self.lines.keys().copied().collect();
        for number in all {
            self.drop_line(number);
        }
    }

    /// Users do again what was lost, in the same order.
    pub(super) fn redo_edits(&mut self, since: Duration, back: Duration) {
        let lost = self.edited.iter().filter(|(time, _)| *time >= since);
        let mut lost: Vec<usize> = lost.map(|(_, at)| *at).collect();
        lost.dedup();
        let mut again = back;
        for at in lost {
            again += Duration::from_millis(10);
            self.agenda.add(again, Step::Redo(at));
        }
        self.effects.redo_until = again + Duration::from_millis(10);
    }

    /// Copies what is stored, for a fault that will restore it.
    pub(super) fn back_up(&mut self, at: usize) {
        let backup = self.server.back_up();
        self.effects.backups.insert(at, backup);
        self.check(&Happened::BackedUp(at));
    }

    /// The server comes back with what was stored when the copy was made.
    pub(super) fn restore(&mut self, at: usize) {
        let Some(backup) = self.effects.backups.remove(&at) else {
            return;
        };
        self.truth = Truth::of(&backup);
        self.server.restore(backup, self.plan.events_max);
        self.tally.restores += 1;
        self.check(&Happened::Restored(at));
    }
}
