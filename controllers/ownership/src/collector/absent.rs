//! Owners that are known to be absent.
//!
//! An identity never comes back within one history of the server: that no object of this name and UID
//! exists stays true once the server said so. Twenty thousand dependents of one absent owner need not
//! ask for it one by one. This is the collector's memory: it saves questions, and what was forgotten
//! is asked for again. Upstream: `absentOwnerCache` in `garbagecollector/uid_cache.go`.

use std::collections::{HashSet, VecDeque};

use flyball_api::Uid;
use flyball_informer::Change;
use flyball_plan::{Answers, Question, Target};

use super::owners::Verdict;

/// How many are remembered; those known longest are forgotten first.
const REMEMBERED_MAX: usize = 2_000;

type Incarnation = (Target, Uid);

/// Objects that do not exist and never will again.
#[derive(Debug, Default)]
pub struct AbsentOwners {
    known: HashSet<Incarnation>,
    order: VecDeque<Incarnation>,
}

impl AbsentOwners {
    /// Whether an object of this identity is known to be absent.
    pub(super) fn has(&self, target: &Target, uid: &Uid) -> bool {
        !self.known.is_empty() && self.known.contains(&(target.clone(), uid.clone()))
    }

    /// Remembers what a watch has shown to be deleted. That it was missing from a list is not enough.
    pub(super) fn learn_change(&mut self, change: &Change) {
        let stays = |uid| change.after().is_some_and(|new| new.uid == uid);
        if let Some(old) = change.before().filter(|old| !stays(old.uid))
            && !change.tombstone
        {
            let (kind, name) = (change.kind, change.name.clone());
            self.note(Target { kind, name }, old.uid.clone());
        }
    }

    /// Remembers what the server has said not to exist.
    pub(super) fn learn_answers(&mut self, answers: &Answers) {
        for (action, answer) in answers.all() {
            if let Some(read) = action.read()
                && let Question::Exists { target, uid } = &read.question
                && Verdict::of(uid, answer) == Verdict::Gone
            {
                self.note(target.clone(), uid.clone());
            }
        }
    }

    fn note(&mut self, target: Target, uid: Uid) {
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
}

#[cfg(test)]
mod tests {
    use flyball_api::views::Pod;
    use flyball_api::{ApiError, ObjectName, Opaque};
    use flyball_plan::{Actions, Answer, Read};

    use super::*;

    fn target(name: &str) -> Target {
        let name = ObjectName::new("n", name);
        Target {
            kind: Pod::KIND,
            name,
        }
    }

    fn answered(name: &str, uid: &str, answer: Answer) -> Answers {
        let read = Read::exists(target(name), uid.into());
        let mut answers = Answers::none();
        answers.push(Actions::in_order("owner", vec![read.into()]), vec![answer]);
        answers
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
            let mut absent = AbsentOwners::default();
            absent.learn_answers(&answered("a", "1", answer.clone()));
            let known = absent.has(&target("a"), &"1".into());
            assert_eq!(known, remembered, "{answer:?}");
            assert!(!absent.has(&target("a"), &"2".into()));
            assert!(!absent.has(&target("b"), &"1".into()));
        }
    }

    #[test]
    fn no_more_is_remembered_than_fits() {
        let mut absent = AbsentOwners::default();
        for i in 0..=REMEMBERED_MAX {
            absent.learn_answers(&answered("a", &i.to_string(), not_found()));
        }
        assert!(!absent.has(&target("a"), &"0".into()));
        assert!(absent.has(&target("a"), &"1".into()));
        assert_eq!(absent.known.len(), absent.order.len());
    }
}
