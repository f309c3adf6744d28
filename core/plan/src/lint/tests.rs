use flyball_api::views::{ObjectReference, Pod, ReplicaSet};
use flyball_api::{Meta, Uid};
use serde_json::json;

use super::*;
use crate::{Body, Record, RecordKind, Subresource, Target};

fn meta() -> Meta {
    Meta {
        name: "web".into(),
        namespace: "shop".into(),
        uid: Uid::new("u"),
        resource_version: "7".into(),
        ..Meta::default()
    }
}

fn one(action: Action) -> Vec<Lint> {
    lint(&Actions::in_order("stage", vec![action]))
}

fn patch(precondition: Precondition, body: Body) -> Action {
    Action::Patch {
        target: Target::of(ReplicaSet::KIND, &meta()),
        subresource: Subresource::None,
        precondition,
        body,
    }
}

fn update(precondition: Precondition, body: Body) -> Action {
    Action::Update {
        target: Target::of(ReplicaSet::KIND, &meta()),
        subresource: Subresource::Status,
        precondition,
        body,
    }
}

fn create(body: &str) -> Action {
    Action::Create {
        kind: Pod::KIND,
        namespace: "shop".into(),
        body: Body::new(body),
    }
}

#[test]
fn a_correct_stage_has_nothing_wrong() {
    let unchanged = Precondition::unchanged(&meta());
    let body = Body::patch(&unchanged, json!({"spec": {"replicas": 1}}));
    let record = Record {
        about: ObjectReference::of(ReplicaSet::KIND, &meta()),
        kind: RecordKind::Normal,
        reason: "Because",
        message: "so".into(),
    };
    let items = vec![
        create("{}"),
        patch(unchanged.clone(), body.clone()),
        update(unchanged, body),
        Action::delete(Pod::KIND, &meta()),
        Action::bind(Pod::KIND, &meta(), "node-1"),
        Action::Ask {
            target: Target::of(Pod::KIND, &meta()),
        },
        Action::Record(record),
    ];
    assert_eq!(lint(&Actions::together("stage", items)), []);
}

#[test]
fn a_delete_must_name_the_incarnation() {
    let delete = |uid: Option<Uid>| Action::Delete {
        target: Target::of(Pod::KIND, &meta()),
        precondition: Precondition {
            uid,
            resource_version: Some("7".into()),
        },
        propagation: None,
        grace_seconds: None,
    };
    assert_eq!(one(delete(None)), [Lint::DeleteWithoutUid(0)]);
    assert_eq!(
        one(delete(Some(Uid::default()))),
        [Lint::DeleteWithoutUid(0)]
    );
    assert_eq!(one(delete(Some(Uid::new("u")))), []);
}

#[test]
fn a_binding_must_name_the_incarnation_and_a_node() {
    let bind = |uid: Option<Uid>, node: &str| Action::Bind {
        target: Target::of(Pod::KIND, &meta()),
        precondition: Precondition {
            uid,
            resource_version: Some("7".into()),
        },
        node: node.into(),
    };
    let uid = Some(Uid::new("u"));
    assert_eq!(one(bind(None, "node-1")), [Lint::BindWithoutUid(0)]);
    let empty = Some(Uid::default());
    assert_eq!(one(bind(empty, "node-1")), [Lint::BindWithoutUid(0)]);
    assert_eq!(one(bind(uid.clone(), "")), [Lint::BindWithoutNode(0)]);
    assert_eq!(one(bind(uid, "node-1")), []);
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
    let bare = Action::Delete {
        target: Target::of(Pod::KIND, &meta()),
        precondition: Precondition::default(),
        propagation: None,
        grace_seconds: None,
    };
    let items = vec![create("{}"), bare, create("[]")];
    let found = lint(&Actions::in_order("stage", items));
    assert_eq!(found, [Lint::DeleteWithoutUid(1), Lint::BodyNotAnObject(2)]);
}

#[test]
fn a_collection_is_deleted_in_one_namespace_only() {
    let delete = |kind, namespace: &str| Action::DeleteCollection {
        kind,
        namespace: namespace.into(),
        propagation: None,
    };
    assert_eq!(one(delete(Pod::KIND, "shop")), []);
    let wrong = [Lint::DeleteWithoutNamespace(0)];
    assert_eq!(one(delete(Pod::KIND, "")), wrong);
    let nodes = flyball_api::views::Node::KIND;
    assert_eq!(one(delete(nodes, "shop")), wrong);
}
