//! How far the actions of one stage have come, at their pace.

use std::ops::Range;

use crate::{Actions, Answer, Pace};

/// The progress of one stage: which actions are to be sent now, and what became of the others.
///
/// Whoever carries them out sends all of [`Progress::batch`] at once, tells each answer, and asks
/// again until there is no batch any more.
#[derive(Debug)]
pub struct Progress {
    pace: Pace,
    answers: Vec<Answer>,
    batch: Range<usize>,
    unanswered: usize,
}

impl Progress {
    /// Nothing has been sent yet.
    pub fn new(actions: &Actions) -> Self {
        let count = actions.items.len();
        let first = match actions.pace {
            Pace::Together => count,
            Pace::InOrder | Pace::SlowStart => count.min(1),
        };
        Self {
            pace: actions.pace,
            answers: vec![Answer::Skipped; count],
            batch: 0..first,
            unanswered: first,
        }
    }

    /// The actions under way, by their place in the stage; `None` when nothing more is to be sent.
    pub fn batch(&self) -> Option<Range<usize>> {
        (!self.batch.is_empty()).then(|| self.batch.clone())
    }

    /// Takes the answer to one action of the batch. The last of them brings the next batch, unless
    /// a failure ends the stage here.
    pub fn answered(&mut self, at: usize, answer: Answer) {
        if !self.batch.contains(&at) {
            return;
        }
        self.answers[at] = answer;
        self.unanswered -= 1;
        if self.unanswered > 0 {
            return;
        }
        let Range { start, end } = self.batch;
        let mut done = self.answers[start..end].iter();
        let ends_here = self.pace != Pace::Together && done.any(|answer| answer.error().is_some());
        let size = match self.pace {
            _ if ends_here => 0,
            Pace::SlowStart => (end - start).saturating_mul(2),
            Pace::InOrder | Pace::Together => end - start,
        };
        self.batch = end..end.saturating_add(size).min(self.answers.len());
        self.unanswered = self.batch.len();
    }

    /// One answer for each action; those that were never sent were skipped.
    pub fn into_answers(self) -> Vec<Answer> {
        self.answers
    }
}

#[cfg(test)]
mod tests {
    use flyball_api::ApiError;

    use super::*;
    use crate::{Action, Record, RecordKind, Written};

    /// The sizes of the batches of ten actions, of which one fails.
    fn batches(pace: Pace, fails: Option<usize>) -> Vec<usize> {
        let record = Action::Record(Record {
            about: Default::default(),
            kind: RecordKind::Normal,
            reason: "",
            message: String::new(),
        });
        let actions = Actions {
            stage: "some",
            index: 0,
            items: vec![record; 10],
            pace,
        };
        let mut progress = Progress::new(&actions);
        let mut sizes = Vec::new();
        while let Some(batch) = progress.batch() {
            sizes.push(batch.len());
            for at in batch {
                let answer = match fails == Some(at) {
                    true => Answer::Failed(ApiError::transport("lost")),
                    false => Answer::Done(Written::default()),
                };
                progress.answered(at, answer);
            }
        }
        assert_eq!(progress.into_answers().len(), 10);
        sizes
    }

    #[test]
    fn each_pace_has_its_batches_and_its_way_to_take_a_failure() {
        let cases: [(Pace, Option<usize>, &[usize]); 6] = [
            (Pace::Together, None, &[10]),
            (Pace::Together, Some(3), &[10]),
            (Pace::InOrder, None, &[1; 10]),
            (Pace::InOrder, Some(3), &[1; 4]),
            (Pace::SlowStart, None, &[1, 2, 4, 3]),
            (Pace::SlowStart, Some(2), &[1, 2]),
        ];
        for (pace, fails, sizes) in cases {
            assert_eq!(batches(pace, fails), sizes, "{pace:?} {fails:?}");
        }
    }

    #[test]
    fn answers_may_come_in_any_order_and_strays_change_nothing() {
        let mut progress = Progress {
            pace: Pace::Together,
            answers: vec![Answer::Skipped; 2],
            batch: 0..2,
            unanswered: 2,
        };
        progress.answered(7, Answer::Done(Written::default()));
        progress.answered(1, Answer::Done(Written::default()));
        assert_eq!(progress.batch(), Some(0..2));
        progress.answered(0, Answer::Done(Written::default()));
        assert_eq!(progress.batch(), None);
    }
}
