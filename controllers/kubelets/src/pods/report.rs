//! What a sync of the pods of a simulated node reports: why each pod that is not ready waits.

use flyball_plan::{Detail, Rule, Until, Wait};

use super::point::Point;
use crate::views::Pod;

flyball_plan::rules! {
    NODE_LOST = "NodeLost", "the node is lost";
    NODE_TERMINATING = "NodeTerminating", "the node is terminating";
    PODS_RUN = "PodsRun", "the pods of the node run";
    NO_ADDRESS = "NoAddress", "the node has no IP address left";
    IMAGE_PULL_FAILED = "ImagePullFailed", "an image cannot be pulled";
    CONTAINERS_CREATING = "ContainersCreating", "the containers are created";
    INITIALIZING = "Initializing", "an init container runs";
    NOT_READY = "ContainersNotReady", "the containers run and are not ready";
    RESTARTING = "ContainersRestarting", "the containers exited and are started again";
    STOPPING = "PodTerminating", "the pod is terminating";
}

/// Why a pod waits; `None` for one that is ready or has ended.
pub(super) fn detail(pod: &Pod, point: Point) -> Option<Detail> {
    let (rule, until): (Rule, Until) = match point {
        Point::Ready | Point::Ended => return None,
        Point::Bound | Point::Creating => (CONTAINERS_CREATING, Until::Ready),
        Point::PullFailed | Point::PullBackedOff => (IMAGE_PULL_FAILED, Until::ImagePulled),
        Point::Initializing => (INITIALIZING, Until::Ready),
        Point::Started => (NOT_READY, Until::Ready),
        Point::Exited => (RESTARTING, Until::Ready),
        Point::Stopping => (STOPPING, Until::Deleted),
    };
    Some(Detail {
        about: pod.target(),
        rule,
        waits_for: Wait::object(pod.target(), until),
    })
}

/// Why a pod without an IP address waits.
pub(super) fn no_address(pod: &Pod) -> Detail {
    Detail {
        about: pod.target(),
        rule: NO_ADDRESS,
        waits_for: Wait::object(pod.target(), Until::Addressed),
    }
}
