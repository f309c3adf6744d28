//! How the objects of some resources are made to go: looked at, asked to go, looked at again.
//!
//! What has nothing in a namespace, which is most of it, costs one request: only where there is
//! something that was not asked to go yet is anything deleted. Where there seem to be few objects
//! in all namespaces together, it costs less: one list of all of them answers for every namespace
//! that is on its way out at the time.

use std::collections::HashMap;
use std::time::Duration;

use flyball_api::discovery::{Resource, Verb};
use flyball_api::{ApiError, Kind, ObjectName};
use flyball_plan::{
    Action, Answer, Flow, Listed, Listing, Pace, Precondition, Propagation, Read, Round, Sync,
    Target, Write,
};

use super::findings::Findings;
use super::observe::{Observation, SPARSE_MAX};
use super::plan::AGE_MAX;

/// Of how many objects of a resource the finalizers are counted, and how many are deleted at once
/// where each has to be deleted on its own. Of the others only the number is known.
const ITEMS_MAX: usize = 1_000;

/// The most objects that are deleted one by one in one sync.
const DELETES_MAX: usize = 1_000;

/// The names of the five stages.
pub(super) struct Stages {
    survey: &'static str,
    pub(super) look: &'static str,
    delete: &'static str,
    each: &'static str,
    verify: &'static str,
}

/// The stages by which pods go.
pub(super) const PODS: Stages = Stages {
    survey: "pods anywhere",
    look: "pods",
    delete: "delete pods",
    each: "delete each pod",
    verify: "pods left",
};

/// The stages by which each portion of all other resources goes.
pub(super) const OTHERS: Stages = Stages {
    survey: "anywhere",
    look: "content",
    delete: "delete content",
    each: "delete each",
    verify: "content left",
};

/// Some resources of a namespace, emptied side by side.
pub(super) struct Portion<'a> {
    sync: &'a Sync<'a, Observation>,
    namespace: &'a str,
    resources: &'a [Resource],
    stages: &'a Stages,
    /// Which portion it is.
    index: usize,
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
        sync: &'a Sync<'a, Observation>,
        namespace: &'a str,
        resources: &'a [Resource],
        stages: &'a Stages,
        index: usize,
    ) -> Self {
        let by_kind = |stage| by_kind(sync.has_run((stage, index)));
        Self {
            sync,
            namespace,
            resources,
            stages,
            index,
            surveyed: by_kind(stages.survey),
            looked: by_kind(stages.look),
            deleted: by_kind(stages.delete),
            verified: by_kind(stages.verify),
        }
    }

    /// Does what is to be done; then adds what was found.
    pub(super) fn empty(&self, since: Duration, found: &mut Findings) -> Flow<()> {
        let run = |stage: &'static str, actions: fn(&Self) -> Vec<Action>| {
            let stage = (stage, self.index);
            self.sync.run_some(stage, Pace::Together, || actions(self))
        };
        // Each is decided by the answers to those before it.
        run(self.stages.survey, Self::surveys)?;
        run(self.stages.look, Self::looks)?;
        run(self.stages.delete, Self::deletes)?;
        run(self.stages.each, |portion| portion.each().0)?;
        run(self.stages.verify, Self::verifies)?;
        self.find(since, found);
        Ok(())
    }

    fn can(&self, resource: &Resource, verb: Verb) -> bool {
        resource.verbs.has(verb)
    }

    fn list(&self, kind: Kind) -> Action {
        Read::list(kind, self.namespace, ITEMS_MAX).into()
    }

    fn listable(&self) -> impl Iterator<Item = &Resource> {
        self.resources.iter().filter(|it| self.can(it, Verb::List))
    }

    fn surveys(&self) -> Vec<Action> {
        let sparse = self
            .listable()
            .filter(|it| self.sync.seen.sparse.contains(&it.kind));
        let survey = |it: &Resource| {
            let everywhere = Read::list(it.kind, "", SPARSE_MAX);
            everywhere.not_older_than(AGE_MAX).into()
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
        let delete = |it: &Resource| {
            let all = Write::delete_collection(it.kind, self.namespace);
            all.propagating(Propagation::Background).into()
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
        let name = ObjectName {
            namespace: self.namespace.into(),
            name: item.name.clone(),
        };
        let precondition = Precondition {
            uid: Some(item.uid.clone()),
            resource_version: None,
        };
        Write::delete_if(Target { kind, name }, precondition)
            .propagating(Propagation::Background)
            .into()
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
        let stages = [self.stages.delete, self.stages.each].into_iter();
        let rounds = stages.filter_map(|stage| self.sync.has_run((stage, self.index)));
        let mut failed = HashMap::new();
        for (write, answer) in rounds.flat_map(Round::writes) {
            let (kind, Some(error)) = (write.target.kind, answer.error()) else {
                continue;
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

fn by_kind(round: Option<&Round>) -> ByKind<'_> {
    let Some(round) = round else {
        return HashMap::new();
    };
    let both = round.actions.items.iter().zip(&round.answers);
    both.filter_map(|(action, answer)| Some((action.kind()?, answer)))
        .collect()
}
