//! Rollback by annotation.

use super::*;

fn asked(revision: &str) -> Value {
    json!({"metadata": {"managedFields": [{"manager": "kubectl"}], "fromTheFuture": 1.50,
        "annotations": {"deprecated.deployment.rollback.to": revision, "cause": "edit",
            "kubectl.kubernetes.io/last-applied-configuration": "{}"}},
        "spec": {"template": {"spec": {"fromTheFuture": {"x": [1, 2]}}}}})
}

/// Runs a sync of a Deployment on which a rollback was asked for; `live` is what the server has.
fn roll_back(revision: &str, sets: Vec<ReplicaSet>, live: Value) -> Run {
    let seen = deployment_json(3, asked(revision));
    let live = merged(seen.clone(), live);
    run_with(&store(read(&seen), sets), |action| match action {
        Action::Read(read) if is_get(read) => Answer::Read(Opaque::new(&live.to_string()).unwrap()),
        other => granted(other),
    })
}

fn sets() -> Vec<ReplicaSet> {
    let cause = json!({"metadata": {"annotations": {"cause": "create"}}});
    let current = json!({"metadata": {"annotations": {"cause": "edit"}}});
    vec![
        set("v1", 0, cause),
        set("v2", 3, merged(sized(3, 4), current)),
    ]
}

fn update(run: &Run) -> Value {
    let is_update = |action: &&Action| {
        matches!(
            action,
            Action::Write(Write {
                verb: Verb::Update,
                subresource: Subresource::NONE,
                ..
            })
        )
    };
    body(
        run.actions()
            .find(is_update)
            .expect("the deployment was not updated"),
    )
}

#[test]
fn the_template_and_annotations_of_the_revision_come_back() {
    for revision in ["0", "1"] {
        let run = roll_back(
            revision,
            sets(),
            json!({"metadata": {"resourceVersion": "9"}}),
        );
        assert_eq!(run.stage_names(), ["read-for-rollback", "rollback"]);
        assert_eq!(run.writes(), ["update deployments web"]);
        assert_eq!(
            run.messages(),
            ["DeploymentRollback: Rolled back deployment \"web\" to revision 1"]
        );
        let update = update(&run);
        assert_eq!(update["spec"]["template"], template("v1"));
        assert_eq!(update["spec"]["replicas"], 3);
        assert_eq!(update["metadata"]["resourceVersion"], "9");
        assert_eq!(
            update["metadata"]["managedFields"],
            json!([{"manager": "kubectl"}])
        );
        assert_eq!(update["metadata"]["fromTheFuture"], 1.50);
        assert_eq!(
            update["metadata"]["annotations"],
            json!({"cause": "create", "deployment.kubernetes.io/revision": "2",
                "kubectl.kubernetes.io/last-applied-configuration": "{}"})
        );
    }
}

#[test]
fn a_request_that_cannot_be_fulfilled_is_told_and_taken_off() {
    let same = "DeploymentRollbackTemplateUnchanged: The rollback revision contains the same \
                template as current deployment \"web\"";
    let missing = "DeploymentRollbackRevisionNotFound: Unable to find the revision to rollback to.";
    let no_last = "DeploymentRollbackRevisionNotFound: Unable to find last revision.";
    let table = [
        ("2", sets(), same),
        ("7", sets(), missing),
        ("0", sets().split_off(1), no_last),
    ];
    for (revision, sets, message) in table {
        let run = roll_back(revision, sets, json!({}));
        assert_eq!(run.messages(), [message]);
        let update = update(&run);
        assert_eq!(update["spec"]["template"], template("v2"));
        assert_eq!(update["metadata"]["annotations"]["cause"], "edit");
        let request = update["metadata"]["annotations"].get("deprecated.deployment.rollback.to");
        assert_eq!(request, None);
    }
}

#[test]
fn a_deployment_that_changed_meanwhile_is_not_overwritten() {
    for live in [
        json!({"metadata": {"uid": "d-2"}}),
        json!({"metadata": {"generation": 3}}),
        json!({"metadata": {"annotations": {"deprecated.deployment.rollback.to": "5"}}}),
    ] {
        let run = roll_back("1", sets(), live);
        assert_eq!(run.stage_names(), ["read-for-rollback"]);
        assert!(run.failed_with().is_some());
    }
}

#[test]
fn an_update_that_fails_is_not_told_as_a_rollback() {
    let seen = deployment_json(3, asked("1"));
    let run = run_with(&store(read(&seen), sets()), |action| match action {
        Action::Read(read) if is_get(read) => Answer::Read(Opaque::new(&seen.to_string()).unwrap()),
        Action::Write(write) if write.verb == Verb::Update => refused(409, "Conflict"),
        other => granted(other),
    });
    assert_eq!(run.failed_with(), Some("refused: Conflict"));
}

#[test]
fn what_is_no_number_asks_for_nothing() {
    let run = roll_back("latest", sets(), json!({}));
    assert_eq!(run.writes(), ["update deployments/status web"]);
}

#[test]
fn the_previous_revision_is_told_by_what_the_new_set_has_become() {
    // v1 is the new set again but not yet renumbered: the revision before it is v2's.
    let seen = merged(
        deployment_json(3, asked("0")),
        json!({"spec": {"template": template("v1")}}),
    );
    let run = run_with(&store(read(&seen), sets()), |action| match action {
        Action::Read(read) if is_get(read) => Answer::Read(Opaque::new(&seen.to_string()).unwrap()),
        other => granted(other),
    });
    assert_eq!(run.stage_names(), ["new", "read-for-rollback", "rollback"]);
    assert_eq!(update(&run)["spec"]["template"], template("v2"));
}
