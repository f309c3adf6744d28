//! Pods: what their containers are doing, in one word.

use flyball_api::Timestamp;
use serde_json::{Value, json};

use super::age;
use super::columns::{AGE, Column, NAME, Printer, cells, text as column};
use super::row::{Row, number, text};

pub(super) const PODS: Printer = Printer {
    columns: COLUMNS,
    cells,
};

const COLUMNS: &[Column] = &[
    NAME,
    column("Ready", "How many of its containers are ready."),
    column(
        "Status",
        "What its containers are doing, or why they are not.",
    ),
    column(
        "Restarts",
        "How often its containers were restarted, and when last.",
    ),
    AGE,
    column("IP", "Its first address.").wide(),
    column("Node", "The node it is bound to.").wide(),
    column("Nominated Node", "The node that is being cleared for it.").wide(),
    column(
        "Readiness Gates",
        "How many of the conditions it also waits for are true.",
    )
    .wide(),
];

fn cells(row: &Row<'_>) -> Vec<Value> {
    let life = Life::of(row);
    let first = row
        .list("status.podIPs")
        .first()
        .map_or("", |first| text(&first["ip"]));
    let address = row.filled_or("status.podIP", first);
    let gates = row.list("spec.readinessGates");
    let open = gates.iter().filter(|gate| {
        let condition = row.condition(text(&gate["conditionType"]));
        condition.is_some_and(|condition| condition["status"] == "True")
    });
    let gates = match gates.len() {
        0 => "<none>".into(),
        all => format!("{}/{all}", open.count()),
    };
    cells![
        row.name(),
        format!("{}/{}", life.ready, life.containers),
        life.reason,
        life.restarts.shown(row.now),
        row.age(),
        if address.is_empty() {
            "<none>"
        } else {
            address
        },
        row.filled_or("spec.nodeName", "<none>"),
        row.filled_or("status.nominatedNodeName", "<none>"),
        gates,
    ]
}

/// The condition of the row of a pod that has come to its end: clients may hide such rows.
pub(super) fn completed(row: &Row<'_>) -> Option<Value> {
    let phase = row.text("status.phase");
    let message = match phase {
        "Succeeded" => "The pod has completed successfully.",
        "Failed" => "The pod failed.",
        _ => return None,
    };
    Some(json!({ "type": "Completed", "status": "True", "reason": phase, "message": message }))
}

/// What a pod is doing.
struct Life {
    ready: usize,
    containers: usize,
    reason: String,
    restarts: Restarts,
}

/// How often containers were restarted, and when one last ended before.
#[derive(Default)]
struct Restarts {
    count: i64,
    last: Option<Timestamp>,
}

impl Restarts {
    fn add(&mut self, container: &Value) {
        self.count = self
            .count
            .saturating_add(number(&container["restartCount"]));
        let ended = &container["lastState"]["terminated"]["finishedAt"];
        self.last = self.last.max(age::time(ended));
    }

    fn shown(&self, now: Timestamp) -> String {
        match self.last {
            Some(last) if self.count != 0 => {
                format!("{} ({} ago)", self.count, age::between(last, now))
            }
            _ => self.count.to_string(),
        }
    }
}

impl Life {
    fn of(row: &Row<'_>) -> Self {
        let sidecars = row
            .list("spec.initContainers")
            .iter()
            .filter(|one| is_sidecar(one));
        let mut life = Self {
            ready: 0,
            containers: row.list("spec.containers").len() + sidecars.count(),
            reason: row
                .filled_or("status.reason", row.text("status.phase"))
                .into(),
            restarts: Restarts::default(),
        };
        let gated =
            |one: &Value| one["type"] == "PodScheduled" && one["reason"] == "SchedulingGated";
        if row.list("status.conditions").iter().any(gated) {
            life.reason = "SchedulingGated".into();
        }
        let (initializing, of_sidecars) = life.initialize(row);
        let initialized = row
            .condition("Initialized")
            .is_some_and(|one| one["status"] == "True");
        if !initializing || initialized {
            // Init containers that are done do not count any more.
            life.restarts = of_sidecars;
            life.run(row);
        }
        if row.is_deleting() {
            if row.text("status.reason") == "NodeLost" {
                life.reason = "Unknown".into();
            } else if !matches!(row.text("status.phase"), "Succeeded" | "Failed") {
                life.reason = "Terminating".into();
            }
        }
        life
    }

    /// Looks at init containers up to the first that is not done: whether there is one, and the restarts
    /// of those that run beside the others.
    fn initialize(&mut self, row: &Row<'_>) -> (bool, Restarts) {
        let specs = row.list("spec.initContainers");
        let mut of_sidecars = Restarts::default();
        for (at, container) in row.list("status.initContainerStatuses").iter().enumerate() {
            self.restarts.add(container);
            let spec = specs.iter().rfind(|spec| spec["name"] == container["name"]);
            let sidecar = spec.is_some_and(is_sidecar);
            if sidecar {
                of_sidecars.add(container);
            }
            let (terminated, waiting) = (
                &container["state"]["terminated"],
                &container["state"]["waiting"],
            );
            if terminated.is_object() && number(&terminated["exitCode"]) == 0 {
                continue;
            }
            if sidecar && container["started"] == true {
                self.ready += usize::from(container["ready"] == true);
                continue;
            }
            let waits_for = text(&waiting["reason"]);
            self.reason = if terminated.is_object() {
                format!("Init:{}", end_of(terminated))
            } else if !matches!(waits_for, "" | "PodInitializing") {
                format!("Init:{waits_for}")
            } else {
                format!("Init:{at}/{}", specs.len())
            };
            return (true, of_sidecars);
        }
        (false, of_sidecars)
    }

    /// Looks at the containers, from the last to the first: the first has the last word.
    fn run(&mut self, row: &Row<'_>) {
        let mut running = false;
        let mut failure = None;
        for container in row.list("status.containerStatuses").iter().rev() {
            self.restarts.add(container);
            let state = &container["state"];
            let waits_for = text(&state["waiting"]["reason"]);
            if !waits_for.is_empty() {
                self.reason = waits_for.into();
            } else if state["terminated"].is_object() {
                self.reason = end_of(&state["terminated"]);
                if number(&state["terminated"]["exitCode"]) != 0 {
                    failure = Some(self.reason.clone());
                }
            } else if container["ready"] == true && state["running"].is_object() {
                running = true;
                self.ready += 1;
            }
        }
        // One that completed says nothing about a pod in which another still runs or failed.
        if self.reason == "Completed" {
            let is_ready = |one: &Value| one["type"] == "Ready" && one["status"] == "True";
            let ready = row.list("status.conditions").iter().any(is_ready);
            match failure {
                _ if running && ready => self.reason = "Running".into(),
                Some(failure) => self.reason = failure,
                None if running => self.reason = "NotReady".into(),
                None => {}
            }
        }
    }
}

/// Whether an init container keeps running beside the containers.
fn is_sidecar(container: &Value) -> bool {
    container["restartPolicy"] == "Always"
}

/// Why a container ended.
fn end_of(terminated: &Value) -> String {
    let signal = number(&terminated["signal"]);
    match text(&terminated["reason"]) {
        "" if signal != 0 => format!("Signal:{signal}"),
        "" => format!("ExitCode:{}", number(&terminated["exitCode"])),
        reason => reason.into(),
    }
}
