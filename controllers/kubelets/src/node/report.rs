//! What a sync of a simulated node reports.

use flyball_api::ObjectName;
use flyball_plan::{Report, Target, Until, Wait};

use crate::views::Node;

flyball_plan::rules! {
    NOT_SIMULATED = "NodeNotSimulated", "the node is not simulated";
    TERMINATING = "NodeTerminating", "the node is terminating";
    LOST = "NodeLost", "the node is lost";
    ALIVE = "NodeAlive", "the node is alive";
    MISSING = "NodeMissing", "the node is missing";
    REPORTS = "NodeReports", "the node reports";
}

/// A node that was registered, which the cache does not show.
pub(super) fn registered(name: &str) -> Report {
    let target = Target {
        kind: Node::KIND,
        name: ObjectName::new("", name),
    };
    Report::new(MISSING).waits_for(Wait::object(target, Until::Cached))
}
