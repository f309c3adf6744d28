use serde_json::json;

use super::*;

/// A moment of an object `kind name` whose identity is its name.
fn moment(version: u64, kind: &'static str, name: &str, metadata: Value) -> Moment {
    let mut object = json!({ "metadata": metadata });
    object["metadata"]["name"] = json!(name);
    object["metadata"]["uid"] = json!(name);
    Moment {
        version,
        kind,
        object,
        is_gone: false,
    }
}

fn gone(version: u64, kind: &'static str, name: &str) -> Moment {
    Moment {
        is_gone: true,
        ..moment(version, kind, name, json!({}))
    }
}

fn child_of_owner() -> Value {
    json!({ "ownerReferences": [{ "uid": "owner", "blockOwnerDeletion": true }] })
}

fn told(moments: &[Moment]) -> State {
    let mut names = Names::default();
    let all = moments
        .iter()
        .map(|moment| (moment.kind, vec![moment.object.clone()]));
    names.learn(&all.collect());
    lives(moments, &names)
}

/// An owner and its child, which goes before it or after it.
fn family(child_goes: u64, owner_goes: u64) -> Vec<Moment> {
    let mut moments = vec![
        moment(1, "ConfigMap", "owner", json!({})),
        moment(2, "ConfigMap", "child", child_of_owner()),
        gone(child_goes, "ConfigMap", "child"),
        gone(owner_goes, "ConfigMap", "owner"),
    ];
    moments.sort_by_key(|moment| moment.version);
    moments
}

#[test]
fn a_life_tells_what_became_of_owners_finalizers_and_grace() {
    let going = json!({ "deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30,
        "finalizers": ["example.com/hold"] });
    let state = told(&[
        moment(1, "ConfigMap", "owner", json!({})),
        moment(2, "Pod", "child", child_of_owner()),
        // Nothing that concerns its end.
        moment(3, "Pod", "child", {
            let mut same = child_of_owner();
            same["labels"] = json!({ "a": "b" });
            same
        }),
        moment(4, "Pod", "child", going),
        gone(5, "Pod", "child"),
    ]);
    let life = "of ConfigMap owner (waits), then of nobody, held by example.com/hold, going within 30 s, then gone";
    assert_eq!(state.parts["life of Pod child"], json!({ life: 1 }));
    assert_eq!(
        state.parts["life of ConfigMap owner"],
        json!({ "there": 1 })
    );
}

#[test]
fn a_child_that_goes_before_its_owner_is_not_one_that_goes_after() {
    let (before, after) = (told(&family(3, 4)), told(&family(4, 3)));
    let differences = before.differences(&after);
    let paths: Vec<&str> = differences.iter().map(|it| it.path.as_str()).collect();
    let order = "order of ConfigMap owner and its ConfigMap child / gone / gone / 0";
    assert_eq!(paths, [order]);
    assert_eq!(differences[0].left, Some(json!("after")));
}

#[test]
fn a_moment_that_only_one_watcher_sees_is_told() {
    let plain = family(4, 5);
    let mut held = plain.clone();
    let going = json!({ "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["foregroundDeletion"],
        "ownerReferences": child_of_owner()["ownerReferences"] });
    held.insert(2, moment(3, "ConfigMap", "child", going));
    assert_ne!(told(&plain).differences(&told(&held)), []);
}

#[test]
fn siblings_may_go_in_any_order() {
    let siblings = |first: &str, second: &str| {
        told(&[
            moment(1, "ConfigMap", "owner", json!({})),
            moment(2, "ConfigMap", "child", child_of_owner()),
            moment(3, "ConfigMap", "other", child_of_owner()),
            gone(4, "ConfigMap", first),
            gone(5, "ConfigMap", second),
        ])
    };
    let (one, another) = (siblings("child", "other"), siblings("other", "child"));
    assert_eq!(one.differences(&another), []);
}

#[test]
fn the_namespace_waits_for_what_is_in_it() {
    let state = told(&[
        moment(1, "Namespace", "go-some-scenario", json!({})),
        moment(2, "ConfigMap", "settings", json!({})),
        gone(3, "ConfigMap", "settings"),
        gone(4, "Namespace", "go-some-scenario"),
    ]);
    let order = &state.parts["order of the namespace and its ConfigMap settings"];
    assert_eq!(*order, json!({ "gone / gone": ["after"] }));
}
