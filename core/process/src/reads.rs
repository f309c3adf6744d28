//! Reads that several syncs of a controller ask for at about the same time: one request serves all.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use flyball_api::discovery::Discovery;
use flyball_api::{ApiError, Kind};
use flyball_plan::{Action, Answer, Listing, Question as Asked, Want};

use crate::controllers::ControllerId;
use crate::flaws::Flaws;
use crate::process::Process;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Which resources the server has.
    Discovery,
    /// All objects of a kind.
    List(Kind),
}

impl Question {
    /// What an action asks, if one request serves all syncs that ask it.
    pub fn of(action: &Action) -> Option<Self> {
        let read = action.read()?;
        match &read.question {
            Asked::Discovery => Some(Self::Discovery),
            Asked::List {
                kind,
                namespace,
                want: Want::Metadata,
                ..
            } if !read.age_max.is_zero() && namespace.is_empty() => Some(Self::List(*kind)),
            _ => None,
        }
    }
}

/// What a sync that asks is to do.
#[derive(Clone, Debug)]
pub enum Reading {
    /// The answer is known.
    Known(Answer),
    /// Ask the server, and pass the answer to [`Process::read_answered`].
    Ask(Question),
    /// Another sync is asking. Look again when it was answered.
    Wait(Question),
}

/// The answers of one controller's reads.
#[derive(Default)]
pub(crate) struct Reads {
    known: BTreeMap<Question, Known>,
    asking: BTreeMap<Question, Duration>,
}

struct Known {
    asked: Duration,
    answered: Duration,
    what: Result<Found, ApiError>,
}

#[derive(Clone)]
enum Found {
    Discovery(Arc<Discovery>),
    List(Arc<Listing>),
}

impl Known {
    /// The answer, if it is no older than `age_max`. A failure says nothing that could be out of
    /// date: it counts from its end, so that syncs that waited for it do not wait once more.
    fn within(&self, age_max: Duration, now: Duration) -> Option<Answer> {
        let from = match &self.what {
            Ok(_) => self.asked,
            Err(_) => self.answered,
        };
        (now.saturating_sub(from) <= age_max).then(|| match &self.what {
            Ok(Found::Discovery(found)) => Answer::Discovered(found.clone()),
            Ok(Found::List(listing)) => Answer::Listed(listing.clone()),
            Err(error) => Answer::Failed(error.clone()),
        })
    }
}

impl Reads {
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }
}

impl<F: Flaws> Process<F> {
    /// How an action is answered that others may have asked for too; `None` for all other actions.
    pub fn read(&mut self, at: ControllerId, action: &Action, now: Duration) -> Option<Reading> {
        let question = Question::of(action)?;
        let age_max = action.read()?.age_max;
        let reads = &mut self.controllers.get_mut(at)?.reads;
        let known = reads.known.get(&question);
        if let Some(answer) = known.and_then(|known| known.within(age_max, now)) {
            return Some(Reading::Known(answer));
        }
        if reads.asking.contains_key(&question) {
            return Some(Reading::Wait(question));
        }
        reads.asking.insert(question, now);
        Some(Reading::Ask(question))
    }

    /// Takes the answer to a read, and gives back what the sync hears of it. Those who wait look
    /// again. A discovery that lacks resources which are there is completed.
    pub fn read_answered(
        &mut self,
        at: ControllerId,
        question: Question,
        answer: Answer,
        now: Duration,
    ) -> Answer {
        let answer = match answer {
            Answer::Discovered(found) => Answer::Discovered(self.completed(&found, now)),
            answer => answer,
        };
        let Some(slot) = self.controllers.get_mut(at) else {
            return answer;
        };
        let asked = slot.reads.asking.remove(&question).unwrap_or(now);
        let what = match &answer {
            Answer::Discovered(found) => Ok(Found::Discovery(found.clone())),
            Answer::Listed(listing) => Ok(Found::List(listing.clone())),
            Answer::Failed(error) => Err(error.clone()),
            Answer::Done(_) | Answer::Read(_) | Answer::Skipped => return answer,
        };
        let answered = now;
        let known = Known {
            asked,
            answered,
            what,
        };
        slot.reads.known.insert(question, known);
        answer
    }
}
