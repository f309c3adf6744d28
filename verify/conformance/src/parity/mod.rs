//! The same random requests to upstream's API server and to ours, and what differs in their answers.
//!
//! One seed decides what is sent. Requests come in episodes ([`generate`]), each in a namespace of its own; what the
//! next request refers to is taken from upstream's answers and put into the other server's words ([`links`]). A
//! difference that no explanation covers ([`explained`]) ends its episode, because nothing after it would mean
//! anything; the run goes on with the next.

mod answer;
mod chance;
mod compare;
mod explained;
mod generate;
mod kinds;
mod links;
mod request;
mod rules;
mod sides;

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::json;

use self::answer::Answer;
use self::chance::Chance;
use self::compare::{Difference, compare};
use self::explained::Explanations;
pub use self::explained::PAGE;
use self::generate::{Episode, LABEL};
use self::kinds::Kind;
use self::links::Links;
use self::request::Request;
pub use self::rules::{FOLDER as RULES_FOLDER, record_rules};
use self::sides::Sides;

/// Requests in one episode.
const EPISODE_REQUESTS: usize = 30;

/// Watches that may be under way at once; the oldest is waited for.
const WATCHES_MAX: usize = 24;

/// What to compare.
#[derive(Debug, Clone, Copy)]
pub struct ParityOptions {
    /// Decides what is sent.
    pub seed: u64,
    /// How many requests each server is sent, at least.
    pub requests: usize,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct ParityOutcome {
    /// Requests that both servers answered.
    pub requests: usize,
    /// Answers that differ without an explanation.
    pub unexplained: usize,
    /// How often each explanation was needed.
    pub explained: BTreeMap<String, usize>,
    /// How often each status code was answered by upstream.
    pub codes: BTreeMap<u16, usize>,
}

/// Sends the same requests to both servers and tells each difference as it is found.
///
/// # Errors
/// When a server does not start or does not answer.
pub async fn run_parity(
    options: ParityOptions,
    mut tell: impl FnMut(&str),
) -> Result<ParityOutcome> {
    let sides = Sides::start().await?;
    let kinds = Kind::all()?;
    let mut run = Run {
        sides: &sides,
        links: Links::default(),
        explanations: Explanations::read()?,
        outcome: ParityOutcome::default(),
        tell: &mut tell,
        watches: Vec::new(),
    };
    let mut number = 0;
    while run.outcome.requests < options.requests {
        let chance = Chance::new(options.seed, number);
        let namespace = format!("p{number}");
        run.episode(Episode::new(&kinds, &namespace, chance))
            .await?;
        number += 1;
    }
    run.finish_watches(0).await?;
    let outcome = run.outcome;
    sides.stop().await;
    Ok(outcome)
}

/// The page of explained differences as it should be.
///
/// # Errors
/// When the explanations cannot be read.
pub fn parity_page() -> Result<String> {
    Ok(Explanations::read()?.page())
}

type Watching = tokio::task::JoinHandle<Result<(Answer, Answer)>>;

struct Run<'a> {
    sides: &'a Sides,
    links: Links,
    explanations: Explanations,
    outcome: ParityOutcome,
    tell: &'a mut dyn FnMut(&str),
    watches: Vec<(Request, Request, Watching)>,
}

impl Run<'_> {
    async fn episode(&mut self, mut episode: Episode<'_>) -> Result<()> {
        let namespace = json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": episode.namespace, "labels": {LABEL: episode.namespace}},
        });
        let create = Request::new("POST", "/api/v1/namespaces").with_json(&namespace);
        self.links.forget_given_out();
        let (began, _) = self.ask(&create).await?;
        let since = began.document()["metadata"]["resourceVersion"].clone();
        let mut before: Vec<String> = Vec::new();
        let mut agreed = true;
        for _ in 0..EPISODE_REQUESTS {
            let step = episode.next();
            let (answer, same) = self.ask(&step.request).await?;
            if let Some(report) = same {
                let history = before.join("\n");
                (self.tell)(&format!(
                    "{report}\n-- before, in this namespace:\n{history}"
                ));
                agreed = false;
                break;
            }
            before.push(format!("   {} {}", answer.code, step.request.line()));
            episode.learn(&step, &answer);
        }
        if agreed {
            for watch in episode.watches(since.as_str().unwrap_or("0")) {
                self.start_watch(watch);
            }
            self.finish_watches(WATCHES_MAX).await?;
        }
        self.clean(&episode).await
    }

    /// Asks both servers; a report if they differ without an explanation.
    async fn ask(&mut self, request: &Request) -> Result<(Answer, Option<String>)> {
        let translated = request.translated(&self.links);
        let (theirs, ours) = tokio::try_join!(
            self.sides.theirs.ask(request),
            self.sides.ours.ask(&translated)
        )?;
        let report = self.judge(request, &theirs, &ours);
        Ok((theirs, report))
    }

    fn judge(&mut self, request: &Request, theirs: &Answer, ours: &Answer) -> Option<String> {
        self.outcome.requests += 1;
        *self.outcome.codes.entry(theirs.code).or_default() += 1;
        let mut differences = compare(&mut self.links, theirs, ours);
        for title in self.explanations.sift(request, &mut differences) {
            *self.outcome.explained.entry(title).or_default() += 1;
        }
        if differences.is_empty() {
            return None;
        }
        self.outcome.unexplained += 1;
        Some(report(request, theirs, ours, &differences))
    }

    /// Watches run beside the next episodes: a server ends one only after its time.
    fn start_watch(&mut self, request: Request) {
        let translated = request.translated(&self.links);
        let (theirs, ours) = (self.sides.theirs.clone(), self.sides.ours.clone());
        let (left, right) = (request.clone(), translated.clone());
        let watching =
            tokio::spawn(async move { tokio::try_join!(theirs.ask(&left), ours.ask(&right)) });
        self.watches.push((request, translated, watching));
    }

    async fn finish_watches(&mut self, left: usize) -> Result<()> {
        while self.watches.len() > left {
            let (request, _, watching) = self.watches.remove(0);
            let (theirs, ours) = watching.await??;
            if let Some(report) = self.judge(&request, &theirs, &ours) {
                (self.tell)(&report);
            }
        }
        Ok(())
    }

    /// Removes what the episode left outside of its namespace, so that the next starts from the same state.
    async fn clean(&mut self, episode: &Episode<'_>) -> Result<()> {
        for path in episode.leftovers() {
            let free = json!({"metadata": {"finalizers": null}});
            let free = Request::new("PATCH", path.as_str())
                .with_body("application/merge-patch+json", free.to_string());
            let remove = Request::new("DELETE", path).with("gracePeriodSeconds", "0");
            for request in [free, remove] {
                let translated = request.translated(&self.links);
                self.sides.theirs.ask(&request).await?;
                self.sides.ours.ask(&translated).await?;
            }
        }
        Ok(())
    }
}

fn report(request: &Request, theirs: &Answer, ours: &Answer, all: &[Difference]) -> String {
    let mut report = format!("== {request}\n");
    for one in all.iter().take(DIFFERENCES_SHOWN) {
        report.push_str(&format!(
            "-- {}\n   upstream: {}\n   ours:     {}\n",
            one.place, one.theirs, one.ours
        ));
    }
    if all.len() > DIFFERENCES_SHOWN {
        report.push_str(&format!("-- and {} more\n", all.len() - DIFFERENCES_SHOWN));
    }
    report.push_str(&format!("-- upstream: {}\n", theirs.shown()));
    report.push_str(&format!("-- ours: {}", ours.shown()));
    report
}

/// Places of one answer that are shown.
const DIFFERENCES_SHOWN: usize = 12;
