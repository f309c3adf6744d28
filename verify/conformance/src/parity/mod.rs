//! The same random requests to upstream's API server and to ours, and what differs in their answers.
//!
//! One seed decides what is sent. Requests come in episodes ([`generate`]), each in a namespace of its own; what the
//! next request refers to is taken from upstream's answers and put into the other server's words ([`links`]). A
//! difference that no explanation covers ([`explained`]) ends its episode, because nothing after it would mean
//! anything; the run goes on with the next.

mod again;
mod answer;
mod chance;
mod compare;
mod definitions;
mod explained;
mod generate;
mod kinds;
mod links;
mod replay;
mod request;
mod rules;
mod shrink;
mod sides;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use self::answer::Answer;
use self::chance::Chance;
use self::compare::{Difference, compare};
use self::explained::Explanations;
pub use self::explained::PAGE;
use self::generate::{Episode, LABEL};
use self::kinds::Kind;
use self::links::{Links, Pairs};
use self::replay::{Asked, Trail};
use self::request::Request;
pub use self::rules::{FOLDER as RULES_FOLDER, record_rules};
use self::sides::Sides;

/// Requests in one episode.
const EPISODE_REQUESTS: usize = 30;

/// Differences whose sequence of requests is made shorter.
const SHRUNK_MAX: usize = 10;

/// The millisecond of a second after which a request waits for the next.
const LATE_IN_SECOND: i32 = 930;

/// Watches that may be under way at once; the oldest is waited for.
const WATCHES_MAX: usize = 24;

/// What to compare.
#[derive(Debug, Clone, Copy)]
pub struct ParityOptions {
    /// Decides what is sent.
    pub seed: u64,
    /// How many requests each server is sent, at least.
    pub requests: usize,
    /// Whether differences that are explained are told as well.
    pub tell_explained: bool,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct ParityOutcome {
    /// Requests that both servers answered.
    pub requests: usize,
    /// Answers that differ without an explanation.
    pub unexplained: usize,
    /// How many differences each explanation explains.
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
    definitions::define(&sides).await?;
    let kinds = Kind::all()?;
    let mut links = Links::default();
    links.link_word(sides::THEIR_USER, sides::OUR_USER);
    let explanations = Explanations::read()?;
    let outcome = ParityOutcome {
        explained: explanations.titles().map(|title| (title, 0)).collect(),
        ..ParityOutcome::default()
    };
    let mut run = Run {
        sides: &sides,
        links,
        explanations,
        outcome,
        tell: &mut tell,
        tell_explained: options.tell_explained,
        watches: Vec::new(),
    };
    let mut number = 0;
    while run.outcome.requests < options.requests {
        let chance = Chance::new(options.seed, number);
        // Nothing else is called so, so that a sequence can be sent again in another namespace.
        let namespace = format!("p{number}x");
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

/// A watch under way, and what had been given out when it began.
struct Watching {
    request: Request,
    given_out: Pairs,
    /// What to remove when it has ended, if it is the last of its episode.
    leftovers: Vec<String>,
    answers: tokio::task::JoinHandle<Result<(Answer, Answer)>>,
}

/// What comes of comparing two answers.
#[derive(Debug, Default)]
struct Verdict {
    /// What differs without an explanation.
    differences: Vec<Difference>,
    /// Whether the servers did different things, so that nothing after it would mean anything.
    parted: bool,
}

struct Run<'a> {
    sides: &'a Sides,
    links: Links,
    explanations: Explanations,
    outcome: ParityOutcome,
    tell: &'a mut dyn FnMut(&str),
    tell_explained: bool,
    watches: Vec<Watching>,
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
        let (theirs, ours) = self.both(&create).await?;
        let verdict = self.judge(&create, &theirs, &ours);
        let since = theirs.document()["metadata"]["resourceVersion"].clone();
        let first = Asked {
            request: create,
            answer: theirs,
        };
        let trail = Trail {
            namespace: &episode.namespace,
            before: &[],
            last: &first,
            leftovers: &[],
        };
        self.settle(&trail, &ours, verdict.differences).await?;
        let mut before = vec![first];
        let mut agreed = true;
        for _ in 0..EPISODE_REQUESTS {
            let step = episode.next();
            let (theirs, ours) = self.both(&step.request).await?;
            let verdict = self.judge(&step.request, &theirs, &ours);
            let asked = Asked {
                request: step.request.clone(),
                answer: theirs,
            };
            // What only one of both has made is removed with all else.
            match asked.answer.is_success() {
                true => episode.learn(&step, &asked.answer),
                false => episode.learn(&step, &ours),
            }
            let trail = Trail {
                namespace: &episode.namespace,
                before: &before,
                last: &asked,
                leftovers: &episode.leftovers(),
            };
            self.settle(&trail, &ours, verdict.differences).await?;
            if verdict.parted {
                agreed = false;
                break;
            }
            before.push(asked);
        }
        let leftovers = episode.leftovers();
        let mut watches = match agreed {
            true => episode.watches(since.as_str().unwrap_or("0")),
            false => Vec::new(),
        };
        let Some(last) = watches.pop() else {
            return self.clean(&leftovers).await;
        };
        for watch in watches {
            self.start_watch(watch, Vec::new());
        }
        self.start_watch(last, leftovers);
        self.finish_watches(WATCHES_MAX).await
    }

    /// Tells differences with what led to them, unless they are upstream's chance.
    async fn settle(
        &mut self,
        trail: &Trail<'_>,
        ours: &Answer,
        mut differences: Vec<Difference>,
    ) -> Result<()> {
        if differences.is_empty() {
            return Ok(());
        }
        let is_told_in_full = self.outcome.unexplained < SHRUNK_MAX;
        if is_told_in_full {
            let taken = self.take_chance(trail, &mut differences).await?;
            *self
                .outcome
                .explained
                .entry(again::TITLE.to_owned())
                .or_default() += taken;
        }
        if differences.is_empty() {
            return Ok(());
        }
        self.outcome.unexplained += 1;
        let before: String = if is_told_in_full {
            let needed = self.shrink(trail).await?;
            needed.iter().map(|one| format!("\n   {one}")).collect()
        } else {
            let before = trail.before.iter().skip(1);
            let lines = before.map(|asked| asked.request.line());
            lines.map(|line| format!("\n   {line}")).collect()
        };
        let report = report(&trail.last.request, &trail.last.answer, ours, &differences);
        (self.tell)(&format!("{report}\n-- after:{before}"));
        Ok(())
    }

    /// Asks both servers.
    async fn both(&self, request: &Request) -> Result<(Answer, Answer)> {
        let translated = request.translated(&self.links);
        self.sides.theirs.settle(request).await?;
        early_in_a_second().await;
        tokio::try_join!(
            self.sides.theirs.answer(request),
            self.sides.ours.answer(&translated)
        )
    }

    /// Compares what both servers say.
    fn judge(&mut self, request: &Request, theirs: &Answer, ours: &Answer) -> Verdict {
        self.outcome.requests += 1;
        *self.outcome.codes.entry(theirs.code).or_default() += 1;
        let mut differences = compare(&mut self.links, theirs, ours);
        // Versions that do not belong together lead to conflicts on one side only.
        let is_version = |one: &Difference| one.place.ends_with(".resourceVersion");
        let has_other_version = differences.iter().any(is_version);
        for (title, taken) in self.explanations.sift(request, &mut differences) {
            if self.tell_explained {
                (self.tell)(&format!("~~ {title}\n== {request}\n{}", places(&taken)));
            }
            *self.outcome.explained.entry(title).or_default() += taken.len();
        }
        let is_done_once = theirs.is_success() != ours.is_success();
        Verdict {
            parted: is_done_once || has_other_version || !differences.is_empty(),
            differences,
        }
    }

    /// Watches run beside the next episodes: a server ends one only after its time.
    fn start_watch(&mut self, request: Request, leftovers: Vec<String>) {
        let translated = request.translated(&self.links);
        let (theirs, ours) = (self.sides.theirs.clone(), self.sides.ours.clone());
        let left = request.clone();
        let answers = tokio::spawn(async move {
            theirs.settle(&left).await?;
            tokio::try_join!(theirs.answer(&left), ours.answer(&translated))
        });
        self.watches.push(Watching {
            request,
            given_out: self.links.given_out(),
            leftovers,
            answers,
        });
    }

    async fn finish_watches(&mut self, left: usize) -> Result<()> {
        while self.watches.len() > left {
            let watching = self.watches.remove(0);
            let (theirs, ours) = watching.answers.await??;
            let later = self.links.swap_given_out(watching.given_out);
            let verdict = self.judge(&watching.request, &theirs, &ours);
            self.links.swap_given_out(later);
            if !verdict.differences.is_empty() {
                self.outcome.unexplained += 1;
                (self.tell)(&report(
                    &watching.request,
                    &theirs,
                    &ours,
                    &verdict.differences,
                ));
            }
            self.clean(&watching.leftovers).await?;
        }
        Ok(())
    }

    /// Removes what an episode left outside of its namespace, when nobody looks at it any more.
    async fn clean(&mut self, leftovers: &[String]) -> Result<()> {
        for path in leftovers {
            let free = json!({"metadata": {"finalizers": null}});
            let free = Request::new("PATCH", path.as_str())
                .with_body("application/merge-patch+json", free.to_string());
            let remove = Request::new("DELETE", path.as_str()).with("gracePeriodSeconds", "0");
            for request in [free, remove] {
                let translated = request.translated(&self.links);
                self.sides.theirs.ask(&request).await?;
                self.sides.ours.ask(&translated).await?;
            }
        }
        Ok(())
    }
}

/// Waits for the next second if this one is about to end: servers stamp what they write with whole seconds, and whether
/// a second write is a change can hang on whether they are the same.
async fn early_in_a_second() {
    let now = jiff::Timestamp::now().subsec_millisecond();
    if now > LATE_IN_SECOND {
        let left = 1000 - u64::try_from(now).unwrap_or_default();
        tokio::time::sleep(Duration::from_millis(left)).await;
    }
}

fn report(request: &Request, theirs: &Answer, ours: &Answer, all: &[Difference]) -> String {
    let mut report = format!("== {request}\n{}", places(all));
    report.push_str(&format!("-- upstream: {}\n", theirs.shown()));
    report.push_str(&format!("-- ours: {}", ours.shown()));
    report
}

/// Where two answers differ, for people.
fn places(all: &[Difference]) -> String {
    let shown = all.iter().take(DIFFERENCES_SHOWN).map(|one| {
        format!(
            "-- {}\n   upstream: {}\n   ours:     {}\n",
            one.place, one.theirs, one.ours
        )
    });
    let mut places: String = shown.collect();
    if all.len() > DIFFERENCES_SHOWN {
        places.push_str(&format!("-- and {} more\n", all.len() - DIFFERENCES_SHOWN));
    }
    places
}

/// Places of one answer that are shown.
const DIFFERENCES_SHOWN: usize = 12;
