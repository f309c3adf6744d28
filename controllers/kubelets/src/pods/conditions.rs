//! The conditions of a pod that are a kubelet's to say. Upstream: `pkg/kubelet/status/generate.go`.

use flyball_api::{ConditionStatus, Text, Timestamp};

use crate::views::{Container, ContainerStatus, Phase, Pod, PodCondition, PodStatus};

/// Why something does not hold: a word for machines and a sentence for people.
type Why = (&'static str, String);

/// Brings the conditions of a status up to date.
pub(super) fn refresh(pod: &Pod, status: &mut PodStatus, now: Timestamp) {
    for new in changed(pod, status, now) {
        let old = status.conditions.iter_mut().find(|it| it.kind == new.kind);
        match old {
            Some(old) => *old = new,
            None => status.conditions.push(new),
        }
    }
}

/// The conditions that are not as they should be, as they should be.
pub(super) fn changed(pod: &Pod, status: &PodStatus, now: Timestamp) -> Vec<PodCondition> {
    let mut changed = Vec::new();
    for (kind, value) in said(pod, status) {
        let (holds, (reason, message)) = match value {
            Ok(reason) => (ConditionStatus::True, (reason, String::new())),
            Err(why) => (ConditionStatus::False, why),
        };
        let old = status.conditions.iter().find(|it| it.kind == kind);
        let is_right = |old: &&PodCondition| {
            old.status == holds && old.reason == reason && old.message == *message
        };
        if old.filter(is_right).is_some() {
            continue;
        }
        let since = old.filter(|old| old.status == holds);
        let since = since.and_then(|old| old.last_transition_time);
        changed.push(PodCondition {
            kind: kind.into(),
            status: holds,
            last_transition_time: since.or(Some(now)),
            reason: reason.into(),
            message: message.into(),
        });
    }
    changed
}

/// All that is to be said: what holds, maybe with a reason, and what does not and why.
fn said(pod: &Pod, status: &PodStatus) -> [(&'static str, Result<&'static str, Why>); 4] {
    let containers = containers_ready(pod, status);
    [
        ("PodReadyToStartContainers", sandboxed(status)),
        ("Initialized", initialized(pod, status)),
        (
            "Ready",
            containers.clone().and_then(|_| gates_open(pod, status)),
        ),
        ("ContainersReady", containers),
    ]
}

/// A pod has its network from the moment it has an address until it ends.
fn sandboxed(status: &PodStatus) -> Result<&'static str, Why> {
    match status.pod_ip.is_empty() || status.phase.is_terminal() {
        true => Err(("", String::new())),
        false => Ok(""),
    }
}

fn initialized(pod: &Pod, status: &PodStatus) -> Result<&'static str, Why> {
    let has_started = |it: &ContainerStatus| {
        it.is_running() || it.terminated().is_some() || it.last_state.is_some()
    };
    if status.phase == Phase::Succeeded {
        return Ok("PodCompleted");
    }
    if status.container_statuses.iter().any(has_started) {
        return Ok("");
    }
    let containers = &pod.spec.init_containers;
    let done = |container: &Container, it: &ContainerStatus| match container.is_sidecar() {
        true => it.is_running(),
        false => it.ready,
    };
    missing(
        containers,
        &status.init_container_statuses,
        "incomplete",
        done,
    )
    .map_err(|message| ("ContainersNotInitialized", message))
}

fn containers_ready(pod: &Pod, status: &PodStatus) -> Result<&'static str, Why> {
    match status.phase {
        Phase::Succeeded => return Err(("PodCompleted", String::new())),
        Phase::Failed => return Err(("PodFailed", String::new())),
        Phase::Pending | Phase::Running => {}
    }
    let sidecars = pod.spec.init_containers.iter().filter(|it| it.is_sidecar());
    let containers: Vec<&Container> = sidecars.chain(&pod.spec.containers).collect();
    let statuses = status.init_container_statuses.iter();
    let statuses: Vec<&ContainerStatus> = statuses.chain(&status.container_statuses).collect();
    missing(containers, statuses, "unready", |_, it| it.ready)
        .map_err(|message| ("ContainersNotReady", message))
}

/// Fails with a list of the containers that nothing is known of and of those that are not `done`.
fn missing<'a>(
    containers: impl IntoIterator<Item = &'a Container>,
    statuses: impl IntoIterator<Item = &'a ContainerStatus> + Clone,
    word: &str,
    done: impl Fn(&Container, &ContainerStatus) -> bool,
) -> Result<&'static str, String> {
    let (mut unknown, mut undone): (Vec<&str>, Vec<&str>) = Default::default();
    for container in containers {
        let known = statuses
            .clone()
            .into_iter()
            .find(|it| it.name == container.name);
        match known {
            None => unknown.push(&container.name),
            Some(known) if !done(container, known) => undone.push(&container.name),
            Some(_) => {}
        }
    }
    let list = |word: &str, names: &[&str]| {
        let said = format!("containers with {word} status: [{}]", names.join(" "));
        (!names.is_empty()).then_some(said)
    };
    let lists: Vec<String> = list("unknown", &unknown)
        .into_iter()
        .chain(list(word, &undone))
        .collect();
    match lists.is_empty() {
        true => Ok(""),
        false => Err(lists.join(", ")),
    }
}

/// Whether the conditions of others that the pod depends on hold.
fn gates_open(pod: &Pod, status: &PodStatus) -> Result<&'static str, Why> {
    let shut = |gate: &Text| {
        let condition = status.conditions.iter().find(|it| it.kind == *gate);
        match condition.map(|it| it.status) {
            Some(ConditionStatus::True) => None,
            Some(other) => Some(format!(
                "the status of pod readiness gate {gate:?} is not \"True\", but {other:?}"
            )),
            None => Some(format!(
                "corresponding condition of pod readiness gate {gate:?} does not exist."
            )),
        }
    };
    let shut: Vec<String> = pod.spec.readiness_gates.iter().filter_map(shut).collect();
    match shut.is_empty() {
        true => Ok(""),
        false => Err(("ReadinessGatesNotReady", shut.join(", "))),
    }
}
