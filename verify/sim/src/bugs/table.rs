//! The table of deliberate bugs: names for people, and what each is drawn from.

use super::Bug;

/// Every bug with its name and what it is drawn from.
pub const BUGS: &[(Bug, &str, &str)] = &[
    (
        Bug::ForgetsOwnWrites,
        "forgets-own-writes",
        "stale-cache double create: what upstream's expectations are for",
    ),
    (
        Bug::DeletesByName,
        "deletes-by-name",
        "delete by name: upstream's StatefulSet and Job deletes without preconditions",
    ),
    (
        Bug::PatchesBlindly,
        "patches-blindly",
        "missing precondition: adoption races of kubernetes#42639",
    ),
    (
        Bug::SurgeOffByOne,
        "surge-off-by-one",
        "off by one in surge: fencepost errors of rolling updates",
    ),
    (
        Bug::UnavailableOffByOne,
        "unavailable-off-by-one",
        "off by one in unavailable: the same on the way down",
    ),
    (
        Bug::WaitsForNothing,
        "waits-for-nothing",
        "expectation leak: creations counted that never happened",
    ),
    (
        Bug::SwallowsErrors,
        "swallows-errors",
        "errors dropped in a sync, so that nothing tries again",
    ),
    (
        Bug::StatusBeforeAction,
        "status-before-action",
        "status written before the action it tells of",
    ),
    (
        Bug::WritesAfterItsTerm,
        "writes-after-its-term",
        "split leader: kubernetes#67651 and the like",
    ),
    (
        Bug::RepairsOnResyncOnly,
        "repairs-on-resync-only",
        "a lost trigger that only the periodic resync repairs",
    ),
    (
        Bug::DropsDeletions,
        "drops-deletions",
        "deletions lost between a watch and the cache",
    ),
    (
        Bug::SkipsWhatExpired,
        "skips-what-expired",
        "a watch resumed from now after 410, without a list",
    ),
    (
        Bug::DeletesOldSets,
        "deletes-old-sets",
        "revision history lost in a roll-out",
    ),
    (
        Bug::NeverContent,
        "never-content",
        "hot loop by a status that changes with each write",
    ),
    (
        Bug::TouchesStrangers,
        "touches-strangers",
        "selectors that overlap: pods of others deleted",
    ),
    (
        Bug::CollectsForEver,
        "collects-for-ever",
        "deletions do not trigger the aggregate",
    ),
    (
        Bug::LosesBindings,
        "loses-bindings",
        "a binding assumed to have worked and never forgotten",
    ),
    (
        Bug::NeverStopsPods,
        "never-stops-pods",
        "pods stuck in Terminating",
    ),
    (
        Bug::IgnoresTombstones,
        "ignores-tombstones",
        "DeletedFinalStateUnknown dropped by a handler",
    ),
    (
        Bug::PublishesOnce,
        "publishes-once",
        "updates of what was published are not watched",
    ),
    (
        Bug::CollectsByName,
        "collects-by-name",
        "an owner made again under the same name keeps garbage alive",
    ),
    (
        Bug::TrustsItsCache,
        "trusts-its-cache",
        "absent owners not confirmed: dependents of new owners collected",
    ),
    (
        Bug::IgnoresOtherOwners,
        "ignores-other-owners",
        "an object with a living and a dead owner is collected",
    ),
    (
        Bug::LetsGoBeforeFreeing,
        "lets-go-before-freeing",
        "orphan finalizer removed first: kubernetes#42639's kind of cascade",
    ),
    (
        Bug::OverlooksDependents,
        "overlooks-dependents",
        "foreground deletion that does not wait for what it cannot see",
    ),
    (
        Bug::LosesFinalizerRemovals,
        "loses-finalizer-removals",
        "lost finalizer removal: owners stuck in Terminating",
    ),
    (
        Bug::TakesFailedListsForEmpty,
        "takes-failed-lists-for-empty",
        "a namespace finalized although a list had failed",
    ),
    (
        Bug::PassesOverGroups,
        "passes-over-groups",
        "a namespace finalized although discovery had failed in part",
    ),
    (
        Bug::ErasesConditions,
        "erases-conditions",
        "a status written whole from what the controller knows of it",
    ),
    (
        Bug::CachesSecondView,
        "caches-second-view",
        "a kind cached as the view of one controller: the others see none of it, and take that for complete",
    ),
    (
        Bug::ReadyBeforePublished,
        "ready-before-published",
        "a controller that begins between the end of a list and its publication",
    ),
    (
        Bug::DropsOldVersion,
        "drops-old-version",
        "a CRD gains a version: dependents invisible until the new one is listed",
    ),
    (
        Bug::BelievesIncomplete,
        "believes-incomplete",
        "an owner released while a kind of its dependents is not listed",
    ),
    (
        Bug::PermitBeforeConnecting,
        "permit-before-connecting",
        "a write sent after the term, because connecting took long",
    ),
    (
        Bug::LeadsWithOldCaches,
        "leads-with-old-caches",
        "a standby that takes over before it has seen its predecessor's last writes",
    ),
    (
        Bug::TakesLowerVersions,
        "takes-lower-versions",
        "etcd restored from an older snapshot: caches of two histories",
    ),
    (
        Bug::KeepsGates,
        "keeps-gates",
        "keys that wait for ever for writes of a lost history",
    ),
    (
        Bug::SparesOneKind,
        "spares-one-kind",
        "one kind of a lost history beside others of the present one",
    ),
    (
        Bug::LosesResyncs,
        "loses-resyncs",
        "a new leader that does not look at what its predecessor left",
    ),
    (
        Bug::RoutesBeforePublishing,
        "routes-before-publishing",
        "a change handled by a lister that does not show it yet",
    ),
    (
        Bug::HandsOutTwice,
        "hands-out-twice",
        "two workers on one key",
    ),
    (
        Bug::StopsWithoutWaiting,
        "stops-without-waiting",
        "a Lease released before the last write: two leaders at once",
    ),
    (
        Bug::NeverDoubts,
        "never-doubts",
        "writes after a reconnection to a server that was restored meanwhile",
    ),
];
