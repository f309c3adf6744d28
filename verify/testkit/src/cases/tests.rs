use serde_json::{Value, json};

use super::*;

#[test]
fn an_expect_block_is_exchanged_in_place() {
    let yaml = "about: x\nexpect: |\n  old\n\n  lines\n# after\n";
    assert_eq!(
        with_expect(yaml, "new\n"),
        "about: x\nexpect: |\n  new\n# after\n"
    );
    assert_eq!(
        with_expect("about: x\n", "a\n\nb\n"),
        "about: x\nexpect: |\n  a\n\n  b\n"
    );
}

#[test]
fn a_diff_shows_what_is_missing_and_what_is_too_much() {
    assert_eq!(diff::lines("a\nb\nc\n", "a\nc\nd\n"), " a\n-b\n c\n+d\n");
}

#[test]
fn short_objects_mean_whole_ones() {
    let short = json!({
        "Pod": "x", "app": "web", "owner": "ReplicaSet web-1", "ready": true,
        "metadata": {"labels": {"more": "1"}},
    });
    let pod = short::whole(&short).unwrap();
    assert_eq!(pod["metadata"]["name"], "x");
    assert_eq!(
        pod["metadata"]["labels"],
        json!({"app": "web", "more": "1"})
    );
    assert_eq!(
        pod["metadata"]["ownerReferences"][0]["uid"],
        "replicaset-web-1"
    );
    assert_eq!(pod["status"]["phase"], "Running");
    let set = short::whole(&json!({"ReplicaSet": "a", "app": "web", "image": "web:2"})).unwrap();
    assert_eq!(set["spec"]["selector"]["matchLabels"]["app"], "web");
    let image: &Value = &set["spec"]["template"]["spec"]["containers"][0]["image"];
    assert_eq!(image, "web:2");
    let error = short::whole(&json!({"Pod": "x", "colour": 1})).unwrap_err();
    assert!(error.contains("colour"), "{error}");
}

#[test]
fn a_case_with_a_word_too_many_is_refused() {
    let error = play::Case::read("about: x\nobjects: []\nkey: a/b\nexpct: y\n")
        .err()
        .unwrap();
    assert!(error.contains("expct"), "{error}");
}
