//! The phase of a pod, from what its containers are doing. Upstream: `getPhase` in
//! `pkg/kubelet/kubelet_pods.go`.

use crate::views::{Container, ContainerState, ContainerStatus, Phase, Pod, PodStatus};

fn find<'a>(statuses: &'a [ContainerStatus], container: &Container) -> Option<&'a ContainerStatus> {
    statuses.iter().find(|it| it.name == container.name)
}

/// The phase that a status should have.
pub(super) fn phase(pod: &Pod, status: &PodStatus) -> Phase {
    if status.phase.is_terminal() {
        return status.phase;
    }
    let (mut waiting, mut running, mut stopped) = (0, 0, 0);
    let (mut succeeded, mut restarting) = (0, 0);
    for container in &pod.spec.init_containers {
        let known = find(&status.init_container_statuses, container);
        let state = known.map(|it| &it.state);
        match (container.is_sidecar(), state) {
            (true, Some(ContainerState::Running { .. })) => running += 1,
            // Sidecars that have stopped say nothing, and init containers that ended are done.
            (_, Some(ContainerState::Terminated(_))) => {}
            _ => waiting += 1,
        }
    }
    for container in &pod.spec.containers {
        let Some(known) = find(&status.container_statuses, container) else {
            waiting += 1;
            continue;
        };
        let ended = known.terminated().or(known.last_state.as_ref());
        match (known.is_running(), ended) {
            (true, _) => running += 1,
            (false, None) => waiting += 1,
            (false, Some(ended)) => {
                stopped += 1;
                succeeded += usize::from(ended.exit_code == 0);
                restarting += usize::from(pod.restarts_after(ended.exit_code));
            }
        }
    }
    match (waiting, running, stopped) {
        (1.., _, _) | (0, 0, 0) => Phase::Pending,
        (0, 1.., _) => Phase::Running,
        _ if restarting > 0 => Phase::Running,
        _ if succeeded == stopped => Phase::Succeeded,
        _ => Phase::Failed,
    }
}

#[cfg(test)]
mod tests {
    use flyball_api::Object;
    use serde_json::{Value, json};

    use super::*;

    fn of(policy: &str, states: &[Value], init: &[(bool, Value)]) -> Phase {
        let named = |prefix: &str, at: usize| format!("{prefix}{at}");
        let status = |name: String, state: &Value| json!({"name": name, "state": state["state"], "lastState": state["lastState"]});
        let sidecar = |is: bool| if is { json!("Always") } else { Value::Null };
        let pod = json!({
            "metadata": {},
            "spec": {
                "restartPolicy": policy,
                "containers": (0..states.len()).map(|at| json!({"name": named("c", at)})).collect::<Vec<_>>(),
                "initContainers": init.iter().enumerate().map(|(at, (is, _))| {
                    json!({"name": named("i", at), "restartPolicy": sidecar(*is)})
                }).collect::<Vec<_>>(),
            },
            "status": {
                "containerStatuses": states.iter().enumerate().map(|(at, it)| status(named("c", at), it)).collect::<Vec<_>>(),
                "initContainerStatuses": init.iter().enumerate().map(|(at, (_, it))| status(named("i", at), it)).collect::<Vec<_>>(),
            },
        });
        let pod = Pod::decode(pod.to_string().as_bytes()).unwrap();
        phase(&pod, &pod.status)
    }

    /// Upstream: `TestPodPhaseWithRestart*` and `TestPodPhaseWithRestartableInitContainers*` in
    /// `pkg/kubelet/kubelet_pods_test.go`, in one table.
    #[test]
    fn follows_the_containers_and_the_restart_policy() {
        let running = || json!({"state": {"running": {}}});
        let waiting = || json!({"state": {"waiting": {}}});
        let ended = |code: i32| json!({"state": {"terminated": {"exitCode": code}}});
        let crashed = |code: i32| {
            json!({"state": {"waiting": {"reason": "CrashLoopBackOff"}},
                "lastState": {"terminated": {"exitCode": code}}})
        };
        use Phase::*;
        let cases = [
            ("Always", vec![waiting()], vec![], Pending),
            ("Always", vec![running(), waiting()], vec![], Pending),
            ("Always", vec![running(), running()], vec![], Running),
            ("Always", vec![running(), ended(1)], vec![], Running),
            ("Always", vec![ended(0), ended(1)], vec![], Running),
            ("Always", vec![crashed(1)], vec![], Running),
            ("OnFailure", vec![ended(0), ended(0)], vec![], Succeeded),
            ("OnFailure", vec![ended(0), crashed(1)], vec![], Running),
            ("Never", vec![ended(0), ended(0)], vec![], Succeeded),
            ("Never", vec![ended(0), ended(1)], vec![], Failed),
            ("Never", vec![running(), ended(1)], vec![], Running),
            ("Always", vec![waiting()], vec![(false, running())], Pending),
            ("Always", vec![running()], vec![(false, ended(0))], Running),
            ("Never", vec![ended(0)], vec![(true, running())], Running),
            ("Never", vec![ended(0)], vec![(true, ended(0))], Succeeded),
            ("Always", vec![], vec![], Pending),
        ];
        for (at, (policy, states, init, expected)) in cases.into_iter().enumerate() {
            assert_eq!(of(policy, &states, &init), expected, "case {at}");
        }
    }
}
