//! Leaves out of the requests before a difference what is not needed for it.
//!
//! A sequence is sent again in a namespace of its own, with one request less each time. What the requests refer to is
//! put into the words of the new answers as it is for the other server: a replay is one more server that says the same
//! differently.

use anyhow::Result;
use serde_json::Value;

use super::Run;
use super::answer::{Answer, Content};
use super::compare::compare;
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
    pub(super) last: &'a Request,
    /// What is left outside of the namespace.
    pub(super) leftovers: &'a [String],
}

impl Run<'_> {
    /// The requests before the last without which there would be no difference.
    pub(super) async fn shrink(&mut self, trail: &Trail<'_>) -> Result<Vec<Request>> {
        let mut kept: Vec<&Asked> = trail.before.iter().collect();
        for at in (1..trail.before.len()).rev() {
            let mut fewer = kept.clone();
            fewer.remove(at);
            if self.differs_after(trail, &fewer, at).await? {
                kept = fewer;
            }
        }
        let needed = kept.into_iter().skip(1);
        Ok(needed.map(|asked| asked.request.clone()).collect())
    }

    /// Whether the last request is answered differently after these, and none of these is.
    async fn differs_after(
        &mut self,
        trail: &Trail<'_>,
        before: &[&Asked],
        number: usize,
    ) -> Result<bool> {
        let renamed = format!("{}r{number}", trail.namespace);
        let rename = |text: &str| text.replace(trail.namespace, &renamed);
        let mut words = Links::default();
        let mut agrees = true;
        for asked in before {
            let request = asked.request.with_each(rename).translated(&words);
            let (answer, is_same) = self.retry(&request).await?;
            compare(&mut words, &told_as(&asked.answer, rename), &answer);
            agrees &= is_same;
        }
        let last = trail.last.with_each(rename).translated(&words);
        let differs = agrees && !self.retry(&last).await?.1;
        let leftovers: Vec<String> = trail.leftovers.iter().map(|path| rename(path)).collect();
        self.clean(&leftovers).await?;
        Ok(differs)
    }

    /// Upstream's answer, and whether ours is the same but for what is explained.
    async fn retry(&mut self, request: &Request) -> Result<(Answer, bool)> {
        let (theirs, ours) = self.both(request).await?;
        let mut differences = compare(&mut self.links, &theirs, &ours);
        self.explanations.sift(request, &mut differences);
        Ok((theirs, differences.is_empty()))
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
