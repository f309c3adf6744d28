use super::*;
use crate::Fault;
use crate::workload::{definition, widget, widgets};

fn three() -> Sim {
    let deployment = serde_json::json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "app:1"}]},
            },
        },
    });
    let path = "/apis/apps/v1/namespaces/default/deployments".to_owned();
    let body = deployment;
    Sim::kubernetes().edits([(Duration::from_secs(1), Edit::Create { path, body })])
}

#[test]
fn a_deployment_of_three_converges_without_faults() {
    let sim = three();
    let mut plan = sim.plan(1);
    plan.faults.clear();
    let outcome = sim.run_plan(plan, true);
    let timeline = outcome.trace.lines().join("\n");
    assert_eq!(outcome.violation, None, "{timeline}");
    assert!(outcome.settled_in.is_some(), "{timeline}");
    assert!(timeline.contains("became leader"), "{timeline}");
}

/// Edits and faults at these seconds, and nothing else.
fn story(edits: Vec<(u64, Edit)>, faults: Vec<(u64, Fault)>) -> Outcome {
    let at = Duration::from_secs;
    let sim = Sim::kubernetes().edits(edits.into_iter().map(|(time, edit)| (at(time), edit)));
    let mut plan = sim.plan(1);
    let faults = faults.into_iter().enumerate();
    plan.faults = faults
        .map(|(number, (time, what))| Planned {
            when: When::At(at(time)),
            what,
            number,
        })
        .collect();
    sim.run_plan(plan, true)
}

#[test]
fn what_belonged_to_a_kind_that_went_is_collected_once_the_kind_is_known_again() {
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let define = || Edit::Create {
        path: definitions.to_owned(),
        body: definition(),
    };
    let widgets = widgets("default");
    let owner = Edit::Create {
        path: widgets.clone(),
        body: widget("one"),
    };
    let child = Edit::Own {
        path: "/api/v1/namespaces/default/configmaps".to_owned(),
        body: serde_json::json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "child"},
        }),
        owners: vec![format!("{widgets}/one")],
        blocks: false,
    };
    let undefine = Edit::Delete {
        path: format!("{definitions}/widgets.sim.example.com"),
        propagation: None,
    };
    // Nobody is told that the owner goes: the server of its group cannot be reached meanwhile.
    let away = Fault::GroupAway {
        lasts: Duration::from_secs(60),
    };
    let outcome = story(
        vec![
            (1, define()),
            (10, owner),
            (20, child),
            (60, undefine),
            (150, define()),
        ],
        vec![(50, away)],
    );
    let timeline = outcome.trace.lines().join("\n");
    assert_eq!(outcome.violation, None, "{timeline}");
    assert!(
        timeline.contains("configmaps default/child is gone"),
        "{timeline}"
    );
}

#[test]
fn the_same_seed_is_the_same_run() {
    let (one, two) = (Sim::kubernetes().run(7), Sim::kubernetes().run(7));
    assert_eq!(one.trace.hash(), two.trace.hash());
    assert_ne!(one.trace.hash(), Sim::kubernetes().run(8).trace.hash());
}

#[test]
fn some_seeds_run_without_a_violation() {
    for seed in 0..3 {
        let outcome = Sim::kubernetes().run(seed);
        assert_eq!(outcome.violation, None, "seed {seed}");
        assert!(outcome.tally.faults_total() >= 50, "seed {seed}");
        assert!(outcome.lasted >= Duration::from_secs(600), "seed {seed}");
    }
}
