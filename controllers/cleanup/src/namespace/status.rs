//! What a sync reports: what is left in the namespace, and what stands in the way of its end.

use flyball_plan::Report;

use super::findings::Findings;

pub(super) fn gone() -> Report {
    Report::new("the namespace is gone")
}

pub(super) fn another() -> Report {
    Report::new("another namespace has come under that name")
}

pub(super) fn stays() -> Report {
    Report::new("the namespace is not to go")
}

pub(super) fn finalized() -> Report {
    Report::new("nothing is left to be done for the namespace").waits_for("its own finalizers")
}

pub(super) fn unreadable() -> Report {
    Report::new("the server does not say what the namespace is like")
}

pub(super) fn unwritten() -> Report {
    Report::new("the namespace could not be written")
}

pub(super) fn empty() -> Report {
    Report::new("the namespace is empty")
}

pub(super) fn found(found: &Findings) -> Report {
    if found.has_failed() {
        return Report::new("the namespace could not be emptied")
            .saw("failures", found.failures.len())
            .waits_for(found.error());
    }
    let left: Vec<String> = found
        .remaining
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    let mut report = Report::new("content is left").saw("left", left.join(", "));
    if !found.finalizers.is_empty() {
        let held = found.finalizers.iter();
        let held: Vec<String> = held
            .map(|(name, count)| format!("{name} ({count})"))
            .collect();
        report = report.saw("finalizers", held.join(", "));
    }
    report.waits_for("it to go")
}
