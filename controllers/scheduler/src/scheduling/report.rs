//! What a sync of the scheduler reports: how many pods were placed, and why each other one waits.

use std::time::Duration;

use flyball_api::ApiError;
use flyball_plan::{Detail, Report, Step, Target, Timer, Until, Wait};

use super::Observation;
use crate::placing::Decision;
use crate::views::Node;

flyball_plan::rules! {
    NOTHING_FITS = "NothingFits", "nothing fits";
    PLACED = "Placed", "placed";
    PLACED_SOME = "PlacedSome", "placed some";
    UNSCHEDULABLE = "Unschedulable", "no node fits the pod";
}

/// When pods that fit nowhere are tried again although nothing has changed (upstream,
/// `DefaultPodMaxInUnschedulablePodsDuration`).
const RETRY: Duration = Duration::from_secs(5 * 60);

/// How a sync ends.
pub(super) fn rest(
    seen: &Observation,
    decision: &Decision,
    untold: bool,
    error: Option<&ApiError>,
) -> Step {
    let (placed, failed) = (decision.placed.len(), decision.failed.len());
    let rule = match (placed, failed) {
        (0, _) => NOTHING_FITS,
        (_, 0) => PLACED,
        _ => PLACED_SOME,
    };
    let nodes = |pods| Wait::object(Target::collection(Node::KIND, ""), Until::FitPods(pods));
    let details = decision.failed.iter().map(|failure| Detail {
        about: failure.pod.target(),
        rule: UNSCHEDULABLE,
        waits_for: nodes(1),
    });
    let report = Report::new(rule)
        .saw("nodes", seen.nodes.len())
        .saw("waiting", seen.pending.len())
        .saw("gated", seen.gated)
        .saw("placed", placed)
        .saw("unschedulable", failed)
        .details(details);
    if let Some(error) = error {
        return Step::retry(error, report.waits_for(Wait::answer(error, "")));
    }
    if decision.more || untold {
        let report = report.waits_for(Wait::Time(Timer::NextBatch));
        return Step::rest_for(Duration::ZERO, report);
    }
    if failed > 0 {
        return Step::rest_for(RETRY, report.waits_for(nodes(failed)));
    }
    Step::rest(report)
}
