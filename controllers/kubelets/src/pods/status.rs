//! The status of a pod as it is sent: what changed, in the shape of the API.

use std::time::Duration;

use flyball_api::Timestamp;
use serde_json::{Map, Value, json};

use super::advance::exit_reason;
use super::back_off::back_off;
use crate::hash;
use crate::views::{
    Container, ContainerState, ContainerStatus, Pod, PodCondition, PodStatus, Terminated,
};

/// The patch that makes a pod's status the new one. Lists of containers are replaced whole, as
/// the server does with them; conditions are merged, so that only those that changed are sent.
pub(super) fn patch(pod: &Pod, new: &PodStatus) -> Value {
    let old = &pod.status;
    let mut fields = Map::new();
    let mut set = |field: &str, changed: bool, value: Value| {
        if changed {
            fields.insert(field.to_owned(), value);
        }
    };
    set("phase", old.phase != new.phase, json!(new.phase));
    set(
        "startTime",
        old.start_time != new.start_time,
        json!(new.start_time),
    );
    set("hostIP", old.host_ip != new.host_ip, json!(new.host_ip));
    set(
        "hostIPs",
        old.host_ip != new.host_ip,
        json!([{"ip": new.host_ip}]),
    );
    set("podIP", old.pod_ip != new.pod_ip, json!(new.pod_ip));
    set(
        "podIPs",
        old.pod_ip != new.pod_ip,
        json!([{"ip": new.pod_ip}]),
    );
    let changed = |condition: &&PodCondition| !old.conditions.contains(condition);
    let changed = new.conditions.iter().filter(changed);
    let conditions: Vec<Value> = changed.map(|it| condition(pod, it)).collect();
    set("conditions", !conditions.is_empty(), conditions.into());
    let lists = [
        (
            "containerStatuses",
            (&old.container_statuses, &new.container_statuses),
            &pod.spec.containers,
        ),
        (
            "initContainerStatuses",
            (&old.init_container_statuses, &new.init_container_statuses),
            &pod.spec.init_containers,
        ),
    ];
    for (field, (old, new), containers) in lists {
        let said = new
            .iter()
            .map(|status| container_status(pod, containers, status));
        set(field, old != new, said.collect::<Vec<_>>().into());
    }
    if pod.metadata.generation > 0 {
        fields.insert(
            "observedGeneration".to_owned(),
            pod.metadata.generation.into(),
        );
    }
    json!({"status": fields})
}

fn condition(pod: &Pod, condition: &PodCondition) -> Value {
    let mut said = json!({
        "type": condition.kind,
        "status": condition.status,
        "lastTransitionTime": condition.last_transition_time,
    });
    let before = pod
        .status
        .conditions
        .iter()
        .find(|it| it.kind == condition.kind);
    let texts = [
        ("reason", &condition.reason, before.map(|it| &it.reason)),
        ("message", &condition.message, before.map(|it| &it.message)),
    ];
    for (field, text, before) in texts {
        if !text.is_empty() {
            said[field] = text.as_str().into();
        } else if before.is_some_and(|before| !before.is_empty()) {
            // Null takes back what was said before.
            said[field] = Value::Null;
        }
    }
    if pod.metadata.generation > 0 {
        said["observedGeneration"] = pod.metadata.generation.into();
    }
    said
}

fn container_status(pod: &Pod, containers: &[Container], status: &ContainerStatus) -> Value {
    let container = containers.iter().find(|it| it.name == status.name);
    let image = container.map_or("", |it| it.image.as_str());
    let restarts = status.restart_count;
    let was_started = !matches!(status.state, ContainerState::Waiting { .. });
    let mut said = json!({
        "name": status.name,
        "image": image,
        "imageID": "",
        "restartCount": restarts,
        "ready": status.ready,
        "started": status.is_running(),
        "state": state(pod, image, status),
    });
    if was_started {
        said["containerID"] = container_id(pod, status, restarts).into();
    }
    if let Some(last) = &status.last_state {
        // The one that crashed and is waited for has the number that the next will exceed.
        let last_number = if was_started { restarts - 1 } else { restarts };
        said["lastState"] = json!({"terminated": terminated(pod, status, last, last_number)});
        if !was_started {
            said["containerID"] = container_id(pod, status, restarts).into();
        }
    }
    said
}

fn state(pod: &Pod, image: &str, status: &ContainerStatus) -> Value {
    match &status.state {
        ContainerState::Running { started_at } => json!({"running": {"startedAt": started_at}}),
        ContainerState::Terminated(ended) => {
            json!({"terminated": terminated(pod, status, ended, status.restart_count)})
        }
        ContainerState::Waiting { reason } => {
            let refused = format!("failed to pull image {image:?}: not found");
            let message = match reason.as_str() {
                "CrashLoopBackOff" => Some(format!(
                    "back-off {} restarting failed container={} pod={}_{}({})",
                    go_duration(back_off(status)),
                    status.name,
                    pod.metadata.name,
                    pod.metadata.namespace,
                    pod.metadata.uid
                )),
                "ErrImagePull" => Some(refused),
                "ImagePullBackOff" => Some(format!(
                    "Back-off pulling image {image:?}: ErrImagePull: {refused}"
                )),
                _ => None,
            };
            match message {
                Some(message) => json!({"waiting": {"reason": reason, "message": message}}),
                None => json!({"waiting": {"reason": reason}}),
            }
        }
    }
}

fn terminated(pod: &Pod, status: &ContainerStatus, ended: &Terminated, number: i32) -> Value {
    let started_at: Option<Timestamp> = ended.started_at;
    json!({
        "exitCode": ended.exit_code,
        "reason": exit_reason(ended.exit_code),
        "startedAt": started_at,
        "finishedAt": ended.finished_at,
        "containerID": container_id(pod, status, number),
    })
}

/// An id for one run of a container, which follows from what it is a run of.
fn container_id(pod: &Pod, status: &ContainerStatus, number: i32) -> String {
    let run = format!("{}/{}/{number}", pod.metadata.uid, status.name);
    format!("flyball://{}", hash::id(&run))
}

/// A duration of whole seconds as Go prints it.
fn go_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds / 60 {
        0 => format!("{seconds}s"),
        minutes => format!("{minutes}m{}s", seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_printed_as_go_does() {
        let said = |seconds| go_duration(Duration::from_secs(seconds));
        let cases = [
            (0, "0s"),
            (10, "10s"),
            (40, "40s"),
            (80, "1m20s"),
            (160, "2m40s"),
            (300, "5m0s"),
        ];
        for (seconds, text) in cases {
            assert_eq!(said(seconds), text);
        }
    }

    #[test]
    fn only_what_changed_is_sent() {
        let mut pod = Pod::default();
        pod.metadata.generation = 3;
        let mut new = pod.status.clone();
        new.host_ip = "172.16.0.2".into();
        let expected = json!({"status": {
            "hostIP": "172.16.0.2",
            "hostIPs": [{"ip": "172.16.0.2"}],
            "observedGeneration": 3,
        }});
        assert_eq!(patch(&pod, &new), expected);
    }
}
