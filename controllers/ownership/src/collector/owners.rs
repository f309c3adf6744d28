//! Whether an object is garbage: what its owners' fates mean for it.
//!
//! Upstream, `garbagecollector.go`, `attemptToDeleteItem` and `classifyReferences`.

use std::collections::HashSet;
use std::time::Duration;

use flyball_api::views::{ObjectReference, Partial};
use flyball_api::{ApiError, Object, OwnerReference, Text, Uid};
use flyball_plan::{
    Action, Answer, Failure, Flow, Pace, Precondition, Propagation, Read, Record, RecordKind,
    Report, Round, Step, Write,
};

use super::clash::{look_again, unchanged};
use super::finalizers::{FOREGROUND, ORPHAN};
use super::observe::{Owner, Seen, Standing};
use super::plan::{Sync, UNKNOWN_KIND};
use super::{orphans, report};

/// How many owners the server is asked for in one sync. Of an object with more, those that are
/// found to be gone are taken off, until no more are left than can be judged.
const ASKED_AT_ONCE: usize = 500;

/// How long owners that nothing blocks any more are given to go first.
const UNBLOCKED: Duration = Duration::from_millis(5);

/// What the server says of an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It lives.
    Alive,
    /// It lives, and waits for its dependents to be gone.
    Waiting,
    /// It does not exist, and never will again.
    Gone,
    /// The server did not say.
    Unanswered(Failure),
}

impl Verdict {
    /// What an answer says of the owner of this identity.
    pub(super) fn of(uid: &Uid, answer: &Answer) -> Self {
        match answer {
            Answer::Failed(error) if error.is_object_not_found() => Self::Gone,
            Answer::Failed(error) => Self::Unanswered(error.into()),
            Answer::Read(found) => match Partial::decode(found.json().as_bytes()) {
                Ok(found) if found.uid().is_empty() => {
                    Self::Unanswered("the server tells no identity of an object".into())
                }
                Ok(found) if found.uid() != uid => Self::Gone,
                Ok(found) if is_waiting(&found) => Self::Waiting,
                Ok(_) => Self::Alive,
                Err(error) => Self::Unanswered(error.into()),
            },
            _ => Self::Unanswered("not answered".into()),
        }
    }
}

fn is_waiting(found: &Partial) -> bool {
    let finalizers = found.lineage().finalizers;
    found.is_deleting() && finalizers.iter().any(|one| one == FOREGROUND)
}

/// Deletes the object if none of its owners lives; takes dead owners off it if one does.
pub(super) fn collect(
    sync: &Sync<'_>,
    object: &Seen,
    owners: &[Owner],
    has_dependents: bool,
    in_a_circle: bool,
) -> Flow<Step> {
    let is = |standing: Standing| move |owner: &Owner| owner.standing == standing;
    if owners.iter().any(is(Standing::Misplaced)) {
        return Ok(Step::rest(report::misplaced()));
    }
    if owners.iter().any(is(Standing::Unknown)) {
        return Ok(Step::rest_for(UNKNOWN_KIND, report::unknown_kind()));
    }
    if owners.iter().all(is(Standing::Alive)) {
        return Ok(Step::rest(report::owner_alive()));
    }
    let doubtful: Vec<Doubtful<'_>> = owners.iter().filter_map(Doubtful::of).collect();
    let asked = &doubtful[..doubtful.len().min(ASKED_AT_ONCE)];
    let questions = || asked.iter().map(Doubtful::question).collect();
    let round = sync.run_some("owners", Pace::Together, questions)?;
    let fates = match Fates::of(owners, asked, round) {
        Ok(fates) => fates,
        Err(error) => return Ok(Step::retry(error, report::owner_unanswered())),
    };
    let lives = fates.alive > 0 || owners.iter().any(is(Standing::Alive));
    let more = doubtful.len() > asked.len();
    if lives || more {
        return strip(sync, object, owners, &fates, more);
    }
    let foreground = !fates.waiting.is_empty() && has_dependents;
    if foreground && in_a_circle && owners.iter().any(Owner::is_blocked) {
        return unblock(sync, object, owners);
    }
    let how = propagation(object, foreground);
    delete(sync, object, how, fates.records(object))
}

/// Lets the owners of an object go before it, because it may wait for one of them itself.
///
/// Upstream goes on to delete the object, which the server refuses because it has just changed; by the time it comes
/// back, most owners are gone.
fn unblock(sync: &Sync<'_>, object: &Seen, owners: &[Owner]) -> Flow<Step> {
    let round = sync.run("unblock", Pace::InOrder, || {
        let owners = owners.iter().map(|owner| OwnerReference {
            block_owner_deletion: Some(false),
            ..owner.reference.clone()
        });
        vec![with_owners(object, owners)]
    })?;
    Ok(match round.first_error() {
        Some(error) if error.is_not_found() => Step::rest(report::gone_already()),
        Some(error) => Step::retry(error, report::circle()),
        None => Step::rest_for(UNBLOCKED, report::circle()),
    })
}

/// An owner that the server is to be asked for.
struct Doubtful<'a> {
    owner: &'a Owner,
    target: &'a flyball_plan::Target,
    elsewhere: bool,
}

impl<'a> Doubtful<'a> {
    fn of(owner: &'a Owner) -> Option<Self> {
        match &owner.standing {
            Standing::Doubtful { target, elsewhere } => Some(Self {
                owner,
                target,
                elsewhere: *elsewhere,
            }),
            _ => None,
        }
    }

    fn question(&self) -> Action {
        Read::exists(self.target.clone(), self.owner.reference.uid.clone()).into()
    }
}

/// What became of the owners that were asked for.
struct Fates<'a> {
    alive: usize,
    waiting: Vec<&'a OwnerReference>,
    gone: Vec<&'a OwnerReference>,
    /// Those of the gone that live in another namespace.
    elsewhere: Vec<&'a OwnerReference>,
}

impl<'a> Fates<'a> {
    /// An error if the server did not say of one: without it nothing can be judged.
    fn of(
        owners: &'a [Owner],
        asked: &[Doubtful<'a>],
        round: Option<&Round>,
    ) -> Result<Self, Failure> {
        let mut fates = Self {
            alive: 0,
            waiting: Vec::new(),
            gone: Vec::new(),
            elsewhere: Vec::new(),
        };
        for Owner {
            reference,
            standing,
        } in owners
        {
            if let Standing::Absent { elsewhere, .. } = standing {
                fates.gone.push(reference);
                fates.elsewhere.extend(elsewhere.then_some(reference));
            }
        }
        let mut answers = round.iter().flat_map(|round| &round.answers);
        for doubtful in asked {
            let reference = &doubtful.owner.reference;
            let answer = answers.next().unwrap_or(&Answer::Skipped);
            match Verdict::of(&reference.uid, answer) {
                Verdict::Alive => fates.alive += 1,
                Verdict::Waiting => fates.waiting.push(reference),
                Verdict::Gone => {
                    fates.gone.push(reference);
                    if doubtful.elsewhere {
                        fates.elsewhere.push(reference);
                    }
                }
                Verdict::Unanswered(error) => return Err(error),
            }
        }
        Ok(fates)
    }

    /// What people are told about owners that live in another namespace.
    fn records(&self, object: &Seen) -> Vec<Action> {
        let name = &object.target.name;
        let record = |owner: &&OwnerReference| {
            let OwnerReference {
                api_version,
                kind,
                name: owner_name,
                uid,
                ..
            } = owner;
            let namespace = &name.namespace;
            Action::Record(Record {
                about: ObjectReference {
                    kind: object.target.kind.kind.into(),
                    namespace: namespace.clone(),
                    name: name.name.clone(),
                    uid: object.uid.clone(),
                    api_version: object.target.kind.api_version().into(),
                    resource_version: Text::default(),
                },
                kind: RecordKind::Warning,
                reason: "OwnerRefInvalidNamespace",
                message: format!(
                    "ownerRef [{api_version}/{kind}, namespace: {namespace}, name: {owner_name}, \
                     uid: {uid}] does not exist in namespace {:?}",
                    namespace.as_str()
                ),
            })
        };
        self.elsewhere.iter().map(record).collect()
    }
}

/// Takes the owners that are gone, or that wait for dependents, off an object that stays.
///
/// Those that wait must go too: they would wait for ever for something that is not going to go.
fn strip(
    sync: &Sync<'_>,
    object: &Seen,
    owners: &[Owner],
    fates: &Fates<'_>,
    more: bool,
) -> Flow<Step> {
    let off = fates.gone.iter().chain(&fates.waiting);
    let off: HashSet<&Uid> = off.map(|owner| &owner.uid).collect();
    if off.is_empty() {
        // Too many owners, and those that were asked for live: that is all there is to know.
        return Ok(Step::rest(report::owner_alive()));
    }
    let round = sync.run("strip", Pace::InOrder, || {
        let stays = owners
            .iter()
            .map(|owner| &owner.reference)
            .filter(|owner| !off.contains(&owner.uid));
        let mut actions = fates.records(object);
        actions.push(with_owners(object, stays.cloned()));
        actions
    })?;
    let report = report::stripped(off.len(), owners.len());
    Ok(match round.first_error() {
        Some(error) if error.is_not_found() => Step::rest(report::gone_already()),
        Some(error) => Step::retry(error, report),
        // There are more owners to be judged.
        None if more => Step::rest_for(Duration::ZERO, report),
        None => Step::rest(report),
    })
}

fn with_owners(object: &Seen, owners: impl Iterator<Item = OwnerReference>) -> Action {
    let owners: Vec<OwnerReference> = owners.collect();
    orphans::with_owners(&object.target, &object.unchanged(), &owners)
}

/// How the dependents of the object are to go: as its owner's do, or as the object itself has been
/// told before, or afterwards.
fn propagation(object: &Seen, foreground: bool) -> Propagation {
    let has = |finalizer: &str| object.finalizers.iter().any(|one| one == finalizer);
    if foreground {
        Propagation::Foreground
    } else if has(ORPHAN) {
        Propagation::Orphan
    } else if has(FOREGROUND) {
        Propagation::Foreground
    } else {
        Propagation::Background
    }
}

/// Deletes the object if it is as it was judged. If it has changed but for its owners, which are
/// what it was judged by, it is deleted in the state it has by then.
fn delete(sync: &Sync<'_>, object: &Seen, how: Propagation, mut first: Vec<Action>) -> Flow<Step> {
    let report = report::garbage(how);
    let deletion = |precondition| -> Action {
        let delete = Write::delete_if(object.target.clone(), precondition);
        delete.propagating(how).into()
    };
    let round = sync.run("delete", Pace::InOrder, || {
        first.push(deletion(object.unchanged()));
        first
    })?;
    let refusal = match round.first_error() {
        Some(error) if error.is_conflict() && !error.is_other_incarnation() => error,
        error => return Ok(deleted(error, report)),
    };
    let live = look_again(sync, object, refusal, &report)?;
    if live.is_deleting() {
        // Another policy would take the finalizer off that its dependents are waited for with.
        return Ok(Step::rest(report::going()));
    }
    if !object.has_owners(live.lineage().owners) {
        return Ok(Step::retry(refusal, report::owners_changed(&object.target)));
    }
    let again = || vec![deletion(unchanged(&live))];
    let round = sync.run("again", Pace::InOrder, again)?;
    Ok(deleted(round.first_error(), report))
}

fn deleted(error: Option<&ApiError>, report: Report) -> Step {
    match error {
        None => Step::rest(report),
        Some(error) if error.is_gone_or_replaced() => Step::rest(report::gone_already()),
        Some(error) => Step::retry(error, report),
    }
}

impl Seen {
    /// That it is exactly as it was seen.
    pub(super) fn unchanged(&self) -> Precondition {
        Precondition {
            uid: Some(self.uid.clone()),
            resource_version: Some(self.resource_version.clone()),
        }
    }

    /// Whether these are the owners that it was seen to have.
    fn has_owners(&self, owners: &[OwnerReference]) -> bool {
        match &self.state {
            super::observe::State::Staying { owners: seen, .. } => {
                seen.len() == owners.len()
                    && seen
                        .iter()
                        .zip(owners)
                        .all(|(seen, now)| seen.reference == *now)
            }
            _ => false,
        }
    }
}
