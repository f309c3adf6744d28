//! One pod, one moment on: what becomes of a status when something comes next.

use flyball_api::{Text, Timestamp};

use super::addresses::Addresses;
use super::asks::Asks;
use super::life::Next;
use super::phase::phase;
use super::point::running_init;
use crate::views::{
    Container, ContainerState, ContainerStatus, Node, Phase, Pod, PodStatus, Terminated,
};

/// Something that keeps a pod where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// Its node has no address left.
    NoAddress,
}

/// One pod on its way, and all that it needs to go on.
pub(super) struct Traveller<'a, 'b> {
    pub(super) pod: &'a Pod,
    pub(super) node: &'a Node,
    pub(super) asks: &'a Asks,
    pub(super) addresses: &'a mut Addresses<'b>,
    pub(super) status: PodStatus,
}

impl Traveller<'_, '_> {
    /// Lets what comes next happen at a moment, which is a whole second.
    pub(super) fn go(&mut self, next: Next, now: Timestamp) -> Result<(), Held> {
        match next {
            Next::Stay => {}
            Next::Accept => self.accept(now),
            Next::FailPull => self.wait_for("ErrImagePull"),
            Next::BackOffPull => self.wait_for("ImagePullBackOff"),
            Next::Start => self.start(now)?,
            Next::EndInit => {
                if let Some(at) = running_init(self.pod, &self.status) {
                    let container = &mut self.status.init_container_statuses[at];
                    end(container, 0, now);
                    container.ready = true;
                }
                self.start(now)?;
            }
            Next::BecomeReady => self.set_ready(true),
            Next::BecomeUnready => self.set_ready(false),
            Next::Exit => self.exit(now),
            Next::End => self.end(self.asks.exit_code, now),
            Next::Restart => self.restart(now),
            // A well-behaved program ends well when it is asked to.
            Next::Finish => self.end(0, now),
        }
        self.status.phase = phase(self.pod, &self.status);
        Ok(())
    }

    fn accept(&mut self, now: Timestamp) {
        let spec = &self.pod.spec;
        let reason = match spec.init_containers.is_empty() {
            true => "ContainerCreating",
            false => "PodInitializing",
        };
        let waiting = |containers: &[Container]| {
            let waiting = |it: &Container| ContainerStatus::waiting(&it.name, reason);
            containers.iter().map(waiting).collect()
        };
        self.status.start_time = Some(now);
        self.status.host_ip = self.node.internal_ip().into();
        self.status.init_container_statuses = waiting(&spec.init_containers);
        self.status.container_statuses = waiting(&spec.containers);
    }

    /// Shows why the containers that come first do not start.
    fn wait_for(&mut self, reason: &str) {
        let first = match self.status.init_container_statuses.is_empty() {
            true => &mut self.status.container_statuses,
            false => &mut self.status.init_container_statuses,
        };
        for container in first.iter_mut().filter(|it| it.terminated().is_none()) {
            container.state = ContainerState::Waiting {
                reason: reason.into(),
            };
        }
    }

    /// Starts the init container that is next, or all containers if none is.
    fn start(&mut self, now: Timestamp) -> Result<(), Held> {
        self.give_address()?;
        // Whatever somebody else left behind: one status for each container, in order.
        self.complete();
        let running = || ContainerState::Running {
            started_at: Some(now),
        };
        let inits = self.pod.spec.init_containers.iter();
        for (container, status) in inits.zip(&mut self.status.init_container_statuses) {
            if container.is_sidecar() {
                if !status.is_running() {
                    (status.state, status.ready) = (running(), true);
                }
            } else if status.terminated().is_none_or(|ended| ended.exit_code != 0) {
                status.state = running();
                return Ok(());
            }
        }
        for status in &mut self.status.container_statuses {
            (status.state, status.ready) = (running(), false);
        }
        Ok(())
    }

    fn complete(&mut self) {
        let complete = |containers: &[Container], statuses: &mut Vec<ContainerStatus>| {
            let known = |it: &Container| statuses.iter().find(|known| known.name == it.name);
            let all = containers.iter().map(|it| {
                let waiting = || ContainerStatus::waiting(&it.name, "ContainerCreating");
                known(it).cloned().unwrap_or_else(waiting)
            });
            *statuses = all.collect();
        };
        let spec = &self.pod.spec;
        complete(
            &spec.init_containers,
            &mut self.status.init_container_statuses,
        );
        complete(&spec.containers, &mut self.status.container_statuses);
    }

    fn give_address(&mut self) -> Result<(), Held> {
        if self.status.host_ip.is_empty() {
            self.status.host_ip = self.node.internal_ip().into();
        }
        if !self.status.pod_ip.is_empty() {
            return Ok(());
        }
        self.status.pod_ip = match self.pod.spec.host_network {
            true => self.status.host_ip.clone(),
            false => self.addresses.take(self.pod).ok_or(Held::NoAddress)?,
        };
        Ok(())
    }

    fn set_ready(&mut self, ready: bool) {
        let containers = self.status.container_statuses.iter_mut();
        for container in containers.filter(|it| it.is_running()) {
            container.ready = ready;
        }
    }

    /// All running containers exit. Those that are to be started again wait for it; when none is,
    /// sidecars stop as well.
    fn exit(&mut self, now: Timestamp) {
        let code = self.asks.exit_code;
        let again = self.pod.restarts_after(code);
        let containers = self.status.container_statuses.iter_mut();
        for container in containers.filter(|it| it.is_running()) {
            end(container, code, now);
            if again {
                container.last_state = container.terminated().cloned();
                container.state = ContainerState::Waiting {
                    reason: "CrashLoopBackOff".into(),
                };
            }
        }
        if !again {
            self.stop_sidecars(now);
        }
    }

    /// Everything ends, and nothing starts again.
    fn end(&mut self, code: i32, now: Timestamp) {
        for container in &mut self.status.container_statuses {
            if container.terminated().is_none() {
                end(container, code, now);
            }
        }
        self.stop_sidecars(now);
        if !self.status.phase.is_terminal() {
            let failed = |it: &ContainerStatus| it.terminated().is_some_and(|it| it.exit_code != 0);
            let failed = self.status.container_statuses.iter().any(failed);
            self.status.phase = if failed {
                Phase::Failed
            } else {
                Phase::Succeeded
            };
        }
    }

    fn stop_sidecars(&mut self, now: Timestamp) {
        let sidecars = self.status.init_container_statuses.iter_mut();
        for sidecar in sidecars.filter(|it| it.is_running()) {
            end(sidecar, 0, now);
        }
    }

    fn restart(&mut self, now: Timestamp) {
        for container in &mut self.status.container_statuses {
            let ended = container.terminated().cloned();
            let again = |it: &Terminated| self.pod.restarts_after(it.exit_code);
            let last = ended.or(container.last_state.clone()).filter(again);
            if container.is_running() || last.is_none() {
                continue;
            }
            container.last_state = last;
            container.restart_count = container.restart_count.saturating_add(1);
            container.ready = false;
            container.state = ContainerState::Running {
                started_at: Some(now),
            };
        }
    }
}

fn end(container: &mut ContainerStatus, exit_code: i32, now: Timestamp) {
    let started_at = match &container.state {
        ContainerState::Running { started_at } => *started_at,
        _ => None,
    };
    container.ready = false;
    container.state = ContainerState::Terminated(Terminated {
        exit_code,
        started_at,
        finished_at: Some(now),
    });
}

/// Names for reasons of an exit.
pub(super) fn exit_reason(exit_code: i32) -> Text {
    match exit_code {
        0 => "Completed".into(),
        _ => "Error".into(),
    }
}
