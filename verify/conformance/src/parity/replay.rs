//! Sends a sequence of requests once more, in a namespace of its own.
//!
//! What the requests refer to is put into the words of the new answers as it is for the other server: a replay is one
//! more server that says the same differently.

use anyhow::Result;
use serde_json::Value;

use super::Run;
use super::answer::{Answer, Content};
use super::compare::{Difference, compare};
use super::links::Links;
use super::request::Request;

/// A request of an episode, and what upstream answered.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) request: Request,
    pub(super) answer: Answer,
}

/// What led to a difference.
pub(super) struct Trail<'a> {
    pub(super) namespace: &'a str,
    /// The first makes the namespace and stays.
    pub(super) before: &'a [Asked],
    pub(super) last: &'a Asked,
    /// What is left outside of the namespace.
    pub(super) leftovers: &'a [String],
}

/// What came of sending a sequence once more.
pub(super) struct Replayed {
    /// Whether both servers agreed about all but the last request.
    pub(super) agreed: bool,
    /// Whether upstream answered all but the last request as it did the first time.
    pub(super) repeated: bool,
    /// What differs between the servers in the last answer, without an explanation.
    pub(super) differences: Vec<Difference>,
    /// What upstream answers to the last request otherwise than the first time.
    pub(super) changes: Vec<Difference>,
}

impl Run<'_> {
    /// Sends these requests and the last of the trail again; the namespace gets this ending.
    pub(super) async fn replay(
        &mut self,
        trail: &Trail<'_>,
        before: &[&Asked],
        ending: &str,
    ) -> Result<Replayed> {
        let renamed = format!("{}{ending}", trail.namespace);
        let rename = |text: &str| text.replace(trail.namespace, &renamed);
        let mut words = Links::default();
        let (mut agreed, mut repeated) = (true, true);
        for asked in before {
            let request = asked.request.with_each(rename).translated(&words);
            let (answer, differences) = self.retry(&request).await?;
            agreed &= differences.is_empty();
            repeated &= compare(&mut words, &told_as(&asked.answer, rename), &answer).is_empty();
        }
        let last = trail.last.request.with_each(rename).translated(&words);
        let (answer, differences) = self.retry(&last).await?;
        let changes = compare(&mut words, &told_as(&trail.last.answer, rename), &answer);
        let leftovers: Vec<String> = trail.leftovers.iter().map(|path| rename(path)).collect();
        self.clean(&leftovers).await?;
        Ok(Replayed {
            agreed,
            repeated,
            differences,
            changes,
        })
    }

    /// Upstream's answer, and how ours differs without an explanation.
    async fn retry(&mut self, request: &Request) -> Result<(Answer, Vec<Difference>)> {
        let (theirs, ours) = self.both(request).await?;
        let mut differences = compare(&mut self.links, &theirs, &ours);
        self.explanations.sift(request, &mut differences);
        Ok((theirs, differences))
    }
}

/// An answer in other words.
fn told_as(answer: &Answer, words: impl Fn(&str) -> String) -> Answer {
    let retold = |value: &Value| serde_json::from_str(&words(&value.to_string()));
    let body = match &answer.body {
        Content::Document(document) => match retold(document) {
            Ok(document) => Content::Document(document),
            Err(_) => answer.body.clone(),
        },
        other => other.clone(),
    };
    Answer {
        body,
        ..answer.clone()
    }
}
