//! Where a pod is in its life, as its status tells, and since when.

use std::time::Duration;

use flyball_api::Timestamp;

use crate::views::{ContainerState, ContainerStatus, Pod, PodStatus};

/// Where a pod is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// Assigned to the node, not accepted yet.
    Bound,
    /// Accepted; nothing has started.
    Creating,
    /// An image could not be pulled.
    PullFailed,
    /// An image could not be pulled, and is not tried again for a while.
    PullBackedOff,
    /// An init container runs.
    Initializing,
    /// The containers run, but are not ready.
    Started,
    /// The containers run and are ready.
    Ready,
    /// The containers have exited and are to be started again.
    Exited,
    /// Nothing will run any more.
    Ended,
    /// Told to go away.
    Stopping,
}

impl Point {
    /// Where a pod of this status is.
    pub(super) fn of(pod: &Pod, status: &PodStatus) -> Self {
        if pod.metadata.is_deleting() {
            return Self::Stopping;
        }
        if status.phase.is_terminal() {
            return Self::Ended;
        }
        if status.start_time.is_none() {
            return Self::Bound;
        }
        let containers = &status.container_statuses;
        let mut running = containers.iter().filter(|it| it.is_running()).peekable();
        if running.peek().is_some() {
            let ready = running.all(|container| container.ready);
            return if ready { Self::Ready } else { Self::Started };
        }
        let ended = |it: &ContainerStatus| it.last_state.is_some() || it.terminated().is_some();
        if containers.iter().any(ended) {
            return Self::Exited;
        }
        if running_init(pod, status).is_some() {
            return Self::Initializing;
        }
        let waits_for = |word: &str| {
            let all = containers.iter().chain(&status.init_container_statuses);
            let reasons = all.map(|container| &container.state);
            reasons
                .filter(
                    |state| matches!(state, ContainerState::Waiting { reason } if reason == word),
                )
                .count()
                > 0
        };
        if waits_for("ErrImagePull") {
            Self::PullFailed
        } else if waits_for("ImagePullBackOff") {
            Self::PullBackedOff
        } else {
            Self::Creating
        }
    }
}

/// The init container that runs now and is to end, by its place.
pub(super) fn running_init(pod: &Pod, status: &PodStatus) -> Option<usize> {
    let running = |(at, container): (usize, &ContainerStatus)| {
        let sidecar = pod.spec.init_containers.get(at)?.is_sidecar();
        (!sidecar && container.is_running()).then_some(at)
    };
    status
        .init_container_statuses
        .iter()
        .enumerate()
        .find_map(running)
}

/// Since when a pod is where it is. A stamp that is missing lies in the past.
pub(super) fn since(point: Point, pod: &Pod, status: &PodStatus) -> Timestamp {
    let at = match point {
        Point::Bound | Point::Ended => None,
        Point::Creating | Point::PullFailed | Point::PullBackedOff => status.start_time,
        Point::Initializing => running_init(pod, status)
            .and_then(|at| status.init_container_statuses.get(at))
            .and_then(started_at),
        Point::Started | Point::Ready => status
            .container_statuses
            .iter()
            .filter_map(started_at)
            .max(),
        Point::Exited => status
            .container_statuses
            .iter()
            .filter_map(finished_at)
            .max(),
        Point::Stopping => pod.metadata.deletion_timestamp.map(|at| {
            let grace = pod.metadata.deletion_grace_period_seconds.unwrap_or(0);
            at.saturating_sub(Duration::from_secs(grace.unsigned_abs()))
        }),
    };
    at.unwrap_or(Timestamp::MIN)
}

fn started_at(container: &ContainerStatus) -> Option<Timestamp> {
    match &container.state {
        ContainerState::Running { started_at } => *started_at,
        _ => None,
    }
}

fn finished_at(container: &ContainerStatus) -> Option<Timestamp> {
    let last = container.terminated().or(container.last_state.as_ref())?;
    last.finished_at
}
