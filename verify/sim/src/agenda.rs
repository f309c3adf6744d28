//! The agenda: what happens next, in order of virtual time.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::step::Step;

/// Steps to come. Of two at the same time the one that was planned first comes first.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    steps: BTreeMap<(Duration, u64), Step>,
    planned: u64,
}

impl Agenda {
    /// Plans a step.
    pub(crate) fn add(&mut self, at: Duration, step: Step) {
        self.planned += 1;
        self.steps.insert((at, self.planned), step);
    }

    /// Takes the next step, unless it is later than `until`.
    pub(crate) fn take(&mut self, until: Duration) -> Option<(Duration, Step)> {
        let entry = self.steps.first_entry()?;
        let (at, _) = *entry.key();
        (at <= until).then(|| (at, entry.remove()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_in_order_of_time_and_then_of_planning() {
        let mut agenda = Agenda::default();
        let at = Duration::from_secs;
        agenda.add(at(2), Step::Edit(0));
        agenda.add(at(1), Step::Edit(1));
        agenda.add(at(1), Step::Edit(2));
        let mut taken = Vec::new();
        while let Some((_, step)) = agenda.take(at(1)) {
            taken.push(step);
        }
        assert_eq!(taken, [Step::Edit(1), Step::Edit(2)]);
        assert_eq!(agenda.take(at(9)), Some((at(2), Step::Edit(0))));
    }
}
