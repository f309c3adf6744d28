use flyball_api::views::{ObjectReference, Pod, ReplicaSet};
use flyball_api::{LeanMeta, Uid};
use serde_json::json;

use super::*;
use crate::{Body, Record, RecordKind, Subresource, Verb};

fn meta() -> LeanMeta {
    LeanMeta {
        name: "web".into(),
        namespace: "shop".into(),
        uid: Uid::new("u"),
        resource_version: "7".into(),
        ..LeanMeta::default()
    }
}

fn one(action: Action) -> Vec<Lint> {
    lint(&Actions::in_order("stage", vec![action]))
}

fn patch(precondition: Precondition, body: Body) -> Action {
    let target = Target::of(ReplicaSet::KIND, &meta());
    Write::new(Verb::StrategicPatch, target, precondition, body).into()
}

fn update(precondition: Precondition, body: Body) -> Action {
    Write::update(Target::of(ReplicaSet::KIND, &meta()), precondition, body)
        .to_subresource(Subresource::STATUS)
        .into()
}

/// A version is not enough where the incarnation is asked for.
fn version_and(uid: Option<Uid>) -> Precondition {
    Precondition {
        uid,
        resource_version: Some("7".into()),
    }
}

fn create(body: &str) -> Action {
    Write::create(Pod::KIND, "shop", Body::new(body)).into()
}

#[test]
fn a_correct_stage_has_nothing_wrong() {
    let unchanged = Precondition::unchanged(&meta());
    let body = Body::patch(&unchanged, json!({"spec": {"replicas": 1}}));
    let pod = || Target::of(Pod::KIND, &meta());
    let record = Record {
        about: ObjectReference::of(ReplicaSet::KIND, &meta()),
        kind: RecordKind::Normal,
        reason: "Because",
        message: "so".into(),
    };
    let items = vec![
        create("{}"),
        patch(unchanged.clone(), body.clone()),
        update(unchanged.clone(), body),
        Write::delete(Pod::KIND, &meta()).into(),
        Write::bind(pod(), unchanged, "node-1").into(),
        Read::get(pod()).into(),
        Action::Record(record),
    ];
    assert_eq!(lint(&Actions::together("stage", items)), []);
}

#[test]
fn a_delete_must_name_the_incarnation() {
    let delete = |uid: Option<Uid>| {
        let target = Target::of(Pod::KIND, &meta());
        Write::delete_if(target, version_and(uid)).into()
    };
    assert_eq!(one(delete(None)), [Lint::WriteWithoutUid(0)]);
    assert_eq!(
        one(delete(Some(Uid::default()))),
        [Lint::WriteWithoutUid(0)]
    );
    assert_eq!(one(delete(Some(Uid::new("u")))), []);
}

#[test]
fn a_binding_must_name_the_incarnation() {
    let bind = |uid: Option<Uid>| {
        let target = Target::of(Pod::KIND, &meta());
        Write::bind(target, version_and(uid), "node-1").into()
    };
    assert_eq!(one(bind(None)), [Lint::WriteWithoutUid(0)]);
    let empty = Some(Uid::default());
    assert_eq!(one(bind(empty)), [Lint::WriteWithoutUid(0)]);
    assert_eq!(one(bind(Some(Uid::new("u")))), []);
}

#[test]
fn an_apply_or_a_post_to_a_subresource_must_name_the_incarnation_in_the_body() {
    let apply = Verb::Apply {
        manager: "toy",
        force: true,
    };
    for (verb, subresource) in [
        (apply, Subresource::NONE),
        (Verb::Create, Subresource::EVICTION),
    ] {
        let write = |uid: Option<Uid>, body: Body| -> Action {
            Write::new(verb, Target::of(Pod::KIND, &meta()), version_and(uid), body)
                .to_subresource(subresource)
                .into()
        };
        let body = |uid: &Option<Uid>| Body::patch(&version_and(uid.clone()), json!({}));
        for uid in [None, Some(Uid::default())] {
            let found = one(write(uid.clone(), body(&uid)));
            assert_eq!(found, [Lint::WriteWithoutUid(0)], "{verb:?}");
        }
        let uid = Some(Uid::new("u"));
        let found = one(write(uid.clone(), Body::new("{}")));
        assert_eq!(found, [Lint::PreconditionNotSent(0)], "{verb:?}");
        assert_eq!(one(write(uid.clone(), body(&uid))), [], "{verb:?}");
    }
}

#[test]
fn a_question_of_existence_must_name_the_incarnation() {
    let exists = |uid| Read::exists(Target::of(Pod::KIND, &meta()), uid).into();
    assert_eq!(one(exists(Uid::default())), [Lint::ExistsWithoutUid(0)]);
    assert_eq!(one(exists(Uid::new("u"))), []);
}

#[test]
fn a_write_must_name_what_it_was_judged_by() {
    let empty = Precondition {
        uid: Some(Uid::default()),
        resource_version: Some("".into()),
    };
    for precondition in [Precondition::default(), empty] {
        let body = || Body::patch(&precondition, json!({}));
        let found = one(patch(precondition.clone(), body()));
        assert_eq!(found, [Lint::WriteWithoutPrecondition(0)]);
        let found = one(update(precondition.clone(), body()));
        assert_eq!(found, [Lint::WriteWithoutPrecondition(0)]);
    }
}

#[test]
fn a_precondition_must_be_in_the_body() {
    let unchanged = Precondition::unchanged(&meta());
    let bodies = [
        json!({"spec": {}}),
        json!({"metadata": {"uid": "u"}}),
        json!({"metadata": {"resourceVersion": "7"}}),
        json!({"metadata": {"uid": "other", "resourceVersion": "7"}}),
        json!({"metadata": {"uid": "u", "resourceVersion": 7}}),
    ];
    for body in bodies {
        let found = one(patch(unchanged.clone(), Body::of(&body)));
        assert_eq!(found, [Lint::PreconditionNotSent(0)], "{body}");
    }
    let incarnation = Precondition::incarnation(&meta());
    assert_eq!(
        one(patch(incarnation, Body::new(r#"{"metadata":{"uid":"u"}}"#))),
        []
    );
}

#[test]
fn a_body_must_be_an_object() {
    for body in ["", "null", "[]", "7", "{"] {
        assert_eq!(one(create(body)), [Lint::BodyNotAnObject(0)], "{body}");
        let found = one(patch(Precondition::unchanged(&meta()), Body::new(body)));
        assert_eq!(found, [Lint::BodyNotAnObject(0)], "{body}");
    }
}

#[test]
fn a_stage_must_have_a_name_actions_and_a_bound() {
    assert_eq!(
        lint(&Actions::in_order("stage", vec![])),
        [Lint::EmptyStage]
    );
    assert_eq!(
        lint(&Actions::in_order("", vec![create("{}")])),
        [Lint::EmptyStage]
    );
    let many = |n: usize| lint(&Actions::slow_start("stage", vec![create("{}"); n]));
    assert_eq!(many(ACTIONS_MAX), []);
    assert_eq!(many(ACTIONS_MAX + 1), [Lint::TooMany(ACTIONS_MAX + 1)]);
}

#[test]
fn what_is_wrong_is_named_by_its_place() {
    let pod = Target::of(Pod::KIND, &meta());
    let bare = Write::delete_if(pod, Precondition::default()).into();
    let items = vec![create("{}"), bare, create("[]")];
    let found = lint(&Actions::in_order("stage", items));
    assert_eq!(found, [Lint::WriteWithoutUid(1), Lint::BodyNotAnObject(2)]);
}

#[test]
fn a_collection_is_deleted_in_one_namespace_only() {
    let delete = |kind, namespace: &str| Write::delete_collection(kind, namespace).into();
    assert_eq!(one(delete(Pod::KIND, "shop")), []);
    let wrong = [Lint::DeleteWithoutNamespace(0)];
    assert_eq!(one(delete(Pod::KIND, "")), wrong);
    let nodes = flyball_api::views::Node::KIND;
    assert_eq!(one(delete(nodes, "shop")), wrong);
}
