//! How the objects of some resources are made to go: looked at, asked to go, looked at again.
//!
//! What has nothing in a namespace, which is most of it, costs one request: only where there is
//! something that was not asked to go yet is anything deleted. Where there seem to be few objects
//! in all namespaces together, it costs less: one list of all of them answers for every namespace
//! that is on its way out at the time.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use flyball_api::discovery::{Resource, Verb};
use flyball_api::{ApiError, Kind, ObjectName};
use flyball_plan::{
    Action, Actions, Answer, Answers, Listed, Listing, Precondition, Propagation, Target,
};

use super::findings::Findings;
use super::observe::SPARSE_MAX;
use super::plan::AGE_MAX;

/// Of how many objects of a resource the finalizers are counted, and how many are deleted at once
/// where each has to be deleted on its own. Of the others only the number is known.
const ITEMS_MAX: usize = 1_000;

/// The most objects that are deleted one by one in one sync.
const DELETES_MAX: usize = 1_000;

/// The names of the five stages.
pub(super) struct Stages {
    pub(super) survey: &'static str,
    pub(super) look: &'static str,
    pub(super) delete: &'static str,
    pub(super) each: &'static str,
    pub(super) verify: &'static str,
}

/// Some resources of a namespace, emptied side by side.
pub(super) struct Portion<'a> {
    namespace: &'a str,
    sparse: &'a BTreeSet<Kind>,
    resources: &'a [Resource],
    stages: &'a Stages,
    answers: &'a Answers,
    surveyed: ByKind<'a>,
    looked: ByKind<'a>,
    deleted: ByKind<'a>,
    verified: ByKind<'a>,
}

/// What became of each resource in a stage.
type ByKind<'a> = HashMap<Kind, &'a Answer>;

/// What there is in a resource.
enum Look<'a> {
    /// Nothing, or nothing that could be seen or deleted.
    Nothing,
    /// These.
    Found(&'a Listing),
    /// Nobody can tell, but it can be emptied.
    Unseen,
    /// It could not be looked at.
    Failed(&'a ApiError),
}

impl<'a> Portion<'a> {
    pub(super) fn new(
        namespace: &'a str,
        sparse: &'a BTreeSet<Kind>,
        resources: &'a [Resource],
        stages: &'a Stages,
        answers: &'a Answers,
    ) -> Self {
        Self {
            namespace,
            sparse,
            resources,
            stages,
            answers,
            surveyed: by_kind(answers, stages.survey),
            looked: by_kind(answers, stages.look),
            deleted: by_kind(answers, stages.delete),
            verified: by_kind(answers, stages.verify),
        }
    }

    /// What is to be done next; once nothing is, what was found.
    pub(super) fn next(&self, since: Duration, found: &mut Findings) -> Option<Actions> {
        let open = |stage: &'static str, actions: fn(&Self) -> Vec<Action>| {
            let actions = match self.answers.stage(stage) {
                Some(_) => Vec::new(),
                None => actions(self),
            };
            (!actions.is_empty()).then(|| Actions::together(stage, actions))
        };
        // Each is decided by the answers to those before it.
        let next = open(self.stages.survey, Self::surveys)
            .or_else(|| open(self.stages.look, Self::looks))
            .or_else(|| open(self.stages.delete, Self::deletes))
            .or_else(|| open(self.stages.each, |portion| portion.each().0))
            .or_else(|| open(self.stages.verify, Self::verifies));
        if next.is_none() {
            self.find(since, found);
        }
        next
    }

    fn can(&self, resource: &Resource, verb: Verb) -> bool {
        resource.verbs.has(verb)
    }

    fn list(&self, kind: Kind) -> Action {
        Action::List {
            kind,
            namespace: self.namespace.into(),
            items_max: ITEMS_MAX,
        }
    }

    fn listable(&self) -> impl Iterator<Item = &Resource> {
        self.resources.iter().filter(|it| self.can(it, Verb::List))
    }

    fn surveys(&self) -> Vec<Action> {
        let sparse = self.listable().filter(|it| self.sparse.contains(&it.kind));
        let survey = |it: &Resource| Action::Survey {
            kind: it.kind,
            items_max: SPARSE_MAX,
            age_max: AGE_MAX,
        };
        sparse.map(survey).collect()
    }

    /// Whether a list of all there is shows nothing in this namespace. One that was cut off, or
    /// that failed, shows nothing at all.
    fn is_clear(&self, kind: Kind) -> bool {
        let Some(Answer::Listed(all)) = self.surveyed.get(&kind) else {
            return false;
        };
        let mut items = all.items.iter();
        all.more == 0 && items.all(|item| item.namespace != self.namespace)
    }

    fn looks(&self) -> Vec<Action> {
        let unknown = self.listable().filter(|it| !self.is_clear(it.kind));
        unknown.map(|it| self.list(it.kind)).collect()
    }

    fn look(&self, resource: &Resource) -> Look<'a> {
        if self.is_clear(resource.kind) {
            return Look::Nothing;
        }
        let collection = self.can(resource, Verb::DeleteCollection);
        match self.looked.get(&resource.kind).copied() {
            Some(Answer::Listed(listing)) if listing.is_empty() => Look::Nothing,
            Some(Answer::Listed(listing)) => Look::Found(listing),
            Some(Answer::Failed(error)) if !is_unsupported(error) => Look::Failed(error),
            _ if collection => Look::Unseen,
            _ => Look::Nothing,
        }
    }

    /// Whether something in it was not asked to go yet.
    fn has_staying(listing: &Listing) -> bool {
        listing.more > 0 || listing.items.iter().any(|item| !item.deleting)
    }

    fn deletes(&self) -> Vec<Action> {
        let wanted = self.resources.iter().filter(|it| {
            self.can(it, Verb::DeleteCollection)
                && match self.look(it) {
                    Look::Found(listing) => Self::has_staying(listing),
                    Look::Unseen => true,
                    Look::Nothing | Look::Failed(_) => false,
                }
        });
        let delete = |it: &Resource| Action::DeleteCollection {
            kind: it.kind,
            namespace: self.namespace.into(),
            propagation: Some(Propagation::Background),
        };
        wanted.map(delete).collect()
    }

    /// What is deleted one by one, because nothing else works; and whether that is not all.
    fn each(&self) -> (Vec<Action>, bool) {
        let mut deletes = Vec::new();
        for resource in self.resources {
            let Look::Found(listing) = self.look(resource) else {
                continue;
            };
            let refused = match self.deleted.get(&resource.kind) {
                Some(answer) => answer.error().is_some_and(is_unsupported),
                None => !self.can(resource, Verb::DeleteCollection),
            };
            if refused {
                let staying = listing.items.iter().filter(|item| !item.deleting);
                deletes.extend(staying.map(|item| self.delete(resource.kind, item)));
            }
        }
        let unfinished = deletes.len() > DELETES_MAX;
        deletes.truncate(DELETES_MAX);
        (deletes, unfinished)
    }

    fn delete(&self, kind: Kind, item: &Listed) -> Action {
        Action::Delete {
            target: Target {
                kind,
                name: ObjectName {
                    namespace: self.namespace.into(),
                    name: item.name.clone(),
                },
            },
            precondition: Precondition {
                uid: Some(item.uid.clone()),
                resource_version: None,
            },
            propagation: Some(Propagation::Background),
            grace_seconds: None,
        }
    }

    /// Whatever anything was deleted of is looked at once more.
    fn verifies(&self) -> Vec<Action> {
        let touched = self.resources.iter().filter(|it| {
            self.can(it, Verb::List)
                && matches!(self.look(it), Look::Found(listing) if Self::has_staying(listing))
        });
        touched.map(|it| self.list(it.kind)).collect()
    }

    fn find(&self, since: Duration, found: &mut Findings) {
        found.unfinished |= self.each().1;
        let failed = self.deletes_failed();
        for resource in self.resources {
            let kind = resource.kind;
            let listing = match self.look(resource) {
                Look::Nothing => continue,
                Look::Failed(error) => {
                    found.failures.push(error.to_string());
                    continue;
                }
                Look::Unseen => None,
                Look::Found(listing) => Some(listing),
            };
            if let Some(error) = failed.get(&kind) {
                found.failures.push(error.to_string());
                continue;
            }
            let left = match self.verified.get(&kind).copied() {
                Some(Answer::Listed(left)) => Some(&**left),
                Some(Answer::Failed(error)) if !is_unsupported(error) => {
                    found.failures.push(error.to_string());
                    continue;
                }
                Some(_) => None,
                // All that is there has been asked to go before.
                None => listing,
            };
            if let Some(left) = left {
                found.left(kind, left, self.namespace, since);
            }
        }
    }

    /// Per resource, why its objects could not all be asked to go.
    fn deletes_failed(&self) -> HashMap<Kind, &'a ApiError> {
        let rounds = [self.stages.delete, self.stages.each];
        let rounds = rounds.into_iter().filter_map(|it| self.answers.stage(it));
        let both = rounds.flat_map(|round| round.actions.items.iter().zip(&round.answers));
        let mut failed = HashMap::new();
        for (action, answer) in both {
            let (kind, error) = match (action, answer.error()) {
                (Action::DeleteCollection { kind, .. }, Some(error)) => (*kind, error),
                (Action::Delete { target, .. }, Some(error)) => (target.kind, error),
                _ => continue,
            };
            let harmless = is_unsupported(error) || error.is_other_incarnation();
            if !harmless {
                failed.entry(kind).or_insert(error);
            }
        }
        failed
    }
}

/// Upstream takes both for "the server does not do this": there are resources that can be
/// discovered and nothing else.
fn is_unsupported(error: &ApiError) -> bool {
    error.is_not_found() || error.code() == 405
}

fn by_kind<'a>(answers: &'a Answers, stage: &str) -> ByKind<'a> {
    let Some(round) = answers.stage(stage) else {
        return HashMap::new();
    };
    let kinds = round.actions.items.iter().map(|action| match action {
        Action::List { kind, .. }
        | Action::Survey { kind, .. }
        | Action::DeleteCollection { kind, .. } => Some(*kind),
        _ => None,
    });
    let both = kinds.zip(&round.answers);
    both.filter_map(|(kind, answer)| Some((kind?, answer)))
        .collect()
}
