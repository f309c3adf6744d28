use super::*;

fn replica_set(name: &str, hash: &str, image: &str, uid: &str) -> Value {
    json!({
        "metadata": {
            "name": name,
            "uid": uid,
            "resourceVersion": "7",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "generation": 4,
            "labels": { "app": "web", "pod-template-hash": hash },
            "ownerReferences": [{ "kind": "Deployment", "name": "web", "uid": "d-uid" }],
        },
        "spec": { "template": {
            "metadata": { "labels": { "app": "web", "pod-template-hash": hash } },
            "spec": { "containers": [{ "name": "app", "image": image }] },
        } },
        "status": { "replicas": 1, "observedGeneration": 4 },
    })
}

fn pod(name: &str, hash: &str, uid: &str) -> Value {
    json!({ "metadata": {
        "name": name,
        "generateName": format!("web-{hash}-"),
        "uid": uid,
        "labels": { "pod-template-hash": hash },
        "ownerReferences": [
            { "kind": "ReplicaSet", "name": format!("web-{hash}"), "controller": true, "uid": "r-uid" },
        ],
    }, "status": { "podIP": uid } })
}

fn event(message: &str, count: u64) -> Value {
    json!({
        "involvedObject": { "kind": "ReplicaSet", "name": "web-6d4f" },
        "type": "Normal",
        "reason": "SuccessfulCreate",
        "source": { "component": "replicaset-controller" },
        "message": message,
        "count": count,
    })
}

fn take(hash: &str, suffixes: [&str; 2], image: &str, uid: &str) -> State {
    let deployment = json!({ "metadata": { "name": "web", "uid": "d-uid" } });
    let name = format!("web-{hash}");
    let all: Everything = vec![
        ("Deployment", vec![deployment]),
        ("ReplicaSet", vec![replica_set(&name, hash, image, uid)]),
        (
            "Pod",
            suffixes
                .iter()
                .map(|suffix| pod(&format!("{name}-{suffix}"), hash, suffix))
                .collect(),
        ),
        (
            "Event",
            vec![event(&format!("Created pod: {name}-{}", suffixes[0]), 1)],
        ),
    ];
    let mut names = Names::default();
    names.expect(&json!({ "kind": "Deployment", "metadata": { "name": "web" } }));
    names.learn(&all);
    let mut state = State::take(&all, &names, &BTreeMap::new());
    // The helper's events speak of one fixed ReplicaSet.
    state.parts.retain(|key, _| key != "Events");
    state
}

#[test]
fn runs_that_differ_only_by_chance_are_equal() {
    let first = take("6d4f", ["bcdfg", "hjklm"], "app:v1", "r-uid");
    let second = take("5c7bd", ["zzzzz", "55555"], "app:v1", "r-uid");
    assert_eq!(first.differences(&second), []);
}

#[test]
fn a_different_template_is_a_difference() {
    let first = take("6d4f", ["bcdfg", "hjklm"], "app:v1", "r-uid");
    let second = take("6d4f", ["bcdfg", "hjklm"], "app:v2", "r-uid");
    assert!(!first.differences(&second).is_empty());
}

#[test]
fn an_owner_reference_with_a_foreign_uid_is_a_difference() {
    let first = take("6d4f", ["bcdfg", "hjklm"], "app:v1", "r-uid");
    let second = take("6d4f", ["bcdfg", "hjklm"], "app:v1", "another");
    let differences = first.differences(&second);
    assert!(
        differences
            .iter()
            .any(|one| one.path.contains("ownerReferences")),
        "{differences:?}"
    );
}

#[test]
fn equal_pods_are_counted_and_not_listed() {
    let state = take("6d4f", ["bcdfg", "hjklm"], "app:v1", "r-uid");
    let pods = &state.parts["Pods of ReplicaSet web@app:v1"];
    assert_eq!(pods["total"], 2);
    assert_eq!(pods["groups"].as_array().unwrap().len(), 1);
    assert_eq!(pods["groups"][0]["pod"]["metadata"]["name"], "web@app:v1-*");
    assert_eq!(
        pods["groups"][0]["pod"]["metadata"]["generateName"],
        "web@app:v1-"
    );
}

fn names() -> Names {
    let mut names = Names::default();
    for (kind, name) in [
        ("Deployment", "web"),
        ("Deployment", "web-two"),
        ("ReplicaSet", "rs"),
    ] {
        names.expect(&json!({ "kind": kind, "metadata": { "name": name } }));
    }
    let all: Everything = vec![(
        "ReplicaSet",
        vec![
            replica_set("web-6d4f", "6d4f", "app:v1", "1"),
            replica_set("web-two-7c8d", "7c8d", "app:v2", "2"),
        ],
    )];
    names.learn(&all);
    names
}

#[test]
fn names_in_messages_are_replaced_by_their_meaning() {
    let names = names();
    let check = |text: &str, wanted: &str| assert_eq!(names.normalise(text), wanted);
    check("Created pod: web-6d4f-abcde", "Created pod: web-6d4f-abcde");
    check("Created pod: web-6d4f-bbcdf", "Created pod: web@app:v1-*");
    check("\"web-two-7c8d\" has 3", "\"web-two@app:v2\" has 3");
    check("web-two", "web-two");
    check("rs-bcdfg, rs-server", "rs-*, rs-server");
    check("gone: web-2222", "gone: web@?");
    check("6d4f", "<hash of web@app:v1>");
}

#[test]
fn loose_events_lose_numbers_and_repetitions_only() {
    let names = names();
    let loose = BTreeMap::from([("SuccessfulCreate".to_owned(), "timing".to_owned())]);
    let events = [
        event("Scaled web-6d4f from 1 to 12", 3),
        event("Scaled web-6d4f from 2 to 3", 1),
    ];
    let counts = records::count(&events, &names, &loose);
    let key = "ReplicaSet/web@app:v1 Normal SuccessfulCreate [replicaset-controller] \
               Scaled web@app:v1 from N to N";
    assert_eq!(counts, BTreeMap::from([(key.to_owned(), 1)]));
    let strict = records::count(&events, &names, &BTreeMap::new());
    assert_eq!(strict.values().sum::<u64>(), 4);
    assert_eq!(strict.len(), 2);
}
