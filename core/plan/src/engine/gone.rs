//! Incarnations that are known to be gone.
//!
//! An identity never comes back: that an object of this name and UID does not exist stays true once
//! it was said. Twenty thousand dependents of one absent owner need not ask for it one by one. Only
//! so many are remembered; what was forgotten is asked for again.

use std::collections::{HashSet, VecDeque};

use flyball_api::{ApiError, Opaque, Uid};
use serde::Deserialize;

use crate::{Action, Answer, Question, Target};

/// How many are remembered; those known longest are forgotten first.
const REMEMBERED_MAX: usize = 2_000;

type Incarnation = (Target, Uid);

/// What is remembered of the answers to [`Question::Exists`].
#[derive(Default)]
pub(super) struct Gone {
    known: HashSet<Incarnation>,
    order: VecDeque<Incarnation>,
}

impl Gone {
    /// Remembers that an incarnation is no more.
    pub(super) fn note(&mut self, target: Target, uid: Uid) {
        let gone = (target, uid);
        if !self.known.insert(gone.clone()) {
            return;
        }
        self.order.push_back(gone);
        if self.order.len() > REMEMBERED_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    /// Learns from what became of an action.
    pub(super) fn learn(&mut self, action: &Action, answer: &Answer) {
        let Some(Question::Exists { target, uid }) = question(action) else {
            return;
        };
        let gone = match answer {
            Answer::Failed(error) => error.is_object_not_found(),
            Answer::Read(found) => uid_of(found).is_some_and(|found| found != *uid),
            _ => false,
        };
        if gone {
            self.note(target.clone(), uid.clone());
        }
    }

    /// The answer to an action, if it is known without asking.
    pub(super) fn answer(&self, action: &Action) -> Option<Answer> {
        let Some(Question::Exists { target, uid }) = question(action) else {
            return None;
        };
        if self.known.is_empty() || !self.known.contains(&(target.clone(), uid.clone())) {
            return None;
        }
        let error = ApiError::not_found(target.kind, &target.name.name);
        Some(Answer::Failed(error))
    }
}

fn question(action: &Action) -> Option<&Question> {
    action.read().map(|read| &read.question)
}

/// The identity that an object claims.
fn uid_of(object: &Opaque) -> Option<Uid> {
    #[derive(Deserialize)]
    struct Head {
        metadata: HeadMeta,
    }
    #[derive(Deserialize)]
    struct HeadMeta {
        uid: Uid,
    }
    let head: Head = serde_json::from_str(object.json()).ok()?;
    Some(head.metadata.uid)
}

#[cfg(test)]
mod tests {
    use flyball_api::ObjectName;
    use flyball_api::views::Pod;

    use super::*;
    use crate::Read;

    fn confirm(name: &str, uid: &str) -> Action {
        let target = Target {
            kind: Pod::KIND,
            name: ObjectName::new("n", name),
        };
        Read::exists(target, uid.into()).into()
    }

    fn found(uid: &str) -> Answer {
        let json = format!(r#"{{"metadata":{{"uid":"{uid}"}}}}"#);
        Answer::Read(Opaque::new(&json).unwrap())
    }

    fn not_found() -> Answer {
        Answer::Failed(ApiError::not_found(Pod::KIND, "a"))
    }

    #[test]
    fn only_what_can_never_come_back_is_remembered() {
        let unreadable = Answer::Read(Opaque::new("{}").unwrap());
        let no_such_page = Answer::Failed(ApiError::from_response(404, None, b""));
        let busy = Answer::Failed(ApiError::timeout("busy"));
        for (answer, remembered) in [
            (not_found(), true),
            (found("2"), true),
            (found("1"), false),
            (unreadable, false),
            (busy, false),
            (no_such_page, false),
            (Answer::Skipped, false),
        ] {
            let mut gone = Gone::default();
            gone.learn(&confirm("a", "1"), &answer);
            let known = gone.answer(&confirm("a", "1"));
            assert_eq!(known.is_some(), remembered, "{answer:?}");
            assert!(gone.answer(&confirm("a", "2")).is_none());
            assert!(gone.answer(&confirm("b", "1")).is_none());
        }
    }

    #[test]
    fn no_more_is_remembered_than_fits() {
        let mut gone = Gone::default();
        for i in 0..=REMEMBERED_MAX {
            gone.learn(&confirm("a", &i.to_string()), &not_found());
        }
        assert!(gone.answer(&confirm("a", "0")).is_none());
        assert!(gone.answer(&confirm("a", "1")).is_some());
        assert_eq!(gone.known.len(), gone.order.len());
    }
}
