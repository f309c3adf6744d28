//! Revisions, their history, and what of a Deployment's annotations its ReplicaSets get. After
//! upstream's `TestMaxRevision`, `TestLastRevision`, `TestAnnotationUtils`, `TestRemoveCondition`.

use super::super::annotations::{bring_up_to_date, of_created, of_rolled_back};
use super::super::edits;
use super::super::limits::Limits;
use super::super::revisions::{Renumbered, highest, previous, renumber, revision};
use super::*;

fn numbered(image: &str, text: Value) -> Set {
    let annotations = json!({"deployment.kubernetes.io/revision": text});
    member(image, 0, json!({"metadata": {"annotations": annotations}}))
}

#[test]
fn the_highest_and_the_previous_revision_skip_what_is_no_number() {
    let sets = [
        numbered("v1", json!("3")),
        numbered("v2", json!("x")),
        numbered("v3", json!("5")),
    ];
    assert_eq!(highest(&sets), 5);
    assert_eq!(highest([]), 0);
    assert_eq!(revision(&sets[1]), None);
    for (revisions, want) in [
        (vec![1, 2, 3], 2),
        (vec![3, 1, 2], 2),
        (vec![5, 5], 5),
        (vec![7], 0),
        (vec![], 0),
        (vec![2, 9, 4], 4),
    ] {
        assert_eq!(previous(revisions.iter().copied()), want, "{revisions:?}");
    }
}

#[test]
fn a_set_only_ever_gets_a_later_revision() {
    assert_eq!(renumber(&numbered("v1", json!("4")), 4), Renumbered::Keep);
    assert_eq!(renumber(&numbered("v1", json!("9")), 4), Renumbered::Keep);
    assert_eq!(
        renumber(&numbered("v1", json!("x")), 4),
        Renumbered::Unreadable
    );
    let first = Renumbered::Change {
        revision: "1".to_owned(),
        history: None,
    };
    let bare = member("v1", 0, json!({"metadata": {"annotations": null}}));
    assert_eq!(renumber(&bare, 1), first);
}

fn history_after(history: &str, current: &str) -> Option<String> {
    let annotations = json!({"deployment.kubernetes.io/revision": current,
        "deployment.kubernetes.io/revision-history": history});
    match renumber(
        &member("v1", 0, json!({"metadata": {"annotations": annotations}})),
        i64::MAX,
    ) {
        Renumbered::Change { history, .. } => history,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_history_grows_at_the_end_and_forgets_at_the_front() {
    assert_eq!(history_after("", "3").unwrap(), "3");
    assert_eq!(history_after("1,3", "5").unwrap(), "1,3,5");
    let long = format!("{},77", "1,".repeat(998).trim_end_matches(','));
    assert_eq!(long.len(), 1998);
    assert_eq!(history_after(&long, "8").unwrap(), format!("{long},8"));
    let shorter = history_after(&long, "1234").unwrap();
    assert_eq!(shorter, format!("{},1234", &long[4..]));
    assert_eq!(history_after(&"9".repeat(2000), "1").unwrap(), "1");
}

#[test]
fn annotations_are_passed_on_but_for_those_that_belong_to_one_object() {
    let annotations = json!({"team": "a", "cause": "new",
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "deployment.kubernetes.io/revision": "9", "deprecated.deployment.rollback.to": "1"});
    let deployment = deployment(
        4,
        json!({"metadata": {"annotations": annotations}, "spec": {"minReadySeconds": 5}}),
    );
    let new = member(
        "v2",
        4,
        json!({"metadata": {"annotations": {"team": "a", "kept": "yes"}}}),
    );
    let edit = bring_up_to_date(&deployment, &new, 3);
    let patch = body(&edits::actions(&deployment, [&edit])[0]);
    assert_eq!(
        patch,
        json!({
            "metadata": {"uid": "rs-v2", "resourceVersion": "5", "annotations": {
                "cause": "new", "deployment.kubernetes.io/revision": "3",
                "deployment.kubernetes.io/revision-history": "2"}},
            "spec": {"minReadySeconds": 5},
        })
    );

    let limits = Limits::of(&deployment);
    let created = of_created(&deployment, "3", &limits);
    let created: Vec<_> = created.iter().collect();
    assert_eq!(
        created,
        [
            ("cause", "new"),
            ("deployment.kubernetes.io/desired-replicas", "4"),
            ("deployment.kubernetes.io/max-replicas", "5"),
            ("deployment.kubernetes.io/revision", "3"),
            ("team", "a"),
        ]
    );

    let back = of_rolled_back(&deployment.metadata.annotations, &new.meta().annotations);
    let back: Vec<_> = back.iter().map(|(key, _)| key).collect();
    assert_eq!(
        back,
        [
            "deployment.kubernetes.io/revision",
            "kept",
            "kubectl.kubernetes.io/last-applied-configuration",
            "team"
        ]
    );
}

#[test]
fn annotations_of_a_set_with_unreadable_revision_are_left_alone() {
    let deployment = deployment(4, json!({"metadata": {"annotations": {"team": "a"}}}));
    assert!(bring_up_to_date(&deployment, &numbered("v2", json!("x")), 3).is_empty());
}
