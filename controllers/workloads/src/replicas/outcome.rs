//! What managing the pods of an owner came to.

use flyball_plan::{Action, Record, RecordKind};

use super::Owner;

/// What managing the pods came to. The default: nothing was to be done.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// How many pods were created.
    pub(super) created: usize,
    /// How many pods were deleted, or were found to be gone already.
    pub(super) deleted: usize,
    /// Nothing can be created because the namespace is terminating.
    pub(super) namespace_terminating: bool,
    /// What went wrong first.
    pub(super) refusal: Option<Refusal>,
}

/// Why pods could not be managed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// `FailedCreate` or `FailedDelete`.
    pub(super) reason: &'static str,
    /// Why the sync fails.
    pub(super) failure: flyball_plan::Failure,
}

impl Outcome {
    /// It could not even be tried.
    pub(super) fn refused(refusal: Refusal) -> Self {
        Self {
            refusal: Some(refusal),
            ..Self::default()
        }
    }
}

pub(super) fn normal(owner: &Owner<'_>, reason: &'static str, message: String) -> Action {
    record(owner, RecordKind::Normal, reason, message)
}

pub(super) fn warning(owner: &Owner<'_>, reason: &'static str, message: String) -> Action {
    record(owner, RecordKind::Warning, reason, message)
}

fn record(owner: &Owner<'_>, kind: RecordKind, reason: &'static str, message: String) -> Action {
    Record::on(owner.kind, owner.meta, kind, reason, message).into()
}
