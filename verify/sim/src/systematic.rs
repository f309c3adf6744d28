//! Systematic mode: not drawn but counted out. For each scenario a run without faults says how
//! many writes and events there are; then every one of them has its own run in which the writer
//! dies right after that write, that event is hidden for a minute, or the writer comes back to
//! ever older views.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::{Edit, Fault, Plan, Planned, Sim, Violation, When};

/// How old the oldest view is that a writer comes back to, in revisions.
const BEHIND_MAX: u64 = 6;

/// For how long an event is hidden: longer than a term lasts.
const HIDDEN: Duration = Duration::from_secs(60);

/// How long the edits of a scenario and what follows take.
const LASTS: Duration = Duration::from_secs(240);

/// What came of it.
#[derive(Debug, Default)]
pub struct Systematic {
    /// Per scenario: its name, its writes, its events and how many plans were run.
    pub scenarios: Vec<(&'static str, u64, u64, usize)>,
    /// What was wrong: the scenario, the fault, and how.
    pub failures: Vec<(&'static str, String, Violation)>,
}

/// Goes through all scenarios, on so many threads.
pub fn systematic(threads: usize) -> Systematic {
    let mut all = Systematic::default();
    for (name, edits) in scenarios() {
        let sim = Sim::kubernetes().edits(edits);
        let calm = Plan {
            faults: Vec::new(),
            rage: LASTS,
            ..sim.plan(1)
        };
        let outcome = sim.run_plan(calm.clone(), false);
        if let Some(violation) = outcome.violation {
            all.failures.push((name, "no fault".to_owned(), violation));
            continue;
        }
        let faults = every(outcome.writes, outcome.deliveries);
        all.scenarios
            .push((name, outcome.writes, outcome.deliveries, faults.len()));
        let failures = run_each(&sim, &calm, &faults, threads);
        let failures = failures.into_iter();
        all.failures
            .extend(failures.map(|(fault, violation)| (name, fault, violation)));
    }
    all
}

/// One fault for everything that is counted.
fn every(writes: u64, deliveries: u64) -> Vec<(When, Fault)> {
    let crash = |behind| Fault::CrashWriter {
        down: Duration::from_secs(1),
        behind,
    };
    let mut faults = Vec::new();
    for write in 1..=writes {
        for behind in 0..=BEHIND_MAX {
            faults.push((When::AfterWrite(write), crash(behind)));
        }
    }
    for delivery in 1..=deliveries {
        let hide = Fault::HideEvent { lasts: HIDDEN };
        faults.push((When::BeforeDelivery(delivery), hide));
    }
    faults
}

fn run_each(
    sim: &Sim,
    calm: &Plan,
    faults: &[(When, Fault)],
    threads: usize,
) -> Vec<(String, Violation)> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while let Some((when, what)) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let told = format!("{what:?} {when:?}");
                    let plan = Plan {
                        faults: vec![Planned {
                            when: *when,
                            what: what.clone(),
                            number: 0,
                        }],
                        ..calm.clone()
                    };
                    if let Some(violation) = sim.run_plan(plan, false).violation {
                        let mut found = match found.lock() {
                            Ok(found) => found,
                            Err(poisoned) => poisoned.into_inner(),
                        };
                        found.push((told, violation));
                    }
                }
            });
        }
    });
    let mut found = found
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

type Scenario = (&'static str, Vec<(Duration, Edit)>);

/// Small stories that come to every controller.
fn scenarios() -> Vec<Scenario> {
    let at = Duration::from_secs;
    let create = |path: &str, body| Edit::Create {
        path: path.to_owned(),
        body,
    };
    let merge = |path: &str, patch| Edit::Merge {
        path: path.to_owned(),
        patch,
    };
    let delete = |path: &str| Edit::Delete {
        path: path.to_owned(),
    };
    const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
    const WEB: &str = "/apis/apps/v1/namespaces/default/deployments/web";
    const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
    const CONTROLLERS: &str = "/api/v1/namespaces/default/replicationcontrollers";
    const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let image = |image: &str| json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}});
    vec![
        (
            "a rolling update",
            vec![
                (
                    at(1),
                    create(DEPLOYMENTS, workload("apps/v1", "Deployment", "web", 3)),
                ),
                (at(60), merge(WEB, image("app:2"))),
                (at(150), merge(WEB, json!({"spec": {"replicas": 2}}))),
            ],
        ),
        (
            "a recreation",
            vec![
                (
                    at(1),
                    create(DEPLOYMENTS, {
                        let mut body = workload("apps/v1", "Deployment", "web", 2);
                        body["spec"]["strategy"] = json!({"type": "Recreate"});
                        body["spec"]["revisionHistoryLimit"] = 0.into();
                        body
                    }),
                ),
                (at(60), merge(WEB, image("app:2"))),
            ],
        ),
        (
            "sets and controllers",
            vec![
                (
                    at(1),
                    create(SETS, workload("apps/v1", "ReplicaSet", "set", 2)),
                ),
                (
                    at(2),
                    create(
                        CONTROLLERS,
                        workload("v1", "ReplicationController", "rc", 2),
                    ),
                ),
                (
                    at(60),
                    merge(&format!("{SETS}/set"), json!({"spec": {"replicas": 1}})),
                ),
                (
                    at(61),
                    merge(
                        &format!("{CONTROLLERS}/rc"),
                        json!({"spec": {"replicas": 3}}),
                    ),
                ),
            ],
        ),
        (
            "a namespace and its roles",
            vec![
                (
                    at(1),
                    create(
                        "/api/v1/namespaces",
                        json!({
                            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "blue"},
                        }),
                    ),
                ),
                (
                    at(2),
                    create(
                        ROLES,
                        json!({
                            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                            "metadata": {"name": "sum"}, "rules": [],
                            "aggregationRule": {"clusterRoleSelectors": [
                                {"matchLabels": {"part-of": "sum"}},
                            ]},
                        }),
                    ),
                ),
                (
                    at(30),
                    create(
                        ROLES,
                        json!({
                            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                            "metadata": {"name": "part", "labels": {"part-of": "sum"}},
                            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
                        }),
                    ),
                ),
                (
                    at(60),
                    delete("/api/v1/namespaces/blue/serviceaccounts/default"),
                ),
                (
                    at(61),
                    delete("/api/v1/namespaces/blue/configmaps/kube-root-ca.crt"),
                ),
                (at(90), delete(&format!("{ROLES}/part"))),
            ],
        ),
    ]
}

fn workload(api: &str, kind: &str, name: &str, replicas: u32) -> Value {
    let labels = json!({"app": name});
    let selector = match kind {
        "ReplicationController" => labels.clone(),
        _ => json!({"matchLabels": labels}),
    };
    json!({
        "apiVersion": api, "kind": kind, "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": selector,
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": "app:1"}]},
            },
        },
    })
}
