use flyball_api::views::{Pod, ReplicaSet};
use flyball_api::{ApiError, LeanMeta, Status, Timestamp};
use flyball_informer::SnapshotBuilder;
use serde_json::json;

use super::*;
use crate::{Body, Precondition, Read, Subresource, Target, Verb, Write, Written};

fn key() -> ObjectName {
    ObjectName::new("shop", "web")
}

fn meta(name: &str, uid: &str) -> LeanMeta {
    LeanMeta {
        name: name.into(),
        namespace: "shop".into(),
        uid: Uid::new(uid),
        resource_version: "5".into(),
        ..LeanMeta::default()
    }
}

fn pod(name: &str, uid: &str) -> Pod {
    Pod {
        metadata: meta(name, uid),
        ..Pod::default()
    }
}

fn create() -> Action {
    Write::create(Pod::KIND, "shop", Body::new("{}")).into()
}

fn patch(kind: Kind) -> Action {
    let meta = meta("web", "u");
    let precondition = Precondition::incarnation(&meta);
    Write::patch(Target::of(kind, &meta), precondition, json!({}))
        .to_subresource(Subresource::STATUS)
        .into()
}

fn delete(name: &str, uid: &str) -> Action {
    Write::delete(Pod::KIND, &meta(name, uid)).into()
}

fn bind(precondition: Precondition) -> Action {
    let pod = Target::of(Pod::KIND, &meta("a", "uid-1"));
    Write::bind(pod, precondition, "node-1").into()
}

fn done(version: &str) -> Answer {
    let resource_version = version.into();
    Answer::Done(Written {
        resource_version,
        ..Written::default()
    })
}

fn failed(code: u16) -> Answer {
    Answer::Failed(ApiError::from_response(code, None, b""))
}

/// Caches of pods and ReplicaSets that are complete up to these versions.
fn seen(pods: &str, sets: &str) -> SnapshotBuilder {
    SnapshotBuilder::new()
        .kind::<Pod>()
        .kind::<ReplicaSet>()
        .seen::<Pod>(pods)
        .seen::<ReplicaSet>(sets)
}

#[test]
fn without_writes_it_is_open() {
    let mut gate = Gate::default();
    assert_eq!(gate.check(&key(), &seen("1", "1").build()), Ok(()));
    assert!(gate.is_empty());
}

#[test]
fn a_create_opens_exactly_when_the_cache_has_reached_its_version() {
    let mut gate = Gate::default();
    gate.note(&key(), &create(), &done("100"));
    let waiting = gate.check(&key(), &seen("99", "500").build()).unwrap_err();
    assert_eq!(waiting.kind(), Pod::KIND);
    assert!(
        waiting.to_string().contains("100"),
        "{}",
        waiting.to_string()
    );
    // Another key's writes are no concern of this one.
    let other = ObjectName::new("shop", "db");
    assert_eq!(gate.check(&other, &seen("1", "1").build()), Ok(()));
    // Versions are numbers: "100" is beyond "99", and "1000" beyond both.
    assert_eq!(gate.check(&key(), &seen("1000", "1").build()), Ok(()));
    assert!(gate.is_empty());
}

#[test]
fn of_several_writes_to_a_kind_the_newest_counts() {
    let mut gate = Gate::default();
    for version in ["103", "101", "102"] {
        gate.note(&key(), &create(), &done(version));
    }
    assert!(gate.check(&key(), &seen("102", "1").build()).is_err());
    assert!(gate.check(&key(), &seen("103", "1").build()).is_ok());
}

#[test]
fn each_kind_is_waited_for_on_its_own() {
    let mut gate = Gate::default();
    gate.note(&key(), &create(), &done("100"));
    gate.note(&key(), &patch(ReplicaSet::KIND), &done("101"));
    let waiting = gate.check(&key(), &seen("200", "100").build()).unwrap_err();
    assert_eq!(waiting.kind(), ReplicaSet::KIND);
    assert_eq!(gate.check(&key(), &seen("200", "101").build()), Ok(()));
}

#[test]
fn an_update_counts_as_a_patch_does() {
    let mut gate = Gate::default();
    let update = Write::update(
        Target::of(ReplicaSet::KIND, &meta("web", "u")),
        Precondition::unchanged(&meta("web", "u")),
        Body::new("{}"),
    )
    .into();
    gate.note(&key(), &update, &done("7"));
    assert!(gate.check(&key(), &seen("9", "6").build()).is_err());
    assert!(gate.check(&key(), &seen("9", "7").build()).is_ok());
}

#[test]
fn what_failed_was_skipped_or_only_read_is_not_waited_for() {
    let mut gate = Gate::default();
    for answer in [failed(409), failed(500), failed(404), Answer::Skipped] {
        gate.note(&key(), &create(), &answer);
        gate.note(&key(), &patch(Pod::KIND), &answer);
    }
    let ask = Read::get(Target::of(Pod::KIND, &meta("web", "u"))).into();
    gate.note(&key(), &ask, &Answer::Read(Default::default()));
    assert!(gate.is_empty());
}

#[test]
fn versions_that_cannot_be_compared_are_not_waited_for() {
    let mut gate = Gate::default();
    gate.note(&key(), &create(), &done(""));
    gate.note(&key(), &create(), &done("abc"));
    assert!(gate.is_empty());
    gate.note(&key(), &create(), &done("100"));
    assert_eq!(
        gate.check(&key(), &seen("not-a-number", "1").build()),
        Ok(())
    );
}

#[test]
fn a_kind_not_listed_yet_is_waited_for_and_one_that_nobody_watches_is_not() {
    let mut gate = Gate::default();
    gate.note(&key(), &create(), &done("100"));
    let unlisted = SnapshotBuilder::new().kind::<Pod>().build();
    assert!(gate.check(&key(), &unlisted).is_err());
    let unwatched = SnapshotBuilder::new().kind::<ReplicaSet>().build();
    assert_eq!(gate.check(&key(), &unwatched), Ok(()));
}

#[test]
fn a_delete_opens_when_the_cache_shows_it_going_gone_or_replaced() {
    let delete = delete("a", "uid-1");
    let going = {
        let mut pod = pod("a", "uid-1");
        pod.metadata.deletion_timestamp = Some(Timestamp::UNIX_EPOCH);
        pod
    };
    let shown = [None, Some(going), Some(pod("a", "uid-2"))];
    for after in shown {
        let mut gate = Gate::default();
        gate.note(&key(), &delete, &done(""));
        let before = seen("10", "1").add(pod("a", "uid-1")).build();
        let waiting = gate.check(&key(), &before).unwrap_err();
        assert_eq!(
            (waiting.kind(), waiting.to_string().contains("shop/a")),
            (Pod::KIND, true)
        );
        let after = after
            .map_or(seen("11", "1"), |pod| seen("11", "1").add(pod))
            .build();
        assert_eq!(gate.check(&key(), &after), Ok(()));
    }
}

#[test]
fn a_delete_that_found_nothing_still_waits_for_the_cache_to_show_it() {
    let by_uid = delete("a", "uid-1");
    let by_version = Write::delete_if(
        Target::of(Pod::KIND, &meta("a", "uid-1")),
        Precondition::unchanged(&meta("a", "uid-1")),
    )
    .into();
    let stale = || seen("10", "1").add(pod("a", "uid-1")).build();
    let replaced = || {
        let message =
            "the UID in the precondition (uid-1) does not match the UID in record (uid-2)";
        Answer::Failed(ApiError::from_status(Status::failure(
            409, "Conflict", message,
        )))
    };
    // (action, answer, waits): not found is gone, a uid conflict is replaced, but any other
    // conflict, be it over the version or by a webhook's word, leaves it where it is.
    let cases = [
        (&by_uid, failed(404), true),
        (&by_uid, replaced(), true),
        (&by_uid, failed(409), false),
        (&by_uid, failed(500), false),
        (&by_uid, failed(403), false),
        (&by_uid, Answer::Skipped, false),
        (&by_version, failed(404), true),
        (&by_version, replaced(), true),
        (&by_version, failed(409), false),
        (&by_version, done(""), true),
    ];
    for (action, answer, waits) in cases {
        let mut gate = Gate::default();
        gate.note(&key(), action, &answer);
        assert_eq!(gate.check(&key(), &stale()).is_err(), waits, "{answer:?}");
        assert_eq!(gate.check(&key(), &seen("11", "1").build()), Ok(()));
    }
}

#[test]
fn a_binding_opens_when_the_cache_shows_the_pod_in_another_version() {
    let bind = bind(Precondition::unchanged(&meta("a", "uid-1")));
    let bound = {
        let mut pod = pod("a", "uid-1");
        pod.metadata.resource_version = "6".into();
        pod
    };
    for after in [None, Some(bound), Some(pod("a", "uid-2"))] {
        let mut gate = Gate::default();
        gate.note(&key(), &bind, &done(""));
        // How far the cache has come says nothing: the version of the binding is not known.
        let before = seen("10", "1").add(pod("a", "uid-1")).build();
        let waiting = gate.check(&key(), &before).unwrap_err();
        assert_eq!(waiting.kind(), Pod::KIND);
        assert_eq!(
            waiting.to_string(),
            "the change of Pod shop/a after version 5"
        );
        let after = after
            .map_or(seen("11", "1"), |pod| seen("11", "1").add(pod))
            .build();
        assert_eq!(gate.check(&key(), &after), Ok(()));
        assert!(gate.is_empty());
    }
}

#[test]
fn a_deletion_at_once_of_what_was_going_already_waits_until_it_is_gone_or_changed() {
    let going = |version: &str| {
        let mut pod = pod("a", "uid-1");
        pod.metadata.deletion_timestamp = Some(Timestamp::UNIX_EPOCH);
        pod.metadata.resource_version = version.into();
        pod
    };
    let delete = |precondition| -> Action {
        let target = Target::of(Pod::KIND, &meta("a", "uid-1"));
        Write::delete_if(target, precondition).within(0).into()
    };
    let stale = || seen("10", "1").add(going("5")).build();
    for after in [seen("11", "1"), seen("11", "1").add(going("6"))] {
        let mut gate = Gate::default();
        let by_version = delete(Precondition::unchanged(&meta("a", "uid-1")));
        gate.note(&key(), &by_version, &done(""));
        assert!(gate.check(&key(), &stale()).is_err());
        assert_eq!(gate.check(&key(), &after.build()), Ok(()));
    }
    // Without a version nobody can tell the state before from the state after.
    let mut gate = Gate::default();
    let by_uid = delete(Precondition::incarnation(&meta("a", "uid-1")));
    gate.note(&key(), &by_uid, &done(""));
    assert_eq!(gate.check(&key(), &stale()), Ok(()));
}

#[test]
fn a_binding_that_failed_or_named_no_version_is_not_waited_for() {
    let by_uid = bind(Precondition::incarnation(&meta("a", "uid-1")));
    let by_version = bind(Precondition::unchanged(&meta("a", "uid-1")));
    let mut gate = Gate::default();
    gate.note(&key(), &by_uid, &done(""));
    for answer in [failed(409), failed(500), Answer::Skipped] {
        gate.note(&key(), &by_version, &answer);
    }
    assert!(gate.is_empty());
}

#[test]
fn an_eviction_is_waited_for_as_a_delete_is_and_other_posts_to_subresources_are_not() {
    let post = |subresource| -> Action {
        let meta = meta("a", "uid-1");
        let (target, by_uid) = (
            Target::of(Pod::KIND, &meta),
            Precondition::incarnation(&meta),
        );
        Write::new(Verb::Create, target, by_uid, Body::new("{}"))
            .to_subresource(subresource)
            .into()
    };
    let stale = || seen("10", "1").add(pod("a", "uid-1")).build();
    // Too many requests: a disruption budget refuses it for now.
    for (answer, waits) in [
        (done("100"), true),
        (failed(404), true),
        (failed(429), false),
    ] {
        let mut gate = Gate::default();
        gate.note(&key(), &post(Subresource::EVICTION), &answer);
        assert_eq!(gate.check(&key(), &stale()).is_err(), waits, "{answer:?}");
        assert_eq!(gate.check(&key(), &seen("11", "1").build()), Ok(()));
    }
    let mut gate = Gate::default();
    gate.note(&key(), &post(Subresource("token")), &done("100"));
    assert!(gate.is_empty());
}

#[test]
fn a_forgotten_key_waits_for_nothing() {
    let mut gate = Gate::default();
    gate.note(&key(), &create(), &done("100"));
    assert_eq!(gate.len(), 1);
    gate.forget(&key());
    assert_eq!(gate.check(&key(), &seen("1", "1").build()), Ok(()));
}
