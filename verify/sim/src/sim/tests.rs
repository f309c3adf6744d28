use super::*;

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
