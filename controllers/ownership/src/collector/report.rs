//! What a sync reports: why something goes, stays or is waited for.

use flyball_api::Kind;
use flyball_plan::{Propagation, Report, Target, Timer, Until, Wait};

use super::observe::Blocker;

flyball_plan::rules! {
    TERMINATING = "Terminating", "it is terminating";
    NO_OWNER = "NoOwner", "it has no owner";
    OWNER_EXISTS = "OwnerExists", "an owner exists";
    OWNER_MISPLACED = "OwnerNamespaced", "cluster-scoped objects cannot refer to namespaced owners";
    OWNER_KIND_UNKNOWN = "OwnerKindUnknown", "the kind of an owner is not in discovery";
    OWNER_GONE = "OwnerGone", "the owner is gone";
    OWNER_UNCACHED = "OwnerUncached", "the owner exists and no cache shows it";
    OWNER_UNANSWERED = "OwnerUnanswered", "the server did not say whether the owners exist";
    NO_OWNER_EXISTS = "NoOwnerExists", "no owner exists";
    GONE = "Gone", "it is gone already";
    OWNERS_CHANGED = "OwnersChanged", "its owners have changed";
    CYCLE = "OwnershipCycle", "it may block its own owner";
    DANGLING_OWNERS = "DanglingOwnersRemoved", "references to owners that are gone are removed";
    ORPHANING = "OrphaningDependents", "its dependents are orphaned";
    ORPHANED = "DependentsOrphaned", "its dependents are orphans";
    BLOCKED = "DependentBlocks", "a dependent blocks its deletion";
    KIND_UNLISTED = "KindUnlisted", "a kind that could hold a dependent is not listed yet";
    UNBLOCKED = "NoDependentBlocks", "no dependent blocks its deletion";
}

pub(super) fn going() -> Report {
    Report::new(TERMINATING)
}

pub(super) fn unowned() -> Report {
    Report::new(NO_OWNER)
}

pub(super) fn owner_alive() -> Report {
    Report::new(OWNER_EXISTS)
}

pub(super) fn misplaced() -> Report {
    Report::new(OWNER_MISPLACED)
}

pub(super) fn unknown_kind() -> Report {
    Report::new(OWNER_KIND_UNKNOWN).waits_for(Wait::Time(Timer::Discovery))
}

pub(super) fn owner_gone(dependents: usize) -> Report {
    Report::new(OWNER_GONE).saw("dependents", dependents)
}

pub(super) fn owner_unseen(owner: &Target) -> Report {
    Report::new(OWNER_UNCACHED).waits_for(Wait::object(owner.clone(), Until::Cached))
}

pub(super) fn owner_unanswered() -> Report {
    Report::new(OWNER_UNANSWERED)
}

pub(super) fn garbage(how: Propagation) -> Report {
    let how = match how {
        Propagation::Background => "Background",
        Propagation::Foreground => "Foreground",
        Propagation::Orphan => "Orphan",
    };
    Report::new(NO_OWNER_EXISTS).saw("propagation", how)
}

pub(super) fn gone_already() -> Report {
    Report::new(GONE)
}

pub(super) fn owners_changed(object: &Target) -> Report {
    Report::new(OWNERS_CHANGED).waits_for(Wait::object(object.clone(), Until::CacheUpdated))
}

pub(super) fn circle() -> Report {
    Report::new(CYCLE)
}

pub(super) fn stripped(off: usize, all: usize) -> Report {
    Report::new(DANGLING_OWNERS)
        .saw("owners", all)
        .saw("off", off)
}

pub(super) fn freeing(dependents: usize) -> Report {
    Report::new(ORPHANING).saw("dependents", dependents)
}

pub(super) fn freed() -> Report {
    Report::new(ORPHANED)
}

pub(super) fn blocked(by: &Blocker) -> Report {
    let until = match by.finalizers.is_empty() {
        true => Until::Deleted,
        false => Until::Finalized(by.finalizers.clone()),
    };
    Report::new(BLOCKED).waits_for(Wait::object(by.target.clone(), until))
}

pub(super) fn unlisted(kinds: &[Kind]) -> Option<Report> {
    let first = kinds.first()?;
    let report = Report::new(KIND_UNLISTED).saw("kinds", kinds.len());
    let all = Target::collection(*first, "");
    Some(report.waits_for(Wait::object(all, Until::Listed)))
}

pub(super) fn unblocked() -> Report {
    Report::new(UNBLOCKED)
}
