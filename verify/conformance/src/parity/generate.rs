//! Draws requests: what people and programs send, and what they send by mistake.
//!
//! An [`Episode`] is a namespace of its own and what is known of the objects in it, from upstream's answers. Names
//! come from a small pool, so that requests meet.

mod bodies;
mod mutate;
mod options;
mod patches;
mod reads;

pub(crate) use mutate::WORDS;

use serde_json::Value;

use super::answer::Answer;
use super::chance::Chance;
use super::kinds::Kind;
use super::request::Request;

/// The label that all objects of an episode have, unless a mistake takes it away.
pub(crate) const LABEL: &str = "parity/episode";

/// Names that objects get.
const NAMES: &[&str] = &["web", "db", "a", "cache-0", "x.example"];

/// Names that no object can have, or almost none.
const BAD_NAMES: &[&str] = &["Web", "a_b", "-a", "a..b", "a b", "ü", "a%2fb", ".", "a."];

/// An object as it was last seen.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    /// Its kind's place in the list.
    pub(crate) kind: usize,
    pub(crate) name: String,
    pub(crate) value: Value,
    /// An older version of it.
    pub(crate) stale: String,
}

/// A request and what it is about.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) request: Request,
    kind: usize,
    name: String,
    /// Whether the answer to a success is the object itself.
    tells_object: bool,
}

/// A stretch of requests in a namespace of its own.
pub(crate) struct Episode<'a> {
    kinds: &'a [Kind],
    pub(crate) namespace: String,
    chance: Chance,
    /// The few kinds that this episode is about.
    chosen: Vec<usize>,
    live: Vec<Live>,
    gone: Vec<(usize, String)>,
    /// Versions of collections that were listed.
    states: Vec<String>,
    /// Requests for the next page.
    pages: Vec<Request>,
    drawn: usize,
}

impl<'a> Episode<'a> {
    /// An episode with these choices.
    pub(crate) fn new(kinds: &'a [Kind], namespace: &str, mut chance: Chance) -> Self {
        let weights = kinds.iter().map(|kind| kind.weight);
        let chosen = (0..4).map(|_| chance.weighted(weights.clone())).collect();
        Self {
            kinds,
            namespace: namespace.to_owned(),
            chance,
            chosen,
            live: Vec::new(),
            gone: Vec::new(),
            states: Vec::new(),
            pages: Vec::new(),
            drawn: 0,
        }
    }

    /// The next request.
    pub(crate) fn next(&mut self) -> Step {
        self.drawn += 1;
        let mut step = self.draw();
        let request = &mut step.request;
        let is_dry = request.query.iter().any(|(key, _)| key == "dryRun");
        // Whichever way such an object would be made.
        if !self.kind(step.kind).tried_as.is_empty() && request.is_write() && !is_dry {
            let pair = ("dryRun".to_owned(), "All".to_owned());
            request.query.push(pair);
        }
        step
    }

    fn draw(&mut self) -> Step {
        let has_live = !self.live.is_empty();
        match self.chance.below(100) {
            0..25 => self.create(),
            25..35 if has_live => self.update(),
            35..58 if has_live => self.patch(),
            58..66 if has_live => self.part(),
            66..72 => self.get(),
            72..84 => self.list(),
            84..93 if has_live => self.delete(),
            93..95 => self.delete_collection(),
            95..98 => self.odd(),
            _ => self.create(),
        }
    }

    /// Remembers what the answer tells about objects.
    pub(crate) fn learn(&mut self, step: &Step, answer: &Answer) {
        let document = answer.document();
        if !answer.is_success() {
            return;
        }
        if let Some(version) = document["metadata"]["resourceVersion"].as_str()
            && document.get("items").is_some()
        {
            // A cache may answer for another moment than now, and another one on each server.
            let is_current = !step
                .request
                .query
                .iter()
                .any(|(key, _)| key == "resourceVersion");
            if is_current {
                self.states.push(version.to_owned());
            }
            if let Some(next) = document["metadata"]["continue"].as_str() {
                let mut request = step.request.clone();
                request
                    .query
                    .retain(|(key, _)| !key.starts_with("resourceVersion") && key != "continue");
                self.pages.push(request.with("continue", next));
            }
        }
        let is_dry = step.request.query.iter().any(|(key, _)| key == "dryRun");
        if is_dry || !step.request.is_write() || step.request.body.contains("\"dryRun\"") {
            return;
        }
        let same = |live: &Live| live.kind == step.kind && live.name == step.name;
        if step.request.method == "DELETE" && !step.name.is_empty() {
            self.live.retain(|live| !same(live));
            self.gone.push((step.kind, step.name.clone()));
        }
        let shown = document["metadata"]["name"].as_str();
        if !step.tells_object || document["kind"] != self.kinds[step.kind].kind.as_str() {
            return;
        }
        let Some(name) = shown else { return };
        match self
            .live
            .iter_mut()
            .find(|live| live.kind == step.kind && live.name == name)
        {
            Some(live) => {
                live.stale = text(&live.value, "resourceVersion");
                live.value = document.clone();
            }
            None => self.live.push(Live {
                kind: step.kind,
                name: name.to_owned(),
                value: document.clone(),
                stale: text(document, "resourceVersion"),
            }),
        }
    }

    /// Everything that may be left of cluster-wide objects.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let cluster = |at: &usize| self.kinds[*at].cluster;
        let live = self.live.iter().map(|live| (live.kind, live.name.clone()));
        let all = live.chain(self.gone.iter().cloned());
        all.filter(|(kind, _)| cluster(kind))
            .map(|(kind, name)| format!("{}/{name}", self.kinds[kind].path("")))
            .collect()
    }

    fn kind(&self, at: usize) -> &'a Kind {
        &self.kinds[at]
    }

    fn some_kind(&mut self) -> usize {
        match self.chance.percent(90) {
            true => self.chance.one(&self.chosen).copied().unwrap_or_default(),
            false => self
                .chance
                .weighted(self.kinds.iter().map(|kind| kind.weight)),
        }
    }

    fn some_live(&mut self) -> Option<Live> {
        self.chance.one(&self.live).cloned()
    }

    /// A name for an object of a kind; names of cluster-wide objects are the episode's own.
    fn some_name(&mut self, kind: usize) -> String {
        let name = match self.chance.percent(6) {
            true => self.chance.word(BAD_NAMES),
            false => self.chance.word(NAMES),
        };
        match self.kind(kind).cluster {
            true => format!("{}-{name}", self.namespace),
            false => name.to_owned(),
        }
    }

    /// The name of something that is there, or was, or never was.
    fn some_target(&mut self) -> (usize, String) {
        if self.chance.percent(80)
            && let Some(live) = self.some_live()
        {
            return (live.kind, live.name);
        }
        if self.chance.percent(50)
            && let Some(gone) = self.chance.one(&self.gone).cloned()
        {
            return gone;
        }
        let kind = self.some_kind();
        (kind, self.some_name(kind))
    }

    fn step(&self, request: Request, kind: usize, name: &str, tells_object: bool) -> Step {
        Step {
            request,
            kind,
            name: name.to_owned(),
            tells_object,
        }
    }

    fn object_path(&self, kind: usize, name: &str) -> String {
        format!("{}/{name}", self.kind(kind).path(&self.namespace))
    }
}

fn text(value: &Value, field: &str) -> String {
    value["metadata"][field]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}
