use flyball_api::views::{Pod, ReplicaSet};
use flyball_api::{ApiError, Opaque, Timestamp};
use serde_json::Value;

use super::*;
use crate::{Actions, Question, Subresource, Verb, lint};

fn meta(name: &str, namespace: &str) -> LeanMeta {
    LeanMeta {
        name: name.into(),
        namespace: namespace.into(),
        uid: Uid::new(&format!("{name}-uid")),
        ..LeanMeta::default()
    }
}

fn parent() -> LeanMeta {
    meta("web", "shop")
}

fn deleting(mut meta: LeanMeta) -> LeanMeta {
    meta.deletion_timestamp = Some(Timestamp::UNIX_EPOCH);
    meta
}

/// A pod with these owners; `true` marks the controller.
fn child(owners: &[(&str, bool)]) -> LeanMeta {
    let owner = |(name, controller): &(&str, bool)| {
        let uid = Uid::new(&format!("{name}-uid"));
        let mut owner = OwnerReference::controller_of(ReplicaSet::KIND, name, &uid);
        owner.controller = Some(*controller);
        owner
    };
    LeanMeta {
        owner_references: owners.iter().map(owner).collect(),
        ..meta("web-1", "shop")
    }
}

#[test]
fn decides_as_upstreams_claim_object_does() {
    // Upstream: pkg/controller/controller_ref_manager.go, ClaimObject.
    let ours = || child(&[("web", true)]);
    let orphan = || child(&[]);
    let cases = [
        ("ours, matching", parent(), ours(), true, Claim::Keep),
        (
            "ours, matching, both going",
            deleting(parent()),
            deleting(ours()),
            true,
            Claim::Keep,
        ),
        (
            "ours, not matching",
            parent(),
            ours(),
            false,
            Claim::Release,
        ),
        (
            "ours, not matching, going",
            parent(),
            deleting(ours()),
            false,
            Claim::Release,
        ),
        (
            "ours, not matching, parent going",
            deleting(parent()),
            ours(),
            false,
            Claim::Ignore,
        ),
        (
            "another's, matching",
            parent(),
            child(&[("db", true)]),
            true,
            Claim::Ignore,
        ),
        (
            "another's, not matching",
            parent(),
            child(&[("db", true)]),
            false,
            Claim::Ignore,
        ),
        ("orphan, matching", parent(), orphan(), true, Claim::Adopt),
        (
            "orphan, not matching",
            parent(),
            orphan(),
            false,
            Claim::Ignore,
        ),
        (
            "orphan, going",
            parent(),
            deleting(orphan()),
            true,
            Claim::Ignore,
        ),
        (
            "orphan, parent going",
            deleting(parent()),
            orphan(),
            true,
            Claim::Ignore,
        ),
        (
            "orphan elsewhere",
            meta("web", "other"),
            orphan(),
            true,
            Claim::Ignore,
        ),
        (
            "orphan of a parent without namespace",
            meta("web", ""),
            orphan(),
            true,
            Claim::Adopt,
        ),
        (
            "an owner that is no controller",
            parent(),
            child(&[("web", false)]),
            true,
            Claim::Adopt,
        ),
        (
            "two owners",
            parent(),
            child(&[("db", false), ("web", true)]),
            true,
            Claim::Keep,
        ),
        // The same name made anew is another parent.
        (
            "of a namesake",
            LeanMeta {
                uid: Uid::new("new"),
                ..parent()
            },
            ours(),
            true,
            Claim::Ignore,
        ),
    ];
    for (case, parent, child, matches, expected) in cases {
        assert_eq!(claim(&parent, &child, matches), expected, "{case}");
    }
}

fn body_of(action: &Action) -> Value {
    assert_eq!(lint(&Actions::in_order("claim", vec![action.clone()])), []);
    let write = action.write().expect("a write");
    assert_eq!(
        (write.verb, write.subresource),
        (Verb::StrategicPatch, Subresource::NONE)
    );
    let Write {
        target,
        precondition,
        body,
        ..
    } = write;
    assert_eq!(
        (target.kind, target.name.to_string().as_str()),
        (Pod::KIND, "shop/web-1")
    );
    assert_eq!(*precondition, Precondition::incarnation(&child(&[])));
    serde_json::from_str(body.json()).unwrap()
}

#[test]
fn an_adoption_names_the_incarnation_and_adds_one_controller() {
    let orphan = child(&[]);
    let incarnation = Precondition::incarnation(&orphan);
    let adopt = adopt(ReplicaSet::KIND, &parent(), Pod::KIND, &orphan, incarnation);
    let body = body_of(&adopt);
    let owner = serde_json::json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web",
        "uid": "web-uid", "controller": true, "blockOwnerDeletion": true});
    let expected =
        serde_json::json!({"metadata": {"uid": "web-1-uid", "ownerReferences": [owner]}});
    assert_eq!(body, expected);
}

#[test]
fn a_release_names_the_incarnation_and_takes_one_owner_off() {
    let ours = child(&[("web", true)]);
    let incarnation = Precondition::incarnation(&ours);
    let body = body_of(&release(&parent().uid, Pod::KIND, &ours, incarnation));
    let owner = serde_json::json!({"$patch": "delete", "uid": "web-uid"});
    let expected =
        serde_json::json!({"metadata": {"uid": "web-1-uid", "ownerReferences": [owner]}});
    assert_eq!(body, expected);
}

#[test]
fn adoption_needs_the_servers_word_that_the_parent_lives() {
    let read = |json: &str| Answer::Read(Opaque::new(json).unwrap());
    let lives = read(r#"{"metadata":{"name":"web","namespace":"shop","uid":"web-uid"}}"#);
    assert_eq!(may_adopt::<ReplicaSet>(&parent(), &lives), Ok(()));

    let anew = read(r#"{"metadata":{"name":"web","namespace":"shop","uid":"other"}}"#);
    let why = may_adopt::<ReplicaSet>(&parent(), &anew).unwrap_err();
    assert_eq!(
        why,
        "original ReplicaSet shop/web is gone: got uid other, wanted web-uid"
    );

    let going = read(
        r#"{"metadata":{"name":"web","uid":"web-uid","deletionTimestamp":"2026-01-01T00:00:00Z"}}"#,
    );
    let why = may_adopt::<ReplicaSet>(&parent(), &going).unwrap_err();
    assert_eq!(why, "shop/web has just been deleted");

    let failed = Answer::Failed(ApiError::from_response(404, None, b""));
    assert!(may_adopt::<ReplicaSet>(&parent(), &failed).is_err());
    assert!(may_adopt::<ReplicaSet>(&parent(), &Answer::Skipped).is_err());
    assert!(may_adopt::<ReplicaSet>(&parent(), &read("[]")).is_err());
    let recheck = recheck(ReplicaSet::KIND, &parent());
    let Some(Question::Get { target, .. }) = recheck.read().map(|read| &read.question) else {
        panic!("no read")
    };
    assert_eq!(
        (target.kind, &target.name),
        (ReplicaSet::KIND, &parent().object_name())
    );
}
