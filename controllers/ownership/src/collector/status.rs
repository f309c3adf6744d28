//! What a sync reports: why something goes, stays or is waited for.

use flyball_api::Kind;
use flyball_plan::{Propagation, Report};

use super::item::Item;

pub(super) fn going() -> Report {
    Report::new("it is on its way out")
}

pub(super) fn unowned() -> Report {
    Report::new("it belongs to nobody")
}

pub(super) fn owner_alive() -> Report {
    Report::new("an owner lives")
}

pub(super) fn misplaced() -> Report {
    Report::new("cluster-scoped objects cannot refer to namespaced owners")
}

pub(super) fn unknown_kind() -> Report {
    Report::new("nobody knows the kind of an owner").waits_for("discovery to tell of it")
}

pub(super) fn owner_gone(dependents: usize) -> Report {
    Report::new("the owner is gone").saw("dependents", dependents)
}

pub(super) fn owner_unseen() -> Report {
    Report::new("the owner lives").waits_for("a cache to show it")
}

pub(super) fn owner_unanswered() -> Report {
    Report::new("the server did not say whether the owners live")
}

pub(super) fn garbage(how: Propagation) -> Report {
    let how = match how {
        Propagation::Background => "Background",
        Propagation::Foreground => "Foreground",
        Propagation::Orphan => "Orphan",
    };
    Report::new("no owner lives").saw("propagation", how)
}

pub(super) fn gone_already() -> Report {
    Report::new("it is gone already")
}

pub(super) fn owners_changed() -> Report {
    Report::new("its owners have changed").waits_for("the cache to show it")
}

pub(super) fn circle() -> Report {
    Report::new("it may block its own owner")
}

pub(super) fn stripped(off: usize, all: usize) -> Report {
    Report::new("owners that are gone are taken off")
        .saw("owners", all)
        .saw("off", off)
}

pub(super) fn freeing(dependents: usize) -> Report {
    Report::new("its dependents are set free").saw("dependents", dependents)
}

pub(super) fn freed() -> Report {
    Report::new("its dependents are free")
}

pub(super) fn blocked(by: &Item) -> Report {
    Report::new("a dependent blocks it").waits_for(format!("{by} to go"))
}

pub(super) fn unlisted(kinds: &[Kind]) -> Option<Report> {
    let first = kinds.first()?;
    let rule = "a kind that could hold a dependent is not listed yet";
    let report = Report::new(rule).saw("kinds", kinds.len());
    Some(report.waits_for(format!("the list of {first}")))
}

pub(super) fn unblocked() -> Report {
    Report::new("no dependent blocks it")
}
