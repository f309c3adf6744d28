//! What a sync reports: whether the namespace has its account, and if not, why.

use flyball_api::ObjectName;
use flyball_api::views::ServiceAccount;
use flyball_plan::{Report, Target, Until, Wait};

use super::{NAME, Observation};

flyball_plan::rules! {
    NAMESPACE_NOT_ACTIVE = "NamespaceNotActive", "the namespace is not active";
    ACCOUNT_EXISTS = "ServiceAccountExists", "the namespace has its account";
    ACCOUNT_MISSING = "ServiceAccountMissing", "the account is missing";
}

pub(super) fn not_active() -> Report {
    Report::new(NAMESPACE_NOT_ACTIVE)
}

pub(super) fn complete() -> Report {
    Report::new(ACCOUNT_EXISTS)
}

pub(super) fn missing(seen: &Observation) -> Report {
    Report::new(ACCOUNT_MISSING).saw("namespace", &seen.namespace.metadata.name)
}

/// The account has appeared meanwhile.
pub(super) fn unseen(seen: &Observation) -> Wait {
    let target = Target {
        kind: ServiceAccount::KIND,
        name: ObjectName::new(&seen.namespace.metadata.name, NAME),
    };
    Wait::object(target, Until::Cached)
}

/// The namespace is terminating.
pub(super) fn terminating(seen: &Observation) -> Wait {
    Wait::object(
        Target::namespace(&seen.namespace.metadata.name),
        Until::Deleted,
    )
}
