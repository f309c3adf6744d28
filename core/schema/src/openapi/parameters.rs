//! The query parameters of requests.

/// A parameter: its name, the type of its value, and what it does.
pub(super) type Parameter = (&'static str, &'static str, &'static str);

/// Understood by every request.
pub(super) const PRETTY: Parameter = (
    "pretty",
    "string",
    "Whether the answer is indented for people: true or false.",
);

const CONTINUE: Parameter = (
    "continue",
    "string",
    "The token of the page before, to continue a list that was cut by limit.",
);
const DRY_RUN: Parameter = (
    "dryRun",
    "string",
    "All: do everything but store the outcome.",
);
const FIELD_MANAGER: Parameter = (
    "fieldManager",
    "string",
    "The name under which the written fields are owned.",
);
const FIELD_SELECTOR: Parameter = (
    "fieldSelector",
    "string",
    "Only objects whose fields match.",
);
const FIELD_VALIDATION: Parameter = (
    "fieldValidation",
    "string",
    "What happens to unknown and duplicate fields: Ignore drops them, Warn drops them with a warning, Strict refuses the request.",
);
const FORCE: Parameter = (
    "force",
    "boolean",
    "Whether an apply takes over fields that others own.",
);
const GRACE_PERIOD: Parameter = (
    "gracePeriodSeconds",
    "integer",
    "How many seconds the object may take to end; 0 deletes at once.",
);
const LABEL_SELECTOR: Parameter = (
    "labelSelector",
    "string",
    "Only objects whose labels match.",
);
const LIMIT: Parameter = ("limit", "integer", "How many objects a page has at most.");
const ORPHAN: Parameter = (
    "orphanDependents",
    "boolean",
    "Whether dependents stay; superseded by propagationPolicy.",
);
const PROPAGATION: Parameter = (
    "propagationPolicy",
    "string",
    "What happens to dependents: Orphan, Background or Foreground.",
);
const RESOURCE_VERSION: Parameter = (
    "resourceVersion",
    "string",
    "The version of the collection that is asked for.",
);
const RESOURCE_VERSION_MATCH: Parameter = (
    "resourceVersionMatch",
    "string",
    "How resourceVersion is meant: Exact or NotOlderThan.",
);
const SEND_INITIAL_EVENTS: Parameter = (
    "sendInitialEvents",
    "boolean",
    "Whether a watch begins with the objects that there are, and a bookmark after them.",
);
const TIMEOUT: Parameter = ("timeoutSeconds", "integer", "How long the call may take.");

/// Of requests that write.
pub(super) const WRITE: &[Parameter] = &[DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION];
/// Of patches.
pub(super) const PATCH: &[Parameter] = &[DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION, FORCE];
/// Of the deletion of one object.
pub(super) const DELETE: &[Parameter] = &[DRY_RUN, GRACE_PERIOD, ORPHAN, PROPAGATION];
/// Of the deletion of a collection.
pub(super) const DELETE_COLLECTION: &[Parameter] = &[
    CONTINUE,
    DRY_RUN,
    FIELD_SELECTOR,
    GRACE_PERIOD,
    LABEL_SELECTOR,
    LIMIT,
    ORPHAN,
    PROPAGATION,
    RESOURCE_VERSION,
    RESOURCE_VERSION_MATCH,
    SEND_INITIAL_EVENTS,
    TIMEOUT,
];
/// Of lists and watches.
pub(super) const LIST: &[Parameter] = &[
    (
        "allowWatchBookmarks",
        "boolean",
        "Whether a watch may send bookmarks.",
    ),
    CONTINUE,
    FIELD_SELECTOR,
    LABEL_SELECTOR,
    LIMIT,
    RESOURCE_VERSION,
    RESOURCE_VERSION_MATCH,
    SEND_INITIAL_EVENTS,
    TIMEOUT,
    (
        "watch",
        "boolean",
        "Whether to stream changes instead of listing.",
    ),
];
