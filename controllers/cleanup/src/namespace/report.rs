//! What a sync reports: what is left in the namespace, and what stands in the way of its end.

use flyball_api::views::Namespace;
use flyball_plan::{Report, Target, Until, Wait};

use super::findings::Findings;

flyball_plan::rules! {
    GONE = "NamespaceGone", "the namespace is gone";
    REPLACED = "NamespaceReplaced", "another namespace has this name";
    NOT_TERMINATING = "NamespaceNotTerminating", "the namespace is not terminating";
    FINALIZED = "NamespaceFinalized", "the namespace has no finalizer of ours";
    UNREADABLE = "NamespaceUnreadable", "the namespace could not be read";
    UNWRITTEN = "NamespaceUnwritten", "the namespace could not be written";
    EMPTY = "NamespaceEmpty", "the namespace is empty";
    DELETION_FAILED = "ContentDeletionFailed", "the content could not be deleted";
    CONTENT_REMAINS = "ContentRemains", "content remains";
}

pub(super) fn gone() -> Report {
    Report::new(GONE)
}

pub(super) fn another() -> Report {
    Report::new(REPLACED)
}

pub(super) fn stays() -> Report {
    Report::new(NOT_TERMINATING)
}

pub(super) fn finalized(namespace: &Namespace) -> Report {
    let target = Target::of(Namespace::KIND, &namespace.metadata);
    Report::new(FINALIZED).waits_for(Wait::object(target, Until::Deleted))
}

pub(super) fn unreadable() -> Report {
    Report::new(UNREADABLE)
}

pub(super) fn unwritten() -> Report {
    Report::new(UNWRITTEN)
}

pub(super) fn empty() -> Report {
    Report::new(EMPTY)
}

pub(super) fn found(found: &Findings) -> Report {
    if found.has_failed() {
        return Report::new(DELETION_FAILED)
            .saw("failures", found.failures.len())
            .saw("error", found.error())
            .waits_for(found.blocker().unwrap_or(Wait::RETRY));
    }
    let left: Vec<String> = found
        .remaining
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    let mut report = Report::new(CONTENT_REMAINS).saw("left", left.join(", "));
    if !found.finalizers.is_empty() {
        let held = found.finalizers.iter();
        let held: Vec<String> = held
            .map(|(name, count)| format!("{name} ({count})"))
            .collect();
        report = report.saw("finalizers", held.join(", "));
    }
    match found.blocker() {
        Some(blocker) => report.waits_for(blocker),
        None => report,
    }
}
